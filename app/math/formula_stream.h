// Passes streamed Markdown through and writes its formulas in Unicode if they read well so. Code is unchanged.
#pragma once
#include <string>
#include <string_view>

namespace warpchat {

class FormulaStream {
 public:
  // columns: of a matrix that is written in several lines, at most; 0: any number.
  explicit FormulaStream(int columns = 0) : columns_(columns) {}

  std::string add(std::string_view text);  // what is known; a formula waits until it closes
  std::string finish();

  size_t n_searched() const { return n_searched_; }  // bytes gone over to find where formulas end

 private:
  // $x$, $$x$$, \(x\), \[x\], \begin{align}x\end{align}
  enum class Kind { kDollar, kDollars, kRound, kSquare, kEnvironment };
  struct Found {
    bool waits = false;     // for more text
    size_t formula = 0;     // bytes of it; 0: none begins here
    size_t n_ordinary = 1;  // bytes that open nothing
  };
  void read(bool is_all);
  bool may_open(char c) const;
  Found formula_at(size_t at, bool is_all);
  Found closed_formula(Kind kind, size_t at, bool is_all);
  void pass(char c);
  void pass_all(std::string_view text) {
    for (char c : text) pass(c);
  }
  void write_formula(const std::string& source);
  std::string_view line_text() const { return std::string_view(line_).substr(line_indent_); }
  bool is_fence_line() const;
  bool fits(std::string_view lines) const;
  void end_line();

  int columns_;
  std::string out_;
  std::string text_;           // what has not passed
  size_t n_passed_ = 0;        // bytes before it
  size_t searched_[5] = {};    // by kind: where the search for what closes goes on, whatever opens before that
  std::string line_;           // what has passed of the line at work
  size_t line_indent_ = 0;     // blanks and > at its begin
  std::string fence_;          // that opened the code block we are in
  size_t run_ = 0, code_ = 0;  // backticks: in a row just now; that opened the code span we are in
  size_t n_searched_ = 0;
};

}  // namespace warpchat
