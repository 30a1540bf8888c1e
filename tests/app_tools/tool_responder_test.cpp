// Answers that call tools: rounds, permissions, faults, limits and stopping, with a scripted model.
#include "app/tools/tool_responder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "models/error.h"
#include "tests/chat/scripted_responder.h"

namespace warpchat {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using enum CallStatus;

class ScriptedTools : public ToolSource {
 public:
  std::vector<Tool> declarations() const override {
    return {{.name = "s__echo", .source = "s", .schema = {{"type", "object"}}},
            {.name = "s__fail", .source = "s"},
            {.name = "s__wait", .source = "s"}};
  }
  ToolResult call(std::string_view name, const json& arguments, const ToolCallControl& control) override {
    {
      const std::lock_guard lock(mutex_);
      calls.push_back(std::string(name) + arguments.dump());
    }
    if (name == "s__fail") return {ToolStatus::kError, "it failed"};
    while (name == "s__wait" && !control.stop.stop_requested()) std::this_thread::sleep_for(1ms);
    return {name == "s__wait" ? ToolStatus::kStopped : ToolStatus::kOk, std::string(n_bytes, '=') + arguments.dump()};
  }
  std::vector<std::string> calls;
  size_t n_bytes = 0;

 private:
  std::mutex mutex_;
};

struct Collected {
  std::string text;
  std::vector<ToolRound> rounds;
  std::vector<ToolCall> calls;  // of the last part
  std::vector<std::string> notices;
  GenerationEnd end{EndReason::kFailed, {}, "no end"};
};

class ToolResponderTest : public testing::Test {
 protected:
  using Answer = ScriptedResponder::Answer;

  static ToolCallDelta call(uint32_t index, std::string name, std::string arguments, std::string id = "",
                            std::string fault = "") {
    return {index, std::move(id), std::move(name), std::move(arguments), std::move(fault)};
  }
  static Answer calling(std::vector<Event> events) { return {std::move(events), EndReason::kEndOfText}; }

  // decide: answers to questions, in order. stops: once a call runs.
  Collected ask(ToolResponder& responder, std::vector<bool> decide = {}, bool stops = false) {
    const auto generation = responder.start(std::vector<Message>{{.role = "user", .content = "go"}}, {});
    Collected all;
    for (int n_waits = 0; n_waits < 2000;) {
      const std::optional<Event> event = generation->next_event(5ms);
      if (!event) {
        ++n_waits;
        continue;
      }
      if (const auto* delta = std::get_if<TextDelta>(&*event)) all.text += delta->text;
      if (const auto* notice = std::get_if<Notice>(&*event)) all.notices.push_back(notice->text);
      if (const auto* changed = std::get_if<ToolCallsChanged>(&*event)) {
        all.calls = changed->calls;
        const bool asks = std::ranges::count(all.calls, kAsking, &ToolCall::status) > 0;
        if (asks && !decide.empty()) {
          generation->decide(decide.front());
          decide.erase(decide.begin());
        }
        if (stops && std::ranges::count(all.calls, kRunning, &ToolCall::status) > 0) generation->stop();
      }
      if (std::holds_alternative<RoundEnded>(*event)) all.rounds.push_back({"", "", std::exchange(all.calls, {})});
      if (const auto* end = std::get_if<GenerationEnd>(&*event)) {
        all.end = *end;
        return all;
      }
    }
    return all;
  }
  ToolResponder responder(const std::string& approve, bool can_ask = false, uint32_t max_rounds = 16) {
    approval_ = std::make_shared<Approval>(ApprovedNames::parse(approve), can_ask, nullptr);
    return ToolResponder(model_, tools_, approval_, {.max_rounds = max_rounds});
  }

  const std::shared_ptr<ScriptedResponder> model_ = std::make_shared<ScriptedResponder>();
  const std::shared_ptr<ScriptedTools> source_ = std::make_shared<ScriptedTools>();
  const std::shared_ptr<Tools> tools_ = std::make_shared<Tools>(std::vector<std::shared_ptr<ToolSource>>{source_});
  std::shared_ptr<Approval> approval_;
};

TEST_F(ToolResponderTest, ResultsGoBackInTheOrderOfTheCalls) {
  model_->answers = {calling({ScriptedResponder::text("Let me see."), call(0, "s__echo", R"({"a": 1})", "id1"),
                              call(1, "s__fail", "{}", "id2"), call(2, "s__echo", R"("{\"b\": 2}")")}),
                     calling({ScriptedResponder::text("Done.")})};
  ToolResponder answers = responder("all");
  const Collected all = ask(answers);
  EXPECT_EQ(all.end.reason, EndReason::kEndOfText) << all.end.error;
  EXPECT_EQ(all.text, "Let me see.Done.");
  ASSERT_EQ(all.rounds.size(), 1u);
  const std::vector<ToolCall>& calls = all.rounds[0].calls;
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0], (ToolCall{"id1", "s__echo", R"({"a":1})", R"({"a":1})", kOk}));
  EXPECT_EQ(calls[1], (ToolCall{"id2", "s__fail", "{}", "it failed", kError}));
  EXPECT_EQ(calls[2].result, R"({"b":2})");
  EXPECT_EQ(calls[2].id.size(), 9u);
  EXPECT_EQ(all.end.timings.generated_tokens, 4u + 1u);
  ASSERT_EQ(model_->seen.size(), 2u);
  const std::vector<Message>& second = model_->seen[1];
  ASSERT_EQ(second.size(), 5u);
  EXPECT_EQ(second[1].content, "Let me see.");
  EXPECT_EQ(second[1].tool_calls.size(), 3u);
  EXPECT_EQ(second[2].role, "tool");
  EXPECT_EQ(second[3].content, "it failed");
  EXPECT_EQ(second[4].tool_name, "s__echo");
  EXPECT_EQ(model_->options_seen[0].tools.size(), 3u);
}

TEST_F(ToolResponderTest, WhatNobodyApprovedIsDenied) {
  model_->answers = {calling({call(0, "s__echo", "{}"), call(1, "s__fail", "{}")})};
  ToolResponder answers = responder("s__fail");
  const Collected all = ask(answers);
  EXPECT_THAT(source_->calls, ElementsAre("s__fail{}"));
  EXPECT_EQ(all.rounds.at(0).calls[0].status, kDenied);
  EXPECT_THAT(all.rounds.at(0).calls[0].result, HasSubstr("denied"));
  ASSERT_EQ(all.notices.size(), 1u);
  EXPECT_THAT(all.notices[0], HasSubstr("--approve s__echo"));
  EXPECT_EQ(all.end.reason, EndReason::kEndOfText);
}

TEST_F(ToolResponderTest, NothingIsSentBeforeAllQuestionsAreAnswered) {
  model_->answers = {calling({call(0, "s__echo", R"({"n": 0})"), call(1, "s__echo", R"({"n": 1})")})};
  ToolResponder answers = responder("none", /*can_ask=*/true);
  const Collected all = ask(answers, {true, false});
  EXPECT_THAT(source_->calls, ElementsAre(R"(s__echo{"n":0})"));
  EXPECT_EQ(all.rounds.at(0).calls[1].status, kDenied);
  EXPECT_TRUE(all.notices.empty());
}

TEST_F(ToolResponderTest, WhatCannotBeReadGoesBackToTheModel) {
  model_->answers = {calling({call(0, "s__echo", "{\"a\": ", "", ""), call(1, "", "{}"), call(2, "s__echo", "[1]"),
                              call(3, "", "", "", "it has no end"), call(4, "nothing", R"({"a": 1})")})};
  ToolResponder answers = responder("all");
  const Collected all = ask(answers);
  EXPECT_TRUE(source_->calls.empty());
  const std::vector<ToolCall>& calls = all.rounds.at(0).calls;
  for (const ToolCall& one : calls) EXPECT_EQ(one.status, kError) << one.name;
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(calls[i].arguments, "{}") << i;
  EXPECT_THAT(calls[0].result, HasSubstr("JSON"));
  EXPECT_THAT(calls[3].result, HasSubstr("no end"));
  EXPECT_EQ(calls[4].name, "nothing");
  EXPECT_THAT(calls[4].result, HasSubstr("s__echo"));
  EXPECT_EQ(all.text, "answer 2");
}

TEST_F(ToolResponderTest, TheLimitOfRoundsEndsTheAnswerAsItStands) {
  for (int i = 0; i < 5; ++i) model_->answers.push_back(calling({call(0, "s__echo", "{}")}));
  ToolResponder answers = responder("all", false, /*max_rounds=*/2);
  const Collected all = ask(answers);
  EXPECT_EQ(source_->calls.size(), 2u);
  EXPECT_EQ(all.end.reason, EndReason::kEndOfText);
  ASSERT_EQ(all.notices.size(), 1u);
  EXPECT_THAT(all.notices[0], HasSubstr("after 2 rounds"));
  ASSERT_EQ(all.calls.size(), 1u);
  EXPECT_EQ(all.calls[0].status, kError);
}

TEST_F(ToolResponderTest, AStopEndsACallThatRuns) {
  model_->answers = {calling({call(0, "s__wait", "{}")})};
  ToolResponder answers = responder("all");
  const Collected all = ask(answers, {}, /*stops=*/true);
  EXPECT_EQ(all.end.reason, EndReason::kStopped);
  EXPECT_EQ(model_->seen.size(), 1u);
  model_->answers = {calling({call(0, "s__wait", "{}")})};
  const auto dropped = answers.start(std::vector<Message>{{.role = "user", .content = "go"}}, {});
  while (source_->calls.size() < 2) dropped->next_event(1ms);
}

TEST_F(ToolResponderTest, AResultThatDoesNotFitIsCut) {
  source_->n_bytes = 5000;
  model_->refuse_from = 1000;
  model_->answers = {calling({call(0, "s__echo", "{}")}), calling({ScriptedResponder::text("Done.")})};
  ToolResponder answers = responder("all");
  const Collected all = ask(answers);
  EXPECT_EQ(all.text, "Done.") << all.end.error;
  EXPECT_EQ(all.rounds.at(0).calls[0].result.size(), 5002u);
  EXPECT_THAT(model_->seen.at(1).back().content, HasSubstr("[cut: the first"));
}

TEST_F(ToolResponderTest, AnswersWithoutCallsAndRawTextPassThrough) {
  ToolResponder answers = responder("all");
  const Collected all = ask(answers);
  EXPECT_EQ(all.text, "answer 1");
  EXPECT_TRUE(all.rounds.empty());
  model_->answers = {{{call(0, "s__echo", "{}")}, EndReason::kTokenLimit}};
  const Collected cut = ask(answers);
  EXPECT_EQ(cut.end.reason, EndReason::kTokenLimit);
  EXPECT_THAT(cut.calls.at(0).result, HasSubstr("too early"));
  EXPECT_TRUE(source_->calls.empty());
}

}  // namespace
}  // namespace warpchat
