// Keeps an answer on disk while it streams: committed at most once a second, and at its end.
#pragma once
#include <chrono>
#include <string_view>

#include "engine/store/conversation_store.h"

namespace warpchat {

class AnswerWriter {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kInterval{1};

  // Below this user turn. Nothing is stored before there is text.
  AnswerWriter(ConversationStore& store, ConversationId conversation, TurnId parent)
      : store_(store), conversation_(conversation), parent_(parent) {}

  // text: the whole answer so far, which only grows. To be called for each event and at least ten times a second
  // without one, so that nothing waits longer than the interval. Error if it cannot be stored.
  void follow(std::string_view text, Clock::time_point now);

  // The whole text again, and how it ended.
  void finish(std::string_view text, TurnState state);

  TurnId turn() const { return turn_; }  // 0: there was no text yet

 private:
  void write(std::string_view text);

  ConversationStore& store_;
  ConversationId conversation_;
  TurnId parent_, turn_ = 0;
  size_t n_written_ = 0;  // bytes
  Clock::time_point written_at_;
};

}  // namespace warpchat
