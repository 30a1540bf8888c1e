// An answer as it should look in a terminal: thinking dimmed or hidden, Markdown given a look, words wrapped.
// Events in, bytes for the terminal out.
#pragma once
#include <string>
#include <string_view>

#include "app/terminal/markdown_stream.h"
#include "app/terminal/word_wrap.h"

namespace warpchat {

struct AnswerLook {
  int width = 80;      // columns; 0: no word wrap
  bool styled = true;  // escape sequences
  bool hide_thinking = false;
};

class AnswerView {
 public:
  explicit AnswerView(const AnswerLook& look) : look_(look), wrap_(look.width, look.styled) {}

  void set_width(int width) { wrap_.set_width(look_.width == 0 ? 0 : width); }
  std::string add(std::string_view text, bool thinking);
  std::string finish();  // ends the last line; the terminal's look is plain again

 private:
  std::string add_thinking(std::string_view text);
  std::string add_answer(std::string_view text);

  AnswerLook look_;
  MarkdownStream markdown_;
  WordWrap wrap_;
  bool thought_ = false;     // there is shown thinking before the answer
  bool started_ = false;     // the part being written has shown something but blanks
  std::string held_blanks_;  // of the thinking
};

}  // namespace warpchat
