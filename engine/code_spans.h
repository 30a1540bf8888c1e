// Follows a Markdown text as it grows, and knows whether its end is inside code: between two fences, or between
// backticks of one line.
#pragma once
#include <cstddef>
#include <string_view>
#include <utility>

namespace warpchat {

class CodeSpans {
 public:
  void add(std::string_view text) {
    for (const char c : text) {
      if (c != run_of_) end_run();
      if (c == '`' || c == '~') {
        run_of_ = c;
        ++run_;
      } else if (c == '\n') {
        inline_ = 0;
        at_line_start_ = true;
        opens_fence_ = false;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        at_line_start_ = false;
      }
    }
  }
  bool is_inside() const {
    CodeSpans ended = *this;
    ended.end_run();
    return ended.fence_ > 0 || ended.inline_ > 0;
  }

 private:
  void end_run() {
    const size_t run = std::exchange(run_, 0);
    const char of = std::exchange(run_of_, '\0');
    if (run == 0) return;
    if (opens_fence_ && of == '`' && fence_of_ == '`') inline_ = std::exchange(fence_, 0);  // it was code in the line
    const bool is_fence = run >= 3 && at_line_start_ && inline_ == 0;
    if (is_fence && fence_ == 0) {
      fence_ = run;
      fence_of_ = of;
      opens_fence_ = true;
    } else if (is_fence && of == fence_of_ && run >= fence_) {
      fence_ = 0;
    } else if (of == '`' && fence_ == 0 && (inline_ == 0 || inline_ == run)) {
      inline_ = inline_ == 0 ? run : 0;
    }
    at_line_start_ = false;
  }

  char run_of_ = 0, fence_of_ = 0;  // ` or ~; 0: none
  size_t run_ = 0, fence_ = 0;      // characters of the run at the end, and of the open fence
  size_t inline_ = 0;               // backticks that opened code within the line
  bool at_line_start_ = true;       // only blanks are before the run
  bool opens_fence_ = false;        // this line does
};

}  // namespace warpchat
