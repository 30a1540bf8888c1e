// Guards what md4c would misread, by characters put into the text before it is parsed. Formulas are shown as they are
// written: a backslash before every mark in them keeps their backslashes, * and _. The line below a table's head may
// have columns of one dash. Marks of footnotes are no links.
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/math/tex.h"

namespace warpchat::gui {

// A closed formula with its marks: bytes of the text as it was.
struct FormulaPlace {
  size_t begin, end;
  bool display;  // stands alone
};

// The numbers of footnotes that have names: "[^name]". Those named by a number have that one.
using FootnoteNumbers = std::map<std::string, size_t, std::less<>>;

// "[^1]" in a text, or "[^1]: " before the text of a footnote.
struct FootnotePlace {
  size_t begin, end;
  std::string number;
  bool is_definition;
};

struct GuardedText {
  std::string text;
  std::vector<size_t> inserted = {};  // where in it the characters are that were put in, ascending
  std::vector<FormulaPlace> formulas = {};
  std::vector<FootnotePlace> footnotes = {};
  size_t n_searched = 0;  // bytes gone over to find where formulas and paragraphs end

  size_t original(size_t offset) const;  // of an offset of text
  bool was_inserted(size_t offset) const;
};

// Finds the formulas of a text in linear time: search results are remembered, so that no part is searched again for
// each mark before it.
class FormulaFinder {
 public:
  // unfinished: see below.
  FormulaFinder(std::string_view text, bool unfinished) : text_(text), unfinished_(unfinished) {}

  // The end of a formula that begins at `at`; npos: none. Call both functions with ascending offsets only.
  size_t formula_end(size_t at);
  size_t paragraph_end(size_t at);  // an empty line or the text's end

  size_t n_searched() const { return n_searched_; }

 private:
  // Where the mark is next; found: where it was found last.
  size_t next(size_t& found, std::string_view mark, size_t from);
  size_t dollar_end(size_t at, size_t limit);
  size_t environment_end(size_t at);

  std::string_view text_;
  bool unfinished_;
  size_t dollars_ = 0, round_ = 0, square_ = 0, paragraph_end_ = 0;
  DisplayMark environment_ = {0, 0};  // the end found last
  size_t n_searched_ = 0;
};

// Formulas are $x$, $$x$$, \(x\), \[x\] and \begin{align}x\end{align}, not across an empty line nor in code spans.
// unfinished: the text will grow, so that a formula that is still open reaches to its end.
GuardedText guarded_markdown(std::string_view text, bool unfinished, const FootnoteNumbers& footnotes = {});

// The name in "[^name]" at the text's begin; empty: none is there.
std::string_view footnote_name(std::string_view text);

}  // namespace warpchat::gui
