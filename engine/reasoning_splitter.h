// Splits an answer's reasoning from its text as it streams; part_reasoning in engine/message.h uses it on whole
// answers. Reasoning is the content of a leading <think> ... </think>. The tags and blank lines next to them are
// dropped.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace warpchat {

class ReasoningSplitter {
 public:
  enum class State { kUndecided, kThinking, kAnswer };
  explicit ReasoningSplitter(State state = State::kUndecided) : state_(state) {}

  struct Piece {
    std::string text;  // not empty
    bool thinking;
  };
  std::vector<Piece> add(std::string_view text);  // empty while undecided
  std::vector<Piece> finish();                    // text held back at the answer's end
  bool thinking() const { return state_ == State::kThinking; }
  bool has_ended_thought() const { return thought_; }  // the closing tag has come

 private:
  void decide();
  void think(std::vector<Piece>& pieces);
  void answer(std::vector<Piece>& pieces);

  State state_;
  bool begun_ = false;    // a character of this state's text was emitted
  bool thought_ = false;  // an answer after reasoning: leading line breaks are dropped
  std::string held_;      // undecided text: a tag, or blanks before one
};

}  // namespace warpchat
