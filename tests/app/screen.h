// A small terminal in memory: it shows what chat's escape sequences would show. It fails on any unknown sequence.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace warpchat {

class Screen {
 public:
  Screen(int columns, int rows) : columns_(columns), rows_(rows), cells_(static_cast<size_t>(rows)) {}

  void write(std::string_view bytes);

  // The rows down to the last non-empty one, without trailing blanks, joined by \n. A wide character fills two cells
  // and appears once.
  std::string text() const;
  int cursor_row() const { return row_; }
  int cursor_column() const { return column_; }
  const std::vector<std::string>& unknown() const { return unknown_; }  // unknown sequences

  // Rewraps every written line, as some terminals do. The cursor stays on its character.
  void resize(int columns);

 private:
  struct Cell {
    std::string text;  // empty: the second half of a wide character
    int width = 1;
  };
  using Row = std::vector<Cell>;

  size_t take_escape(std::string_view bytes);  // returns its length
  void put(std::string_view cluster);
  void line_feed();
  void erase_below();
  Row& row() { return cells_[static_cast<size_t>(row_)]; }

  int columns_, rows_;
  std::vector<Row> cells_;
  int row_ = 0, column_ = 0;
  bool wrap_pending_ = false;  // the last column was written; the next character wraps
  std::vector<std::string> unknown_;
};

std::string as_terminal(std::string_view output);  // \n becomes \r\n

}  // namespace warpchat
