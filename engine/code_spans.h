// Follows a Markdown text as it grows, and knows whether its end is inside code: between two fences, or between
// backticks of one line.
#pragma once
#include <cstddef>
#include <string_view>

namespace warpchat {

class CodeSpans {
 public:
  void add(std::string_view text);
  bool is_inside() const;

 private:
  void end_run();

  char run_of_ = 0, fence_of_ = 0;  // ` or ~; 0: none
  size_t run_ = 0, fence_ = 0;      // characters of the run at the end, and of the open fence
  size_t inline_ = 0;               // backticks that opened code within the line
  bool at_line_start_ = true;       // only blanks are before the run
  bool opens_fence_ = false;        // this line does
};

}  // namespace warpchat
