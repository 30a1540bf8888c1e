// Keeps an answer on disk while it streams: committed at most once a second, and at its end.
#pragma once
#include <chrono>

#include "engine/store/conversation_store.h"

namespace warpchat {

class AnswerWriter {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kInterval{1};

  // Below this user turn. Nothing is stored before there is text, of the answer or its reasoning.
  AnswerWriter(ConversationStore& store, ConversationId conversation, TurnId parent)
      : store_(store), conversation_(conversation), parent_(parent) {}

  // An answer that has ended and goes on; written: as this turn has it.
  AnswerWriter(ConversationStore& store, TurnId turn, const Message& written)
      : store_(store), turn_(turn), n_content_(written.content.size()), n_reasoning_(written.reasoning.size()) {
    store_.reopen(turn);
  }

  // The whole answer so far, of which content and reasoning only grow. To be called for each event and at least ten
  // times a second without one, so that nothing waits longer than the interval. Error if it cannot be stored.
  void follow(const Message& answer, Clock::time_point now);

  // The whole answer again with all that is known about it (calls of tools, who answered, timings), and how it ended.
  void finish(const Message& answer, TurnState state);

  TurnId turn() const { return turn_; }  // 0: there was no text yet

 private:
  bool has_more(const Message& answer) const;
  void write(const Message& answer);

  ConversationStore& store_;
  ConversationId conversation_ = 0;
  TurnId parent_ = 0, turn_ = 0;
  size_t n_content_ = 0, n_reasoning_ = 0;  // bytes that are written
  Clock::time_point written_at_;
};

}  // namespace warpchat
