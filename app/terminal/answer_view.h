// Formats an answer for a terminal: thinking dimmed or hidden, Markdown styled, words wrapped, tables
// laid out. Events in, bytes for the terminal out.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "app/platform/text/word_wrap.h"
#include "app/terminal/markdown_stream.h"
#include "app/terminal/table_view.h"

namespace warpchat {

struct AnswerLook {
  int width = 80, rows = 24;  // of the terminal; width 0: no word wrap
  bool styled = true;         // escape sequences for looks
  bool hide_thinking = false;
  bool movable = false;  // the cursor can be moved: a long word or a table is drawn as it comes, and again
  bool words = false;    // for screen readers: a table is read row by row
  bool roles = false;    // thinking and answer are announced in words
};

class AnswerView {
 public:
  explicit AnswerView(const AnswerLook& look)
      : look_(look),
        markdown_(look.width),
        wrap_({look.width, look.styled, look.movable}),
        table_({look.width, look.rows, look.styled, look.movable, look.words}) {}

  std::string resize(int width, int rows);  // the terminal has been resized
  std::string add(std::string_view text, bool thinking);
  // The text so far is a thought and stays as it is; or a thought was none, and is shown if it was hidden.
  // RoundEnded in engine/events.h: what follows is parted by a blank line. lines: what is said of the calls.
  std::string end_round(const std::vector<std::string>& lines = {});
  std::string reclassify(bool thinking);
  // For an answer that goes on, before anything else: takes what has been written of it. Shows the last row, or the
  // table that is not complete.
  std::string resume(std::string_view reasoning, std::string_view content);
  std::string finish();  // ends the last line; the terminal's look is plain again

  bool fills_row(int columns) const { return wrap_.fills_row(columns); }

  // Steps that were taken: bytes, clusters and cells gone over. Twice the text takes about twice as many.
  size_t n_read() const { return markdown_.n_read() + wrap_.n_read() + table_.n_read(); }

 private:
  std::string add_thinking(std::string_view text);
  std::string add_answer(std::string_view text);
  std::string add_piece(const StyledText& piece);

  AnswerLook look_;
  MarkdownStream markdown_;
  WordWrap wrap_;
  TableView table_;
  bool thought_ = false;     // there is shown thinking before the answer
  bool started_ = false;     // the part being written has shown something but blanks
  std::string held_blanks_;  // of the thinking
  std::string hidden_;       // the thinking, if it is hidden
};

}  // namespace warpchat
