// Selecting text with the mouse.
#include <algorithm>
#include <tuple>

#include "app/gui/desktop/open_link.h"
#include "app/gui/transcript/transcript_parts.h"

namespace warpchat::gui {

std::optional<TextPlace> TranscriptView::Parts::placed(const KeyedPlace& place) const {
  const auto message = layout.index_of(place.key);
  if (!message) return std::nullopt;
  return TextPlace{*message, place.part, place.block, place.offset};
}

KeyedPlace TranscriptView::Parts::keyed(const TextPlace& place) const {
  return {layout.at(place.message).key, place.part, place.block, place.offset};
}

std::optional<TextRange> TranscriptView::Parts::range() const {
  if (!anchor || !head) return std::nullopt;
  const auto a = placed(*anchor), b = placed(*head);
  if (!a || !b || *a == *b) return std::nullopt;
  return TextRange{std::min(*a, *b), std::max(*a, *b)};
}

// The place in the text nearest to a point: of the row at its height, else of the nearest row with text.
std::optional<TextPlace> TranscriptView::Parts::place_at(ImVec2 point) {
  const float y = point.y - frame.origin.y;
  const VisibleRow* best = nullptr;
  float best_distance = 0;
  for (const VisibleRow& row : scroll.visible()) {
    if (layout.at(row.place.message).kind(row.place.row) != RowKind::kBlock) continue;
    const float distance = std::max({0.0f, row.top - y, y - (row.top + row.height)});
    if (best && distance >= best_distance) continue;
    best = &row;
    best_distance = distance;
  }
  if (!best) return std::nullopt;
  const size_t message = best->place.message;
  const BlockIndex index = layout.at(message).block_index(best->place.row);
  const BlockLayout& block = layout.layout(message, index);
  const ImVec2 at = content_origin(*best, index.part);
  const auto scrolled = code_scroll.find(scroll_id(message, index));
  size_t offset = block.offset_at(point.x - at.x, point.y - at.y, scrolled == code_scroll.end() ? 0 : scrolled->second);
  if (y > best->top + best->height) offset = layout.at(message).block(index).text.size();
  return TextPlace{message, index.part, index.block, offset};
}

void TranscriptView::Parts::begin_selection(TextPlace place) {
  selects = true;
  if (frame.shift && anchor) {
    head = keyed(place);
    return;
  }
  TextPlace end = place;
  const BlockIndex index{place.part, place.block};
  if (frame.clicks == 2) {
    std::tie(place.offset, end.offset) = layout.layout(place.message, index).word_at(place.offset);
  } else if (frame.clicks >= 3) {
    place.offset = 0;
    end.offset = layout.at(place.message).block(index).text.size();
  }
  anchor = keyed(place);
  head = keyed(end);
}

void TranscriptView::Parts::take_text_mouse() {
  if (layout.n_messages() == 0) return;
  if (frame.clicked && pressed == 0) {
    if (const auto place = place_at(frame.mouse)) begin_selection(*place);
  } else if (selects && frame.down && ImGui::GetIO().MouseClickedLastCount[0] < 2 && ImGui::IsMouseDragging(0, 2)) {
    if (const auto place = place_at(frame.mouse)) head = keyed(*place);
  }
  if (!frame.down && std::exchange(selects, false)) selected_anew = true;
  if (frame.over && ImGui::IsMouseClicked(1)) note_menu(frame.mouse);
}

void TranscriptView::Parts::note_menu(ImVec2 at) {
  menu.emplace();
  menu->x = at.x, menu->y = at.y;
  menu->link = link;
  const float y = at.y - frame.origin.y;
  for (const VisibleRow& row : scroll.visible()) {
    if (y < row.top || y >= row.top + row.height) continue;
    const size_t message = row.place.message;
    menu->key = layout.at(message).key;
    menu->message = text_to_copy(layout.message(message));
    if (layout.at(message).kind(row.place.row) != RowKind::kBlock) continue;
    const BlockIndex index = layout.at(message).block_index(row.place.row);
    if (layout.at(message).block(index).kind == BlockKind::kCode) menu->code = code_text(message, index);
  }
}

// Links, and the token under the mouse.
void TranscriptView::Parts::hover_text(const VisibleRow& row, const BlockLayout& block, BlockIndex index, ImVec2 at,
                                       float scrolled) {
  const float x = frame.mouse.x - at.x, y = frame.mouse.y - at.y;
  add_link_targets(block, layout.at(row.place.message).block(index), row.place.message, {at.x - scrolled, at.y},
                   link_id(row.place.message, index));
  if (!frame.over || frame.mouse.y < frame.origin.y + row.top ||
      frame.mouse.y >= frame.origin.y + row.top + row.height) {
    return;
  }
  const size_t message = row.place.message;
  const MarkdownBlock& text = layout.at(message).block(index);
  const auto under = block.offset_under(x, y, scrolled);
  if (!under) return;
  if (pressed == 0 || selects) ImGui::SetMouseCursor(ImGuiMouseCursor_TextInput);
  const auto& tokens = layout.message(message).tokens;
  if (!tokens.empty() && layout.message(message).rounds.empty()) {
    const auto next = std::upper_bound(tokens.begin(), tokens.end(), source_of(text, *under),
                                       [](size_t offset, const TokenMark& token) { return offset < token.offset; });
    hovered_key = layout.at(message).key;
    if (next != tokens.begin()) hovered_token = static_cast<size_t>(next - tokens.begin()) - 1;
  }
  const int32_t under_mouse = block.link_at(text, x, y, scrolled);
  if (under_mouse < 0 || selects) return;
  link = text.links[static_cast<size_t>(under_mouse)];
  ImGui::SetMouseCursor(may_open_link(link) ? ImGuiMouseCursor_Hand : ImGuiMouseCursor_NotAllowed);
  const uint64_t id = link_id(message, index) + static_cast<uint64_t>(under_mouse);
  if (frame.clicked && pressed == 0 && !frame.shift) pressed = id;
  if (frame.released && pressed == id) open_link(link);
}

}  // namespace warpchat::gui
