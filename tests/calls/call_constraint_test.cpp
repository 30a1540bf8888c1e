// What holds a call behind its name: calls as models write them, what is refused, and random walks that the parser
// reads again.
#include "engine/calls/call_constraint.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "engine/calls/call_parser.h"
#include "engine/untrusted_json.h"
#include "models/error.h"

namespace warpchat {
namespace {

using grammar::Constraint;
using grammar::State;

constexpr CallFormat kHermes = CallFormat::kHermes, kXml = CallFormat::kXml, kLlama = CallFormat::kLlama,
                     kMistralJson = CallFormat::kMistralJson, kMistralArgs = CallFormat::kMistralArgs;

const CallTool kWeather = {"get_weather", R"({"type":"object","properties":{"city":{"type":"string"},
  "days":{"type":"integer","minimum":1,"maximum":14},"unit":{"type":"string","enum":["celsius","fahrenheit"]},
  "exact":{"type":"boolean"},"tags":{"type":"array","items":{"type":"string"}}},"required":["city","days"]})"};

struct Case {
  CallFormat format;
  std::string text;
  bool is_allowed = true;
};

void expect_cases(const CallTool& tool, const std::vector<Case>& cases) {
  for (const auto& [format, text, is_allowed] : cases) {
    SCOPED_TRACE(text);
    const auto constraint = call_constraint(format, tool);
    State state = constraint->start();
    for (size_t i = 0; i < text.size() && state != grammar::kRejected; ++i) {
      EXPECT_FALSE(constraint->is_complete(state)) << "before byte " << i;
      state = constraint->advance(state, static_cast<uint8_t>(text[i]));
    }
    EXPECT_EQ(state != grammar::kRejected && constraint->is_complete(state), is_allowed);
    if (is_allowed && state != grammar::kRejected) {  // a token may reach over the end
      EXPECT_NE(constraint->advance(state, "\n<x\xC3"), grammar::kRejected);
    }
  }
}

TEST(CallConstraint, CallsAsModelsWriteThem) {
  const std::string city = "{\"city\": \"Bern\", \"days\": 2}";
  expect_cases(
      kWeather,
      {
          {kHermes, ", \"arguments\": " + city + "}\n</tool_call>"},
          {kHermes, ",\"arguments\":{\"days\":2,\"city\":\"Bern\"}}</tool_call>"},
          {kHermes, ",\n  \"arguments\": {\n    \"city\": \"Bern\",\n    \"days\": 2\n  }\n}\n</tool_call>"},
          {kHermes, ", \"arguments\": {\"city\": \"Bern\"}}\n</tool_call>", false},
          {kHermes, ", \"arguments\": {\"city\": 1, \"days\": 2}}\n</tool_call>", false},
          {kHermes, ", \"arguments\": \"{}\"}\n</tool_call>", false},
          {kHermes, ", \"arguments\": " + city + "}", false},
          {kHermes, "}\n</tool_call>", false},
          {kLlama, ", \"parameters\": " + city + "}"},
          {kMistralJson, ", \"arguments\": " + city + ", \"id\": \"abcDEF123\"}]"},
          {kMistralJson, ", \"arguments\": " + city + "}, {"},
          {kMistralJson, ", \"arguments\": " + city + ", \"id\": \"abc\"}]", false},
          {kMistralArgs, city},
          {kMistralArgs, " {\"city\": \"Bern\", \"days\": 15}", false},
          {kXml,
           "\n<parameter=city>\nBern\n</parameter>\n<parameter=days>\n2\n</parameter>\n</function>\n</tool_call>"},
          {kXml,
           "\n<parameter=city>\n\n\n</parameter>\n<parameter=days>\n2\n</parameter>\n<parameter=unit>\ncelsius\n"
           "</parameter>\n<parameter=exact>\nTrue\n</parameter>\n<parameter=tags>\n[\"a\", \"b\"]\n</parameter>\n"
           "</function>\n</tool_call>"},
          {kXml,
           "\n<parameter=city>\na <b>&amp;</parameter> \"c\"\n \xE2\x98\x83\n</parameter>\n<parameter=days>\n14\n"
           "</parameter>\n<parameter=exact>\nfalse\n</parameter>\n</function>\n</tool_call>"},
          {kXml, "\n<parameter=city>\nBern\n</parameter>\n</function>\n</tool_call>", false},
          {kXml, "\n<parameter=days>\n2\n</parameter>\n<parameter=city>\nBern\n</parameter>\n</function>\n</tool_call>",
           false},
          {kXml, "\n<parameter=city>\nBern\n</parameter>\n<parameter=days>\n\"2\"\n</parameter>\n", false},
          {kXml, "\n<parameter=city>\nBern\n</parameter>\n<parameter=days>\n2\n</parameter>\n<parameter=unit>\nkelvin",
           false},
          {kXml, "\n<parameter=city>\nBern</parameter>\n<parameter=days>\n2\n</parameter>\n</function>\n</tool_call>",
           false},
          {kXml, "\n<parameter=place>", false},
      });
}

TEST(CallConstraint, Schemas) {
  const CallTool none = {"none", R"({"type":"object","properties":{}, "additionalProperties":false})"};
  expect_cases(none, {{kHermes, ", \"arguments\": {}}\n</tool_call>"},
                      {kHermes, ", \"arguments\": {\"a\": 1}}\n</tool_call>", false},
                      {kXml, "\n</function>\n</tool_call>"},
                      {kXml, "</function></tool_call>"},
                      {kXml, "\n<parameter=a>", false}});
  for (const char* schema : {"", "{}", "true", R"({"type":["object","string"]})"}) {  // any object, but nothing else
    SCOPED_TRACE(schema);
    expect_cases({"any", schema}, {{kMistralArgs, "{\"a\": [1, {\"b\": null}]}"},
                                   {kMistralArgs, "[]", false},
                                   {kMistralArgs, "\"a\"", false},
                                   {kXml,
                                    "\n<parameter=a>\n1\n</parameter>\n<parameter=b-c>\nx\n</parameter>\n</function>"
                                    "\n</tool_call>"},
                                   {kXml, "\n</function>\n</tool_call>"}});
  }
  const CallTool references = {"r", R"({"type":"object","$defs":{"n":{"type":["integer","null"]}},
    "properties":{"n":{"$ref":"#/$defs/n"},"s":{"type":"string","maxLength":3,"pattern":"^a"},"x":{},
    "u":{"anyOf":[{"type":"boolean"},{"const":"auto"}]}}})"};
  expect_cases(
      references,
      {{kXml, "\n<parameter=n>\nNone\n</parameter>\n<parameter=s>\nabc\n</parameter>\n</function>\n</tool_call>"},
       {kXml,
        "\n<parameter=n>\nnull\n</parameter>\n<parameter=x>\n{\"a\":\n</parameter>\n<parameter=u>\nauto\n</"
        "parameter>\n</function>\n</tool_call>"},
       {kXml, "\n<parameter=u>\ntrue\n</parameter>\n</function>\n</tool_call>"},
       {kXml, "\n<parameter=u>\nmanual", false},
       {kXml, "\n<parameter=s>\nb", false},
       {kXml, "\n<parameter=s>\nabcd", false},
       {kHermes, ", \"arguments\": {\"n\": null, \"s\": \"ab\"}}\n</tool_call>"}});
}

TEST(CallConstraint, RefusedSchemasHaveAReason) {
  const auto reason = [](CallFormat format, const std::string& schema) {
    try {
      call_constraint(format, {"f", schema});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(reason(kHermes, R"({"properties":{"a":{"$ref":"other.json"}}})").find("$ref"), std::string::npos);
  EXPECT_NE(reason(kXml, R"~({"properties":{"a":{"pattern":"(?=x)"}}})~").find("pattern"), std::string::npos);
  EXPECT_NE(reason(kXml, R"({"properties":{"a":{}},"minProperties":1})").find("minProperties"), std::string::npos);
  EXPECT_NE(reason(kXml, R"({"properties":{"a>b":{}}})").find("a>b"), std::string::npos);
  EXPECT_NE(reason(kHermes, R"({"type":"string"})").find("no text satisfies the schema"), std::string::npos);
  EXPECT_NE(reason(kHermes, "{").find("JSON"), std::string::npos);
  EXPECT_EQ(reason(kHermes, R"({"properties":{"a>b":{}},"minProperties":1})"), "");
}

// The shortest text that completes the state, out of common characters.
std::string shortest_end(Constraint& constraint, State from) {
  std::map<State, std::pair<State, char>> before = {{from, {from, 0}}};
  for (std::deque<State> open = {from}; !open.empty() && before.size() < 20'000; open.pop_front()) {
    const State at = open.front();
    if (constraint.is_complete(at)) {
      std::string text;
      for (State s = at; s != from; s = before[s].first) text.insert(text.begin(), before[s].second);
      return text;
    }
    const grammar::ByteSet next = constraint.next_bytes(at);
    constexpr std::string_view kEnding = "\",:}]\n</parmetcidysk>0";  // within a text, a number or white space
    next.for_each([&](uint8_t byte) {
      if (next.size() > 8 && next.contains('0') && kEnding.find(static_cast<char>(byte)) == std::string_view::npos)
        return;
      const State after = constraint.advance(at, byte);
      if (before.try_emplace(after, at, static_cast<char>(byte)).second) open.push_back(after);
    });
  }
  return "";
}

std::string random_call(Constraint& constraint, std::mt19937& random) {
  std::string text;
  State state = constraint.start();
  while (text.size() < 120 && !constraint.is_complete(state)) {
    std::string usual, others;
    constraint.next_bytes(state).for_each([&](uint8_t byte) {
      const bool is_usual =
          std::string_view("<>/=\n\"{}[]:,01ab").find(static_cast<char>(byte)) != std::string_view::npos;
      (is_usual ? usual : others) += static_cast<char>(byte);
    });
    const std::string& from = others.empty() || (!usual.empty() && random() % 4 > 0) ? usual : others;
    text += from[random() % from.size()];
    state = constraint.advance(state, static_cast<uint8_t>(text.back()));
  }
  return text + shortest_end(constraint, state);
}

TEST(CallConstraint, RandomCallsAreRead) {
  const std::vector<CallTool> tools = {
      kWeather,
      {"any"},
      {"nothing", R"({"type":"object","properties":{}})"},
      {"texts", R"({"type":"object","properties":{"a":{"type":"string"},"b":{},"c":{"type":["null","string"]}},
        "required":["a","c"],"additionalProperties":false})"},
      {"either", R"({"oneOf":[{"properties":{"k":{"const":"x"}},"required":["k"]},
        {"properties":{"k":{"const":"y"},"n":{"type":"number"}},"required":["k","n"]}]})"}};
  const std::map<CallFormat, std::pair<std::string, std::string>> heads = {
      {kHermes, {"<tool_call>\n{\"name\": \"", "\""}},
      {kXml, {"<tool_call>\n<function=", ">"}},
      {kLlama, {"{\"name\": \"", "\""}},
      {kMistralJson, {"[TOOL_CALLS][{\"name\": \"", "\""}},
      {kMistralArgs, {"[TOOL_CALLS]", "[ARGS]"}}};
  std::mt19937 random(3);
  for (const CallTool& tool : tools) {
    const nlohmann::json schema = try_parse_untrusted_json(tool.schema.empty() ? "{}" : tool.schema);
    for (const auto& [format, head] : heads) {
      const auto constraint = call_constraint(format, tool);
      for (int i = 0; i < 12; ++i) {
        const std::string held = random_call(*constraint, random), text = head.first + tool.name + head.second + held;
        SCOPED_TRACE(text);
        CallParser parser(format, tools, 1);
        std::vector<CallPiece> pieces = parser.add(text);
        ASSERT_GE(pieces.size(), 3u);
        ASSERT_EQ(pieces[1].kind, CallPiece::Kind::kName);
        EXPECT_EQ(text.substr(pieces[1].end), held);
        EXPECT_TRUE(pieces[1].can_be_held);
        EXPECT_EQ(pieces[1].format, format);
        ASSERT_EQ(pieces[2].kind, CallPiece::Kind::kCall);
        const ParsedCall& call = pieces[2].call;
        EXPECT_EQ(call.error, "");
        const nlohmann::json arguments = try_parse_untrusted_json(call.arguments);
        ASSERT_TRUE(arguments.is_object());
        for (const auto& name : schema.value("required", nlohmann::json::array()))
          EXPECT_TRUE(arguments.contains(name.get<std::string>()));
        if (tool.name == "get_weather") {
          EXPECT_TRUE(arguments["city"].is_string() && arguments["days"].is_number_integer());
          EXPECT_LE(arguments["days"], 14);
        }
        if (tool.name == "texts") {
          EXPECT_TRUE(arguments["a"].is_string());
          EXPECT_LE(arguments.size(), 3u);
        }
        if (tool.name == "either") {
          EXPECT_TRUE(arguments["k"] == "x" || arguments["n"].is_number());
        }
      }
    }
  }
}

}  // namespace
}  // namespace warpchat
