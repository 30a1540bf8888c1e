// Where in the text a point is, and where on the screen a stretch of text is.
#include <algorithm>
#include <cmath>

#include "app/gui/text/layout_parts.h"
#include "app/gui/text/paragraph.h"
#include "app/platform/text/graphemes.h"

namespace warpchat::gui {

namespace {

constexpr float kBreakWidth = 0.3f;  // of a line's height: how wide a selected line break is

const Line& line_at(const std::vector<Line>& lines, float y) {
  const auto below = [](float at, const Line& line) { return at < line.y; };
  const auto after = std::upper_bound(lines.begin(), lines.end(), y, below);
  return after == lines.begin() ? *after : after[-1];
}

// The run at x, or the nearest one.
const GlyphRun* run_at(const std::vector<GlyphRun>& runs, const Line& line, float x) {
  if (line.first == line.last) return nullptr;
  const GlyphRun* first = runs.data() + line.first;
  const GlyphRun* last = runs.data() + line.last;
  const auto before = [](float at, const GlyphRun& run) { return at < run.x; };
  const GlyphRun* after = std::upper_bound(first, last, x, before);
  return after == first ? first : after - 1;
}

void add_rect(std::vector<TextRect>& rects, const Line& line, float left, float right) {
  if (right <= left) return;
  if (!rects.empty() && rects.back().y == line.y && std::abs(rects.back().x + rects.back().width - left) < 0.01f) {
    rects.back().width = right - rects.back().x;
  } else {
    rects.push_back({left, line.y, right - left, line.height});
  }
}

struct TextSpan {
  size_t begin, end;
};

// The stretch between "\n"s around an offset.
TextSpan paragraph_at(const std::string& text, size_t offset) {
  const size_t before = offset ? text.rfind('\n', offset - 1) : std::string::npos;
  return {before == std::string::npos ? 0 : before + 1, std::min(text.find('\n', offset), text.size())};
}

}  // namespace

std::vector<Cell> TextLayout::Parts::cells(const GlyphRun& run) const {
  if (run.first == run.last) return {{run.begin, run.end, 0, run.width}};
  std::vector<GlyphSpan> spans;
  for (uint32_t g = run.first; g < run.last; ++g) {
    spans.push_back({glyphs[g].offset, glyphs[g].x, g + 1 < run.last ? glyphs[g + 1].x : run.width});
  }
  std::vector<uint32_t> starts;
  const std::string_view part = std::string_view(text).substr(0, run.end);
  for (size_t at = run.begin; at < run.end; at = next_grapheme(part, at)) starts.push_back(static_cast<uint32_t>(at));
  starts.push_back(run.end);
  std::vector<Cell> result = cells_of(spans, starts, run.is_rtl());
  if (run.is_rtl()) std::reverse(result.begin(), result.end());
  return result;
}

const GlyphRun* TextLayout::Parts::formula_at(size_t offset) const {
  const auto at = std::find_if(runs.begin(), runs.end(), [&](const GlyphRun& run) {
    return formulas[run.style] && run.begin <= offset && offset < run.end;
  });
  return at == runs.end() ? nullptr : &*at;
}

TextLayout::TextLayout(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
TextLayout::~TextLayout() = default;

float TextLayout::width() const { return parts_->width; }
float TextLayout::longest_line() const {
  float longest = 0;
  for (const Line& line : parts_->lines) longest = std::max(longest, line.width);
  return longest;
}
float TextLayout::height() const { return parts_->height; }
size_t TextLayout::n_lines() const { return parts_->lines.size(); }

size_t TextLayout::memory_bytes() const {
  const Parts& p = *parts_;
  return sizeof(Parts) + p.text.capacity() + p.styles.capacity() * sizeof(TextStyle) +
         p.glyphs.capacity() * sizeof(Glyph) + p.runs.capacity() * sizeof(GlyphRun) + p.lines.capacity() * sizeof(Line);
}

size_t TextLayout::offset_at(float x, float y) const {
  const Line& line = line_at(parts_->lines, y);
  if (y >= parts_->height) return parts_->text.size();
  const GlyphRun* run = run_at(parts_->runs, line, x - line.x);
  if (!run) return line.begin;
  const float at = x - line.x - run->x;
  const std::vector<Cell> cells = parts_->cells(*run);
  const auto before = [](const Cell& cell, float point) { return cell.right <= point; };
  auto cell = std::lower_bound(cells.begin(), cells.end(), at, before);
  if (cell == cells.end()) --cell;
  const bool left_half = at < (cell->left + cell->right) / 2;
  return left_half == run->is_rtl() ? cell->end : cell->begin;
}

std::vector<TextRect> TextLayout::selection(size_t begin, size_t end) const {
  std::vector<TextRect> rects;
  const auto before = [](const Line& line, size_t offset) { return line.end < offset; };
  auto line = std::lower_bound(parts_->lines.begin(), parts_->lines.end(), begin, before);
  for (; begin < end && line != parts_->lines.end() && line->begin < end; ++line) {
    for (uint32_t i = line->first; i < line->last; ++i) {
      const GlyphRun& run = parts_->runs[i];
      if (run.end <= begin || run.begin >= end) continue;
      const float x = line->x + run.x;
      if (begin <= run.begin && run.end <= end) {
        add_rect(rects, *line, x, x + run.width);
        continue;
      }
      for (const Cell& cell : parts_->cells(run)) {
        if (cell.begin < end && cell.end > begin) add_rect(rects, *line, x + cell.left, x + cell.right);
      }
    }
    const bool break_selected = line->ends_paragraph && begin <= line->end && line->end < end;
    const float mark = line->height * kBreakWidth;
    if (break_selected && line->is_rtl) add_rect(rects, *line, line->x - mark, line->x);
    if (break_selected && !line->is_rtl) add_rect(rects, *line, line->x + line->width, line->x + line->width + mark);
  }
  return rects;
}

size_t TextLayout::word_begin(size_t offset) const {
  if (const GlyphRun* formula = parts_->formula_at(offset)) return formula->begin;
  const TextSpan span = paragraph_at(parts_->text, std::min(offset, parts_->text.size()));
  const std::string_view text = std::string_view(parts_->text).substr(span.begin, span.end - span.begin);
  return span.begin + parts_->reader->word_at(text, std::min(offset, span.end) - span.begin).first;
}

size_t TextLayout::word_end(size_t offset) const {
  if (const GlyphRun* formula = parts_->formula_at(offset)) return formula->end;
  const TextSpan span = paragraph_at(parts_->text, std::min(offset, parts_->text.size()));
  const std::string_view text = std::string_view(parts_->text).substr(span.begin, span.end - span.begin);
  return span.begin + parts_->reader->word_at(text, std::min(offset, span.end) - span.begin).second;
}

}  // namespace warpchat::gui
