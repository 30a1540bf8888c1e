// Drops the thought from the beginning of an answer's text if the server has also sent it apart from the text, and a
// closing mark that the server has left there. Blanks do not count in the comparison.
#pragma once
#include <string>
#include <string_view>

#include "engine/thought_marks.h"

namespace warpchat {

class RepeatedThought {
 public:
  void add_reasoning(std::string_view text);  // of the thought that was sent apart
  std::string add(std::string_view text);     // the answer's text; empty while it may be the thought
  std::string finish();                       // text held back at the answer's end

 private:
  enum class State { kOpen, kThought, kClose, kDone };
  bool step();  // over the next character of held_; false: the text is no repetition

  State state_ = State::kOpen;
  std::string reasoning_;                // without blanks
  std::string held_;                     // from the answer's beginning
  size_t read_ = 0;                      // bytes of held_
  size_t matched_ = 0;                   // bytes of the thought
  std::string mark_;                     // that read_ is inside
  const ThoughtMarks* marks_ = nullptr;  // whose opening mark was found
};

}  // namespace warpchat
