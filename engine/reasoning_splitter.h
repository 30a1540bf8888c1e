// Parts an answer's thought from its text as it streams, and engine/message.h's part_reasoning a whole one with it:
// what stands in a leading <think> ... </think> is thought, the tags and the blank lines beside them are neither.
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
  std::vector<Piece> add(std::string_view text);  // none while it is not known what it is
  std::vector<Piece> finish();                    // what was held back at the answer's end
  bool thinking() const { return state_ == State::kThinking; }

 private:
  void decide();
  void think(std::vector<Piece>& pieces);
  void answer(std::vector<Piece>& pieces);

  State state_;
  bool begun_ = false;    // a character of this state's text was given
  bool thought_ = false;  // an answer after a thought, whose first line breaks are not its own
  std::string held_;      // text before it is known what it is: a tag, or blanks before one
};

}  // namespace warpchat
