// Servers' streams become events; each is also cut in two at every byte.
#include "engine/remote/chat_stream.h"

#include <gtest/gtest.h>

#include <vector>

#include "models/error.h"

namespace warpchat {
namespace {

// The sums of an answer's events.
struct Answer {
  std::string reasoning, content, notices, error;
  std::vector<ToolCall> calls;
  std::vector<uint32_t> progress;  // done, total, ...
  std::vector<uint32_t> usage;     // prompt, generated, ...
  std::vector<double> gaps;        // of tokens
  EndReason reason = EndReason::kFailed;
  Timings timings;

  void on_event(const Event& event) {
    if (const auto* delta = std::get_if<TextDelta>(&event)) {
      (delta->thinking ? reasoning : content) += delta->text;
      if (delta->seconds > 0) gaps.push_back(delta->seconds);
    } else if (const auto* call = std::get_if<ToolCallDelta>(&event)) {
      calls.resize(std::max<size_t>(calls.size(), call->index + 1));
      calls[call->index].id += call->id;
      calls[call->index].name += call->name;
      calls[call->index].arguments += call->arguments;
    } else if (const auto* p = std::get_if<PromptProgress>(&event)) {
      progress.insert(progress.end(), {p->done, p->total});
    } else if (const auto* u = std::get_if<Usage>(&event)) {
      usage.insert(usage.end(), {u->prompt_tokens, u->generated_tokens});
    } else if (const auto* n = std::get_if<Notice>(&event)) {
      notices += n->text;
    }
  }
  bool operator==(const Answer&) const = default;
};

Answer answer(const std::vector<std::string>& parts, const ChatStream::Context& context = {.host = "box:8000"}) {
  Answer result;
  ChatStream stream(context, [&](const Event& event) { result.on_event(event); });
  GenerationEnd end;
  double now = 0;
  try {
    for (const std::string& part : parts) stream.add(part, now += 0.5);
    end = stream.finish(now);
  } catch (const Error& error) {
    end = stream.cut(EndReason::kFailed, error.what());
  }
  result.reason = end.reason;
  result.timings = end.timings;
  result.error = end.error;
  return result;
}

std::string event(const std::string& data) { return "data: " + data + "\n\n"; }
std::string chunk(const std::string& delta, const std::string& more = "") {
  return event(R"({"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":)" + delta +
               R"(,"finish_reason":null}])" + more + "}");
}
std::string last(const std::string& reason) {
  return event(R"({"choices":[{"index":0,"delta":{},"finish_reason":")" + reason + "\"}]}");
}
const std::string kDone = event("[DONE]");
const std::string kUsage = event(
    R"({"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":3}}})");
const std::string kHello = chunk(R"({"role":"assistant","content":""})") + chunk(R"({"content":"Hel"})") +
                           chunk(R"({"content":"lo \uD83D\uDE42 ä"})");
const std::string kHelloText = "Hello \xF0\x9F\x99\x82 \xC3\xA4";

// Everything except times, which depend on the cuts.
Answer without_times(Answer a) {
  a.gaps.clear();
  a.timings.first_token_seconds = a.timings.generate_seconds = 0;
  return a;
}

TEST(ChatStream, EveryCutGivesTheSameAnswer) {
  const std::string thought = chunk(R"({"content":"<th"})") + chunk(R"({"content":"ink>\nhm"})") +
                              chunk(R"({"content":"m\n</think>\n\nHel"})") + chunk(R"({"content":"lo"})");
  const std::string fault = event(R"({"error":{"message":"out of memory"}})");
  for (const std::string& stream :
       {kHello + last("stop") + kUsage + kDone, thought + last("length") + kDone, ": ping\n\n" + kHello + fault}) {
    const Answer whole = without_times(answer({stream}));
    for (size_t i = 1; i < stream.size(); ++i)
      ASSERT_EQ(without_times(answer({stream.substr(0, i), stream.substr(i)})), whole) << stream << " at " << i;
  }
}

TEST(ChatStream, TextUsageAndTimes) {
  const Answer a = answer({kHello.substr(0, 20), kHello.substr(20), last("stop") + kUsage + kDone});
  EXPECT_EQ(a.content, kHelloText);
  EXPECT_EQ(a.reason, EndReason::kEndOfText);
  EXPECT_EQ(a.usage, (std::vector<uint32_t>{7, 5}));
  EXPECT_EQ(a.timings,
            (Timings{.prompt_tokens = 7, .reused_tokens = 3, .generated_tokens = 5, .first_token_seconds = 1}));
}

TEST(ChatStream, GapsAndSpans) {
  const Answer a = answer({chunk(R"({"content":"a"})"), chunk(R"({"content":"b"})"), ": ping\n\n",
                           chunk(R"({"content":"c"})"), last("length") + kDone});
  EXPECT_EQ(a.gaps, (std::vector<double>{0.5, 0.5, 1}));
  EXPECT_EQ(a.timings.first_token_seconds, 0.5);
  EXPECT_EQ(a.timings.generate_seconds, 1.5);
  EXPECT_EQ(a.timings.generated_tokens, 3u);  // counted, since there is no usage
  EXPECT_EQ(a.reason, EndReason::kTokenLimit);
}

TEST(ChatStream, ThoughtsHaveManyNames) {
  for (const std::string& thought : {
           chunk(R"({"reasoning_content":"hmm"})"),
           chunk(R"({"reasoning":"hmm"})"),
           chunk(R"({"reasoning":"hmm","reasoning_content":"hmm"})"),
           chunk(R"({"reasoning":"hmm","reasoning_content":null,"content":null})"),
           chunk(R"({"content":"<think>\nhmm\n</think>"})"),
       }) {
    const Answer a = answer(
        {thought + chunk(R"({"content":"\n\n"})") + chunk(R"({"content":"\nYes <think>\n"})") + last("stop") + kDone});
    EXPECT_EQ(a.reasoning, "hmm") << thought;
    EXPECT_EQ(a.content, "Yes <think>\n") << thought;
  }
}

TEST(ChatStream, AThoughtThatIsContinued) {
  const Answer a =
      answer({chunk(R"({"content":" more</think>\n\nYes"})") + last("stop")}, {.host = "box", .in_thought = true});
  EXPECT_EQ(a.reasoning, "more");
  EXPECT_EQ(a.content, "Yes");
}

TEST(ChatStream, CompletedTextKeepsItsTags) {
  const Answer a = answer({event(R"({"choices":[{"index":0,"text":"<think>x","finish_reason":"stop"}]})")},
                          {.host = "box", .splits_reasoning = false});
  EXPECT_EQ(a.content, "<think>x");
  EXPECT_EQ(a.reason, EndReason::kEndOfText);
}

TEST(ChatStream, ToolCalls) {
  const Answer a = answer(
      {chunk(R"({"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"add","arguments":""}}]})") +
       chunk(R"({"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":"}}]})") +
       chunk(R"({"tool_calls":[{"index":0,"function":{"arguments":"1}"}},)"
             R"({"index":1,"id":"c2","function":{"name":"now","arguments":{}}}]})") +
       last("tool_calls") + kDone});
  EXPECT_EQ(a.calls, (std::vector<ToolCall>{{"c1", "add", "{\"a\":1}"}, {"c2", "now", "{}"}}));
  EXPECT_EQ(a.reason, EndReason::kEndOfText);
}

TEST(ChatStream, UsageIsToldAgainOnlyWhereDeltasDoNotCount) {
  const auto usage = [](int n) {
    return R"(,"usage":{"prompt_tokens":7,"completion_tokens":)" + std::to_string(n) + "}";
  };
  const Answer a = answer({chunk(R"({"content":""})", usage(0)) + chunk(R"({"content":"a"})", usage(1)) +
                           chunk(R"({"content":"bcd"})", usage(4)) + chunk(R"({"content":"e"})", usage(5)) +
                           last("stop") + kUsage + kDone});
  EXPECT_EQ(a.usage, (std::vector<uint32_t>{7, 0, 7, 4, 7, 5}));
}

TEST(ChatStream, LlamaCppsProgressAndTimings) {
  const Answer a =
      answer({event(R"({"choices":[],"prompt_progress":{"total":100,"cache":40,"processed":60,"time_ms":5}})") +
              chunk(R"({"content":"a"})") +
              event(R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],)"
                    R"("timings":{"cache_n":40,"prompt_n":60,"prompt_ms":250.0,"predicted_n":1}})") +
              kDone});
  EXPECT_EQ(a.progress, (std::vector<uint32_t>{20, 60}));
  EXPECT_EQ(a.timings.prompt_tokens, 100u);
  EXPECT_EQ(a.timings.reused_tokens, 40u);
  EXPECT_EQ(a.timings.prompt_seconds, 0.25);
}

TEST(ChatStream, WaysToEnd) {
  EXPECT_EQ(answer({kHello + last("stop")}).reason, EndReason::kEndOfText);  // no [DONE]
  EXPECT_EQ(answer({kHello + kDone}).reason, EndReason::kEndOfText);         // no finish_reason
  const std::string full = kHello + last("length") + kUsage;
  EXPECT_EQ(answer({full}, {.host = "box", .context = 12}).reason, EndReason::kContextFull);
  EXPECT_EQ(answer({full}, {.host = "box", .context = 13}).reason, EndReason::kTokenLimit);
  EXPECT_EQ(answer({full}, {.host = "box", .limits_tokens = true, .context = 12}).reason, EndReason::kTokenLimit);
  EXPECT_NE(answer({kHello + last("content_filter")}).notices.find("content filter"), std::string::npos);
}

TEST(ChatStream, AServerThatDoesNotStream) {
  const Answer a = answer({R"({"choices":[{"index":0,"message":{"role":"assistant","content":)",
                           R"("Hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":5}})"});
  EXPECT_EQ(a.content, "Hello");
  EXPECT_EQ(a.usage, (std::vector<uint32_t>{7, 5}));
}

struct Fault {
  std::string stream, words;
};

TEST(ChatStream, FaultsAfterTextKeepIt) {
  for (const Fault& f : std::vector<Fault>{
           {kHello, "box:8000 closed the connection before the answer's end"},
           {kHello + "data: {\"choi", "box:8000 closed the connection before the answer's end"},
           {kHello + event("{nonsense"), "cannot read the answer of box:8000: this is not JSON: '{nonsense'"},
           {kHello + event(R"({"error":{"message":"CUDA out of memory.\n","code":500}})"),
            "box:8000 reports an error: CUDA out of memory"},
           {kHello + event(R"({"object":"error","message":"too hot"})"), "box:8000 reports an error: too hot"},
           {kHello + event("\"\xFF\xFE\""), "not JSON"},
           {kHello + "data: " + std::string(5 << 20, 'x'), "longer than 4,194,304 bytes"},
       }) {
    const Answer a = answer({f.stream});
    EXPECT_EQ(a.reason, EndReason::kFailed);
    EXPECT_NE(a.error.find(f.words), std::string::npos) << a.error;
    EXPECT_EQ(a.content, kHelloText);
    EXPECT_EQ(a.timings.generated_tokens, 2u);
  }
}

TEST(ChatStream, WhatIsNoAnswerAtAll) {
  for (const Fault& f : std::vector<Fault>{
           {"", "answers with nothing"},
           {kDone.substr(0, 3), "answers with nothing"},
           {"\n<!DOCTYPE html><html>log in</html>", "web page"},
           {"{\"choices\": nonsense}", "not JSON"},
           {R"({"error": {"message": "no"}})", "reports an error: no"},
           {std::string(300000, 'x'), "not an event stream"},
           {std::string(5 << 20, 'x'), "longer than 4,194,304 bytes"},
           {"{" + std::string(5 << 20, 'x'), "longer than 4,194,304 bytes"},
           {"garbage\n" + std::string(70000, 'x') + "\n", "not an event stream"},
           {std::string(100000, '[') + "\n\n", "not an event stream"},
           {event(std::string(100000, '[')), "not JSON"},
       }) {
    const Answer a = answer({f.stream});
    EXPECT_NE(a.error.find(f.words), std::string::npos) << a.error << " for " << f.stream.substr(0, 40);
    EXPECT_EQ(a.content, "");
  }
}

TEST(ChatStream, OddValuesArePassedOver) {
  for (const char* odd :
       {"null", "1", "[]", "\"x\"", "{}", R"({"choices":1})", R"({"choices":[1,null,[]]})",
        R"({"choices":[{"delta":1}]})", R"({"choices":[{"delta":{"content":{"a":1},"tool_calls":5}}]})",
        R"({"choices":[{"delta":{"tool_calls":[1,{"function":2}]}}]})",
        R"({"usage":{"prompt_tokens":-5,"completion_tokens":"x"}})", R"({"usage":7,"timings":[]})",
        R"({"choices":[{"index":1,"delta":{"content":"of another choice"}}]})",
        R"({"prompt_progress":{"total":1,"cache":9,"processed":5}})", R"({"usage":{"prompt_tokens":1e300}})"}) {
    const Answer a = answer({event(odd) + kHello + last("stop") + kDone});
    EXPECT_EQ(a.content, kHelloText) << odd;
    EXPECT_EQ(a.error, "") << odd;
  }
}

}  // namespace
}  // namespace warpchat
