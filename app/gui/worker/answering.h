// One answer after the other: the branch's messages into the session, its events onto the board and into the store.
#pragma once
#include <chrono>
#include <deque>
#include <optional>

#include "app/gui/worker/board.h"
#include "app/gui/worker/branch.h"
#include "engine/session/chat_session.h"

namespace warpchat::gui {

// Tokens per second over about the last second.
class Speed {
 public:
  double add(float seconds);  // of one more token; the speed with it

 private:
  std::deque<float> recent_;
  double sum_ = 0;
};

class Answering {
 public:
  Answering(Board& board, Branch& branch) : board_(board), branch_(branch) {}

  // Answers the branch, which ends with a user's message. The session must live until the answer has ended. A failure
  // becomes a notice.
  void start(ChatSession& session, const SessionOptions& options);

  // Tokens that the branch would take of the context; 0 if it cannot be said. Not while an answer is generated.
  uint32_t prompt_tokens(ChatSession& session, const SessionOptions& options) const;

  bool running() const { return session_ != nullptr; }
  void stop();  // asks; follow() sees the end
  // Takes the events that come within the timeout, to be called again and again while it runs.
  void follow(std::chrono::milliseconds timeout);

 private:
  using Clock = std::chrono::steady_clock;
  void begin(ChatSession& session);
  void take(const Event& event);
  void take_text(const TextDelta& delta);
  void end(const GenerationEnd& end);

  Board& board_;
  Branch& branch_;
  ChatSession* session_ = nullptr;
  bool has_text_ = false;  // before, the template may have opened a thought
  Clock::time_point asked_;
  Speed speed_;
  std::optional<double> thinking_seconds_;
};

}  // namespace warpchat::gui
