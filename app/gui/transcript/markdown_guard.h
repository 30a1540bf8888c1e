// Guards what md4c would misread, by characters put into the text before it is parsed. Formulas are shown as they are
// written: a backslash before every mark in them keeps their backslashes, * and _. The line below a table's head may
// have columns of one dash.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warpchat::gui {

// A closed formula with its marks: bytes of the text as it was.
struct FormulaPlace {
  size_t begin, end;
  bool display;  // stands alone
};

struct GuardedText {
  std::string text;
  std::vector<size_t> inserted = {};  // where in it the characters are that were put in, ascending
  std::vector<FormulaPlace> formulas = {};

  size_t original(size_t offset) const;  // of an offset of text
  bool was_inserted(size_t offset) const;
};

// The end of a formula that begins at `at`; npos: none does. unfinished: see below.
size_t formula_end(std::string_view text, size_t at, bool unfinished);

// Formulas are $x$, $$x$$, \(x\) and \[x\], not across an empty line nor in code spans. unfinished: the text will
// grow, so that a formula that is still open reaches to its end.
GuardedText guarded_markdown(std::string_view text, bool unfinished);

}  // namespace warpchat::gui
