// Every redraw goes to the first shown row, clears downwards and writes all rows in one piece: no flicker, no state in
// the terminal that could differ from ours.
#include "app/terminal/editor/prompt_view.h"

#include <algorithm>
#include <utility>

#include "app/platform/text/styled_text.h"

namespace warpchat {

namespace {

class Rows {
 public:
  explicit Rows(int width) : width_(std::max(width, 2)) { layout_.rows.emplace_back(); }

  void add(const Drawn& cluster) {
    if (layout_.rows.back().width + cluster.width > width_) new_row();
    layout_.rows.back().text += cluster.text;
    layout_.rows.back().width += cluster.width;
  }
  void add_text(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
      const size_t end = next_grapheme(text, at);
      add(drawn_cluster(text.substr(at, end - at)));
      at = end;
    }
  }
  void new_row() { layout_.rows.emplace_back(); }
  // next_width: of the cluster at the cursor; one that does not fit takes the cursor along to the next row.
  void put_cursor(int next_width) {
    if (layout_.rows.back().width + std::max(next_width, 1) > width_) new_row();
    has_cursor_ = true;
    layout_.cursor_row = layout_.rows.size() - 1;
    layout_.cursor_column = layout_.rows.back().width;
  }
  size_t n_below_cursor() const { return has_cursor_ ? layout_.rows.size() - 1 - layout_.cursor_row : 0; }
  PromptLayout release() { return std::move(layout_); }

 private:
  int width_;
  bool has_cursor_ = false;
  PromptLayout layout_;
};

// How many rows stand above a column of a row that a terminal of so many columns has broken; it halves no character.
size_t broken_rows_before(std::string_view row, int column, int columns) {
  size_t rows = 0;
  int passed = 0, used = 0;  // columns of the whole row, and of the piece
  for (size_t at = 0; at < row.size();) {
    const size_t end = next_grapheme(row, at);
    const int width = grapheme_width(row.substr(at, end - at));
    if (used + width > columns) ++rows, used = 0;
    if (passed + width > column) return rows;
    passed += width, used += width;
    at = end;
  }
  return rows + static_cast<size_t>((used + column - passed) / columns);
}

std::string move(size_t n, char direction) { return n == 0 ? "" : "\x1b[" + std::to_string(n) + direction; }

}  // namespace

PromptLayout lay_out_prompt(std::string_view prompt, std::string_view continuation, const TextBuffer& text, int width,
                            size_t max_rows) {
  Rows rows(width);
  const size_t begin = text.line_start_before(text.cursor(), max_rows);
  rows.add_text(begin == 0 ? prompt : continuation);
  for (size_t at = begin; at < text.text().size() && rows.n_below_cursor() <= max_rows; at = text.next(at)) {
    const bool is_line_break = text.is_line_break(at), is_folded = text.is_folded(at);
    const Drawn drawn = text.drawn(at);
    if (at == text.cursor()) rows.put_cursor(is_line_break || is_folded ? 1 : drawn.width);
    if (is_line_break) {
      rows.new_row();
      rows.add_text(continuation);
    } else if (is_folded) {
      rows.add_text(drawn.text);
    } else {
      rows.add(drawn);
    }
  }
  if (text.cursor() == text.text().size()) rows.put_cursor(1);
  return rows.release();
}

std::string PromptView::draw(PromptLayout layout, int width, int height) {
  const size_t above = rows_above_cursor(width);
  const size_t visible = static_cast<size_t>(std::max(height, 1));
  if (layout.rows.size() > visible) {  // the cursor's row and as many of those above it as there is room for
    const size_t last = std::max(layout.cursor_row + 1, visible);
    layout.n_listed -= std::min(layout.n_listed, layout.rows.size() - last);
    layout.rows.resize(last);
    layout.rows.erase(layout.rows.begin(), layout.rows.end() - static_cast<std::ptrdiff_t>(visible));
    layout.cursor_row -= last - visible;
  }
  std::string out = "\x1b[?25l" + move(above, 'A') + "\r\x1b[J";
  out += drawn_rows(layout);
  out += move(layout.rows.size() - 1 - layout.cursor_row, 'A') + "\r" +
         move(static_cast<size_t>(layout.cursor_column), 'C') + "\x1b[?25h";
  shown_ = std::move(layout);
  return out;
}

std::string PromptView::drawn_rows(const PromptLayout& layout) const {
  const size_t n_text = layout.rows.size() - std::min(layout.n_listed, layout.rows.size());
  std::string out = styled_ ? escape_sequence({.bold = true}) : "";
  for (size_t i = 0; i < layout.rows.size(); ++i) {
    if (styled_ && i == n_text) out += escape_sequence({});
    out += (i == 0 ? "" : "\r\n") + layout.rows[i].text;
  }
  return out + (styled_ ? escape_sequence({}) : "");
}

std::string PromptView::finish() {
  if (shown_.rows.empty()) return "";
  const std::string out = move(shown_.rows.size() - 1 - shown_.cursor_row, 'B') + "\r\n";
  forget();
  return out;
}

// A narrower terminal has broken our rows into more; each of ours began a new line, so they break one by one.
size_t PromptView::rows_above_cursor(int width) const {
  if (shown_.rows.empty()) return 0;
  const int columns = std::max(width, 2);
  size_t above = 0;
  for (size_t i = 0; i < shown_.cursor_row; ++i)
    above += 1 + broken_rows_before(shown_.rows[i].text, std::max(0, shown_.rows[i].width - 1), columns);
  return above + broken_rows_before(shown_.rows[shown_.cursor_row].text, shown_.cursor_column, columns);
}

}  // namespace warpchat
