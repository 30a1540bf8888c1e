// Draws a block: boxes, lines, marks and the selection, and its text over them.
#include <algorithm>
#include <cmath>

#include "app/gui/transcript/block_layout.h"

namespace warpchat::gui {

Colour bar_colour(Nesting nesting, const Theme& theme) {
  switch (nesting) {
    case Nesting::kNote:
      return theme.link;
    case Nesting::kTip:
      return theme.good;
    case Nesting::kImportant:
      return theme.accent;
    case Nesting::kWarning:
      return theme.warning;
    case Nesting::kCaution:
      return theme.error;
    default:
      return theme.quote_bar;
  }
}

void BlockLayout::draw(const BlockPaint& paint, const BlockLook& look) const {
  draw_shapes(paint, look);
  const ImVec2 at = paint.origin;
  const bool clips = kind_ == BlockKind::kCode || scroll_limit() > 0;
  if (clips) {
    paint.list.PushClipRect({at.x + frame_.x, std::max(at.y + frame_.y, paint.clip_top)},
                            {at.x + frame_.x + frame_.width, at.y + frame_.y + frame_.height}, true);
  }
  for (const Placed& text : texts_) {
    const ImVec2 origin(at.x + text.x - paint.scroll, at.y + text.y);
    if (origin.y >= paint.clip_bottom || origin.y + text.layout->height() <= paint.clip_top) continue;
    for (const BlockMark& mark : paint.marks) draw_mark(paint, text, origin, mark);
    draw_mark(paint, text, origin, {paint.select_begin, paint.select_end, look.theme.selection});
    text.layout->draw(paint.list, origin, paint.clip_top, paint.clip_bottom);
  }
  if (clips) paint.list.PopClipRect();
  if (task_) {
    draw_task(paint, look);
  } else if (marker_) {
    marker_->draw(paint.list, {at.x + marker_x(marker_->width()), at.y + top_}, paint.clip_top, paint.clip_bottom);
  }
}

void BlockLayout::draw_mark(const BlockPaint& paint, const Placed& text, ImVec2 origin, const BlockMark& mark) {
  const size_t begin = std::max(mark.begin, text.begin), end = std::min(mark.end, text.end);
  if (begin >= end) return;
  for (const TextRect& rect : text.layout->selection(begin - text.begin, end - text.begin)) {
    const ImVec2 corner(origin.x + rect.x, origin.y + rect.y);
    if (corner.y >= paint.clip_bottom || corner.y + rect.height <= paint.clip_top) continue;
    paint.list.AddRectFilled(corner, {corner.x + rect.width, corner.y + rect.height}, mark.colour);
  }
}

void BlockLayout::draw_shapes(const BlockPaint& paint, const BlockLook& look) const {
  const ImVec2 at = paint.origin;
  const Theme& theme = look.theme;
  for (size_t i = 0; i < bars_.size(); ++i) {
    const float x = at.x + bars_[i].x, top = i < n_joined_bars_ ? 0 : top_;
    paint.list.AddRectFilled({x, at.y + top}, {x + bar_width(em_), at.y + height_},
                             bar_colour(bars_[i].nesting, theme));
  }
  if (kind_ == BlockKind::kRule) {
    const float y = std::round(at.y + (top_ + height_) / 2);
    paint.list.AddRectFilled({at.x + left_, y}, {at.x + width_, y + std::max(1.0f, look.sizes.width(1))}, theme.border);
  } else if (kind_ == BlockKind::kTable) {
    draw_table_lines(paint, look);
  } else if (kind_ == BlockKind::kCode) {
    const ImVec2 from(at.x + left_, at.y + top_), to(at.x + left_ + available_, at.y + height_);
    const float rounding = 0.5f * em_;
    int corners = ImDrawFlags_RoundCornersNone;
    if (!continues_) corners = ImDrawFlags_RoundCornersTop;
    if (!goes_on_) corners = continues_ ? ImDrawFlags_RoundCornersBottom : ImDrawFlags_RoundCornersAll;
    paint.list.AddRectFilled(from, to, theme.code_background, rounding, corners);
    if (!continues_ && !goes_on_) paint.list.AddRect(from, to, theme.border, rounding, corners);
    if (label_) {
      const float y = at.y + head_->y + (head_->height - label_->height()) / 2;
      label_->draw(paint.list, {at.x + frame_.x, std::round(y)}, paint.clip_top, paint.clip_bottom);
    }
  }
}

void BlockLayout::draw_table_lines(const BlockPaint& paint, const BlockLook& look) const {
  const ImVec2 at = paint.origin;
  const float left = at.x + left_, right = left + frame_.width, line = std::max(1.0f, std::round(look.sizes.width(1)));
  if (row_tops_.size() > 1 && !continues_) {
    paint.list.AddRectFilled({left, at.y + row_tops_[0]}, {right, at.y + row_tops_[1]}, look.theme.code_background,
                             0.35f * em_, ImDrawFlags_RoundCornersTop);
  }
  for (size_t i = 1; i < row_tops_.size(); ++i) {
    const float y = std::round(at.y + row_tops_[i]);
    if (y < paint.clip_top || y > paint.clip_bottom) continue;
    paint.list.AddRectFilled({left, y - line}, {right, y}, look.theme.border);
  }
}

void BlockLayout::draw_task(const BlockPaint& paint, const BlockLook& look) const {
  const float size = std::round(0.85f * em_), stroke = std::max(1.0f, look.sizes.width(1.5f));
  const float line_height = texts_.empty() ? em_ : std::min(texts_[0].layout->height(), 1.4f * em_);
  const float x = std::round(paint.origin.x + marker_x(size));
  const float y = std::round(paint.origin.y + top_ + (line_height - size) / 2);
  const ImVec2 to(x + size, y + size);
  if (!*task_) return paint.list.AddRect({x, y}, to, look.theme.dim_text, 0.18f * em_, 0, stroke);
  paint.list.AddRectFilled({x, y}, to, look.theme.accent, 0.18f * em_);
  const ImVec2 tick[] = {
      {x + 0.2f * size, y + 0.52f * size}, {x + 0.42f * size, y + 0.74f * size}, {x + 0.8f * size, y + 0.28f * size}};
  paint.list.AddPolyline(tick, 3, look.theme.accent_text, 0, stroke * 1.2f);
}

}  // namespace warpchat::gui
