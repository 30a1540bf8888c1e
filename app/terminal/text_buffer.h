// The text being edited and its cursor, which always stands between grapheme clusters. Lines are separated by \n.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "app/terminal/graphemes.h"

namespace warpchat {

class TextBuffer {
 public:
  const std::string& text() const { return text_; }
  size_t cursor() const { return cursor_; }  // byte offset
  bool empty() const { return text_.empty(); }
  void set(std::string text);  // cursor at the end

  void insert(std::string_view text);
  void erase_left();
  void erase_right();
  void left();
  void right();
  void word_left();  // to the begin of this or the word before; a word is a run without white space
  void word_right();
  void line_start();
  void line_end();
  bool line_up();  // to the same column of the line above; false on the first line
  bool line_down();

  // What these remove is what yank() inserts.
  void kill_to_line_end();  // at a line's end: the line break
  void kill_to_line_start();
  void kill_word_left();
  void kill_word_right();
  void yank() { insert(killed_); }

 private:
  size_t line_start_of(size_t at) const;
  size_t line_end_of(size_t at) const;
  size_t word_left_of(size_t at) const;
  size_t word_right_of(size_t at) const;
  void move_to_line(size_t start);  // keeps the column
  Drawn drawn_at(size_t at) const;  // the cluster there
  void kill(size_t from, size_t to);

  std::string text_, killed_;
  size_t cursor_ = 0;
};

}  // namespace warpchat
