// Writes the first text at once, which creates the answer.
#include "engine/store/answer_writer.h"

namespace warpchat {

bool AnswerWriter::has_more(const Message& answer) const {
  return (is_reclassified_ && turn_ != 0) || answer.rounds.size() > n_rounds_ || answer.content.size() > n_content_ ||
         answer.reasoning.size() > n_reasoning_;
}

void AnswerWriter::follow(const Message& answer, Clock::time_point now) {
  if (!has_more(answer) || (tried_at_ && now - *tried_at_ < kInterval)) return;
  tried_at_ = now;
  try {
    const ConversationStore::Patience none(store_, std::chrono::milliseconds(0));
    write(answer);
  } catch (const BusyDatabase&) {  // the next interval tries again, and finish() waits
  }
}

void AnswerWriter::finish(const Message& answer, TurnState state) {
  if (has_more(answer) || (turn_ == 0 && !answer.tool_calls.empty())) write(answer);
  if (turn_ != 0) store_.end(turn_, state, answer);
}

void AnswerWriter::write(const Message& answer) {
  if (turn_ == 0)
    turn_ = store_.add(conversation_, parent_, answer, TurnState::kOpen);
  else if (is_reclassified_ || answer.rounds.size() > n_rounds_)
    store_.rewrite(turn_, answer);
  else
    store_.append(turn_, std::string_view(answer.content).substr(n_content_),
                  std::string_view(answer.reasoning).substr(n_reasoning_));
  is_reclassified_ = false;
  n_content_ = answer.content.size();
  n_reasoning_ = answer.reasoning.size();
  n_rounds_ = answer.rounds.size();
}

}  // namespace warpchat
