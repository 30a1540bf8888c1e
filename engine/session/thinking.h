// Follows a streamed answer and tells which of its text lies inside its leading <think> ... </think> block.
#pragma once
#include <string>
#include <string_view>

namespace warpchat {

class ThinkingTracker {
 public:
  // inside: the prompt itself ended with <think>.
  explicit ThinkingTracker(bool inside) : state_(inside ? State::kThinking : State::kUndecided) {}

  struct Piece {
    std::string text;  // empty while it is not known yet whether the answer opens with <think>
    bool thinking;     // a piece belongs to the block in which it begins; the tags belong to it too
  };
  Piece add(std::string_view text);
  Piece finish();  // what was held back at the answer's end

 private:
  enum class State { kUndecided, kThinking, kAnswer } state_;
  std::string held_;  // undecided text, or the last few bytes of the thought, where </think> may be growing
};

}  // namespace warpchat
