#include "app/gui/transcript/block_layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/gui/desktop/open_link.h"
#include "app/gui/text/math_layout.h"

namespace warpchat::gui {
namespace {

constexpr float kItemIndent = 1.7f, kQuoteIndent = 1.15f;  // em
constexpr float kParagraphGap = 0.8f, kTightGap = 0.22f;   // em
constexpr float kHeadingSizes[] = {1.55f, 1.32f, 1.15f, 1.05f, 1, 1};
constexpr float kHeadingGaps[] = {1.5f, 1.4f, 1.2f, 1.1f, 1, 1};
constexpr float kCodeSize = 0.92f, kCodePadding = 0.85f, kCodeHead = 2;
constexpr float kCodeButtons = 3;  // em, beside the language's name
constexpr float kCellX = 0.7f, kCellY = 0.4f;
constexpr float kNarrowestColumn = 3.5f, kReadableColumn = 10, kWidestWord = 16;
constexpr float kLetterWidth = 0.56f;  // em, for estimated widths
constexpr float kFormulaSize = 1.08f;  // its font has smaller letters
constexpr float kFormulaGap = 0.35f;   // em
constexpr size_t kDeepestNesting = 12;
constexpr float kMarkerGap = 0.5f;                                     // em, between an item's marker and its text
constexpr float kShiftedSize = 0.72f, kAbove = 0.36f, kBelow = 0.16f;  // of text above and below the line, em
constexpr float kFootnoteSize = 0.88f;

float space_above(const MarkdownBlock& block, const BlockPlace& place) {
  if (place.is_first || block.continues) return 0;
  if (block.kind == BlockKind::kHeading) return kHeadingGaps[block.level - 1];
  return block.tight ? kTightGap : kParagraphGap;
}

TextStyle style_of(const MarkdownBlock& block, const InlineSpan& span, const BlockLook& look) {
  const Theme& theme = look.theme;
  TextStyle style;
  const bool bold = span.bold || block.kind == BlockKind::kHeading;
  style.face = bold ? (span.italic ? Face::kBoldItalic : Face::kBold) : span.italic ? Face::kItalic : Face::kText;
  style.size = look.sizes.text * (look.is_thought ? 0.94f : 1.0f);
  style.colour = look.is_thought ? theme.dim_text : theme.text;
  if (block.kind == BlockKind::kHeading) style.size *= kHeadingSizes[block.level - 1];
  if (block.is_footnote) style.size *= kFootnoteSize, style.colour = theme.dim_text;
  if (block.kind == BlockKind::kCode || span.code || span.key) {
    style.face = Face::kCode;
    style.size *= kCodeSize;
    if (!look.is_thought) style.colour = theme.code_text;
  }
  if ((span.code || span.key) && block.kind != BlockKind::kCode) style.background = theme.inline_code;
  if (span.key) style.outline = theme.border;
  const bool is_link = span.link >= 0 && may_open_link(block.links[static_cast<size_t>(span.link)]);
  if (is_link) style.colour = theme.link;
  if (block.is_title && !block.nesting.empty() && block.nesting.back() >= Nesting::kNote)
    style.colour = bar_colour(block.nesting.back(), theme);
  style.underline = span.underline || is_link;
  if (span.shift != 0) {
    style.rise = (span.shift > 0 ? kAbove : -kBelow) * style.size;
    style.size *= kShiftedSize;
  }
  style.strike = span.strike;
  return style;
}

// width: the most that a formula may take; 0: any. One that is wider shows its source, which can be broken.
struct StyledPart {
  size_t begin, end;  // of the block's text
  float width = 0;
  bool bold = false;
};

StyledText styled(TextEngine& engine, const MarkdownBlock& block, const BlockLook& look, const StyledPart& part) {
  StyledText out;
  out.text = block.text.substr(part.begin, part.end - part.begin);
  auto span = std::upper_bound(block.spans.begin(), block.spans.end(), part.begin,
                               [](size_t value, const InlineSpan& s) { return value < s.end; });
  for (; span != block.spans.end() && span->begin < part.end; ++span) {
    InlineSpan look_of = *span;
    look_of.bold = look_of.bold || part.bold;
    const size_t begin = std::max(span->begin, part.begin) - part.begin,
                 end = std::min(span->end, part.end) - part.begin;
    StyledRun run{begin, end, style_of(block, look_of, look)};
    if (span->formula != 0) {
      run.formula = engine.formula(out.text.substr(begin, end - begin), span->display, kFormulaSize * run.style.size);
      if (run.formula && part.width > 0 && run.formula->width > part.width) run.formula = nullptr;
    }
    out.runs.push_back(std::move(run));
  }
  return out;
}

StyledText styled_code(TextEngine& engine, const MarkdownBlock& block, const BlockLook& look) {
  if (look.is_thought || block.colours.spans.empty()) return styled(engine, block, look, {0, block.text.size()});
  StyledText out;
  out.text = block.text;
  TextStyle style = style_of(block, {}, look);
  for (const CodeSpan& span : block.colours.spans) {
    style.colour = look.theme.code_kinds[static_cast<size_t>(span.kind)];
    out.runs.push_back({span.begin, span.end, style});
  }
  return out;
}

LineAlign line_align(ColumnAlignment alignment) {
  if (alignment == ColumnAlignment::kCentre) return LineAlign::kCentre;
  return alignment == ColumnAlignment::kRight ? LineAlign::kRight : LineAlign::kStart;
}

bool contains(const TextRect& rect, float x, float y) {
  return x >= rect.x && x < rect.x + rect.width && y >= rect.y && y < rect.y + rect.height;
}

}  // namespace

BlockLayout::BlockLayout(TextEngine& engine, const MarkdownBlock& block, const BlockLook& look, const BlockPlace& place)
    : kind_(block.kind),
      em_(look.sizes.text),
      task_(block.task),
      is_rtl_(block.is_rtl),
      continues_(block.continues),
      goes_on_(place.goes_on),
      n_joined_bars_(place.n_joined_quotes) {
  top_ = std::round(space_above(block, place) * em_);
  float indent = 0;
  for (size_t i = 0; i < std::min(block.nesting.size(), kDeepestNesting); ++i) {
    const Nesting nesting = block.nesting[i];
    if (has_bar(nesting)) bars_.push_back({std::round(indent + 0.1f * em_), nesting});
    indent += (has_bar(nesting) ? kQuoteIndent : kItemIndent) * em_;
  }
  indent = std::round(indent);
  left_ = is_rtl_ ? 0 : indent;
  available_ = std::max(4 * em_, place.width - indent);
  for (Bar& bar : bars_) bar.x = is_rtl_ ? left_ + available_ + indent - bar.x - bar_width(em_) : bar.x;
  height_ = top_;
  switch (block.kind) {
    case BlockKind::kRule:
      height_ += std::round(1.2f * em_);
      width_ = left_ + available_;
      break;
    case BlockKind::kCode:
      lay_out_code(engine, block, look, place);
      break;
    case BlockKind::kTable:
      lay_out_table(engine, block, look);
      break;
    case BlockKind::kFormula:
      lay_out_formula(engine, block, look);
      break;
    default:
      lay_out_text(engine, block, look);
  }
  if (!block.marker.empty()) lay_out_marker(engine, block, look);
  if (block.is_summary) place_fold_sign(engine.line_height(style_of(block, {}, look)));
}

// In place of the fold's bar.
void BlockLayout::place_fold_sign(float line_height) {
  const float x = bars_.empty() ? 0 : bars_.back().x;
  if (!bars_.empty()) bars_.pop_back();
  fold_sign_ = {x, top_, std::round(kQuoteIndent * em_), line_height};
}

void BlockLayout::lay_out_text(TextEngine& engine, const MarkdownBlock& block, const BlockLook& look) {
  StyledText text = styled(engine, block, look, {0, block.text.size(), available_});
  const TextStyle plain = style_of(block, {}, look);
  // In a list or quote all text is at the side of its markers or bars.
  const bool is_inside = std::any_of(block.nesting.begin(), block.nesting.end(),
                                     [](Nesting nesting) { return nesting != Nesting::kDetails; });
  const LineAlign align = !is_inside ? LineAlign::kStart : is_rtl_ ? LineAlign::kRight : LineAlign::kLeft;
  auto layout = engine.layout(text, available_, align);
  const float height = block.text.empty() ? engine.line_height(plain) : layout->height();
  width_ = left_ + layout->longest_line();
  height_ += height;
  texts_.push_back({std::move(layout), left_, top_, 0, block.text.size()});
}

// In the middle; one that is wider than its place scrolls.
void BlockLayout::lay_out_formula(TextEngine& engine, const MarkdownBlock& block, const BlockLook& look) {
  StyledText text = styled(engine, block, look, {0, block.text.size()});
  if (text.runs.size() != 1 || !text.runs[0].formula) return lay_out_text(engine, block, look);
  auto layout = engine.layout(text, 0);
  const float gap = std::round(kFormulaGap * em_), height = layout->height();
  inner_width_ = std::ceil(layout->width());
  frame_ = {left_, top_ + gap, available_, height};
  const float x = std::round(left_ + std::max(0.0f, available_ - inner_width_) / 2);
  texts_.push_back({std::move(layout), x, top_ + gap, 0, block.text.size()});
  height_ += height + 2 * gap;
  width_ = left_ + std::min(inner_width_, available_);
}

// A strip with the language's name; without one, the button is beside the code.
void BlockLayout::lay_out_code(TextEngine& engine, const MarkdownBlock& block, const BlockLook& look,
                               const BlockPlace& place) {
  const bool has_name = !block.language.empty();
  const float padding = std::round(kCodePadding * em_), strip = std::round(kCodeHead * em_);
  const float head = block.continues ? 0 : has_name ? strip : std::round(0.6f * padding);
  const float beside = has_name ? 0 : strip - padding;
  auto layout = engine.layout(styled_code(engine, block, look), 0, LineAlign::kStart, TextDirection::kLeftToRight);
  const float text_height = std::max(layout->height(), engine.line_height(style_of(block, {}, look)));
  inner_width_ = std::ceil(layout->width());
  frame_ = {left_ + padding, top_ + head, std::max(em_, available_ - 2 * padding - beside), text_height};
  if (!block.continues) head_ = TextRect{left_, top_, available_, strip};
  if (!block.continues && has_name) {
    TextStyle style;
    style.size = std::round(0.8f * em_);
    style.colour = look.theme.dim_text;
    const std::string name = block.language.substr(0, 40);
    label_ = engine.layout({name, {{0, name.size(), style}}}, 0);
  }
  texts_.push_back({std::move(layout), left_ + padding, top_ + head, 0, block.text.size()});
  height_ = top_ + head + text_height + (place.goes_on ? 0 : has_name ? padding : std::round(0.6f * padding));
  if (head_) height_ = std::max(height_, top_ + strip);
  const float heading = label_ ? label_->width() + kCodeButtons * em_ : 0;
  width_ = left_ + std::min(available_, std::max(inner_width_ + beside, heading) + 2 * padding);
}

// Natural widths where they fit; else narrow columns keep theirs and the wide ones share what is left, but none is
// narrower than its words: such a table scrolls.
std::vector<float> BlockLayout::column_widths(TextEngine& engine, const MarkdownBlock& block,
                                              const BlockLook& look) const {
  const size_t n = block.columns.size();
  std::vector<float> natural(n, 0), narrowest(n);
  const bool is_piece = block.continues || goes_on_;
  for (size_t i = 0; i < n; ++i) {
    const float word = static_cast<float>(block.words[i]) * kLetterWidth * 1.1f;
    narrowest[i] = std::clamp(word, kNarrowestColumn, kWidestWord) * em_;
    if (!is_piece) continue;
    natural[i] = std::max(narrowest[i], static_cast<float>(block.widths[i]) * kLetterWidth * em_);
  }
  for (size_t i = 0; i < block.cells.size() && !is_piece; ++i) {
    const TableCell& cell = block.cells[i];
    const auto layout = engine.layout(styled(engine, block, look, {cell.begin, cell.end, 0, /*bold=*/i < n}), 0);
    natural[i % n] = std::max(natural[i % n], std::ceil(layout->width()) + 1);
  }
  float left = available_ - static_cast<float>(n) * 2 * kCellX * em_;
  if (std::accumulate(natural.begin(), natural.end(), 0.0f) <= left) return natural;
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return natural[a] < natural[b]; });
  std::vector<float> widths(n);
  for (size_t i = 0; i < n; ++i) {
    const size_t column = order[i];
    const float min = std::max(narrowest[column], std::min(natural[column], kReadableColumn * em_));
    const float fair = std::max(min, left / static_cast<float>(n - i));
    widths[column] = std::floor(std::min(natural[column], fair));
    left -= widths[column];
  }
  return widths;
}

void BlockLayout::lay_out_table(TextEngine& engine, const MarkdownBlock& block, const BlockLook& look) {
  const size_t n = block.columns.size();
  if (n == 0) return;
  const std::vector<float> widths = column_widths(engine, block, look);
  const float cell_x = kCellX * em_, cell_y = std::round(kCellY * em_);
  float y = top_;
  for (size_t row = 0; row * n < block.cells.size(); ++row) {
    row_tops_.push_back(y);
    float x = left_, row_height = engine.line_height(style_of(block, {}, look));
    for (size_t column = 0; column < n && row * n + column < block.cells.size(); ++column) {
      const TableCell& cell = block.cells[row * n + column];
      const bool is_head = row == 0 && !block.continues;
      const StyledPart part{cell.begin, cell.end, widths[column] + 1, is_head};
      auto layout =
          engine.layout(styled(engine, block, look, part), widths[column] + 1, line_align(block.columns[column]));
      row_height = std::max(row_height, layout->height());
      texts_.push_back({std::move(layout), std::round(x + cell_x), y + cell_y, cell.begin, cell.end});
      x += widths[column] + 2 * cell_x;
    }
    inner_width_ = x - left_;
    y += row_height + 2 * cell_y;
  }
  row_tops_.push_back(y);
  frame_ = {left_, top_, std::min(inner_width_, available_), y - top_};
  height_ = y;
  width_ = left_ + frame_.width;
}

void BlockLayout::lay_out_marker(TextEngine& engine, const MarkdownBlock& block, const BlockLook& look) {
  static const char* const kBullets[] = {"•", "◦", "▪"};
  TextStyle style;
  style.size = look.sizes.text * (block.is_footnote ? kFootnoteSize : 1);
  style.colour = look.theme.dim_text;
  const bool is_bullet = block.marker == "-";
  const std::string text = is_bullet ? kBullets[std::min<size_t>(item_depth(block) - 1, 2)] : block.marker;
  marker_ = engine.layout({text, {{0, text.size(), style}}}, 0, LineAlign::kStart,
                          is_rtl_ ? TextDirection::kRightToLeft : TextDirection::kAuto);
}

float BlockLayout::marker_x(float width) const {
  const float gap = kMarkerGap * em_;
  if (fold_sign_) return std::round(is_rtl_ ? fold_sign_->x + fold_sign_->width + gap : fold_sign_->x - gap - width);
  return std::round(is_rtl_ ? left_ + available_ + gap : left_ - gap - width);
}

const BlockLayout::Placed* BlockLayout::nearest(float x, float y) const {
  const Placed* best = nullptr;
  float best_distance = 0;
  for (const Placed& text : texts_) {
    const float dy = std::max({0.0f, text.y - y, y - (text.y + text.layout->height())});
    const float dx = std::max({0.0f, text.x - x, x - (text.x + text.layout->width())});
    const float distance = dy * 1000 + dx;
    if (best && distance >= best_distance) continue;
    best = &text;
    best_distance = distance;
  }
  return best;
}

size_t BlockLayout::offset_at(float x, float y, float scroll) const {
  const Placed* text = nearest(x + scroll, y);
  return text ? text->begin + text->layout->offset_at(x + scroll - text->x, y - text->y) : 0;
}

std::optional<size_t> BlockLayout::offset_under(float x, float y, float scroll) const {
  const Placed* text = nearest(x + scroll, y);
  if (!text || text->begin == text->end) return std::nullopt;
  const float inner_x = x + scroll - text->x, inner_y = y - text->y;
  const size_t near = text->layout->offset_at(inner_x, inner_y);
  const size_t length = text->end - text->begin;
  // The pointer is over the character before or behind the nearest gap: a few bytes either way.
  for (size_t begin = near > 8 ? near - 8 : 0; begin < std::min(near + 8, length); ++begin) {
    for (const TextRect& rect : text->layout->selection(begin, begin + 1)) {
      if (contains(rect, inner_x, inner_y)) return text->begin + begin;
    }
  }
  return std::nullopt;
}

std::vector<TextRect> BlockLayout::link_rects(const MarkdownBlock& block, int32_t link) const {
  std::vector<TextRect> rects;
  for (const InlineSpan& span : block.spans) {
    if (span.link != link) continue;
    for (const Placed& text : texts_) {
      const size_t begin = std::max(span.begin, text.begin), end = std::min(span.end, text.end);
      if (begin >= end) continue;
      for (const TextRect& rect : text.layout->selection(begin - text.begin, end - text.begin))
        rects.push_back({text.x + rect.x, text.y + rect.y, rect.width, rect.height});
    }
  }
  return rects;
}

int32_t BlockLayout::link_at(const MarkdownBlock& block, float x, float y, float scroll) const {
  if (block.links.empty()) return -1;
  const Placed* text = nearest(x + scroll, y);
  if (!text) return -1;
  for (const InlineSpan& span : block.spans) {
    if (span.link < 0 || span.end <= text->begin || span.begin >= text->end) continue;
    const size_t begin = std::max(span.begin, text->begin) - text->begin;
    for (const TextRect& rect : text->layout->selection(begin, std::min(span.end, text->end) - text->begin)) {
      if (contains(rect, x + scroll - text->x, y - text->y)) return span.link;
    }
  }
  return -1;
}

std::pair<size_t, size_t> BlockLayout::word_at(size_t offset) const {
  for (const Placed& text : texts_) {
    if (offset < text.begin || offset > text.end) continue;
    return {text.begin + text.layout->word_begin(offset - text.begin),
            text.begin + text.layout->word_end(offset - text.begin)};
  }
  return {offset, offset};
}

ImVec2 BlockLayout::caret_after(size_t offset, float* line_height) const {
  *line_height = em_ * 1.2f;
  for (auto text = texts_.rbegin(); text != texts_.rend(); ++text) {
    if (offset < text->begin) continue;
    const size_t end = std::min(offset, text->end) - text->begin;
    const auto rects = end > 0 ? text->layout->selection(end - 1, end) : std::vector<TextRect>();
    if (rects.empty()) return {text->x, text->y};
    *line_height = rects.back().height;
    return {text->x + rects.back().x + rects.back().width, text->y + rects.back().y};
  }
  return {left_, top_};
}

}  // namespace warpchat::gui
