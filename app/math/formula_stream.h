// Markdown as it streams, its formulas written in Unicode where they fit in a line; all else passes as it is. Code is
// left alone.
#pragma once
#include <string>
#include <string_view>

namespace warpchat {

class FormulaStream {
 public:
  std::string add(std::string_view text);  // what is known; a formula waits until it closes
  std::string finish();

 private:
  void add_byte(char c);
  void pass(char c);
  void hold(char c);
  void give_up();
  void write_formula();
  bool is_fence_line() const;
  void end_line();

  std::string out_;
  std::string line_;           // what has passed of the line at work
  std::string held_;           // what may be a formula
  bool closed_ = false;        // and is one unless a digit follows
  std::string fence_;          // that opened the code block we are in
  size_t run_ = 0, code_ = 0;  // backticks: in a row just now; that opened the code span we are in
};

}  // namespace warpchat
