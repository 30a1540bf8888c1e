// The first text is written at once: with it the answer exists.
#include "engine/store/answer_writer.h"

namespace warpchat {

void AnswerWriter::follow(std::string_view text, Clock::time_point now) {
  if (text.size() == n_written_ || (turn_ != 0 && now - written_at_ < kInterval)) return;
  write(text);
  written_at_ = now;
}

void AnswerWriter::finish(std::string_view text, TurnState state) {
  if (text.size() > n_written_) write(text);
  if (turn_ != 0) store_.end(turn_, state);
}

void AnswerWriter::write(std::string_view text) {
  if (turn_ == 0)
    turn_ = store_.add(conversation_, parent_, "assistant", text, TurnState::kOpen);
  else
    store_.append(turn_, text.substr(n_written_));
  n_written_ = text.size();
}

}  // namespace warpchat
