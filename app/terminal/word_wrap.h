// Streaming word wrap: styled text in, what a terminal should receive out. A word is held back until it is complete,
// so that nothing shown ever moves.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "app/terminal/graphemes.h"
#include "app/terminal/styled_text.h"

namespace warpchat {

class WordWrap {
 public:
  // width: columns of the terminal; 0: lines are never broken. styled: escape sequences are written.
  WordWrap(int width, bool styled) : width_(width), styled_(styled) {}
  void set_width(int width) { width_ = width; }

  // Control characters other than line break and tab never reach the terminal: they become U+FFFD.
  std::string add(const StyledText& piece);
  std::string finish();  // the held word, the plain style again, and a line break if the line is not empty

 private:
  void add_code_point(std::string_view bytes, char32_t code_point, const StyledText& piece);
  bool breaks_between(char32_t before, char32_t after) const;
  void place_word();  // on this line or the next
  int columns_of_blanks() const;
  void emit_in_pieces(const std::vector<StyledText>& word);  // one that is longer than a line
  void emit(std::string_view text, int width, Style style);
  void new_line(int indent);

  int width_;
  bool styled_;
  std::string out_;
  int column_ = 0;
  Style style_;                   // of the terminal now
  std::vector<StyledText> word_;  // held back
  std::string blanks_;            // between the last word and the held one
  Style blanks_style_;
  GraphemeBreaker breaker_;
  char32_t last_ = 0;  // the code point before, 0 after a break
};

}  // namespace warpchat
