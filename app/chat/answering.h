// The answers of a conversation: applies a generation's events to the state and the store.
#pragma once
#include <chrono>
#include <deque>
#include <memory>
#include <optional>

#include "app/chat/branch.h"
#include "engine/session/responder.h"

namespace warpchat {

// Tokens per second over about the last second.
class Speed {
 public:
  double add(float seconds);  // adds a token's time; returns the speed

 private:
  std::deque<float> recent_;
  double sum_ = 0;
};

class Answering {
 public:
  Answering(StateStore& state, Branch& branch, ConversationSlot& slot) : state_(state), branch_(branch), slot_(slot) {}

  // The generation, made by the responder, answers the branch's last user message or continues its last answer.
  void begin(std::shared_ptr<Responder> responder, std::unique_ptr<Generation> generation, bool continues);

  bool running() const { return generation_ != nullptr; }
  const Timings& timings() const { return timings_; }  // of the last generation, without what it continued
  void stop();                                         // requests the end, which follow() reports
  void decide(bool is_allowed);                        // the call that asked_call() gives
  // Handles events that arrive within the timeout; call it repeatedly while an answer runs. False: none came.
  bool follow(std::chrono::milliseconds timeout);

 private:
  using Clock = std::chrono::steady_clock;
  void on_event(const Event& event);
  void take_text(const TextDelta& delta);
  void reclassify(bool thinking);
  void take_calls(const ToolCallsChanged& changed);
  void end_round();
  void end(GenerationEnd end);
  void tell_end(const GenerationEnd& end);
  void tell_failure(const GenerationEnd& end);
  bool has_nothing() const { return !has_new_text_ && !continues_ && answer().tool_calls.empty(); }
  const ChatMessage& answer() const { return branch_.messages().back(); }

  StateStore& state_;
  Branch& branch_;
  ConversationSlot& slot_;
  std::shared_ptr<Responder> responder_;  // outlives its generation
  std::unique_ptr<Generation> generation_;
  bool continues_ = false, has_new_text_ = false;
  std::optional<Timings> before_;  // of the answer's first part
  Timings timings_;
  Clock::time_point asked_;
  Speed speed_;
  bool has_token_ = false;
  std::optional<double> thinking_seconds_;
};

}  // namespace warpchat
