// A paragraph is shaped whole, then cut into lines; a piece of an item at a line's end is shaped anew only where
// HarfBuzz says that the cut changes its glyphs.
#include "app/gui/text/layout_builder.h"

#include <algorithm>
#include <cmath>

#include "app/gui/text/math_layout.h"

namespace warpchat::gui {

namespace {

constexpr float kTolerance = 0.01f;  // pixels, of sums
constexpr int kTabDigits = 4;        // a tab stop every so many digits' widths
constexpr float kMinLine = 1.45f;    // em
constexpr float kOver = 0.1f;        // em, that a high letter of a fallback font may reach into the line above
constexpr float kUnder = 0.25f;  // em, that a deep letter may reach into the line below, which is seldom full height
constexpr float kInlineFormulaGap = 0.12f;  // em, above a high formula and below a deep one
constexpr float kSmallest = 1, kLargest = 512;

float advance_of(const Font& font, char32_t character) {
  hb_codepoint_t glyph = 0;
  hb_font_get_nominal_glyph(font.shaping(), character, &glyph);
  return static_cast<float>(hb_font_get_glyph_h_advance(font.shaping(), glyph)) / font.units_per_em();
}

// Unicode's rule L2: from the highest level to the lowest odd one, what is at least that high is reversed.
void reorder(std::vector<GlyphRun>& runs, size_t first) {
  uint8_t highest = 0;
  for (size_t i = first; i < runs.size(); ++i) highest = std::max(highest, runs[i].level);
  for (uint8_t level = highest; level > 0; --level) {
    for (size_t i = first; i < runs.size(); ++i) {
      if (runs[i].level < level) continue;
      size_t end = i;
      while (end < runs.size() && runs[end].level >= level) ++end;
      std::reverse(runs.begin() + static_cast<ptrdiff_t>(i), runs.begin() + static_cast<ptrdiff_t>(end));
      i = end;
    }
  }
}

// A shaped item's glyphs, to be cut between characters.
struct ShapedItem {
  const ShapedGlyph *first, *last;
  uint32_t begin, end;  // characters
  bool is_rtl;

  // left to right the first glyph of characters from `at` on; right to left the first one of those before
  const ShapedGlyph* find(uint32_t at) const {
    return std::partition_point(first, last, [&](const ShapedGlyph& glyph) { return (glyph.at >= at) == is_rtl; });
  }
  bool can_cut(uint32_t at) const {
    if (at == begin || at == end) return true;
    const ShapedGlyph* glyph = find(at);
    if (glyph == (is_rtl ? first : last)) return false;
    if (is_rtl) --glyph;
    return glyph->at == at && !glyph->unsafe;
  }
};

}  // namespace

void LineExtent::include(LineExtent other) {
  above = std::max(above, other.above);
  below = std::max(below, other.below);
}

namespace {

// Text above or below the line makes it higher only where it does not fit into the room between lines.
LineExtent risen_extent(const Font& own, const TextStyle& style) {
  const FontMetrics& m = own.metrics();
  const float rise = std::round(style.rise);
  return {std::ceil((m.ascent - kOver) * style.size) + rise, std::ceil((m.descent - kUnder) * style.size) - rise};
}

}  // namespace

LineExtent line_extent(const Font& own, float size) {
  const FontMetrics& m = own.metrics();
  const float height = m.ascent + m.descent, leading = std::max(0.0f, kMinLine - height);
  const float above = std::round((m.ascent + leading / 2) * size);
  return {above, std::round((height + leading) * size) - above};
}

LayoutBuilder::LayoutBuilder(FontSet& fonts, Shaper& shaper, ParagraphReader& reader, const StyledText& text,
                             float width, TextLayout::Parts& out)
    : fonts_(fonts), shaper_(shaper), reader_(reader), text_(text), width_(width), out_(out) {}

void LayoutBuilder::build(LineAlign align_to, TextDirection direction) {
  direction_ = direction;
  cover_styles(text_.runs);
  replace_formulas();
  out_.text = text_.text;
  for (const StyledRun& run : styles_) {
    out_.styles.push_back(run.style);
    out_.formulas.push_back(run.formula);
    const Font& own = fonts_.primary(run.style.face);
    out_.extents.push_back(run.style.rise == 0 ? line_extent(own, run.style.size) : risen_extent(own, run.style));
  }
  size_t begin = 0;
  while (true) {
    const size_t end = std::min(readable_.find('\n', begin), readable_.size());
    add_paragraph(begin, end);
    if (end == readable_.size()) break;
    begin = end + 1;
  }
  align(align_to);
  out_.glyphs.shrink_to_fit();
  out_.runs.shrink_to_fit();
  out_.lines.shrink_to_fit();
}

void LayoutBuilder::cover_styles(const std::vector<StyledRun>& runs) {
  const auto add = [&](size_t begin, size_t end, TextStyle style, std::shared_ptr<const MathLayout> formula = nullptr) {
    style.size = std::clamp(style.size, kSmallest, kLargest);
    styles_.push_back({begin, end, style, std::move(formula)});
  };
  size_t at = 0;
  for (const StyledRun& run : runs) {
    const size_t begin = std::max(run.begin, at), end = std::min(run.end, text_.text.size());
    if (begin >= end) continue;
    if (begin > at) add(at, begin, {});
    add(begin, end, run.style, run.formula);
    at = end;
  }
  if (at < text_.text.size()) add(at, text_.text.size(), {});
  if (styles_.empty()) add(0, 0, runs.empty() ? TextStyle{} : runs.front().style);
}

// A formula is replaced by one letter with combining marks for the rest of its bytes: it is never broken, and its
// neighbours cling to it as to a word.
void LayoutBuilder::replace_formulas() {
  readable_ = text_.text;
  for (const StyledRun& run : styles_) {
    if (!run.formula) continue;
    const size_t length = run.end - run.begin;
    std::string word = length == 4 ? "\u00E9" : "\u1E00";  // of two bytes, of three
    while (length - word.size() > 3 || length - word.size() == 2) word += "\u034F";
    if (length > word.size()) word += "\u200D";
    readable_.replace(run.begin, length, word);
  }
}

void LayoutBuilder::add_paragraph(size_t begin, size_t end) {
  while (style_ + 1 < styles_.size() && styles_[style_].end <= begin) ++style_;
  paragraph_ = &reader_.read(readable_, begin, end, direction_);
  shape_items();
  const std::vector<ClusterRange> lines = fill_lines();
  for (const ClusterRange& line : lines) add_line(line, line.end == paragraph_->clusters.size());
}

void LayoutBuilder::shape_items() {
  items_.clear();
  glyphs_.clear();
  item_glyphs_.assign(1, 0);
  advances_.assign(paragraph_->clusters.size(), 0);
  itemise(*paragraph_, styles_, style_, fonts_, items_);
  for (size_t i = 0; i < items_.size(); ++i) {
    if (!is_tab(*paragraph_, items_[i]) && !formula_of(items_[i])) shaper_.shape(*paragraph_, items_[i], glyphs_);
    item_glyphs_.push_back(static_cast<uint32_t>(glyphs_.size()));
    measure_item(i);
  }
}

void LayoutBuilder::measure_item(size_t index) {
  const Item& item = items_[index];
  const TextStyle& style = styles_[item.style].style;
  if (is_tab(*paragraph_, item)) {
    advances_[item.begin] = -kTabDigits * style.size * advance_of(fonts_.primary(style.face), '0');
    return;
  }
  if (const MathLayout* formula = formula_of(item)) {
    advances_[item.begin] = formula->width;
    return;
  }
  const float scale = style.size / item.font->units_per_em();
  std::vector<GlyphSpan> spans;
  float pen = 0;
  for (uint32_t g = item_glyphs_[index]; g < item_glyphs_[index + 1]; ++g) {
    const float right = pen + static_cast<float>(glyphs_[g].advance) * scale;
    spans.push_back({glyphs_[g].at, pen, right});
    pen = right;
  }
  std::vector<uint32_t> starts;
  for (size_t c = item.begin; c < item.end; ++c) starts.push_back(paragraph_->clusters[c].first);
  starts.push_back(paragraph_->end_of(item.end - 1));
  size_t cluster = item.begin;
  for (const Cell& cell : cells_of(spans, starts, item.level & 1)) advances_[cluster++] = cell.right - cell.left;
}

float LayoutBuilder::advance_at(size_t cluster, float x) const {
  const float advance = advances_[cluster];
  if (advance >= 0) return advance;
  const float stop = -advance;
  return (std::floor(x / stop + kTolerance) + 1) * stop - x;
}

std::vector<LayoutBuilder::ClusterRange> LayoutBuilder::fill_lines() const {
  std::vector<ClusterRange> lines;
  const std::vector<Cluster>& clusters = paragraph_->clusters;
  size_t begin = 0, last_break = 0;
  float x = 0;
  const auto end_line = [&](size_t end) {
    lines.push_back({begin, end});
    begin = last_break = end;
    x = 0;
  };
  for (size_t i = 0; i < clusters.size(); ++i) {
    if (i > begin && clusters[i].must_break) end_line(i);
    if (clusters[i].can_break) last_break = i;
    float advance = advance_at(i, x);
    if (width_ > 0 && i > begin && x + advance > width_ + kTolerance && !clusters[i].is_space) {
      const size_t end = last_break > begin ? last_break : i;
      end_line(end);
      for (size_t c = end; c < i; ++c) x += advance_at(c, x);
      advance = advance_at(i, x);
    }
    x += advance;
  }
  end_line(clusters.size());
  return lines;
}

void LayoutBuilder::add_line(ClusterRange range, bool ends_paragraph) {
  const Paragraph& paragraph = *paragraph_;
  Line line{};
  line.begin = paragraph.offset_of(range.begin);
  line.end = paragraph.offset_of(range.end);
  line.first = static_cast<uint32_t>(out_.runs.size());
  line.is_rtl = paragraph.base_level & 1;
  line.ends_paragraph = ends_paragraph;
  size_t visible_end = range.end;
  while (visible_end > range.begin && paragraph.clusters[visible_end - 1].is_space) --visible_end;
  float x = 0;
  const auto before = [](const Item& item, size_t cluster) { return item.end <= cluster; };
  auto item = std::lower_bound(items_.begin(), items_.end(), range.begin, before);
  for (; item != items_.end() && item->begin < range.end; ++item) {
    Item piece = *item;
    piece.begin = std::max(piece.begin, range.begin);
    piece.end = std::min(piece.end, range.end);
    const size_t index = static_cast<size_t>(item - items_.begin());
    if (piece.begin < visible_end && visible_end < piece.end && piece.level != paragraph.base_level) {
      Item seen = piece;
      seen.end = piece.begin = visible_end;
      add_piece(seen, index, x);
    }
    if (piece.begin >= visible_end) piece.level = paragraph.base_level;
    add_piece(piece, index, x);
  }
  float visible_width = x;
  for (size_t c = range.end; c > visible_end; --c) visible_width -= std::max(0.0f, advances_[c - 1]);
  place_runs(line, visible_width);
}

void LayoutBuilder::add_piece(Item piece, size_t index, float& x) {
  const Item& item = items_[index];
  GlyphRun run{piece.font, piece.style, paragraph_->offset_of(piece.begin), paragraph_->offset_of(piece.end)};
  run.level = piece.level;
  run.first = run.last = static_cast<uint32_t>(out_.glyphs.size());
  if (is_tab(*paragraph_, piece)) {
    run.width = advance_at(piece.begin, x);
  } else if (const MathLayout* formula = formula_of(item)) {
    run.width = formula->width;
  } else {
    const uint32_t from = paragraph_->clusters[piece.begin].first, to = paragraph_->end_of(piece.end - 1);
    const ShapedGlyph* glyphs = glyphs_.data();
    const ShapedItem shaped{glyphs + item_glyphs_[index], glyphs + item_glyphs_[index + 1],
                            paragraph_->clusters[item.begin].first, paragraph_->end_of(item.end - 1),
                            (item.level & 1) != 0};
    if (piece.level == item.level && shaped.can_cut(from) && shaped.can_cut(to)) {
      const ShapedGlyph *left = shaped.find(from), *right = shaped.find(to);
      if (shaped.is_rtl) std::swap(left, right);
      add_glyphs(left, right, run);
    } else {
      std::vector<ShapedGlyph> anew;
      shaper_.shape(*paragraph_, piece, anew);
      add_glyphs(anew.data(), anew.data() + anew.size(), run);
    }
  }
  x += run.width;
  out_.runs.push_back(run);
}

void LayoutBuilder::add_glyphs(const ShapedGlyph* begin, const ShapedGlyph* end, GlyphRun& run) {
  const float scale = styles_[run.style].style.size / run.font->units_per_em();
  const auto fixed = [&](int32_t units, float sign) {
    return static_cast<int16_t>(
        std::lround(std::clamp(sign * static_cast<float>(units) * scale * 64, -32768.f, 32767.f)));
  };
  float pen = 0;
  for (const ShapedGlyph* glyph = begin; glyph != end; ++glyph) {
    out_.glyphs.push_back({pen, fixed(glyph->dx, 1), fixed(glyph->dy, -1), paragraph_->offsets[glyph->at], glyph->id});
    pen += static_cast<float>(glyph->advance) * scale;
  }
  run.last = static_cast<uint32_t>(out_.glyphs.size());
  run.width = pen;
}

void LayoutBuilder::place_runs(Line& line, float visible_width) {
  reorder(out_.runs, line.first);
  line.last = static_cast<uint32_t>(out_.runs.size());
  float x = 0;
  for (uint32_t i = line.first; i < line.last; ++i) {
    out_.runs[i].x = x;
    x += out_.runs[i].width;
  }
  if (line.is_rtl) {  // the blanks at its end hang over on the left
    for (uint32_t i = line.first; i < line.last; ++i) out_.runs[i].x -= x - visible_width;
  }
  const LineExtent extent = extent_of(line);
  line.width = visible_width;
  line.y = out_.height;
  line.height = extent.above + extent.below;
  line.baseline = extent.above;
  out_.height += line.height;
  out_.lines.push_back(line);
}

LineExtent LayoutBuilder::extent_of(const Line& line) {
  LineExtent extent;
  for (uint32_t i = line.first; i < line.last; ++i) {
    const GlyphRun& run = out_.runs[i];
    const float em = out_.styles[run.style].size;
    extent.include(out_.extents[run.style]);
    if (const auto& formula = out_.formulas[run.style]) {
      extent.include(
          {std::ceil(formula->ascent + kInlineFormulaGap * em), std::ceil(formula->descent + kInlineFormulaGap * em)});
      continue;
    }
    if (run.font != &fonts_.primary(out_.styles[run.style].face)) extent.include(ink_of(run, extent));
  }
  if (line.first == line.last) extent.include(out_.extents[style_]);
  return extent;
}

// Fallback fonts ask for far more room than most of their letters take, and lines of one height are easier to read. So
// their glyphs are looked at, if the font's own word for it exceeds what the line has.
LineExtent LayoutBuilder::ink_of(const GlyphRun& run, LineExtent enough) {
  const float size = out_.styles[run.style].size;
  const FontMetrics& metrics = run.font->metrics();
  LineExtent extent;
  const auto include = [&](float above, float below) {
    extent.include({std::ceil((above - kOver) * size), std::ceil((below - kUnder) * size)});
  };
  include(metrics.ascent, metrics.descent);
  if (extent.above <= enough.above && extent.below <= enough.below) return extent;
  extent = {};
  for (uint32_t g = run.first; g < run.last; ++g) {
    const Font::Ink ink = run.font->ink(out_.glyphs[g].id);
    include(ink.above, ink.below);
  }
  return extent;
}

void LayoutBuilder::align(LineAlign align) {
  float widest = 0;
  for (const Line& line : out_.lines) widest = std::max(widest, line.width);
  const float available = width_ > 0 ? std::max(width_, widest) : widest;
  for (Line& line : out_.lines) {
    const float spare = available - line.width;
    const bool is_right = align == LineAlign::kRight || (align == LineAlign::kStart && line.is_rtl);
    line.x = align == LineAlign::kCentre ? std::round(spare / 2) : is_right ? spare : 0;
    out_.width = std::max(out_.width, line.x + line.width);
  }
}

}  // namespace warpchat::gui
