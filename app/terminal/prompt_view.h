// Shows the text being edited: lays it out in rows of the terminal's width and brings the screen up to date with as
// few escape sequences as a redraw needs. Knows nothing of keys; writes nothing itself.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "app/terminal/graphemes.h"
#include "app/terminal/text_buffer.h"

namespace warpchat {

constexpr std::string_view kPromptMark = "> ", kContinuationMark = ". ";  // before what a person types

struct PromptLayout {
  std::vector<Drawn> rows;  // at least one; prompt included
  size_t cursor_row = 0;
  int cursor_column = 0;  // always below the terminal's width
};

// prompt stands before the first line, continuation before those after a line break.
PromptLayout lay_out_prompt(std::string_view prompt, std::string_view continuation, const TextBuffer& text, int width);

class PromptView {
 public:
  // What to send to the terminal so that it shows the layout instead of the last one. Rows beyond the terminal's
  // height are left out around the cursor.
  std::string draw(PromptLayout layout, int width, int height);
  // Keeps the shown text and moves to a new line below it.
  std::string finish();
  // What was shown is gone (the screen was cleared, another program drew on it): draw afresh from here.
  void forget() { shown_ = {}; }

 private:
  size_t rows_above_cursor(int width) const;  // after the terminal rewrapped what is shown
  PromptLayout shown_;                        // only the rows on screen; empty: nothing
};

}  // namespace warpchat
