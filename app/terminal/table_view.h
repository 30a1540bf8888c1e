// A Markdown table in a terminal: its source in, as it streams; its rows out, in columns that share the width, their
// cells wrapped. What is shown is drawn again where a later row needs other widths. Where there is no room for columns
// every row is a record, a line a cell: "header: value".
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace warpchat {

struct TableLook {
  int columns = 80, rows = 24;  // of the terminal
  bool styled = true;
  bool movable = false;  // what is shown may be drawn again; if not, it comes at the table's end
  bool records = false;  // for screen readers: tables are read row by row
};

class TableView {
 public:
  explicit TableView(const TableLook& look) : look_(look) {}

  bool begun() const { return begun_; }
  void add(std::string_view source);
  std::string show();    // what brings the terminal up to date
  std::string finish();  // the same at the table's end; the next one begins
  // The terminal is another one from here on: what it shows of the table is left as it is, and the rest comes below
  // it if it cannot be drawn over.
  std::string resize(int columns, int rows);

  size_t n_read() const { return n_read_; }  // bytes of cells that were measured and laid out

 private:
  using Cells = std::vector<std::string>;
  enum class Alignment { kLeft, kCentre, kRight };

  void take_line(std::string_view line);
  Cells begun_row() const;
  std::vector<int> widths_of(const std::vector<Cells>& rows) const;  // of columns; empty: there is no room for them
  std::vector<std::string> lines(const std::vector<Cells>& rows, const std::vector<int>& widths) const;
  void add_record(std::vector<std::string>& lines, const Cells& row, bool is_complete) const;
  void add_row(std::vector<std::string>& lines, const Cells& row, const std::vector<int>& widths, bool bold) const;
  std::string rule(const std::vector<int>& widths) const;
  std::string padded(const std::string& cell, int width, size_t column) const;
  std::string draw(std::vector<std::string> lines);
  std::string show_fixed(const std::vector<Cells>& rows, bool is_complete);
  void let_go(size_t n_lines);                                                        // that are complete, and the rows
  bool fits(size_t n_lines) const { return static_cast<int>(n_lines) < look_.rows; }  // the window
  int room() const { return look_.columns - indent_; }

  TableLook look_;
  bool begun_ = false, has_rule_ = false, header_shown_ = false;
  int indent_ = 0;
  std::string line_;  // that is not complete
  std::string header_line_;
  Cells header_;
  std::vector<Alignment> alignments_;
  std::vector<Cells> rows_;
  std::vector<std::string> shown_;  // lines that the terminal shows, the cursor at the last one's end
  std::vector<int> widths_;         // as shown
  bool below_ = false;              // the cursor is at the end of a line that is not to change
  bool fixed_ = false;              // they cannot change any more: what is shown may have left the screen
  bool waits_ = false;              // nothing is drawn until the row is complete
  mutable size_t n_read_ = 0;
};

}  // namespace warpchat
