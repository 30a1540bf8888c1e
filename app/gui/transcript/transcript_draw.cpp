// The rows of a frame, from top to bottom.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <tuple>
#include <utility>

#include "app/gui/transcript/transcript_parts.h"

namespace warpchat::gui {
namespace {

std::string thinking_time(double seconds) {
  char text[32];
  if (seconds < 60) {
    std::snprintf(text, sizeof text, seconds < 10 ? "%.1f s" : "%.0f s", seconds);
  } else {
    const int whole = static_cast<int>(seconds);
    std::snprintf(text, sizeof text, "%d min %d s", whole / 60, whole % 60);
  }
  return text;
}

}  // namespace

ImVec2 TranscriptView::Parts::content_origin(const VisibleRow& row, MessagePart part) const {
  const float lead = layout.lead(row.place.message, row.place.row);
  return {frame.left + layout.content_x(row.place.message, part), std::round(frame.origin.y + row.top + lead)};
}

uint64_t TranscriptView::Parts::scroll_id(size_t message, BlockIndex index) const {
  const auto& blocks = layout.at(message).blocks(index.part);
  size_t first = index.block;
  while (first > 0 && blocks[first].continues) --first;
  return (layout.at(message).key << 26) + (first << 6) + (index.part == MessagePart::kThought ? 32 : 0);
}

void TranscriptView::Parts::draw_rows() {
  const std::vector<VisibleRow>& rows = scroll.visible();
  hovered_message = 0;
  for (const VisibleRow& row : rows) {
    const float top = frame.origin.y + row.top;
    if (frame.over && frame.mouse.y >= top && frame.mouse.y < top + row.height) {
      hovered_message = layout.at(row.place.message).key;
    }
  }
  for (size_t first = 0; first < rows.size();) {
    size_t last = first;
    while (last + 1 < rows.size() && rows[last + 1].place.message == rows[first].place.message) ++last;
    if (layout.at(rows[first].place.message).is_user) draw_bubble(first, last);
    for (; first <= last; ++first) {
      const VisibleRow& row = rows[first];
      draw_highlight(row);
      switch (layout.at(row.place.message).kind(row.place.row)) {
        case RowKind::kThoughtHead:
          layout.at(row.place.message).is_user ? draw_files(row) : draw_thought_head(row);
          break;
        case RowKind::kBlock:
          draw_block(row);
          break;
        case RowKind::kFooter:
          draw_footer(row);
          break;
      }
    }
  }
  animates |= toggled || toggled_fold;  // a frame shows it
  if (toggled) layout.toggle_thought(*std::exchange(toggled, std::nullopt));
  if (toggled_fold) layout.toggle_fold(toggled_fold->first, toggled_fold->second);
  toggled_fold.reset();
}

void TranscriptView::Parts::draw_bubble(size_t first, size_t last) {
  const VisibleRow &top_row = scroll.visible()[first], &end_row = scroll.visible()[last];
  const MessageRows& rows = layout.at(top_row.place.message);
  const float beyond = 40, pad = layout.bubble_padding();
  float top = frame.origin.y - beyond, bottom = frame.bottom() + beyond;
  if (top_row.place.row == 0) {
    top = frame.origin.y + top_row.top;
    if (top_row.place.message == 0) top += 1.4f * em();
  }
  if (rows.kind(end_row.place.row) == RowKind::kFooter) {
    bottom = frame.origin.y + end_row.top + layout.footer_lead(end_row.place.message);
  }
  if (bottom <= top) return;
  const float x = frame.left + layout.content_x(top_row.place.message, MessagePart::kAnswer);
  frame.list->AddRectFilled({x - pad, std::round(top)}, {x + rows.bubble_width + pad, std::round(bottom)},
                            theme().raised, 0.9f * em());
}

// Each opens and closes their text.
void TranscriptView::Parts::draw_files(const VisibleRow& row) {
  const size_t index = row.place.message;
  const ImVec2 origin = content_origin(row, MessagePart::kThought);
  const float height = std::round(layout.chip_height()), icon = std::round(0.9f * em());
  const std::vector<TranscriptLayout::FileChip> chips = layout.file_chips(index);
  for (size_t i = 0; i < chips.size(); ++i) {
    const ImVec2 from(origin.x + chips[i].x, std::round(origin.y + chips[i].y));
    const ImVec2 to(from.x + chips[i].width, from.y + height);
    const TextLayout& name = layout.label(chips[i].name, layout.chip_text(), theme().text);
    const TextLayout& figures = layout.label(chips[i].figures, layout.chip_text(), theme().dim_text);
    bool hot = false;
    const uint64_t id = layout.at(index).key * 64 + 20 + std::min<size_t>(i, 40);
    const bool clicked = press_target({id, from, to, index}, ("file" + std::to_string(i)).c_str(), &hot);
    frame.list->AddRectFilled(from, to, hot ? theme().hover : theme().background, 0.45f * em());
    frame.list->AddRect(from, to, theme().border, 0.45f * em());
    const float x = from.x + 0.5f * em(), text = x + icon + 0.4f * em();
    draw_icon(*frame.list, Icon::kFile, {x, std::round(from.y + (height - icon) / 2)}, icon, theme().dim_text);
    const float y = std::round(from.y + (height - name.height()) / 2);
    name.draw(*frame.list, {text, y}, frame.origin.y, frame.bottom());
    figures.draw(*frame.list, {text + name.width() + 0.5f * em(), y}, frame.origin.y, frame.bottom());
    const bool is_open = layout.at(index).unfolded;
    if (hot && !frame.down) tip = is_open ? "Hide the text" : "Show the text", tip_from = from, tip_to = to;
    if (clicked) toggled = index;
  }
}

void TranscriptView::Parts::draw_thought_head(const VisibleRow& row) {
  const size_t index = row.place.message;
  const ChatMessage& message = layout.message(index);
  const bool thinks = is_thinking(message);
  std::string text = thinks ? "Thinking" : "Thought";
  if (message.thinking_seconds) text += (thinks ? " · " : " for ") + thinking_time(*message.thinking_seconds);
  const float top = std::round(frame.origin.y + row.top + layout.lead(index, row.place.row));
  const float height = 1.75f * em(), icon = 0.6f * em();
  const TextLayout& measured = layout.label(text, 0.92f * em(), theme().dim_text);
  const ImVec2 from(frame.left - 0.3f * em(), top);
  const ImVec2 to(frame.left + icon + 1.1f * em() + measured.width(), top + height);
  bool hot = false;
  if (press_target({layout.at(index).key * 64 + 1, from, to, index}, "thought", &hot)) toggled = index;
  if (hot) frame.list->AddRectFilled(from, to, theme().hover, 0.35f * em());
  draw_fold_sign({frame.left + icon / 2 + 0.1f * em(), top + height / 2}, layout.at(index).unfolded, theme().dim_text);
  const TextLayout& label = layout.label(text, 0.92f * em(), hot ? theme().text : theme().dim_text);
  label.draw(*frame.list, {frame.left + icon + 0.6f * em(), std::round(top + (height - label.height()) / 2)},
             frame.origin.y, frame.bottom());
}

// Points down if what it belongs to is open.
void TranscriptView::Parts::draw_fold_sign(ImVec2 centre, bool open, Colour colour) {
  const float r = 0.27f * em();
  const ImVec2 down[] = {
      {centre.x - r, centre.y - r * 0.5f}, {centre.x, centre.y + r * 0.5f}, {centre.x + r, centre.y - r * 0.5f}};
  const ImVec2 right[] = {
      {centre.x - r * 0.5f, centre.y - r}, {centre.x + r * 0.5f, centre.y}, {centre.x - r * 0.5f, centre.y + r}};
  frame.list->AddPolyline(open ? down : right, 3, colour, 0, std::max(1.2f, pixels(1.4f)));
}

// Its sign and its text open and close the fold; links in it are links.
void TranscriptView::Parts::draw_summary(const VisibleRow& row, const BlockLayout& block, BlockIndex index, ImVec2 at) {
  const size_t message = row.place.message;
  const MessageRows& rows = layout.at(message);
  const FoldId fold{rows.key, index.part, rows.block(index).folds.back()};
  const TextRect sign = *block.fold_sign();
  const ImVec2 from(at.x + sign.x, at.y + sign.y), to(at.x + block.width() + 0.3f * em(), at.y + block.height());
  bool hot = false;
  if (press_target({scroll_id(message, index) + 7, from, to, message}, "fold", &hot))
    toggled_fold = std::pair{message, fold};
  draw_fold_sign({from.x + 0.3f * em(), from.y + sign.height / 2}, layout.is_open(fold),
                 hot ? theme().text : theme().dim_text);
}

void TranscriptView::Parts::draw_block(const VisibleRow& row) {
  const size_t message = row.place.message;
  const BlockIndex index = layout.at(message).block_index(row.place.row);
  BlockLayout& block = layout.layout(message, index);
  const ImVec2 at = content_origin(row, index.part);
  const uint64_t id = scroll_id(message, index);
  ScrollThumb thumb;
  if (block.scroll_limit() > 0) thumb = take_code_scroll(id, block, at);
  const auto kept = code_scroll.find(id);
  const float scrolled = kept == code_scroll.end() ? 0 : kept->second;
  BlockPaint paint{*frame.list, at, frame.origin.y, frame.bottom(), scrolled};
  const std::vector<BlockMark> marks = marks_of(message, index);
  paint.marks = marks;
  if (const auto selected = range()) {
    const size_t length = layout.at(message).block(index).text.size();
    std::tie(paint.select_begin, paint.select_end) = selected_bytes(*selected, message, index, length);
  }
  if (index.part == MessagePart::kThought && !layout.at(message).is_user) {
    const float x = std::round(frame.left + 0.2f * em()), width = std::max(2.0f, std::round(pixels(2)));
    frame.list->AddRectFilled({x, frame.origin.y + row.top}, {x + width, frame.origin.y + row.top + row.height},
                              theme().border);
  }
  block.draw(paint, layout.look_of(message, index.part));
  if (thumb.shows) {
    frame.list->AddRectFilled(thumb.from, thumb.to, thumb.hot ? theme().dim_text : theme().quote_bar, em());
  }
  if (block.head()) draw_code_head(row, index, at);
  hover_text(row, block, index, at, scrolled);
  if (block.fold_sign()) draw_summary(row, block, index, at);
  draw_caret(row);
}

void TranscriptView::Parts::draw_code_head(const VisibleRow& row, BlockIndex index, ImVec2 at) {
  const size_t message = row.place.message;
  const TextRect strip = *layout.layout(message, index).head();
  const float size = std::round(strip.height * 0.8f), gap = std::round((strip.height - size) / 2);
  const uint64_t id = scroll_id(message, index) + 3;
  const ImVec2 from(at.x + strip.x + strip.width - size - gap, at.y + strip.y + gap);
  if (!icon_button(id, {Icon::kCopy, "copy_code", "Copy code", message}, from, size)) return;
  copy(id, code_text(message, index));
}

std::string TranscriptView::Parts::code_text(size_t message, BlockIndex index) const {
  const auto& blocks = layout.at(message).blocks(index.part);
  size_t i = index.block;
  while (i > 0 && blocks[i].continues) --i;
  std::string code = blocks[i].text;
  for (++i; i < blocks.size() && blocks[i].continues; ++i) code += copied_gap(blocks[i]) + blocks[i].text;
  return code;
}

// Horizontal scrolling of long code lines: handles the wheel and the thin bar below, which stays in view. The offset is
// needed before the block is drawn; the bar is drawn over it.
TranscriptView::Parts::ScrollThumb TranscriptView::Parts::take_code_scroll(uint64_t id, const BlockLayout& block,
                                                                           ImVec2 at) {
  float& scrolled = code_scroll[id];
  const TextRect place = block.frame();
  const ImVec2 from(at.x + place.x, at.y + place.y), to(from.x + place.width, from.y + place.height);
  const ImGuiIO& io = ImGui::GetIO();
  const bool over = frame.over && frame.mouse.x >= from.x && frame.mouse.x < to.x && frame.mouse.y >= from.y &&
                    frame.mouse.y < to.y + 0.8f * em();
  const float wheel = io.MouseWheelH + (frame.shift ? io.MouseWheel : 0);
  if (over && wheel != 0) scrolled -= wheel * 4 * em();
  const float limit = block.scroll_limit(), whole = place.width + limit;
  const float thumb = std::max(2 * em(), place.width * place.width / whole), travel = place.width - thumb;
  const float bar = std::max(3.0f, std::round(0.28f * em()));
  const float lowest = frame.bottom() - 2 * bar, below = to.y + 0.22f * em();
  ScrollThumb out;
  out.shows = below > lowest ? from.y + 2 * em() < lowest : !block.goes_on();
  const float top = std::min(below, lowest);
  if (out.shows) press(id + 5, {from.x, top - bar}, {to.x, top + 2 * bar}, &out.hot);
  if (pressed == id + 5 && frame.down && travel > 0) {
    scrolled = (frame.mouse.x - from.x - thumb / 2) / travel * limit;
    out.hot = true;
  }
  scrolled = std::clamp(scrolled, 0.0f, limit);
  const float x = from.x + scrolled / limit * travel;
  out.from = {x, top};
  out.to = {x + thumb, top + bar};
  return out;
}

// The caret after the last letter of a streaming answer.
void TranscriptView::Parts::draw_caret(const VisibleRow& row) {
  const size_t message = row.place.message;
  const MessageRows& rows = layout.at(message);
  if (rows.status != MessageStatus::kStreaming || row.place.row + 2 != rows.n_rows()) return;
  if (asked_call(layout.message(message)) != nullptr) return;  // the question is below
  const BlockIndex index = rows.block_index(row.place.row);
  float height = 0;
  const ImVec2 caret = layout.layout(message, index).caret_after(rows.block(index).text.size(), &height);
  const ImVec2 at = content_origin(row, index.part);
  const float width = std::round(0.5f * em()), tall = std::round(0.72f * height);
  const ImVec2 from(std::round(at.x + caret.x + 0.12f * em()), std::round(at.y + caret.y + (height - tall) / 2));
  frame.list->AddRectFilled(from, {from.x + width, from.y + tall}, theme().accent, 0.1f * em());
}

}  // namespace warpchat::gui
