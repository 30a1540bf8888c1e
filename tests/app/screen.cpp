// Cells in rows. A character in the last column leaves the cursor there until the next one comes, as on a VT100.
#include "tests/app/screen.h"

#include <algorithm>

#include "app/platform/text/graphemes.h"

namespace warpchat {

void Screen::write(std::string_view bytes) {
  while (!bytes.empty()) {
    size_t length = 1;
    if (bytes[0] == '\x1b') {
      length = take_escape(bytes);
    } else if (bytes[0] == '\r') {
      column_ = 0;
      wrap_pending_ = false;
    } else if (bytes[0] == '\n') {
      line_feed();
    } else {
      length = next_grapheme(bytes, 0);
      put(bytes.substr(0, length));
    }
    bytes.remove_prefix(length);
  }
}

size_t Screen::take_escape(std::string_view bytes) {
  const size_t end = std::min(bytes.find_first_of("ABCDHJKhlm", 2), bytes.size() - 1);
  const std::string_view sequence = bytes.substr(0, end + 1);
  const std::string parameters(sequence.substr(2, sequence.size() - 3));
  const int n = parameters.empty() || parameters[0] == '?' ? 1 : std::max(1, std::atoi(parameters.c_str()));
  if (sequence.back() != 'm' && sequence.back() != 'h' && sequence.back() != 'l') wrap_pending_ = false;
  switch (sequence.back()) {
    case 'A':
      row_ = std::max(0, row_ - n);
      break;
    case 'B':
      row_ = std::min(rows_ - 1, row_ + n);
      break;
    case 'C':
      column_ = std::min(columns_ - 1, column_ + n);
      break;
    case 'D':
      column_ = std::max(0, column_ - n);
      break;
    case 'H':
      row_ = column_ = 0;
      break;
    case 'J':
      if (parameters == "2")
        cells_.assign(static_cast<size_t>(rows_), {});
      else
        erase_below();
      break;
    case 'K':
      row().resize(std::min(row().size(), static_cast<size_t>(column_)));
      break;
    case 'h':
    case 'l':
    case 'm':
      break;
    default:
      unknown_.emplace_back(sequence);
  }
  return sequence.size();
}

void Screen::put(std::string_view cluster) {
  const int width = std::max(1, grapheme_width(cluster));
  if (wrap_pending_ || column_ + width > columns_) {
    column_ = 0;
    line_feed();
  }
  Row& cells = row();
  if (cells.size() < static_cast<size_t>(column_ + width)) cells.resize(static_cast<size_t>(column_ + width), {" ", 1});
  cells[static_cast<size_t>(column_)] = {std::string(cluster), width};
  if (width == 2) cells[static_cast<size_t>(column_) + 1] = {"", 0};
  column_ += width;
  wrap_pending_ = column_ == columns_;
  if (wrap_pending_) column_ = columns_ - 1;
}

void Screen::line_feed() {
  wrap_pending_ = false;
  if (++row_ < rows_) return;
  row_ = rows_ - 1;
  cells_.erase(cells_.begin());
  cells_.emplace_back();
}

void Screen::erase_below() {
  row().resize(std::min(row().size(), static_cast<size_t>(column_)));
  for (size_t i = static_cast<size_t>(row_) + 1; i < cells_.size(); ++i) cells_[i].clear();
}

void Screen::resize(int columns) {
  std::vector<Row> broken;
  int new_row = 0, new_column = 0;
  for (int i = 0; i < rows_; ++i) {
    const Row& cells = cells_[static_cast<size_t>(i)];
    const size_t first = broken.size();
    broken.emplace_back();
    for (size_t column = 0; column < cells.size(); ++column) {
      const Cell& cell = cells[column];
      if (broken.back().size() + static_cast<size_t>(cell.width) > static_cast<size_t>(columns)) broken.emplace_back();
      if (i == row_ && static_cast<int>(column) <= column_) {
        new_row = static_cast<int>(broken.size()) - 1;
        new_column = static_cast<int>(broken.back().size()) + column_ - static_cast<int>(column);
      }
      broken.back().push_back(cell);
    }
    if (i != row_) continue;
    if (cells.empty()) new_row = static_cast<int>(first), new_column = column_;
    new_row += new_column / columns;
    new_column %= columns;
    while (broken.size() <= static_cast<size_t>(new_row)) broken.emplace_back();
  }
  const int scrolled = std::max(0, new_row + 1 - rows_);
  broken.erase(broken.begin(), broken.begin() + scrolled);
  broken.resize(static_cast<size_t>(rows_));
  cells_ = std::move(broken);
  row_ = new_row - scrolled;
  column_ = new_column;
  columns_ = columns;
  wrap_pending_ = false;
}

std::string Screen::text() const {
  std::string all;
  size_t end = 0;
  for (const Row& cells : cells_) {
    std::string line;
    for (const Cell& cell : cells) line += cell.text;
    line.erase(line.find_last_not_of(' ') + 1);
    all += line;
    if (!line.empty()) end = all.size();
    all += '\n';
  }
  return all.substr(0, end);
}

std::string as_terminal(std::string_view output) {
  std::string text;
  for (const char c : output) text += c == '\n' ? "\r\n" : std::string(1, c);
  return text;
}

}  // namespace warpchat
