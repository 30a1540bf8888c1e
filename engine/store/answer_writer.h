// Stores an answer while it streams: commits at most once a second, and at the end.
#pragma once
#include <chrono>
#include <optional>

#include "engine/store/conversation_store.h"

namespace warpchat {

class AnswerWriter {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kInterval{1};

  // A new answer below this user turn. Stores nothing before there is answer or reasoning text.
  AnswerWriter(ConversationStore& store, ConversationId conversation, TurnId parent)
      : store_(store), conversation_(conversation), parent_(parent) {}

  // Continues a finished answer. written: the turn's stored message.
  AnswerWriter(ConversationStore& store, TurnId turn, const Message& written)
      : store_(store),
        turn_(turn),
        n_content_(written.content.size()),
        n_reasoning_(written.reasoning.size()),
        n_rounds_(written.rounds.size()) {
    store_.reopen(turn);
  }

  // Does not wait for another program that holds the store: the next interval then stores what this one could not.
  // answer: the whole answer so far; content and reasoning grow, and become a round. Call for each event and at least
  // ten times a second, so that no text waits longer than the interval. Error if it cannot be stored.
  void follow(const Message& answer, Clock::time_point now);

  // What was stored as content is reasoning, or the other way round (Reclassified in engine/events.h).
  void reclassify() { is_reclassified_ = true; }

  // answer: complete, with tool calls, model and timings.
  void finish(const Message& answer, TurnState state);

  TurnId turn() const { return turn_; }  // 0: no text yet

 private:
  bool has_more(const Message& answer) const;
  void write(const Message& answer);

  ConversationStore& store_;
  ConversationId conversation_ = 0;
  TurnId parent_ = 0, turn_ = 0;
  size_t n_content_ = 0, n_reasoning_ = 0;  // bytes already stored
  size_t n_rounds_ = 0;                     // the same of the rounds before them
  bool is_reclassified_ = false;            // since the last write
  std::optional<Clock::time_point> tried_at_;
};

}  // namespace warpchat
