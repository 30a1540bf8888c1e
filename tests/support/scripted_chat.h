// A conversation with a responder, as a front end has it: turns go in, the answer's events are collected.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/session/responder.h"

namespace warpchat {

struct CollectedAnswer {
  std::string text, reasoning;
  std::vector<Token> tokens;
  std::vector<std::string> notices;
  std::vector<PromptProgress> progress;
  Usage usage{0, 0};
  GenerationEnd end{EndReason::kFailed, {}, "no end"};
};

class ScriptedChat {
 public:
  ScriptedChat(Responder& responder, AnswerOptions answer_options)
      : options(std::move(answer_options)), responder_(responder) {}

  void send(const std::string& text) {
    std::vector<Message> turns = messages;
    turns.push_back({.role = "user", .content = text});
    begin(std::move(turns));
  }
  void regenerate() {
    std::vector<Message> turns = messages;
    if (!turns.empty() && turns.back().role == "assistant") turns.pop_back();
    begin(std::move(turns));
  }
  void go_on() { begin(messages); }  // continues a stopped answer
  void stop() { generation_->stop(); }

  // A missing event fails the test instead of hanging it.
  CollectedAnswer collect(size_t stop_after = SIZE_MAX) {
    CollectedAnswer answer;
    for (;;) {
      const std::optional<Event> event = generation_->next_event(std::chrono::seconds(60));
      if (!event) {
        ADD_FAILURE() << "no event for a minute";
        return answer;
      }
      if (const auto* delta = std::get_if<TextDelta>(&*event)) {
        (delta->thinking ? answer.reasoning : answer.text) += delta->text;
        if (delta->token >= 0) answer.tokens.push_back(delta->token);
        if (answer.tokens.size() == stop_after) generation_->stop();
      }
      if (const auto* found = std::get_if<Reclassified>(&*event))
        reclassify(answer.text, answer.reasoning, found->thinking);
      if (const auto* notice = std::get_if<Notice>(&*event)) answer.notices.push_back(notice->text);
      if (const auto* progress = std::get_if<PromptProgress>(&*event)) {
        EXPECT_TRUE(answer.tokens.empty()) << "progress of the prompt after the answer's start";
        answer.progress.push_back(*progress);
      }
      if (const auto* usage = std::get_if<Usage>(&*event)) answer.usage = *usage;
      const auto* end = std::get_if<GenerationEnd>(&*event);
      if (end == nullptr) continue;
      answer.end = *end;
      generation_.reset();
      keep(answer);
      return answer;
    }
  }
  CollectedAnswer ask(const std::string& text) {
    send(text);
    return collect();
  }

  std::vector<Message> messages;
  AnswerOptions options;

 private:
  void begin(std::vector<Message> turns) {
    generation_ = responder_.start(turns, options);
    messages = std::move(turns);
  }
  void keep(const CollectedAnswer& answer) {
    if (answer.text.empty() && answer.reasoning.empty()) return;
    if (messages.back().role != "assistant") messages.push_back({.role = "assistant"});
    Message& last = messages.back();
    last.content += answer.text;
    last.reasoning += answer.reasoning;
    last.reasoning_ended = last.content.empty() && (last.reasoning_ended || answer.end.reasoning_ended);
  }

  Responder& responder_;
  std::unique_ptr<Generation> generation_;
};

}  // namespace warpchat
