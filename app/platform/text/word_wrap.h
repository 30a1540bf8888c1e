// Streaming word wrap: styled text in, what a terminal should receive out. A word is held back until it is complete; a
// long one is shown as it comes, and taken back to stand on the next line if it does not fit.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "app/platform/text/graphemes.h"
#include "app/platform/text/styled_text.h"
#include "models/text_format.h"

namespace warpchat {

struct WrapLook {
  int width = 80;        // columns of the terminal; 0: lines are never broken
  bool styled = true;    // escape sequences for looks
  bool movable = false;  // the cursor can go back within its row
};

class WordWrap {
 public:
  explicit WordWrap(const WrapLook& look) : look_(look) {}
  void set_width(int width);

  // Characters that CharacterFilter refuses, other than line break and tab, become U+FFFD.
  std::string add(const StyledText& piece);
  std::string finish();  // what was held, the plain style again, and a line break if the line is not empty

  // Whether what is shown of the line ends in the last column of a terminal with so many.
  bool fills_row(int columns) const { return columns > 0 && n_shown_ > 0 && columns_to(n_shown_) % columns == 0; }

  size_t n_read() const { return n_read_; }  // clusters and code points gone over

 private:
  struct Cluster {
    std::string text;
    int width;  // columns
    Style style;
    bool verbatim;
    int indent;     // of a line that begins with it
    uint64_t bars;  // StyledText::bars
  };

  void add_code_point(std::string_view bytes, char32_t code_point, const StyledText& piece);
  void add_cluster(std::string_view bytes, char32_t code_point, const StyledText& piece);
  void grow_last_cluster(std::string_view bytes);
  void erase_front(size_t n);
  void clear_row();
  bool wraps() const { return look_.width > 0 && !row_.empty() && !row_.back().verbatim; }
  bool is_too_wide() const;
  bool is_long() const;  // for its columns
  bool waits_for_dictionary() const;
  void break_rows();  // what is too wide for one
  void break_row();
  size_t next_row() const;  // the cluster that is to begin it
  std::vector<int> text_columns() const;
  std::vector<size_t> breaks() const;                             // clusters before which Unicode lets a line end
  bool parts_words(size_t at) const;                              // a break that is as good as one at a blank
  size_t without_blanks(size_t end) const;                        // the end of [0, end) without the blanks at its end
  size_t end_of_text() const { return row_.size() - n_blanks_; }  // without_blanks(row_.size())
  int columns_to(size_t end) const;                               // of the line up to a cluster
  size_t held_from() const;                                       // the first cluster that is not to be shown yet
  void show(size_t end);
  void show_what_is_complete();
  void show_all();
  void set_style(Style style);
  void new_line(int indent, uint64_t bars = 0);

  WrapLook look_;
  std::string out_;
  std::vector<Cluster> row_;  // of the line; without those before start_
  int start_ = 0;             // columns before row_
  size_t n_shown_ = 0;        // clusters of row_
  int columns_ = 0;           // of row_
  size_t n_blanks_ = 0;       // clusters at its end that are blanks
  int blank_columns_ = 0;     // of those
  mutable size_t n_read_ = 0;
  bool may_take_back_ = true;  // the terminal has not been resized since the line began
  Style style_;                // of the terminal now
  GraphemeBreaker breaker_;
  CharacterFilter filter_;
};

// Wraps a complete text; every line is styled by itself.
std::string wrapped(const std::vector<StyledText>& pieces, int width, bool styled);

}  // namespace warpchat
