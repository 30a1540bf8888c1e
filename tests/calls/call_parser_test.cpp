// Answers and the calls in them: each text whole, byte by byte, and split at random places.
#include "engine/calls/call_parser.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <set>

#include "engine/untrusted_json.h"
#include "tests/support/fuzz_text.h"

#include <nlohmann/json.hpp>

namespace warpchat {
namespace {

const std::vector<CallTool> kTools = {
    {"f"},
    {"get_weather", R"({"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}}})"},
    {"typed", R"({"type":"object","$defs":{"level":{"enum":[1,2]}},"properties":{
       "s":{"type":"string"},"i":{"type":"integer"},"n":{"type":"number"},"b":{"type":"boolean"},"z":{"type":"null"},
       "a":{"type":"array"},"o":{"type":"object"},"any":{},"sn":{"type":["string","null"]},
       "si":{"anyOf":[{"type":"string"},{"type":"integer"}]},"e":{"enum":["1","2"]},"r":{"$ref":"#/$defs/level"}}})"},
};

// Pieces as one line each: text, "begin", "name f", "call f {...}" or "call f error: ...".
std::string written(const std::vector<CallPiece>& pieces) {
  std::string all, text;
  const auto end_text = [&] {
    if (!text.empty()) all += "text " + text + "|";
    text.clear();
  };
  for (const CallPiece& piece : pieces) {
    if (piece.kind == CallPiece::Kind::kText) {
      text += piece.text;
      continue;
    }
    end_text();
    const ParsedCall& call = piece.call;
    if (piece.kind == CallPiece::Kind::kBegin) all += "begin|";
    if (piece.kind == CallPiece::Kind::kName) all += "name " + piece.text + "|";
    if (piece.kind == CallPiece::Kind::kCall)
      all += "call " + call.name + " " + (call.error.empty() ? call.arguments : "error: " + call.error) + "|";
  }
  end_text();
  return all;
}

void append(std::vector<CallPiece>& all, std::vector<CallPiece> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::vector<CallPiece> parsed(CallFormat format, const std::vector<std::string_view>& parts,
                              std::span<const CallTool> tools = kTools) {
  CallParser parser(format, tools, 1);
  std::vector<CallPiece> pieces;
  for (const std::string_view part : parts) append(pieces, parser.add(part));
  append(pieces, parser.finish());
  return pieces;
}

std::vector<std::string_view> split(std::string_view text, size_t max_bytes, std::mt19937& random) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t n = std::min<size_t>(1 + random() % max_bytes, text.size());
    parts.push_back(text.substr(0, n));
    text.remove_prefix(n);
  }
  return parts;
}

struct Case {
  CallFormat format;
  std::string text, expected;
};

void expect_cases(const std::vector<Case>& cases) {
  std::mt19937 random(1);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const auto whole = parsed(c.format, {c.text});
    EXPECT_EQ(written(whole), c.expected);
    for (const size_t max_bytes : {1, 2, 5, 5, 30, 30}) {
      const auto pieces = parsed(c.format, split(c.text, max_bytes, random));
      EXPECT_EQ(written(pieces), c.expected) << "in parts of up to " << max_bytes;
      for (size_t i = 0, n = 0; i < pieces.size(); ++i) {  // ids, texts and ends of names do not depend on the parts
        if (pieces[i].kind == CallPiece::Kind::kText) continue;
        while (whole[n].kind == CallPiece::Kind::kText) ++n;
        EXPECT_EQ(pieces[i].call.id, whole[n].call.id);
        EXPECT_EQ(pieces[i].call.raw, whole[n].call.raw);
        EXPECT_EQ(pieces[i].end, whole[n].end);
        ++n;
      }
    }
  }
}

constexpr CallFormat kHermes = CallFormat::kHermes, kXml = CallFormat::kXml, kLlama = CallFormat::kLlama,
                     kMistralJson = CallFormat::kMistralJson, kMistralArgs = CallFormat::kMistralArgs;

TEST(CallParser, Hermes) {
  const std::string call = "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>";
  const std::string read = "begin|name f|call f {\"a\": 1}|";
  expect_cases({
      {kHermes, "", ""},
      {kHermes, "Hello.\n", "text Hello.\n|"},
      {kHermes, " \n", "text  \n|"},
      {kHermes, call, read},
      {kHermes, "\n\n" + call + "\n", read},
      {kHermes, "I look.\n\n" + call, "text I look.|" + read},
      {kHermes, call + "\n" + call + call, read + read + read},
      {kHermes, "A\n" + call + " \nB\n" + call + "\n\nC.\n",
       "text A|" + read + "text \n\nB|" + read + "text \n\nC.\n|"},
      {kHermes, call + "\nDone.", read + "text Done.|"},
      {kHermes, "<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>", "begin|name f|call f {}|"},
      {kHermes, "<tool_call>\n{\"arguments\": {\"x\": [1]}, \"name\": \"f\"}\n</tool_call>",
       "begin|name f|call f {\"x\": [1]}|"},
      {kHermes, "<tool_call>\n{\"name\": \"f\", \"parameters\": {}}\n</tool_call>", "begin|name f|call f {}|"},
      {kHermes, "<tool_call>\n{\"name\": \"f\"}\n</tool_call>", "begin|name f|call f {}|"},
      {kHermes, "<tool_call>\n{\"name\": \"no_such\", \"arguments\": {}}\n</tool_call>",
       "begin|name no_such|call no_such {}|"},
      {kHermes, "<tool_call>{\"name\": \"f\", \"arguments\": \"{\\\"a\\\": \\\"\\\\n\\\"}\"}</tool_call>",
       "begin|name f|call f {\"a\": \"\\n\"}|"},
      {kHermes, "<tool_call>{\"name\": \"f\", \"arguments\": {\"t\": \"</tool_call> } \\\" {\"}}</tool_call>!",
       "begin|name f|call f {\"t\": \"</tool_call> } \\\" {\"}|text !|"},
      {kHermes, "<tool_call>{\"name\": \"\\u0066\", \"arguments\": {\"name\": \"g\"}}</tool_call>",
       "begin|name f|call f {\"name\": \"g\"}|"},
      // The end is missing, or more than it is there.
      {kHermes, "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}", "begin|name f|call f {}|"},
      {kHermes, "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_", "begin|name f|call f {}|"},
      {kHermes, "<tool_call>{\"name\": \"f\", \"arguments\": {}}}\n</tool_call>", "begin|name f|call f {}|"},
      {kHermes, "<tool_call>{\"name\": \"f\", \"arguments\": {}}<tool_call>{\"name\": \"f\"}",
       "begin|name f|call f {}|begin|name f|call f {}|"},
      {kHermes, "<tool_call>{\"name\": \"f\"}\n{\"name\": \"f\"}</tool_call>",
       "begin|name f|call f {}|begin|name f|call f {}|"},
      {kHermes, "<tool_call>[{\"name\": \"f\"}, {\"name\": \"f\"}]</tool_call>x",
       "begin|name f|call f {}|begin|name f|call f {}|text x|"},
      {kHermes, "<tool_call>[{\"name\": \"f\"}]</tool_call> {\"name\": \"f\"}",
       "begin|name f|call f {}|text {\"name\": \"f\"}|"},
      {kHermes, "<tool_call>\n<tool_call>\n{\"name\": \"f\"}\n</tool_call>", "begin|name f|call f {}|"},
      {kHermes, "<tool_call><function=f><parameter=a>\nb\n</parameter></function></tool_call>",
       "begin|name f|call f {\"a\": \"b\"}|"},
  });
}

TEST(CallParser, WhatIsNoCall) {
  const std::string call = "<tool_call>\n{\"name\": \"f\"}\n</tool_call>";
  expect_cases({
      {kHermes, "a < b <tool_cal <tool<tool_call", "text a < b <tool_cal <tool<tool_call|"},
      {kHermes, "The tag <tool_call> opens a call.", "text The tag <tool_call> opens a call.|"},
      {kHermes, "Write <tool_call>", "text Write <tool_call>|"},
      {kHermes, "```\n" + call + "\n```\n", "text ```\n" + call + "\n```\n|"},
      {kHermes, "`" + call, "text `" + call + "|"},
      {kHermes, "```\nx\n```\n" + call, "text ```\nx\n```|begin|name f|call f {}|"},
      {kHermes, "{\"name\": \"f\", \"arguments\": {}}", "text {\"name\": \"f\", \"arguments\": {}}|"},
      {kHermes, "[TOOL_CALLS]f[ARGS]{}", "text [TOOL_CALLS]f[ARGS]{}|"},
      {kXml, "see <function=f>", "text see <function=f>|"},
      {kLlama, "{\"name\": \"Ada\", \"age\": 36}", "text {\"name\": \"Ada\", \"age\": 36}|"},
      {kLlama, "{\"name\": \"Ada\"}", "text {\"name\": \"Ada\"}|"},
      {kLlama, "{}", "text {}|"},
      {kLlama, "{ \"names\": 1}", "text { \"names\": 1}|"},
      {kLlama, "x = {\"name\": \"f\", \"parameters\": {}}", "text x = {\"name\": \"f\", \"parameters\": {}}|"},
      {kLlama, "Like\n{\"name\": \"g\", \"parameters\": {}}", "text Like\n{\"name\": \"g\", \"parameters\": {}}|"},
      {kLlama, "```json\n{\"name\": \"f\", \"parameters\": {}}\n```",
       "text ```json\n{\"name\": \"f\", \"parameters\": {}}\n```|"},
      {kMistralArgs, "[1] and [TOOL]", "text [1] and [TOOL]|"},
      {CallFormat::kNone, call, "text " + call + "|"},
  });
  EXPECT_EQ(written(parsed(kHermes, {call}, {})), "text " + call + "|");  // without tools
}

TEST(CallParser, TextStreamsAsSoonAsItIsNoMarker) {
  CallParser parser(kHermes, kTools, 1);
  EXPECT_EQ(written(parser.add("Hi <tool")), "text Hi|");
  EXPECT_EQ(written(parser.add("x")), "text  <toolx|");
  EXPECT_EQ(written(parser.add("\n")), "");
  EXPECT_EQ(written(parser.add("y <tool_call>")), "");
  EXPECT_EQ(written(parser.add(" z")), "text \ny <tool_call> z|");
  CallParser llama(kLlama, kTools, 1);
  EXPECT_EQ(written(llama.add("{\"name\": \"Ada\", \"")), "");
  EXPECT_EQ(written(llama.add("b")), "text {\"name\": \"Ada\", \"b|");
}

TEST(CallParser, CallsThatCannotBeRead) {
  const std::string cut = "error: the call cannot be read: the answer ended within it|";
  expect_cases({
      {kHermes, "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": }}\n</tool_call>\nB",
       "begin|name f|call f error: the call cannot be read: it is not valid JSON (byte 33)|text B|"},
      {kHermes, "A\n<tool_call>\n{\"name\": \"f\", \"arguments\": {}\n</tool_call>\nB",
       "text A|begin|name f|call f error: the call cannot be read: it is not valid JSON (byte 29)|text \n\nB|"},
      {kHermes, "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"\n\"}}</tool_call>",
       "begin|name f|call f error: the call cannot be read: it is not valid JSON (byte 34)|"},
      {kHermes, "<tool_call>\nf(a=1)\n</tool_call>",
       "begin|call  error: the call cannot be read: it is not valid JSON|"},
      {kHermes, "<tool_call>\n</tool_call>.",
       "begin|call  error: the call cannot be read: it is not valid JSON|text .|"},
      {kHermes, "<tool_call>{\"arguments\": {}}</tool_call>", "begin|call  error: the call has no name|"},
      {kHermes, "<tool_call>{\"name\": 3}</tool_call>", "begin|call  error: the call has no name|"},
      {kHermes, "<tool_call>{\"name\": \"f\", \"arguments\": [1]}</tool_call>",
       "begin|name f|call f error: the arguments of the call are no JSON object|"},
      {kHermes, "<tool_call>{\"name\": \"f\", \"arguments\": null}</tool_call>",
       "begin|name f|call f error: the arguments of the call are no JSON object|"},
      {kHermes, "<tool_call>{\"name\": \"f\", \"arguments\": \"[]\"}</tool_call>",
       "begin|name f|call f error: the arguments of the call are no JSON object|"},
      {kHermes, "<tool_call>{\"name\": \"f\", \"arguments\": \"x\"}</tool_call>",
       "begin|name f|call f error: the arguments of the call cannot be read: it is not valid JSON (byte 0)|"},
      {kHermes, "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"\xFF\"}}</tool_call>",
       "begin|name f|call f error: the call cannot be read: it is not valid JSON (byte 34)|"},
      {kHermes, "Hi\n<tool_call>", "text Hi|begin|call  " + cut},
      {kHermes, "<tool_call>{\"name\": \"f", "begin|call  " + cut},
      {kHermes, "<tool_call>{\"name\": \"f\", \"arguments\": {\"a", "begin|name f|call f " + cut},
      {kHermes, "<tool_call>{\"name\": \"f\", ]<tool_call>{\"name\": \"f\"}</tool_call>",
       "begin|name f|call f error: the call cannot be read: it is not valid JSON (byte 14)|begin|name f|call f {}|"},
      {kXml, "<tool_call>\n<function=f>\n<parameter=a>\n1\n</function>\n</tool_call>\nB",
       "begin|name f|call f error: a parameter of the call is not closed by </parameter>|text B|"},
      {kXml, "<tool_call>\n<function=f>\na: 1\n</function>\n</tool_call>\nB",
       "begin|name f|call f error: the call cannot be read: other text stands between its tags (byte 3)|text B|"},
      {kXml, "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>", "begin|name f|call f " + cut},
      {kXml, "<tool_call><function=></function></tool_call>", "begin|call  error: the call has no name|"},
      {kXml, "<tool_call><function=f><parameter=>\n1\n</parameter></function></tool_call>",
       "begin|name f|call f error: a parameter of the call has no name|"},
      {kLlama, "<|python_tag|>print(1)\n",
       "begin|call  error: the call is neither JSON nor of the form name.call(key=\"value\")|"},
      {kLlama, "<|python_tag|>f.call(1)",
       "begin|name f|call f error: the arguments of the call are not of the form key=\"value\"|"},
      {kLlama, "{\"name\": \"f\", \"parameters\": {", "begin|name f|call f " + cut},
      {kMistralArgs, "[TOOL_CALLS]f[ARGS]1[TOOL_CALLS]f[ARGS]{}",
       "begin|name f|call f error: the arguments of the call are no JSON object|begin|name f|call f {}|"},
      {kMistralArgs, "[TOOL_CALLS]f", "begin|call  " + cut},
      {kMistralArgs, "[TOOL_CALLS][ARGS]{}", "begin|call  error: the call cannot be read: it is not valid JSON|"},
      {kMistralJson, "[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {}", "begin|name f|call f " + cut},
  });
}

TEST(CallParser, Xml) {
  const auto call = [](const std::string& name, const std::string& value) {
    return "<tool_call>\n<function=typed>\n<parameter=" + name + ">\n" + value +
           "\n</parameter>\n</function>\n</tool_call>";
  };
  const auto read = [](const std::string& arguments) { return "begin|name typed|call typed {" + arguments + "}|"; };
  expect_cases({
      {kXml, call("s", "42"), read("\"s\": \"42\"")},
      {kXml, call("s", "True"), read("\"s\": \"True\"")},
      {kXml, call("s", "\n a < b & \"c\"\n"), read("\"s\": \"\\n a < b & \\\"c\\\"\\n\"")},
      {kXml, call("s", ""), read("\"s\": \"\"")},
      {kXml, call("s", "\xFF"), read("\"s\": \"\xEF\xBF\xBD\"")},
      {kXml, call("s", "x</parameter>y\n</parameter>\nz</function>"),
       read("\"s\": \"x</parameter>y\\n</parameter>\\nz</function>\"")},
      {kXml, call("s", "</function>\n</parameter> <b>"), read("\"s\": \"</function>\\n</parameter> <b>\"")},
      {kXml, call("i", "42"), read("\"i\": 42")},
      {kXml, call("i", "123456789012345678901234567890"), read("\"i\": 123456789012345678901234567890")},
      {kXml, call("i", "many"), read("\"i\": \"many\"")},
      {kXml, call("n", "1.50"), read("\"n\": 1.50")},
      {kXml, call("b", "True"), read("\"b\": true")},
      {kXml, call("b", "false"), read("\"b\": false")},
      {kXml, call("z", "None"), read("\"z\": null")},
      {kXml, call("a", "[1,\n \"</parameter>\"]"), read("\"a\": [1,\n \"</parameter>\"]")},
      {kXml, call("o", "{'a': 1}"), read("\"o\": \"{'a': 1}\"")},
      {kXml, call("any", "[1]"), read("\"any\": [1]")},
      {kXml, call("any", "one"), read("\"any\": \"one\"")},
      {kXml, call("unknown", "False"), read("\"unknown\": false")},
      {kXml, call("sn", "null"), read("\"sn\": null")},
      {kXml, call("sn", "1"), read("\"sn\": \"1\"")},
      {kXml, call("si", "1"), read("\"si\": 1")},
      {kXml, call("si", "1.5"), read("\"si\": \"1.5\"")},
      {kXml, call("e", "1"), read("\"e\": \"1\"")},
      {kXml, call("r", "1"), read("\"r\": 1")},
      {kXml, "<tool_call><function=f></function></tool_call>", "begin|name f|call f {}|"},
      {kXml, "A\n<function=f>\n</function>\n</tool_call>\nB", "text A|begin|name f|call f {}|text \n\nB|"},
      {kXml, "<tool_call>\n<function=f>\n</function>", "begin|name f|call f {}|"},
      {kXml, "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</tool_call>",
       "begin|name f|call f {\"a\": 1}|"},
      {kXml, "<tool_call>\n<function=f>\n<parameter=a>1</parameter>\n</parameter>\n</parameter></function></tool_call>",
       "begin|name f|call f {\"a\": 1}|"},
      {kXml,
       "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n<parameter=b>\n2\n</parameter>\n<parameter=a>\n3\n"
       "</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=f>\n</function>\n</tool_call>",
       "begin|name f|call f {\"a\": 3, \"b\": 2}|begin|name f|call f {}|"},
      {kXml, "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>", "begin|name f|call f {}|"},
  });
}

TEST(CallParser, Llama) {
  const std::string call = "{\"name\": \"f\", \"parameters\": {\"a\": \"1\"}}";
  const std::string read = "begin|name f|call f {\"a\": \"1\"}|";
  expect_cases({
      {kLlama, call, read},
      {kLlama, "\n" + call + "\n", read},
      {kLlama, call + "; " + call, read + read},
      {kLlama, call + "\n" + call, read + read},
      {kLlama, "<|python_tag|>" + call + ";" + call, read + read},
      {kLlama, "Let me see.\n" + call, "text Let me see.|" + read},
      {kLlama, "Let me see. <|python_tag|>" + call, "text Let me see.|" + read},
      {kLlama, call + "\nDone", read + "text Done|"},
      {kLlama, "{\"type\": \"function\", \"name\": \"f\", \"parameters\": {}}", "begin|name f|call f {}|"},
      {kLlama, "{\"parameters\": {}, \"name\": \"f\"}", "begin|name f|call f {}|"},
      {kLlama, "{\"name\": \"g\", \"parameters\": {}}", "begin|name g|call g {}|"},
      {kLlama, "<|python_tag|>brave_search.call(query=\"a, (b)\", n=2, x=True, y='it\\'s', z=[1, \"]\"])",
       "begin|name brave_search|call brave_search {\"query\": \"a, (b)\", \"n\": 2, \"x\": true, \"y\": \"it's\", "
       "\"z\": [1, \"]\"]}|"},
      {kLlama, "<|python_tag|>f.call()", "begin|name f|call f {}|"},
  });
}

TEST(CallParser, Mistral) {
  expect_cases({
      {kMistralJson, "[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {\"a\": 1}, \"id\": \"abcdefgh1\"}]",
       "begin|name f|call f {\"a\": 1}|"},
      {kMistralJson, "[TOOL_CALLS] [{\"name\": \"f\", \"arguments\": {}}, {\"name\": \"g\", \"arguments\": {}}]\n",
       "begin|name f|call f {}|begin|name g|call g {}|"},
      {kMistralJson, "Yes[TOOL_CALLS]{\"name\": \"f\"}", "text Yes|begin|name f|call f {}|"},
      {kMistralJson, "[TOOL_CALLS][]Hi", "text Hi|"},
      {kMistralJson, "[TOOL_CALLS][{\"name\": \"f\"}] Hi", "begin|name f|call f {}|text Hi|"},
      {kMistralArgs, "[TOOL_CALLS]f[ARGS]{\"a\": [1]}[TOOL_CALLS]get_weather[ARGS]{\"city\": \"Bern\"}",
       "begin|name f|call f {\"a\": [1]}|begin|name get_weather|call get_weather {\"city\": \"Bern\"}|"},
      {kMistralArgs, "Yes.[TOOL_CALLS]f[CALL_ID]abcdefgh1[ARGS] {}", "text Yes.|begin|name f|call f {}|"},
      {kMistralArgs, "[TOOL_CALLS]f{\"a\": 1}", "begin|name f|call f {\"a\": 1}|"},
      {kMistralArgs, "[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {}}]", "begin|name f|call f {}|"},
  });
}

TEST(CallParser, Ids) {
  const auto pieces = parsed(kMistralJson, {"[TOOL_CALLS][{\"name\": \"f\", \"id\": \"abcdefgh1\"}, {\"name\": \"f\", "
                                            "\"id\": \"abcdefgh1\"}, {\"name\": \"f\", \"id\": \"1\"}, {\"name\": "
                                            "\"f\"}][TOOL_CALLS]f[CALL_ID]123456789[ARGS]{}"});
  std::vector<std::string> ids;
  for (const CallPiece& piece : pieces)
    if (piece.kind == CallPiece::Kind::kCall) ids.push_back(piece.call.id);
  ASSERT_EQ(ids.size(), 5u);
  EXPECT_EQ(ids[0], "abcdefgh1");
  EXPECT_EQ(ids[4], "123456789");
  EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), 5u);
  for (const std::string& id : ids) {
    EXPECT_EQ(id.size(), 9u);
    EXPECT_EQ(id.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
              std::string::npos);
  }
}

TEST(CallParser, NamesSayWhereTheyEnd) {
  struct {
    CallFormat format;
    std::string text, rest;
    CallFormat name_format;
    bool can_be_held;
  } const cases[] = {
      {kHermes, "A <tool_call>\n{\"name\": \"f\", \"arguments\": {}}", ", \"arguments\": {}}", kHermes, true},
      {kHermes, "<tool_call>\n{\"arguments\": {}, \"name\": \"f\"}", "}", kHermes, false},
      {kHermes, "<tool_call>\n{\"name\": \"g\", \"arguments\": {}}", ", \"arguments\": {}}", kHermes, false},
      {kHermes, "<tool_call>\n<function=f>\n</function>", "\n</function>", kXml, true},
      {kHermes, "<tool_call>\n[{\"name\": \"f\"}]", "}]", kMistralJson, true},
      {kXml, "<function=f>\n</function>", "\n</function>", kXml, true},
      {kXml, "<tool_call>{\"name\": \"f\"}", "}", kHermes, true},
      {kLlama, "{\"name\": \"f\", \"parameters\": {}}", ", \"parameters\": {}}", kLlama, true},
      {kLlama, "<|python_tag|>f.call()", "()", kLlama, false},
      {kMistralArgs, "[TOOL_CALLS]f[CALL_ID]123456789[ARGS]{}", "{}", kMistralArgs, true},
      {kMistralArgs, "[TOOL_CALLS]f{}", "{}", kMistralArgs, true},
      {kMistralArgs, "[TOOL_CALLS][{\"name\": \"f\"}]", "}]", kMistralJson, true},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    size_t n_names = 0;
    for (const CallPiece& piece : parsed(c.format, {c.text})) {
      if (piece.kind != CallPiece::Kind::kName) continue;
      ++n_names;
      EXPECT_EQ(c.text.substr(piece.end), c.rest);
      EXPECT_EQ(piece.format, c.name_format);
      EXPECT_EQ(piece.can_be_held, c.can_be_held);
    }
    EXPECT_EQ(n_names, 1u);
  }
}

TEST(CallParser, MarkersAsTokens) {
  CallParser parser(kMistralArgs, kTools, 1);
  std::vector<CallPiece> pieces = parser.add("```\ncode [TOOL_CALLS]");
  append(pieces, parser.add_marker("[OTHER]"));
  append(pieces, parser.add(" x"));
  append(pieces, parser.add_marker("[TOOL_CALLS]"));  // within code all the same
  append(pieces, parser.add("f"));
  append(pieces, parser.add_marker("[ARGS]"));
  EXPECT_TRUE(parser.is_in_call());
  append(pieces, parser.add("{\"a\": \""));
  append(pieces, parser.add_marker("[TOOL_CALLS]"));  // and within a call
  append(pieces, parser.add("f"));
  append(pieces, parser.add_marker("[ARGS]"));
  append(pieces, parser.add("{}"));
  EXPECT_FALSE(parser.is_in_call());
  append(pieces, parser.finish());
  EXPECT_EQ(
      written(pieces),
      "text ```\ncode [TOOL_CALLS] x|begin|name f|call f error: the call cannot be read: another one began within "
      "it|begin|name f|call f {}|");
  CallParser offset(kMistralArgs, kTools, 1);
  offset.add_marker("[OTHER]");
  offset.add_marker("[TOOL_CALLS]");
  offset.add("f");
  const auto name = offset.add_marker("[ARGS]");
  ASSERT_EQ(name.size(), 1u);
  EXPECT_EQ(name[0].end, std::string_view("[OTHER][TOOL_CALLS]f[ARGS]").size());
}

// A draft that goes another way is undone at every place.
TEST(CallParser, Snapshots) {
  const std::vector<std::pair<CallFormat, std::string>> answers = {
      {kHermes, "A\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"x\"}}\n</tool_call>\nB `c` <tool_call> x"},
      {kXml, "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>\nB"},
      {kLlama, "{\"name\": \"f\", \"parameters\": {}}; {\"name\": \"f\", \"parameters\": {}}"},
      {kMistralJson,
       "[TOOL_CALLS][{\"name\": \"f\", \"id\": \"abcdefgh1\"}, {\"name\": \"f\", \"id\": \"abcdefgh1\"}]"}};
  for (const auto& [format, text] : answers) {
    CallParser parser(format, kTools, 1);
    std::vector<CallPiece> pieces;
    for (size_t i = 0; i < text.size(); ++i) {
      const CallParser::Snapshot snapshot = parser.snapshot();
      for (const char* draft : {"\"}}\n</tool_call>", "</parameter></function>`", "[TOOL_CALLS]f[ARGS]{}"}) {
        parser.add(draft);
        parser.add_marker(format == kLlama ? "<|python_tag|>" : "[TOOL_CALLS]");
        parser.restore(snapshot);
      }
      append(pieces, parser.add(text.substr(i, 1)));
    }
    append(pieces, parser.finish());
    EXPECT_EQ(written(pieces), written(parsed(format, {text})));
  }
}

TEST(CallParser, DeepAndHugeCalls) {
  const size_t n = 200'000;
  const std::string deep = std::string(n, '[') + std::string(n, ']');
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(
      written(parsed(kHermes, {"<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": " + deep + "}}</tool_call>B"})),
      "begin|name f|call f error: the call cannot be read: its JSON is nested deeper than 64 levels|text B|");
  EXPECT_EQ(written(parsed(kXml, {"<function=typed><parameter=a>\n" + deep + "\n</parameter></function>"})),
            "begin|name typed|call typed {\"a\": \"" + deep + "\"}|");
  const std::string long_text(1'000'000, 'x');
  EXPECT_EQ(written(parsed(kMistralArgs, {"[TOOL_CALLS]f[ARGS]{\"a\": \"" + long_text + "\"}"})),
            "begin|name f|call f {\"a\": \"" + long_text + "\"}|");
  std::string many, opened;
  for (size_t i = 0; i < 10'000; ++i) {
    many += "<tool_call>{\"name\": \"f\"}</tool_call>";
    opened += "<tool_call>{\"";
  }
  size_t n_calls = 0;
  for (const CallPiece& piece : parsed(kHermes, {many})) n_calls += piece.kind == CallPiece::Kind::kCall;
  EXPECT_EQ(n_calls, 10'000u);
  parsed(kHermes, {opened});
  parsed(kXml, {std::string(500'000, '<')});
  parsed(kXml, {"<function=f><parameter=a>" + std::string(500'000, '\n') + "</parameter>" + std::string(500'000, ' ')});
  parsed(kLlama, {"{\"name\": \"" + long_text});
  std::string braces;
  for (size_t i = 0; i < 100'000; ++i) braces += "\n{\"name\": ";
  parsed(kLlama, {braces});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));  // quadratic takes minutes
}

TEST(CallParserFuzz, AnyTextInAnyParts) {
  constexpr std::string_view kPieces[] = {"<tool_call>",
                                          "</tool_call>",
                                          "<function=f>",
                                          "<function=",
                                          "</function>",
                                          "<parameter=a>",
                                          "</parameter>",
                                          "\n</parameter>\n",
                                          "[TOOL_CALLS]",
                                          "[ARGS]",
                                          "[CALL_ID]",
                                          "<|python_tag|>",
                                          "{\"name\": \"f\"",
                                          "{",
                                          "}",
                                          "[",
                                          "]",
                                          "\"",
                                          "\\",
                                          ",",
                                          ":",
                                          ";",
                                          " ",
                                          "\n",
                                          "\"name\"",
                                          "\"arguments\"",
                                          "\"parameters\": ",
                                          "f",
                                          "f.call(",
                                          ")",
                                          "a=",
                                          "'",
                                          "1",
                                          "`",
                                          "```\n",
                                          "\xFF",
                                          "<",
                                          "text",
                                          "\"f\"",
                                          "{}",
                                          "}}"};
  FuzzText fuzz(7);
  std::mt19937 random(7);
  for (size_t round = 0; round < fuzz_rounds(250, 50'000); ++round) {
    const std::string text = fuzz.of(kPieces, 2'000);
    for (const CallFormat format : {kHermes, kXml, kLlama, kMistralJson, kMistralArgs}) {
      const std::vector<CallPiece> whole = parsed(format, {text});
      ASSERT_EQ(written(whole), written(parsed(format, split(text, 1 + random() % 20, random)))) << text;
      for (const CallPiece& piece : whole) {
        if (piece.kind != CallPiece::Kind::kCall) continue;
        ASSERT_TRUE(try_parse_untrusted_json(piece.call.arguments).is_object()) << text;
        ASSERT_EQ(piece.call.id.size(), 9u);
        ASSERT_NE(text.find(piece.call.raw), std::string::npos);
      }
    }
  }
}

}  // namespace
}  // namespace warpchat
