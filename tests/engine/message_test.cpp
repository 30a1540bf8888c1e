// A message's JSON form, errors in others, and splitting reasoning from answers.
#include "engine/message.h"

#include <gtest/gtest.h>

#include <cctype>
#include <regex>
#include <sstream>

#include <nlohmann/json.hpp>

#include "tests/support/error_of.h"

namespace warpchat {
namespace {

using nlohmann::ordered_json;

Message full() {
  return {.role = "assistant",
          .content = "the \"answer\"\n日本語",
          .reasoning = "hm\n<think> is a word here",
          .files = {{"a.txt", "one\ntwo"}, {"", ""}},
          .tool_calls = {{"call_1", "weather", "{\"city\": \"Bern\"}"}, {"call_2", "time", ""}},
          .tool_call_id = "call_0",
          .model = "qwen3.gguf",
          .endpoint = "http://localhost:8000/v1",
          .timings = Timings{4'000'000'000, 2, 3, 0.5, 1.25, 0.0625},
          .cut = AnswerCut::kTokenLimit,
          .failure = "the server sent \"nothing\"",
          .reasoning_ended = true};
}

TEST(MessageJson, EveryFieldComesBack) {
  EXPECT_EQ(message_from_json(to_json(full())), full());
  EXPECT_EQ(message_from_json(ordered_json::parse(to_json(full()).dump())), full());
  const Message whole = full();
  using Clear = void (*)(Message&);
  constexpr Clear kClears[] = {
      [](Message& m) { m.content.clear(); },        [](Message& m) { m.reasoning.clear(); },
      [](Message& m) { m.files.clear(); },          [](Message& m) { m.tool_calls.clear(); },
      [](Message& m) { m.model.clear(); },          [](Message& m) { m.tool_call_id.clear(); },
      [](Message& m) { m.endpoint.clear(); },       [](Message& m) { m.failure.clear(); },
      [](Message& m) { m.timings.reset(); },        [](Message& m) { m.timings = Timings(); },
      [](Message& m) { m.cut = AnswerCut::kNone; }, [](Message& m) { m.cut = AnswerCut::kContextFull; }};
  for (const Clear clear : kClears) {
    Message message = whole;
    clear(message);
    EXPECT_EQ(message_from_json(to_json(message)), message) << to_json(message).dump();
  }
}

TEST(MessageJson, WhatIsEmptyIsLeftOut) {
  EXPECT_EQ(to_json({"user", "hi"}).dump(), R"({"role":"user","content":"hi"})");
  EXPECT_EQ(to_json({.role = "user", .content = "hi", .files = {{"a", "b"}}}).dump(),
            R"({"role":"user","content":[{"type":"file","name":"a","text":"b"},{"type":"text","text":"hi"}]})");
}

TEST(MessageJson, OtherKeysArePassedOver) {
  const Message read = message_from_json(ordered_json::parse(
      R"({"id": 7, "role": "assistant", "name": null, "model": null, "timings": null, "tool_calls": null,
          "content": [{"type": "image_url", "image_url": {"url": "x"}}, {"type": "text", "text": "a", "more": [1]},
                      {"type": "text", "text": "b"}], "annotations": [], "reasoning": "c"})"));
  EXPECT_EQ(read, (Message{.role = "assistant", .content = "a\n\nb", .reasoning = "c"}));
  EXPECT_EQ(message_from_json(ordered_json::object()), Message{});
}

struct WrongCase {
  const char *json, *sentence;
};
constexpr WrongCase kWrong[] = {
    {"[]", "a message must be an object"},
    {"\"text\"", "a message must be an object"},
    {R"({"role": 1})", "a message's \"role\" must be a text"},
    {R"({"content": 1})", "a message's \"content\" must be a text or a list of parts"},
    {R"({"content": {"type": "text"}})", "a message's \"content\" must be a text or a list of parts"},
    {R"({"content": ["a"]})", "a message's \"content\" must be a text or a list of parts"},
    {R"({"content": [{"type": "text", "text": 1}]})", "a message's \"text\" must be a text"},
    {R"({"content": [{"type": "file", "name": []}]})", "a message's \"name\" must be a text"},
    {R"({"content": [{"type": 1}]})", "a message's \"type\" must be a text"},
    {R"({"reasoning": ["a"]})", "a message's \"reasoning\" must be a text"},
    {R"({"reasoning_ended": 1})", "a message's \"reasoning_ended\" must be true or false"},
    {R"({"tool_calls": {}})", "a message's \"tool_calls\" must be a list"},
    {R"({"tool_calls": [1]})", "a message's \"tool_calls\" must be a list of objects"},
    {R"({"tool_calls": [{"arguments": {}}]})", "a message's \"arguments\" must be a text"},
    {R"({"tool_call_id": 1})", "a message's \"tool_call_id\" must be a text"},
    {R"({"model": false})", "a message's \"model\" must be a text"},
    {R"({"endpoint": 0.5})", "a message's \"endpoint\" must be a text"},
    {R"({"timings": []})", "a message's \"timings\" must be an object"},
    {R"({"timings": {"prompt_tokens": "1"}})", "a message's \"prompt_tokens\" must be a number from 0"},
    {R"({"timings": {"reused_tokens": -1}})", "a message's \"reused_tokens\" must be a number from 0"},
    {R"({"timings": {"generated_tokens": 1e300}})", "a message's \"generated_tokens\" must be a number from 0"},
    {R"({"timings": {"generate_seconds": 18446744073709551615}})",
     "a message's \"generate_seconds\" must be a number from 0"},
};
TEST(MessageJson, AWrongTypeIsToldByItsKey) {
  for (const WrongCase& row : kWrong)
    EXPECT_EQ(error_of([&] { message_from_json(ordered_json::parse(row.json)); }), row.sentence) << row.json;
}

TEST(MessageJson, LargeOnesComeBack) {
  Message large{.role = "user", .content = std::string(5'000'000, '"')};
  for (int i = 0; i < 10'000; ++i) {
    large.files.push_back({std::to_string(i), "`"});
    large.tool_calls.push_back({std::to_string(i), "", "{}"});
  }
  EXPECT_EQ(message_from_json(ordered_json::parse(to_json(large).dump())), large);
}

TEST(MessageText, AFileCannotEndItsCodeBlock) {
  const Message message{.role = "user", .content = "read", .files = {{"a.md", "x\n````\ny"}, {"b", ""}}};
  EXPECT_EQ(text_for_model(message), "a.md:\n\n`````\nx\n````\ny\n`````\n\nb:\n\n```\n\n```\n\nread");
}

struct ThoughtCase {
  const char *text, *reasoning, *content;
};
constexpr ThoughtCase kThoughts[] = {
    {"", "", ""},
    {"plain", "", "plain"},
    {"<think>\nhm\n</think>\n\nyes", "hm", "yes"},
    {"\n <think>hm</think>yes", "hm", "yes"},
    {"<think>\n\n</think>\n\nyes", "", "yes"},  // templates without thinking open an answer like this
    {"<think>\n a\n\n b \r\n</think>\r\n\r\n  yes\n", "a\n\n b", "  yes\n"},
    {"<think>\nnever ended \n", "never ended \n", ""},
    {"<think>", "", ""},
    {"<think>a</think>", "a", ""},
    {"<think>a</think>b</think>c", "a", "b</think>c"},
    {"<think>a<think>b</think>c", "a<think>b", "c"},
    {"so <think>a</think>", "", "so <think>a</think>"},
    {"<thinking>a</thinking>", "", "<thinking>a</thinking>"},
    {"<Think>a</Think>", "", "<Think>a</Think>"},
    {"</think>a", "", "</think>a"},
};
TEST(MessageThought, IsPartedAtAnAnswersStart) {
  for (const ThoughtCase& row : kThoughts) {
    Message message{.role = "assistant", .content = row.text};
    part_reasoning(message);
    EXPECT_EQ(message, (Message{.role = "assistant", .content = row.content, .reasoning = row.reasoning})) << row.text;
  }
}

// user "a" is written a, an answer A, a thought alone (A), a call <c1>, its result =c1.
std::vector<Message> written(const std::string& turns) {
  std::vector<Message> messages;
  std::istringstream words(turns);
  for (std::string word; words >> word;) {
    const std::string inner = word.size() > 2 ? word.substr(1, word.size() - 2) : "";
    if (word.front() == '=')
      messages.push_back({.role = "tool", .content = "result", .tool_call_id = word.substr(1)});
    else if (word.front() == '<')
      messages.push_back({.role = "assistant", .tool_calls = {{inner, "search", "{}"}}});
    else if (word.front() == '(')
      messages.push_back({.role = "assistant", .reasoning = inner});
    else if (word == "_")
      messages.push_back({.role = "assistant", .content = "\n \n"});
    else
      messages.push_back({.role = std::isupper(word.front()) != 0 ? "assistant" : "user", .content = word});
  }
  return messages;
}

std::string shown(const std::vector<Message>& messages) {
  std::string text;
  for (const Message& message : messages) {
    text += text.empty() ? "" : " ";
    if (message.role == "tool") text += "=" + message.tool_call_id;
    for (const ToolCall& call : message.tool_calls) text += "<" + call.id + ">";
    if (message.role != "tool") text += message.content;
    if (message.content.empty() && !message.reasoning.empty()) text += "(" + message.reasoning + ")";
  }
  return std::regex_replace(text, std::regex("\n\n"), "+");
}

TEST(Message, WhatAModelMayRead) {
  struct Case {
    const char *stored, *read;
  };
  for (const Case& c :
       {Case{"a A b", "a A b"}, Case{"a (T) b", "a+b"},                                     // a thought alone
        Case{"a _ b", "a+b"},                                                               // line breaks alone
        Case{"a <c1> b", "a+b"},                                                            // a call without an answer
        Case{"a <c1> =c1 B c", "a <c1> =c1 B c"}, Case{"a <c1> =c2 B c", "a B c"},          // a result of another call
        Case{"a =c1 b", "a+b"}, Case{"a <c1> (T) _ b A c", "a+b A c"}, Case{"a A", "a A"},  // to be continued
        Case{"a (T)", "a (T)"}, Case{"a _", "a"},  // nothing to continue: to be answered
        Case{"a <c1>", "a"}, Case{"(T) a", "a"}, Case{"", ""}}) {
    const std::vector<Message> read = messages_for_model(written(c.stored));
    EXPECT_EQ(shown(read), c.read) << c.stored;
    EXPECT_EQ(shown(messages_for_model(read)), c.read) << "once more: " << c.stored;
  }
  const std::vector<Message> files = messages_for_model(
      {{.role = "user", .files = {{"a.txt", "text"}}}, {.role = "assistant", .reasoning = "T"}, {.role = "user"}});
  EXPECT_EQ(files.size(), 1u);  // a file is text; an empty message is none
  Message both{.role = "assistant", .content = "B", .tool_calls = {{"c1", "search", "{}"}}};
  EXPECT_EQ(shown(messages_for_model({{.role = "user", .content = "a"}, both, {.role = "user", .content = "c"}})),
            "a B c");
}

TEST(Message, JoinsARoundsTextsWithWhatFollows) {
  const std::vector<ToolRound> rounds{{"First.\n", "a thought", {}}, {" \n", "", {}}};
  EXPECT_EQ(joined(rounds, &ToolRound::content, "Last."), "First.\n\nLast.");
  EXPECT_EQ(joined(rounds, &ToolRound::reasoning, "\n"), "a thought");
  EXPECT_EQ(joined({}, &ToolRound::content, " as it is\n"), " as it is\n");
  EXPECT_EQ(joined(rounds, &ToolRound::content, ""), "First.");
}

}  // namespace
}  // namespace warpchat
