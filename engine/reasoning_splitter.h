// Splits an answer's reasoning from its text as it streams; part_reasoning in engine/message.h uses it on whole
// answers. Reasoning is what stands between the marks of a thought at the answer's beginning. The marks and blank lines
// next to them are dropped. Marks are found in the text, or the caller has seen their tokens and tells them.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/code_spans.h"
#include "engine/thought_marks.h"

namespace warpchat {

class ReasoningSplitter {
 public:
  enum class State { kUndecided, kThinking, kAnswer };

  // Where in its answer the text begins.
  struct Begin {
    State state = State::kUndecided;
    bool has_thought = false;  // a thought has ended before it
    bool has_text = false;     // text of that state is before it, so its own leading blanks count
    CodeSpans code = {};       // of the answer before it
  };

  // marks: to be found in the text; none: the caller tells them. finds_unopened: a closing mark alone, at the end of a
  // line outside code, ends a thought that began with the answer: some servers' templates open it in the prompt.
  ReasoningSplitter(std::span<const ThoughtMarks> marks, const Begin& begin, bool finds_unopened);

  struct Piece {
    std::string text;  // not empty, unless was_thought
    bool thinking;
    bool was_thought = false;  // the answer's text so far was a thought
  };
  std::vector<Piece> add(std::string_view text);  // empty while undecided
  // A mark's token. as_text: what it is where it opens or closes nothing.
  std::vector<Piece> open(std::string_view as_text);
  std::vector<Piece> close(std::string_view as_text);
  std::vector<Piece> finish();  // text held back at the answer's end

  bool thinking() const { return state_ == State::kThinking; }
  bool has_ended_thought() const { return has_ended_; }  // a closing mark has come

 private:
  void decide();
  bool decides_open(const ThoughtMarks& marks, std::string_view head);
  void think(std::vector<Piece>& pieces);
  void answer(std::vector<Piece>& pieces);
  void answer_until_close(std::vector<Piece>& pieces, bool is_whole);
  void emit(size_t n_bytes, std::vector<Piece>& pieces);
  void end_thought();

  std::span<const ThoughtMarks> marks_;
  const ThoughtMarks* opened_;  // the marks of the open thought
  State state_;
  bool has_thought_, finds_unopened_;
  bool may_repeat_open_;  // the prompt has opened the thought, and some models do so again
  bool begun_;            // a character of this state's text was emitted, or is before it
  bool has_ended_ = false;
  std::string held_;  // undecided text: a mark, or blanks before one
  CodeSpans code_;    // of the answer; only where an unopened thought may end
};

}  // namespace warpchat
