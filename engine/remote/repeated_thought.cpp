#include "engine/remote/repeated_thought.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "models/ascii.h"

namespace warpchat {

void RepeatedThought::add_reasoning(std::string_view text) {
  std::copy_if(text.begin(), text.end(), std::back_inserter(reasoning_), [](char c) { return !is_blank(c); });
}

// Ends the state if the mark is complete.
bool RepeatedThought::step() {
  const char c = held_[read_++];
  if (is_blank(c)) return true;
  if (state_ == State::kThought && matched_ < reasoning_.size()) return c == reasoning_[matched_++];
  if (state_ == State::kThought) state_ = State::kClose;
  mark_ += c;
  bool may_go_on = false;
  for (const ThoughtMarks& marks : kThoughtMarks) {
    if (marks_ != nullptr && marks_ != &marks) continue;
    const bool opens = state_ == State::kOpen && marks.open.starts_with(mark_), closes = marks.close.starts_with(mark_);
    may_go_on |= opens || closes;
    if (opens && mark_ == marks.open) {
      marks_ = &marks;
      mark_.clear();
      state_ = State::kThought;
      return true;
    }
    if (closes && mark_ == marks.close) {
      state_ = State::kDone;
      held_.erase(0, read_);
      return true;
    }
  }
  return may_go_on;
}

std::string RepeatedThought::add(std::string_view text) {
  held_ += text;
  while (state_ != State::kDone && read_ < held_.size())
    if (!step()) state_ = State::kDone;
  return state_ == State::kDone ? std::exchange(held_, {}) : "";
}

std::string RepeatedThought::finish() {
  state_ = State::kDone;
  return std::exchange(held_, {});
}

}  // namespace warpchat
