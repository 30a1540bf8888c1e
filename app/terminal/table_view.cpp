// Widths: every column as wide as its widest cell if that fits; else the widest columns are made narrower, to the same
// width, but none narrower than its longest word.
#include "app/terminal/table_view.h"

#include <algorithm>
#include <numeric>
#include <sstream>
#include <utility>

#include "app/platform/text/graphemes.h"
#include "app/platform/text/line_breaks.h"
#include "app/platform/text/word_wrap.h"
#include "app/terminal/markdown_stream.h"
#include "models/ascii.h"

namespace warpchat {

namespace {

constexpr int kLongestWord = 16;  // columns; longer ones may be broken
constexpr int kMinColumn = 3;
// A terminal may have become narrower and not have told so yet; a line that it breaks could not be drawn over.
constexpr std::string_view kNoWrap = "\x1b[?7l", kWrap = "\x1b[?7h";
constexpr int kRecordIndent = 2;
constexpr size_t kMaxShown = 2;  // bytes per cell of the window, of a row that is shown while it comes

// Splits a row's source into cells; an escaped bar is text.
std::vector<std::string> cells_of(std::string_view line) {
  line = trimmed(line);
  if (line.starts_with('|')) line.remove_prefix(1);
  std::vector<std::string> cells(1);
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '|')
      cells.back() += line[++i];
    else if (line[i] == '|')
      cells.emplace_back();
    else
      cells.back() += line[i];
  }
  if (cells.size() > 1 && trimmed(cells.back()).empty()) cells.pop_back();
  for (std::string& cell : cells) cell = trimmed(cell);
  return cells;
}

bool is_rule(std::string_view line) {
  return line.find('-') != std::string_view::npos && line.find_first_not_of("|-: \t") == std::string_view::npos;
}

std::vector<StyledText> look_of(const std::string& cell, bool bold) {
  std::vector<StyledText> pieces = MarkdownStream::inline_look(cell);
  for (StyledText& piece : pieces) piece.style.bold |= bold;
  return pieces;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

int longest_word(const std::string& cell) {
  std::vector<size_t> ends = line_breaks(cell);
  ends.push_back(cell.size());
  int longest = 0;
  for (size_t begin = 0; const size_t end : ends) {
    longest = std::max(longest, text_width(trimmed(std::string_view(cell).substr(begin, end - begin))));
    begin = end;
  }
  return std::min(longest, kLongestWord);
}

const std::string& cell_at(const std::vector<std::string>& row, size_t column) {
  static const std::string none;
  return column < row.size() ? row[column] : none;
}

}  // namespace

void TableView::add(std::string_view source) {
  begun_ = true;
  while (!source.empty()) {
    const size_t end = std::min(source.find('\n'), source.size());
    line_ += source.substr(0, end);
    if (end < source.size()) take_line(std::exchange(line_, {}));
    source.remove_prefix(std::min(end + 1, source.size()));
  }
}

void TableView::take_line(std::string_view line) {
  if (header_.empty()) {
    indent_ = static_cast<int>(std::min(line.find_first_not_of(' '), line.size()));
    header_ = cells_of(line);
    header_line_ = trimmed(line);
  } else if (!has_rule_ && rows_.empty() && is_rule(line)) {
    has_rule_ = true;
    for (const std::string& cell : cells_of(line))
      alignments_.push_back(!cell.ends_with(':')    ? Alignment::kLeft
                            : cell.starts_with(':') ? Alignment::kCentre
                                                    : Alignment::kRight);
  } else {
    rows_.push_back(cells_of(line));
  }
  waits_ = false;
}

// The row that is not complete; empty while nothing of it is to be seen.
TableView::Cells TableView::begun_row() const {
  n_read_ += line_.size();
  const std::string_view begun = trimmed(line_);
  const bool may_be_rule = !has_rule_ && rows_.empty() && begun.find_first_not_of("|-: \t") == std::string_view::npos;
  return begun.empty() || begun == "|" || may_be_rule ? Cells() : cells_of(begun);
}

std::vector<int> TableView::widths_of(const std::vector<Cells>& rows) const {
  const int bars = 3 * static_cast<int>(header_.size()) + 1, left = room() - bars;
  if (kMinColumn * static_cast<int>(header_.size()) > left) return {};
  std::vector<int> natural(header_.size()), min(header_.size()), widths(header_.size());
  const auto measure = [&](const Cells& row) {
    for (size_t i = 0; i < header_.size(); ++i) {
      n_read_ += cell_at(row, i).size();
      natural[i] = std::max({natural[i], text_width(cell_at(row, i)), kMinColumn});
      min[i] = std::max({min[i], longest_word(cell_at(row, i)), kMinColumn});
    }
  };
  measure(header_);
  for (const Cells& row : rows) measure(row);
  const auto share = [&](int max) {
    for (size_t i = 0; i < widths.size(); ++i) widths[i] = std::min(natural[i], std::max(min[i], max));
    return std::accumulate(widths.begin(), widths.end(), 0) <= left;
  };
  int max = left;
  while (max > 0 && !share(max)) --max;
  if (!share(max)) return {};
  int spare = left - std::accumulate(widths.begin(), widths.end(), 0);
  for (size_t i = 0; i < widths.size(); ++i)
    if (spare > 0 && widths[i] < natural[i]) ++widths[i], --spare;
  return widths;
}

std::vector<std::string> TableView::lines(const std::vector<Cells>& rows, const std::vector<int>& widths) const {
  std::vector<std::string> lines;
  if (widths.empty()) {
    for (size_t i = 0; i < rows.size(); ++i) add_record(lines, rows[i], /*is_complete=*/i < rows_.size());
    if (lines.empty() && !header_shown_) lines = split_lines(wrapped({{header_line_}}, std::max(room(), 1), false));
    return lines;
  }
  if (!header_shown_) {
    add_row(lines, header_, widths, /*bold=*/true);
    if (has_rule_ || !rows.empty()) lines.push_back(rule(widths));
  }
  for (const Cells& row : rows) add_row(lines, row, widths, /*bold=*/false);
  return lines;
}

void TableView::add_record(std::vector<std::string>& lines, const Cells& row, bool is_complete) const {
  if (!lines.empty() || header_shown_) lines.emplace_back();
  const std::string margin(static_cast<size_t>(indent_), ' ');
  const size_t n_cells = is_complete ? std::max(row.size(), header_.size()) : row.size();
  for (size_t i = 0; i < n_cells; ++i) {
    n_read_ += cell_at(row, i).size();
    std::vector<StyledText> pieces;
    if (!cell_at(header_, i).empty()) pieces = look_of(cell_at(header_, i) + ": ", /*bold=*/true);
    for (const StyledText& piece : look_of(cell_at(row, i), /*bold=*/false)) pieces.push_back(piece);
    for (StyledText& piece : pieces) piece.indent = kRecordIndent;
    for (const std::string& line : split_lines(wrapped(pieces, std::max(room(), 1), look_.styled)))
      lines.push_back(margin + line);
  }
}

void TableView::add_row(std::vector<std::string>& lines, const Cells& row, const std::vector<int>& widths,
                        bool bold) const {
  const std::string bar = look_.styled ? escape_sequence({.dim = true}) + "|" + escape_sequence({}) : "|";
  std::vector<std::vector<std::string>> columns;
  size_t height = 1;
  for (size_t i = 0; i < widths.size(); ++i) {
    n_read_ += cell_at(row, i).size();
    columns.push_back(split_lines(wrapped(look_of(cell_at(row, i), bold), widths[i], look_.styled)));
    height = std::max(height, columns.back().size());
  }
  for (size_t y = 0; y < height; ++y) {
    std::string line = std::string(static_cast<size_t>(indent_), ' ') + bar;
    for (size_t i = 0; i < columns.size(); ++i) line += " " + padded(cell_at(columns[i], y), widths[i], i) + " " + bar;
    lines.push_back(line);
  }
}

std::string TableView::rule(const std::vector<int>& widths) const {
  std::string line(static_cast<size_t>(indent_), ' ');
  if (look_.styled) line += escape_sequence({.dim = true});
  line += "|";
  for (size_t i = 0; i < widths.size(); ++i) {
    std::string dashes(static_cast<size_t>(widths[i]) + 2, '-');
    const Alignment alignment = i < alignments_.size() ? alignments_[i] : Alignment::kLeft;
    if (alignment == Alignment::kCentre) dashes.front() = ':';
    if (alignment != Alignment::kLeft) dashes.back() = ':';
    line += dashes + "|";
  }
  return line + (look_.styled ? escape_sequence({}) : "");
}

std::string TableView::padded(const std::string& cell, int width, size_t column) const {
  const int blanks = std::max(0, width - shown_width(cell));
  const Alignment alignment = column < alignments_.size() ? alignments_[column] : Alignment::kLeft;
  const int before = alignment == Alignment::kLeft ? 0 : alignment == Alignment::kRight ? blanks : blanks / 2;
  return std::string(static_cast<size_t>(before), ' ') + cell + std::string(static_cast<size_t>(blanks - before), ' ');
}

std::string TableView::show() {
  if (!begun_ || (!look_.movable && !look_.records)) return "";
  if (!look_.movable) {  // complete rows as they come
    std::string out;
    if (rows_.empty()) return out;
    for (const std::string& line : lines(rows_, {})) out += line + "\n";
    rows_.clear();
    header_shown_ = true;
    return out;
  }
  if (header_.empty() || waits_) return "";
  if (line_.size() > kMaxShown * static_cast<size_t>(look_.columns) * static_cast<size_t>(look_.rows)) return "";
  std::vector<Cells> rows = rows_;
  if (Cells row = begun_row(); !row.empty()) rows.push_back(std::move(row));
  const bool is_complete = rows.size() == rows_.size();
  if (!fixed_) {
    widths_ = look_.records ? std::vector<int>() : widths_of(rows);
    std::vector<std::string> all = lines(rows, widths_);
    if (fits(all.size())) return draw(std::move(all));
    fixed_ = is_complete && !rows_.empty();
    waits_ = !fixed_;
    if (waits_) return "";
  }
  return show_fixed(rows, is_complete);
}

// Complete rows may leave the window, since they never look different again. The one that is not complete waits until
// it is, if it is higher than the window: what has left cannot be drawn again.
std::string TableView::show_fixed(const std::vector<Cells>& rows, bool is_complete) {
  std::vector<std::string> all = lines(rows, widths_), complete = lines(rows_, widths_);
  const size_t n_complete = complete.size();
  waits_ = !is_complete && !fits(all.size() - n_complete);
  if (waits_ && n_complete == 0) return "";
  const std::string out = draw(std::move(waits_ ? complete : all));
  if (n_complete > 0) let_go(n_complete);
  return out;
}

// Redraws from the first line that differs.
std::string TableView::draw(std::vector<std::string> lines) {
  size_t same = 0;
  while (same < std::min(lines.size(), shown_.size()) && lines[same] == shown_[same]) ++same;
  if (same == lines.size() && same == shown_.size()) return "";
  if (!shown_.empty() && same == lines.size() && same > 0) --same;  // fewer lines than before
  std::string out;
  if (same < shown_.size()) {
    const size_t up = shown_.size() - 1 - same;
    out = (up > 0 ? "\x1b[" + std::to_string(up) + "A" : "") + "\r\x1b[J";
  } else if (!shown_.empty() || below_) {
    out = "\n";
  }
  below_ = false;
  for (size_t i = same; i < lines.size(); ++i) out += (i == same ? "" : "\n") + lines[i];
  shown_ = std::move(lines);
  return look_.movable ? std::string(kNoWrap) + out + std::string(kWrap) : out;
}

void TableView::let_go(size_t n_lines) {
  shown_.erase(shown_.begin(), shown_.begin() + static_cast<std::ptrdiff_t>(std::min(n_lines, shown_.size())));
  below_ = shown_.empty();
  rows_.clear();
  header_shown_ = true;
}

std::string TableView::finish() {
  if (!begun_) return "";
  if (!line_.empty()) take_line(std::exchange(line_, {}));
  if (header_.empty()) return "";
  std::string out = show();
  if (!header_shown_) out += draw(lines(rows_, look_.records ? std::vector<int>() : widths_of(rows_)));
  const bool ends_line = !shown_.empty() || below_;
  const size_t n_read = n_read_;
  *this = TableView(look_);
  n_read_ = n_read;
  return out + (ends_line ? "\n" : "");
}

std::string TableView::resize(int columns, int rows) {
  const bool same_width = std::exchange(look_.columns, columns) == columns;
  look_.rows = rows;
  int widest = 0;
  for (const std::string& line : shown_) widest = std::max(widest, shown_width(line));
  if (shown_.empty() && look_.movable && !same_width) header_shown_ = fixed_ = waits_ = false;
  if (shown_.empty() || (fits(shown_.size()) && (same_width || widest <= columns))) return "";
  shown_.clear();
  rows_.clear();
  header_shown_ = fixed_ = waits_ = false;
  return "\n";
}

}  // namespace warpchat
