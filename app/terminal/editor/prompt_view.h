// Shows the text being edited: lays it out in rows of the terminal's width and brings the screen up to date with as
// few escape sequences as a redraw needs. Knows nothing of keys; writes nothing itself.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "app/platform/text/graphemes.h"
#include "app/terminal/editor/text_buffer.h"

namespace warpchat {

constexpr std::string_view kPromptMark = "> ", kContinuationMark = ". ";  // before what a person types

struct PromptLayout {
  std::vector<Drawn> rows;  // at least one; prompt included
  size_t cursor_row = 0;
  int cursor_column = 0;  // always below the terminal's width
  size_t n_listed = 0;    // rows at the end that are no part of the text: completions
};

// prompt stands before the first line, continuation before those after a line break. Of a text with more rows on each
// side of the cursor than max_rows, lines that are further away may be left out.
PromptLayout lay_out_prompt(std::string_view prompt, std::string_view continuation, const TextBuffer& text, int width,
                            size_t max_rows = std::string_view::npos);

class PromptView {
 public:
  explicit PromptView(bool styled = false) : styled_(styled) {}  // styled: the text is bold, as it is in /history

  // What to send to the terminal so that it shows the layout instead of the last one. Rows beyond the terminal's
  // height are left out around the cursor.
  std::string draw(PromptLayout layout, int width, int height);
  // Keeps the shown text and moves to a new line below it.
  std::string finish();
  // What was shown is gone (the screen was cleared, another program drew on it): draw afresh from here.
  void forget() { shown_ = {}; }

 private:
  std::string drawn_rows(const PromptLayout& layout) const;
  size_t rows_above_cursor(int width) const;  // after the terminal rewrapped what is shown
  bool styled_;
  PromptLayout shown_;  // only the rows on screen; empty: nothing
};

}  // namespace warpchat
