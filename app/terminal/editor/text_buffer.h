// The text being edited and its cursor, which always stands between grapheme clusters. Lines are separated by \n. A
// long paste is folded: it is one cluster, drawn as a word about it, until it is opened; the text has it whole.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "app/platform/text/graphemes.h"

namespace warpchat {

enum class LetterCase { kUpper, kLower, kCapital };

class TextBuffer {
 public:
  const std::string& text() const { return text_; }
  size_t cursor() const { return cursor_; }  // byte offset
  bool empty() const { return text_.empty(); }
  void set(std::string text);  // cursor at the end; cannot be undone

  // As they are drawn: the clusters from 0 on, each up to next() of its begin.
  size_t next(size_t at) const;
  size_t previous(size_t at) const;
  size_t line_start_before(size_t at, size_t n_lines) const;  // the begin of its line, or of one so many lines above
  bool is_line_break(size_t at) const { return is_char(at, '\n'); }
  bool is_folded(size_t at) const { return fold_from(at) != nullptr; }
  Drawn drawn(size_t at) const;  // of a folded paste "[pasted 312 lines]"

  void insert(std::string_view text) { replace(cursor_, cursor_, text, Joins::kTyping); }
  void paste(std::string_view text);
  // A part that ends at the cursor; from: where it begins.
  void replace_left(size_t from, std::string_view text) { replace(from, cursor_, text, Joins::kNothing); }
  void open_pastes() { folds_.clear(); }
  void undo();  // the last change; what was typed in a row is one
  void erase_left() { replace(previous(cursor_), cursor_, "", Joins::kErasing); }
  void erase_right() { replace(cursor_, next(cursor_), "", Joins::kNothing); }
  void left() { cursor_ = previous(cursor_); }
  void right() { cursor_ = next(cursor_); }
  void word_left() { cursor_ = word_left_of(cursor_); }  // to the begin of this or the word before
  void word_right() { cursor_ = word_right_of(cursor_); }
  void line_start() { cursor_ = line_start_of(cursor_); }
  void line_end() { cursor_ = line_end_of(cursor_); }
  void text_start() { cursor_ = 0; }
  void text_end() { cursor_ = text_.size(); }
  bool line_up();  // to the same column of the line above; false on the first line
  bool line_down();

  void swap_characters();               // the two before the cursor at a line's end, else those on its sides
  void swap_words();                    // this or the next word and the one before it
  void change_word(LetterCase wanted);  // from the cursor to the end of this or the next word

  // What these remove is what yank() inserts, several in a row together.
  void kill_to_line_end();  // at a line's end: the line break
  void kill_to_line_start() { kill(line_start_of(cursor_), cursor_); }
  void kill_word_left() { kill(word_left_of(cursor_), cursor_); }
  void kill_word_right() { kill(cursor_, word_right_of(cursor_)); }
  void kill_to_blank_left();  // up to white space
  void yank() { paste(killed_); }
  void keep_for_yank();  // the whole text, if there is one

 private:
  struct Fold {
    size_t from, to;  // bytes
  };
  struct Change {
    size_t at;            // where
    std::string removed;  // what stood there
    size_t n_inserted;    // bytes that stand there now
    size_t cursor;        // before
    std::vector<Fold> folds;
  };
  enum class Joins { kNothing, kTyping, kErasing, kKilling };  // with the change of the same kind before it

  const Fold* fold_from(size_t at) const;    // that begins there
  const Fold* fold_around(size_t at) const;  // that has this byte
  bool is_char(size_t at, char c) const { return at < text_.size() && text_[at] == c && fold_around(at) == nullptr; }
  bool is_space(size_t at) const { return is_char(at, ' ') || is_char(at, '\n') || is_char(at, '\t'); }
  size_t step_left(size_t at) const;  // a byte, or over a fold
  size_t step_right(size_t at) const;
  size_t boundary_from(size_t at) const;  // the first cluster boundary there or after
  size_t line_start_of(size_t at) const;
  size_t line_end_of(size_t at) const;
  bool is_word(size_t at) const;  // a letter, a digit, or a byte of a fold
  size_t word_left_of(size_t at) const;
  size_t word_right_of(size_t at) const;
  void move_to_line(size_t start);  // keeps the column
  void replace(size_t from, size_t to, std::string_view text, Joins joins);
  void remember(Change change, Joins joins);
  void kill(size_t from, size_t to);

  std::string text_, killed_;
  std::vector<Fold> folds_;  // in order, apart
  size_t cursor_ = 0;
  std::vector<Change> changes_;  // oldest first
  Joins last_joins_ = Joins::kNothing;
};

}  // namespace warpchat
