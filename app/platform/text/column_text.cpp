// Columns are as wide as their widest cell, but for a few cells that are much wider than others: their lines go on
// below them.
#include "app/platform/text/column_text.h"

#include <algorithm>
#include <map>
#include <vector>

#include "app/platform/text/graphemes.h"
#include "app/platform/text/word_wrap.h"

namespace warpchat {

namespace {

constexpr int kGap = 2;
constexpr int kWidestCell = 28;  // columns; of those in front of the last
constexpr int kMinText = 24;     // columns of the last cell beside others
constexpr int kBelow = 4;        // its indent below them

using Cells = std::vector<std::string>;

std::vector<Cells> rows_of(std::string_view text) {
  std::vector<Cells> rows;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    rows.emplace_back();
    for (;;) {
      const size_t tab = std::min(line.find('\t'), line.size());
      rows.back().emplace_back(line.substr(0, tab));
      if (tab == line.size()) break;
      line.remove_prefix(tab + 1);
    }
  }
  return rows;
}

// Widths of the columns before the last, by the number of cells in a row.
std::map<size_t, std::vector<int>> widths_of(const std::vector<Cells>& rows) {
  std::map<size_t, std::vector<int>> widths;
  for (const Cells& row : rows) {
    std::vector<int>& columns = widths[row.size()];
    columns.resize(row.size() - 1);
    for (size_t i = 0; i + 1 < row.size(); ++i)
      columns[i] = std::max(columns[i], std::min(text_width(row[i]), kWidestCell));
  }
  return widths;
}

int blanks_before(std::string_view text) {
  return static_cast<int>(std::min(text.find_first_not_of(' '), text.size()));
}

std::string wrapped_line(const std::string& text, int indent, int width) {
  return text.empty() ? "\n" : wrapped({{.text = text, .indent = indent}}, width, /*styled=*/false);
}

std::string row_text(const Cells& row, const std::vector<int>& widths, int width) {
  const int margin = blanks_before(row.front());
  if (row.size() == 1) return wrapped_line(row.front(), margin, width);
  int begin = 0;  // of the last cell
  for (const int column : widths) begin += column + kGap;
  const int room = width == 0 ? text_width(row.back()) : width - begin;
  const bool is_narrow = room < std::min(kMinText, text_width(row.back()));
  std::string line, above;  // above: the cells before the last, where they have a line of their own
  int column = 0;
  for (size_t i = 0; i < widths.size(); ++i) {
    column = is_narrow ? text_width(line + row[i]) + kGap : column + widths[i] + kGap;
    line += row[i];
    if (width > 0 && text_width(line) + kGap > column && i + 1 == widths.size()) std::swap(above, line);
    if (width == 0) column = std::max(column, text_width(line) + kGap);
    line.resize(line.size() + static_cast<size_t>(std::max(0, column - text_width(line))), ' ');
  }
  if (is_narrow) {
    line.erase(line.find_last_not_of(' ') + 1);
    std::swap(above, line);
    begin = std::min(margin + kBelow, width / 4);
    line.assign(static_cast<size_t>(begin), ' ');
  }
  return (above.empty() ? "" : wrapped_line(above, margin + kGap, width)) +
         wrapped_line(line + row.back(), begin, width);
}

}  // namespace

std::string column_text(std::string_view text, int width) {
  const std::vector<Cells> rows = rows_of(text);
  const std::map<size_t, std::vector<int>> widths = widths_of(rows);
  std::string all;
  for (const Cells& row : rows) all += row_text(row, widths.at(row.size()), width);
  return all;
}

}  // namespace warpchat
