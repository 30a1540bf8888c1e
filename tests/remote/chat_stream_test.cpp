// Servers' streams become events; each is also cut in two at every byte.
#include "engine/remote/chat_stream.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
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
  bool tells_prompt = true, tells_reused = true, tells_generated = true;

  void on_event(const Event& event) {
    if (const auto* found = std::get_if<Reclassified>(&event)) {
      reclassify(content, reasoning, found->thinking);
    } else if (const auto* delta = std::get_if<TextDelta>(&event)) {
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
  result.tells_prompt = end.told.prompt;
  result.tells_reused = end.told.reused;
  result.tells_generated = end.told.generated;
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
           chunk(R"({"thinking":"hmm"})"),
           chunk(R"({"reasoning_details":[{"type":"reasoning.text","text":"hm"},{"summary":"m"}]})"),
           chunk(R"({"reasoning":"hmm","reasoning_details":[{"type":"reasoning.text","text":"hmm"}]})"),
           chunk(R"({"content":[{"type":"thinking","thinking":[{"type":"text","text":"hmm"}]}]})"),
           chunk(R"({"content":[{"type":"thinking","thinking":"hmm"},{"type":"text","text":"\n"}]})"),
       }) {
    const Answer a = answer(
        {thought + chunk(R"({"content":"\n\n"})") + chunk(R"({"content":"\nYes <think>\n"})") + last("stop") + kDone});
    EXPECT_EQ(a.reasoning, "hmm") << thought;
    EXPECT_EQ(a.content, "Yes <think>\n") << thought;
  }
}

const ReasoningSplitter::Begin kInThought{.state = ReasoningSplitter::State::kThinking, .has_text = true};
const ReasoningSplitter::Begin kAfterThought{.state = ReasoningSplitter::State::kAnswer, .has_thought = true};

std::string content_chunk(const std::string& text) { return chunk(nlohmann::json{{"content", text}}.dump()); }

TEST(ChatStream, AThoughtThatIsContinued) {
  const Answer a =
      answer({chunk(R"({"content":" more</think>\n\nYes"})") + last("stop")}, {.host = "box", .begin = kInThought});
  EXPECT_EQ(a.reasoning, " more");
  EXPECT_EQ(a.content, "Yes");
}

// A template opens the thought in the prompt, and the server leaves its end in the text.
TEST(ChatStream, AClosingTagAloneEndsAThought) {
  const std::string pieces = content_chunk("Two and two, ") + content_chunk("so add.</thi") +
                             content_chunk("nk>\n\nFour.") + last("stop") + kDone;
  for (size_t i = 1; i < pieces.size(); ++i) {
    const Answer a = answer({pieces.substr(0, i), pieces.substr(i)});
    ASSERT_EQ(a.reasoning + "|" + a.content, "Two and two, so add.|Four.") << "cut at " << i;
  }
  const auto shown = [](const std::vector<std::string>& texts, ChatStream::Context context = {.host = "box"}) {
    std::string stream;
    for (const std::string& text : texts) stream += content_chunk(text);
    const Answer a = answer({stream + last("stop")}, context);
    return a.reasoning + "|" + a.content;
  };
  EXPECT_EQ(shown({"Add.", "\n</think>"}), "Add.|");
  EXPECT_EQ(shown({"Write `</think>`\n", "```\n</think>\n```\n"}), "|Write `</think>`\n```\n</think>\n```\n");
  EXPECT_EQ(shown({"Add.\n</think>\n"}, {.host = "box", .splits_reasoning = false}), "|Add.\n</think>\n");
  ReasoningSplitter::Begin in_code{.state = ReasoningSplitter::State::kAnswer, .has_text = true};
  in_code.code.add("```\n");
  EXPECT_EQ(shown({"</think>", "\n```\n"}, {.host = "box", .begin = in_code}), "|</think>\n```\n");
}

TEST(ChatStream, APresumedThoughtThatNeverEndsWasTheAnswer) {
  const auto read = [](const std::string& stream) {
    const Answer a = answer({stream}, {.host = "box", .presumes_thought = true});
    return a.reasoning + "|" + a.content;
  };
  EXPECT_EQ(read(content_chunk("Add.</think>\n\nFour.") + last("stop")), "Add.|Four.");
  EXPECT_EQ(read(content_chunk("<think>Add.</think>\n\nFour.") + last("stop")), "Add.|Four.");
  EXPECT_EQ(read(content_chunk("Four.\n") + last("stop")), "|Four.\n");
  EXPECT_EQ(read(content_chunk("Add") + last("length")), "Add|");
  EXPECT_EQ(read(chunk(R"({"reasoning":"Add."})") + content_chunk("Four.") + last("stop")), "Add.|Four.");
}

TEST(ChatStream, AThoughtThatIsSentTwiceIsShownOnce) {
  const auto read = [](const std::vector<std::string>& texts, const char* reasoning = R"({"reasoning":"Let us\n"})") {
    std::string stream = chunk(reasoning) + chunk(R"({"reasoning":"add."})");
    for (const std::string& text : texts) stream += content_chunk(text);
    const Answer a = answer({stream + last("stop")});
    return a.reasoning + "|" + a.content;
  };
  EXPECT_EQ(read({"<think>\nLet us\nadd.\n</think>\n\nFour."}), "Let us\nadd.|Four.");
  EXPECT_EQ(read({"<th", "ink>Let", " us add", ".</think", ">", "Four."}), "Let us\nadd.|Four.");
  EXPECT_EQ(read({"[THINK]Let us add.[/THINK]Four."}), "Let us\nadd.|Four.");
  EXPECT_EQ(read({"\n</think>\n\nFour."}), "Let us\nadd.|Four.") << "its end alone";
  EXPECT_EQ(read({"<think> is a tag."}), "Let us\nadd.|<think> is a tag.");
  EXPECT_EQ(read({"<think>Let us add.[/THINK]Four."}), "Let us\nadd.|<think>Let us add.[/THINK]Four.");
  EXPECT_EQ(read({"<think>Let us"}), "Let us\nadd.|<think>Let us");
  EXPECT_EQ(read({"So.\n</think>\nFour."}), "Let us\nadd.|So.\n</think>\nFour.");
}

TEST(ChatStream, AThoughtThatHasEndedIsToldAndNotGoneOnWith) {
  const auto ends = [](const std::string& stream) {
    ChatStream read({.host = "box"}, [](const Event&) {});
    read.add(stream, 0);
    return read.finish(0).reasoning_ended;
  };
  const std::string open = chunk(R"({"content":"<think>\nHm."})"), apart = chunk(R"({"reasoning":"Hm."})");
  EXPECT_FALSE(ends(open + last("length")));
  EXPECT_TRUE(ends(open + chunk(R"({"content":"\n</think>"})") + last("length")));
  EXPECT_FALSE(ends(apart + last("length")));
  EXPECT_TRUE(ends(apart + chunk(R"({"content":"\n\n"})") + last("length")));
  const Answer a = answer({chunk(R"({"content":"\n\nFour"})") + last("stop")}, {.host = "box", .begin = kAfterThought});
  EXPECT_EQ(a.content, "Four");
  EXPECT_EQ(a.reasoning, "");
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
}

// What a server that stops by itself sends; the text is kept, and the answer is not taken for a complete one.
TEST(ChatStream, OnlyKnownFinishReasonsMeanTheEnd) {
  for (const char* reason : {"stop", "STOP", "eos", "eos_token", "stop_sequence", "end_turn", "COMPLETE", "tool_calls"})
    EXPECT_EQ(answer({kHello + last(reason) + kDone}).reason, EndReason::kEndOfText) << reason;
  for (const char* reason : {"length", "max_tokens", "MAX_TOKENS", "model_length"})
    EXPECT_EQ(answer({kHello + last(reason) + kDone}).reason, EndReason::kTokenLimit) << reason;
  for (const char* reason : {"content_filter", "SAFETY"}) {
    const Answer a = answer({kHello + last(reason) + kDone});
    EXPECT_EQ(a.reason, EndReason::kContentFilter) << reason;
    EXPECT_NE(a.notices.find("content filter"), std::string::npos);
  }
  for (const char* reason : {"abort", "error", "insufficient_system_resource", "anything"})
    for (const std::string& end : {kDone, std::string()}) {
      const Answer a = answer({kHello + last(reason) + end});
      EXPECT_EQ(a.reason, EndReason::kFailed) << reason;
      EXPECT_EQ(a.error, std::string("box:8000 ended the answer with the unknown reason '") + reason +
                             "'; it may be incomplete");
      EXPECT_EQ(a.content, kHelloText);
    }
  const Answer a = answer({kHello + last("null")});
  EXPECT_EQ(a.error, "box:8000 closed the connection before the answer's end");
  EXPECT_EQ(answer({kHello + last("busy") + kHello + last("stop")}).reason, EndReason::kEndOfText);
  EXPECT_EQ(answer({kHello + event(R"({"choices":[{"delta":{},"finish_reason":{"type":"length"}}]})")}).reason,
            EndReason::kTokenLimit);
}

TEST(ChatStream, DoneEndsTheAnswerAtOnce) {
  ChatStream stream({.host = "box"}, [](const Event&) {});
  stream.add(kHello, 0);
  EXPECT_FALSE(stream.is_ending());
  stream.add(last("stop"), 0);
  EXPECT_TRUE(stream.is_ending());
  EXPECT_FALSE(stream.is_done());  // usage may follow
  stream.add(kHello, 0);
  EXPECT_FALSE(stream.is_ending());  // a server that gives a reason with each text
  stream.add(kUsage + kDone, 0);
  EXPECT_TRUE(stream.is_done());
}

TEST(ChatStream, CommentsAreNoData) {
  ChatStream stream({.host = "box"}, [](const Event&) {});
  stream.add(kHello + "data:", 0);
  const uint64_t before = stream.payload_bytes();
  for (const char* comment :
       {"\n\n", ": ping\n\n", "data: : waiting\n\n", "event: ping\ndata:\n\n", "data: \n\n", ": p"})
    stream.add(comment, 0);
  EXPECT_EQ(stream.payload_bytes(), before);
  stream.add("ing\n\ndata: {", 0);
  EXPECT_GT(stream.payload_bytes(), before);  // a long event that comes slowly
}

TEST(ChatStream, EventsWithoutAPayloadArePassedOver) {
  for (const char* odd : {"data:\n\n", "data\n\n", "data: \t\n\n", "data: : WAITING FOR A MODEL\n\n",
                          "event: ping\ndata:\n\n", "data:\ndata:\n\n", "data: {nonsense\n\n", "data: \"\xFF\xFE\"\n\n",
                          "data: {\"choices\": : still here\n\n \"x\"}\n\n"}) {
    const Answer a = answer({odd + kHello + odd + last("stop") + odd + kDone + odd});
    EXPECT_EQ(a.content, kHelloText) << odd;
    EXPECT_EQ(a.reason, EndReason::kEndOfText) << odd;
    EXPECT_EQ(a.error, "") << odd;
    const bool may_be_text = std::string(odd).find('{') != std::string::npos;
    EXPECT_EQ(a.notices,
              may_be_text ? "box:8000 sent 3 events that cannot be read; a part of the answer may be missing" : "")
        << odd;
  }
}

TEST(ChatStream, CharactersThatAreSplitBetweenEvents) {
  const std::string smile = "\xF0\x9F\x99\x82";
  struct Split {
    std::string first, second, text;
  };
  for (const Split& s : std::vector<Split>{
           {"a\\uD83D", "\\uDE42b", "a" + smile + "b"},
           {"a\\ud83d\\ude42\\ud83d", "\\ude42", "a" + smile + smile},
           {"a" + smile.substr(0, 1), smile.substr(1) + "b", "a" + smile + "b"},
           {"a" + smile.substr(0, 3), smile.substr(3), "a" + smile},
           {"\xC3", "\xA4", "\xC3\xA4"},
           {"a\\uD83D", "b",
            "a\xEF\xBF\xBD"
            "b"},
           {"a", "\\uDE42b",
            "a\xEF\xBF\xBD"
            "b"},
           {"a\xF0\x9F", "b\xFF",
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD"},
           {"a", "b\\uD83D", "ab\xEF\xBF\xBD"},
           {"\\\\uD83D", "\\\"", "\\uD83D\""},
       }) {
    for (const char* name : {"content", "reasoning"}) {
      const auto piece = [&](const std::string& text) {
        return chunk("{\"" + std::string(name) + "\":\"" + text + "\"}");
      };
      const Answer a = answer({piece(s.first) + piece(s.second) + last("stop") + kDone});
      EXPECT_EQ(a.content + a.reasoning, s.text) << s.first << " | " << s.second;
    }
  }
  EXPECT_EQ(answer({chunk("{\"content\":\"a\\uD83D\"}") + last("length")}).content, "a");  // to be continued
}

TEST(ChatStream, ErrorsWithoutContentAreNone) {
  for (const char* error : {"\"\"", "false", "{}", "[]", "null", "0", R"({"message":"","code":null})"}) {
    const Answer a = answer({chunk(R"({"content":"A"})", std::string(",\"error\":") + error) + last("stop") + kDone});
    EXPECT_EQ(a.content, "A") << error;
    EXPECT_EQ(a.reason, EndReason::kEndOfText) << error;
  }
}

TEST(ChatStream, CountsThatAreNotToldAreUnknown) {
  const Answer none = answer({kHello + last("stop") + kDone});
  EXPECT_FALSE(none.tells_prompt || none.tells_reused || none.tells_generated);
  const Answer zeros =
      answer({kHello + last("stop") + event(R"({"usage":{"prompt_tokens":0,"completion_tokens":0}})") + kDone});
  EXPECT_FALSE(zeros.tells_prompt || zeros.tells_generated);
  const Answer all = answer({kHello + last("stop") + kUsage + kDone});
  EXPECT_TRUE(all.tells_prompt && all.tells_reused && all.tells_generated);
  for (const char* usage : {R"({"x_groq":{"usage":{"prompt_tokens":7,"completion_tokens":5}}})",
                            R"({"usage":{"prompt_tokens":"7","completion_tokens":"5"}})"}) {
    const Answer a = answer({kHello + last("stop") + event(usage) + kDone});
    EXPECT_EQ(a.usage, (std::vector<uint32_t>{7, 5})) << usage;
    EXPECT_TRUE(a.tells_prompt && a.tells_generated && !a.tells_reused) << usage;
  }
}

TEST(ChatStream, RefusalsAndOldCallsAreRead) {
  const Answer refusal =
      answer({chunk(R"({"content":null,"refusal":"I can"})") + chunk(R"({"refusal":"not."})") + last("stop") + kDone});
  EXPECT_EQ(refusal.content, "I cannot.");
  const Answer call = answer({chunk(R"({"function_call":{"name":"add","arguments":"{\"a\""}})") +
                              chunk(R"({"function_call":{"arguments":":1}"}})") + last("function_call") + kDone});
  EXPECT_EQ(call.calls, (std::vector<ToolCall>{{"", "add", "{\"a\":1}"}}));
  for (const char* odd : {R"({"choices":{"index":0,"message":{"content":"A"},"finish_reason":"stop"}})",
                          R"({"data":{"choices":[{"message":{"content":"A"},"finish_reason":"stop"}]}})"})
    EXPECT_EQ(answer({odd}).content, "A") << odd;
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
           {kHello + event("{nonsense"), "box:8000 closed the connection before the answer's end"},
           {kHello + event(R"({"error":{"message":"CUDA out of memory.\n","code":500}})"),
            "box:8000 reports an error: CUDA out of memory"},
           {kHello + event(R"({"object":"error","message":"too hot"})"), "box:8000 reports an error: too hot"},
           {kHello + "event: error\ndata: {\"detail\":\"too hot\"}\n\n", "box:8000 reports an error: too hot"},
           {kHello + "event: error\ndata: too hot\n\n", "box:8000 reports an error: too hot"},
           {kHello + event(R"({"type":"error","message":"too hot"})"), "box:8000 reports an error: too hot"},
           {kHello + event(R"({"error":{"message":"sk-1234567890 is wrong"}})"),
            "reports an error: [API key] is wrong"},
           {kHello + "data: " + std::string(5 << 20, 'x'), "longer than 4,194,304 bytes"},
       }) {
    const Answer a = answer({f.stream}, {.host = "box:8000", .key = "sk-1234567890"});
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
           {event("{nonsense") + event("more") + kDone, "this is not JSON: '{nonsense'"},
           {R"({"detail":"Not Found"})", "something other than a completion: Not Found"},
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
