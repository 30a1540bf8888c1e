// Structured answers from servers: requests, refusals, and the check at the end.
#include <gtest/gtest.h>

#include "engine/remote/chat_request.h"
#include "engine/remote/form_check.h"
#include "engine/remote/json_spelling.h"
#include "engine/remote/strict_schema.h"
#include "models/error.h"

namespace warpchat {
namespace {

using nlohmann::ordered_json;
using Kind = AnswerForm::Kind;

const AnswerForm kSchema{Kind::kSchema,
                         R"({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})"};
const AnswerForm kGrammar{Kind::kGrammar, "root ::= \"yes\" | \"no\""};

std::vector<Message> form_question() { return {{.role = "user", .content = "Why?"}}; }

ordered_json body_of(const Prompt& prompt, const AnswerForm& form, ServerKind kind,
                     const std::set<std::string>& left_out = {}) {
  AnswerOptions options;
  options.form = form;
  return remote_request(prompt, options, {.id = "m", .kind = kind}, left_out).body;
}

std::string error_of(const Prompt& prompt, const AnswerForm& form, ServerKind kind) {
  try {
    body_of(prompt, form, kind);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(FormRequest, EveryServerIsAskedForASchema) {
  for (const ServerKind kind : {ServerKind::kUnknown, ServerKind::kVllm, ServerKind::kSgLang, ServerKind::kLlamaCpp,
                                ServerKind::kOllama, ServerKind::kMistral}) {
    const ordered_json body = body_of(form_question(), kSchema, kind);
    EXPECT_EQ(
        body["response_format"].dump(),
        R"({"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object","properties":{"n":{"type":)"
        R"("integer"}},"required":["n"]}}})");
    EXPECT_FALSE(body.contains("json_schema") || body.contains("structured_outputs"));
  }
  EXPECT_FALSE(body_of(form_question(), {}, ServerKind::kUnknown).contains("response_format"));
}

TEST(FormRequest, OfATextThatIsCompleted) {
  const Prompt text = std::string("Once");
  EXPECT_EQ(body_of(text, kSchema, ServerKind::kLlamaCpp)["json_schema"]["type"], "object");
  EXPECT_EQ(body_of(text, kSchema, ServerKind::kVllm)["structured_outputs"]["json"]["type"], "object");
  for (const ServerKind kind : {ServerKind::kUnknown, ServerKind::kSgLang, ServerKind::kOllama, ServerKind::kMistral})
    EXPECT_NE(error_of(text, kSchema, kind).find("in a message instead"), std::string::npos);
}

TEST(FormRequest, AGrammarNeedsAFieldForIt) {
  for (const Prompt& prompt : {Prompt(form_question()), Prompt(std::string("Once"))}) {
    EXPECT_EQ(body_of(prompt, kGrammar, ServerKind::kLlamaCpp)["grammar"], kGrammar.text);
    EXPECT_EQ(body_of(prompt, kGrammar, ServerKind::kVllm)["structured_outputs"]["grammar"], kGrammar.text);
    for (const ServerKind kind : {ServerKind::kUnknown, ServerKind::kSgLang, ServerKind::kOllama, ServerKind::kMistral})
      EXPECT_NE(error_of(prompt, kGrammar, kind).find("no field for a grammar"), std::string::npos);
  }
}

TEST(FormRequest, SchemasThatNoServerCanRead) {
  EXPECT_NE(
      error_of(form_question(), {Kind::kSchema, R"({"minimum": 1e999})"}, ServerKind::kVllm).find("cannot be sent"),
      std::string::npos);
}

TEST(FormRequest, RefusedFields) {
  const ordered_json body = body_of(form_question(), kSchema, ServerKind::kUnknown);
  using Names = std::set<std::string>;
  for (const char* words :
       {"Unrecognized request argument supplied: response_format",
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model",
        "This response_format type is unavailable now",
        "This model does not support response format `json_schema`. See supported models",
        "Input should be 'text' or 'json_object' at body.response_format.type"})
    EXPECT_EQ(refused_fields(body, words), Names{"response_format"}) << words;
  for (const char* words :
       {"Invalid schema for response_format 'answer': In context=('properties', 'n'), 'minLength' is not permitted",
        "temperature is not supported in json mode", "the schema is too deep"})
    EXPECT_FALSE(refused_fields(body, words).contains("response_format")) << words;
  EXPECT_FALSE(
      body_of(form_question(), kSchema, ServerKind::kUnknown, {"response_format"}).contains("response_format"));
  const ordered_json held = body_of(form_question(), kGrammar, ServerKind::kLlamaCpp);
  EXPECT_EQ(refused_fields(held, "unknown field grammar"), Names{});  // without it the answer is free
}

TEST(StrictMode, OpenAisSubset) {
  const auto fits = [](const char* schema) { return fits_strict_mode(ordered_json::parse(schema)); };
  constexpr const char* kClosed =
      R"({"type":"object","properties":{"a":{"type":["string","null"],"format":"date"},"b":{"$ref":"#/$defs/l"}},)"
      R"("required":["a","b"],"additionalProperties":false,"$defs":{"l":{"type":"array","items":{"enum":[1,2]}}}})";
  EXPECT_TRUE(fits(kClosed));
  EXPECT_TRUE(fits(R"({"type":"object","additionalProperties":false})"));
  for (const char* other :
       {"true", "{}", R"({"type":"array"})", R"({"type":"object"})", R"({"type":"object","properties":{"a":{}}})",
        R"({"type":"object","properties":{"a":{}},"additionalProperties":false})",
        R"({"type":"object","properties":{"a":{}},"required":[],"additionalProperties":false})",
        R"({"type":"object","properties":{"a":{"minLength":1}},"required":["a"],"additionalProperties":false})",
        R"({"type":"object","properties":{"a":{"type":"object"}},"required":["a"],"additionalProperties":false})",
        R"({"type":"object","properties":{"a":{"format":"uri"}},"required":["a"],"additionalProperties":false})",
        R"({"type":"object","properties":{"a":true},"required":["a"],"additionalProperties":false})",
        R"({"type":"object","anyOf":[{"type":"object","additionalProperties":false}],"additionalProperties":false})"})
    EXPECT_FALSE(fits(other)) << other;
  EXPECT_EQ(body_of(form_question(), {Kind::kSchema, kClosed},
                    ServerKind::kUnknown)["response_format"]["json_schema"]["strict"],
            true);
}

struct SpellingCase {
  const char *written, *spelled;
};
constexpr SpellingCase kSpellings[] = {
    {"\n { \"a\" :\t[ 1 , 2 ] }\n\n", R"({"a":[1,2]})"},
    {R"({"a b": " x \" y "})", R"({"a b":" x \" y "})"},
    {"[1.0, 1.50, 10e-1, 1E+2, -0.0, 0.05, 5e-2, -2.5e1, 100, 1e30, 12]",
     "[1,1.5,1,100,0,0.05,0.05,-25,100,1000000000000000000000000000000,12]"},
    {"[1e99, 1e-99, 01, 1., .5, 1e, 1e+-5, --1, 1e99999999999]", "[1e99,1e-99,01,1.,.5,1e,1e+-5,--1,1e99999999999]"},
    {"1 2", "1 2"},
    {"tr ue", "tr ue"},
    {"- 1", "- 1"},
    {"Sure! Here", "Sure!Here"},
    {"\"open \\", "\"open \\"},
    {"", ""},
};
TEST(JsonSpelling, ChangesBlanksAndNumbersAlone) {
  for (const SpellingCase& c : kSpellings) {
    const SpelledJson spelled = spell_json(c.written, /*is_cut=*/false);
    EXPECT_EQ(spelled.text, c.spelled);
    ASSERT_EQ(spelled.positions.size(), spelled.text.size() + 1) << c.written;
    EXPECT_TRUE(std::is_sorted(spelled.positions.begin(), spelled.positions.end())) << c.written;
    EXPECT_LE(spelled.positions.back(), std::string_view(c.written).size()) << c.written;
  }
  EXPECT_EQ(spell_json("[1, 2.", /*is_cut=*/true).text, "[1,");
  EXPECT_EQ(spell_json("[1, \"2.", /*is_cut=*/true).text, "[1,\"2.");
  EXPECT_EQ(spell_json(" [ 1", /*is_cut=*/false).positions, (std::vector<size_t>{1, 3, 4}));
}

std::string fault(const AnswerForm& form, std::vector<Event> events, EndReason reason,
                  const Prompt& prompt = form_question()) {
  FormCheck check(prompt, form);
  for (const Event& event : events) check.observe(event);
  return check.fault(reason);
}

TextDelta text(const char* piece, bool thinking = false) { return {piece, -1, 0, thinking}; }

TEST(FormCheck, AnswersThatKeepToTheirForm) {
  for (const char* answer : {R"({"n":1})", "{\n\t\"n\"  :  1.0\n}\n", "\n\n{\"n\": 1e2, \"m\": [ ]} "})
    EXPECT_EQ(fault(kSchema, {text(answer)}, EndReason::kEndOfText), "") << answer;
  EXPECT_EQ(fault(kGrammar, {text("Hm", true), text("y"), text("es")}, EndReason::kEndOfText), "");
  EXPECT_EQ(fault(kSchema, {text("Hm.\n"), Reclassified{true}, text("{\"n\": 1}")}, EndReason::kEndOfText), "");
  EXPECT_EQ(fault({}, {text("anything")}, EndReason::kEndOfText), "");
  EXPECT_EQ(fault(kSchema, {ToolCallDelta{0, "c1", "search", "{}"}}, EndReason::kEndOfText), "");
}

TEST(FormCheck, AnswersThatDoNot) {
  const auto whole = [](const AnswerForm& form, const char* answer) {
    return fault(form, {text(answer)}, EndReason::kEndOfText);
  };
  const std::string advice = "; describe the form in the prompt, too";
  EXPECT_EQ(whole(kSchema, "Sure!"), "the schema: at byte 0 of the answer expected '{', found 'Sure!'" + advice);
  EXPECT_EQ(whole(kSchema, "```json\n{\"n\": 1}\n```"),
            "the schema: at byte 0 of the answer expected '{', found '```json'"
            "; the answer is a code block, ask for JSON without one in the prompt");
  EXPECT_NE(whole(kSchema, "{ \"n\": 1.5 }").find("at byte 8 of the answer"), std::string::npos);
  EXPECT_NE(whole(kSchema, "{\"n\": 1 2}").find("at byte 8 of the answer"), std::string::npos);
  for (const char* answer : {"{\"n\": 1", "{\"n\": 1 \n"})
    EXPECT_NE(whole(kSchema, answer).find("at byte 7 of the answer expected"), std::string::npos) << answer;
  EXPECT_NE(whole(kSchema, "{\"n\": 1 \n").find("found its end"), std::string::npos);
  EXPECT_NE(whole(kSchema, "").find("at byte 0 of the answer expected '{', found its end"), std::string::npos);
  EXPECT_EQ(whole(kGrammar, "yes\n"),
            "the grammar: at byte 3 of the answer expected the end, found a line break" + advice);
}

TEST(FormCheck, AnAnswerThatWasCutIsABeginning) {
  for (const EndReason reason : {EndReason::kTokenLimit, EndReason::kContextFull, EndReason::kContentFilter}) {
    for (const char* answer : {"{\"n\": 1", "{\"n\": 1.", "{ \"", "", "{\"n\":1, \"x\": tr"})
      EXPECT_EQ(fault(kSchema, {text(answer)}, reason), "") << answer;
    EXPECT_NE(fault(kSchema, {text("Sure")}, reason), "");
  }
  for (const EndReason reason : {EndReason::kStopped, EndReason::kFailed})
    EXPECT_EQ(fault(kSchema, {text("Sure")}, reason), "");
}

TEST(FormCheck, TheBeginningOfAContinuedAnswerCounts) {
  std::vector<Message> begun = form_question();
  begun.push_back({.role = "assistant", .content = "{\"n\": ", .reasoning = "Hm"});
  EXPECT_EQ(fault(kSchema, {text("7}")}, EndReason::kEndOfText, begun), "");
  EXPECT_NE(fault(kSchema, {text("{\"n\": 7}")}, EndReason::kEndOfText, begun), "");
}

TEST(FormCheck, AFormThatCannotBeRead) {
  EXPECT_THROW(fault({Kind::kSchema, "{"}, {text("x")}, EndReason::kEndOfText), Error);
}

}  // namespace
}  // namespace warpchat
