// One frame of the transcript, and what the window asks of it.
#include "app/gui/transcript/transcript_view.h"

#include <algorithm>
#include <cmath>

#include "app/gui/desktop/open_link.h"
#include "app/gui/transcript/transcript_parts.h"

namespace warpchat::gui {
namespace {

constexpr float kMeasure = 46;       // em, of a line at most
constexpr float kMargin = 1.6f;      // em, at both sides at least
constexpr float kWheelLines = 3.2f;  // a notch
constexpr double kHighlightSeconds = 2;
constexpr float kAutoScroll = 14;  // pixels a frame for each em beyond the edge

}  // namespace

TranscriptView::TranscriptView(TextEngine& text) : parts_(std::make_unique<Parts>(text)) {}
TranscriptView::~TranscriptView() = default;

void TranscriptView::draw(const ChatState& state, const Look& look, Actions& actions) {
  Parts& p = *parts_;
  const ImVec2 size = ImGui::GetContentRegionAvail();
  if (size.x < 8 || size.y < 8) return;
  p.frame.origin = ImGui::GetCursorScreenPos();
  p.frame.size = size;
  ImGui::InvisibleButton("##transcript", size);
  p.begin_frame(state, look, actions);
  p.follow_changes();
  p.follow_find();
  p.take_wheel();
  p.scroll.settle(p.layout, size.y);
  const RowPlace top = p.scroll.top();
  p.top_key = top.message < p.layout.n_messages() ? p.layout.at(top.message).key : 0;
  p.frame.list->PushClipRect(p.frame.origin, {p.frame.origin.x + size.x, p.frame.bottom()}, true);
  if (p.layout.n_messages() > 0) {
    p.draw_scroll_bar();
    p.draw_rows();
    p.draw_end_button();
    p.draw_link_target();
  }
  p.frame.list->PopClipRect();
  p.draw_tip();
  p.take_text_mouse();
  p.activated = 0;
  p.layout.drop_far(p.scroll.visible());
  if (p.frame.released) p.pressed = 0;
}

void TranscriptView::Parts::begin_frame(const ChatState& state, const Look& look, Actions& actions) {
  const ImGuiIO& io = ImGui::GetIO();
  frame.state = &state;
  frame.look = &look;
  frame.actions = &actions;
  frame.list = ImGui::GetWindowDrawList();
  frame.mouse = io.MousePos;
  frame.over = ImGui::IsItemHovered();
  frame.clicked = frame.over && ImGui::IsMouseClicked(0);
  frame.clicks = io.MouseClickedCount[0];
  frame.released = ImGui::IsMouseReleased(0);
  frame.down = ImGui::IsItemActive();
  frame.shift = io.KeyShift;
  frame.now = ImGui::GetTime();
  const float size = look.sizes.text;
  const float left = kMargin * size, right = std::max(left, end_button_room());
  const float width = std::floor(std::min(kMeasure * size, frame.size.x - left - right));
  frame.left = std::floor(frame.origin.x + std::min((frame.size.x - width) / 2, frame.size.x - right - width));
  layout.begin(state, look, std::max(8 * size, width));
  animates = false;
  link.clear();
  tip.clear();
  buttons.clear();
  targets.clear();
  hovered_key.reset();
  hovered_token.reset();
}

void TranscriptView::Parts::follow_changes() {
  const std::vector<ChatMessage>& messages = frame.state->open.messages;
  if (const auto top = layout.index_of(top_key)) {
    if (*top != scroll.top().message) scroll.rename_top(*top);
  } else {
    scroll.to_end();  // another conversation, or another branch of it
    code_scroll.clear();
  }
  if (anchor && (!layout.index_of(anchor->key) || !layout.index_of(head->key))) anchor.reset(), head.reset();
  // What the user sends is seen at once.
  const bool sent = messages.size() > n_messages && messages.size() <= n_messages + 2;
  if (sent && std::any_of(messages.begin() + static_cast<long>(n_messages), messages.end(),
                          [](const ChatMessage& m) { return m.role == "user"; })) {
    scroll.to_end();
  }
  n_messages = messages.size();
  if (std::exchange(wants_end, false)) scroll.to_end();
  if (std::exchange(wants_start, false)) scroll.to_row({0, 0});
  if (const float move = std::exchange(wanted_move, 0.0f)) scroll.move(move);
  if (selects) {  // nothing moves under the mouse
    follows_again = follows_again || scroll.follows_end();
    scroll.hold();
  } else if (std::exchange(follows_again, false) && (!range() || scroll.at_end())) {
    scroll.to_end();
  }
  if (const float pages = std::exchange(wanted_pages, 0.0f)) scroll.move(pages * (frame.size.y - 2 * em()));
  if (!wanted_turn) return;
  for (size_t i = 0; i < messages.size(); ++i) {
    if (messages[i].turn != *wanted_turn) continue;
    scroll.to_row({i, 0}, -std::round(1.5f * em()));
    highlit = messages[i].key;
    highlit_since = frame.now;
  }
  wanted_turn.reset();
}

void TranscriptView::Parts::follow_find() {
  find.follow(layout);
  const FindWish wish = std::exchange(find_wish, FindWish::kNone);
  if (wish == FindWish::kNone || !find.is_on()) return;
  if (wish == FindWish::kFromHere) find.go_to_message(scroll.top().message);
  if (const auto match = find.current()) show_match(*match);
}

// A third of the window below its top, unless it is seen already. Folds around it open.
void TranscriptView::Parts::show_match(const TranscriptFind::Match& match) {
  MessageRows& rows = layout.opened(match.message);
  const bool was_hidden = layout.open_folds_around(match.message, match.index);
  const size_t row = rows.row_of(match.index);
  const BlockLayout& block = layout.layout(match.message, match.index);
  float height = 0;
  const ImVec2 at = block.caret_after(match.end, &height);
  const float y = layout.lead(match.message, row) + at.y;
  if (block.scroll_limit() > 0) {
    const float x = at.x - block.frame().x - block.frame().width / 2;
    code_scroll[scroll_id(match.message, match.index)] = std::clamp(x, 0.0f, block.scroll_limit());
  }
  for (const VisibleRow& seen : scroll.visible())
    if (!was_hidden && seen.place == RowPlace{match.message, row} && seen.top + y >= em() &&
        seen.top + y + height <= frame.size.y - em())
      return;
  scroll.to_row({match.message, row}, std::round(y - frame.size.y / 3));
}

std::vector<BlockMark> TranscriptView::Parts::marks_of(size_t message, BlockIndex index) const {
  std::vector<BlockMark> marks;
  if (!find.is_on()) return marks;
  for (const TranscriptFind::Match& match : find.matches_in(message, index))
    marks.push_back({match.begin, match.end, match.is_current ? theme().current_mark : theme().mark});
  return marks;
}

void TranscriptView::Parts::take_wheel() {
  const ImGuiIO& io = ImGui::GetIO();
  if (frame.over && io.MouseWheel != 0 && !io.KeyCtrl && !frame.shift) {
    scroll.move(-io.MouseWheel * kWheelLines * 1.4f * em());
  }
  const float above = frame.origin.y - frame.mouse.y, below = frame.mouse.y - frame.bottom();
  if (!selects || (above <= 0 && below <= 0)) return;
  const float distance = std::max(above, below) / em();
  scroll.move((below > 0 ? 1.0f : -1.0f) * std::clamp(distance * kAutoScroll, 2.0f, 0.5f * frame.size.y));
  animates = true;
}

bool TranscriptView::Parts::press(uint64_t id, ImVec2 from, ImVec2 to, bool* hot) {
  const ImVec2 mouse = frame.mouse;
  const bool inside = frame.over && mouse.x >= from.x && mouse.x < to.x && mouse.y >= from.y && mouse.y < to.y;
  *hot = inside && !selects && (pressed == 0 || pressed == id);
  if (*hot) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  if (*hot && frame.clicked) pressed = id;
  return inside && frame.released && pressed == id;
}

void TranscriptView::Parts::note_button(const char* name, size_t message, ImVec2 from, ImVec2 to) {
  buttons.push_back(
      {std::string(name) + ':' + std::to_string(layout.at(message).key), from.x, from.y, to.x - from.x, to.y - from.y});
}

bool TranscriptView::Parts::text_button(uint64_t id, const char* name, const std::string& text, size_t message,
                                        ImVec2 from, float* width) {
  const TextLayout& label = layout.label(text, 0.88f * em(), theme().text);
  const float height = strip_button_height(), pad = 0.7f * em();
  *width = std::round(label.width() + 2 * pad);
  const ImVec2 to(from.x + *width, from.y + height);
  bool hot = false;
  const bool clicked = press_target({id, from, to, message}, name, &hot);
  if (hot) frame.list->AddRectFilled(from, to, theme().hover, height * 0.25f);
  frame.list->AddRect(from, to, theme().border, height * 0.25f);
  label.draw(*frame.list, {from.x + pad, std::round(from.y + (height - label.height()) / 2)}, frame.origin.y,
             frame.bottom());
  return clicked;
}

bool TranscriptView::Parts::icon_button(uint64_t id, const IconButton& button, ImVec2 from, float size) {
  bool hot = false;
  const bool clicked = press_target({id, from, {from.x + size, from.y + size}, button.message}, button.name, &hot);
  if (hot) frame.list->AddRectFilled(from, {from.x + size, from.y + size}, theme().hover, size * 0.2f);
  const bool done = copied == id && frame.now < copied_until;
  if (done) animates = true;
  const float side = std::round(size * 0.66f), gap = std::round((size - side) / 2);
  draw_icon(*frame.list, done ? Icon::kCheck : button.icon, {from.x + gap, from.y + gap}, side,
            done  ? theme().good
            : hot ? theme().text
                  : theme().dim_text);
  if (hot && !frame.down) tip = done ? "Copied" : button.tip, tip_from = from, tip_to = {from.x + size, from.y + size};
  return clicked;
}

void TranscriptView::Parts::copy(uint64_t id, const std::string& text) {
  ImGui::SetClipboardText(text.c_str());
  copied = id;
  copied_until = frame.now + 1.2;
  animates = true;
}

void TranscriptView::Parts::draw_highlight(const VisibleRow& row) {
  if (highlit == 0 || layout.at(row.place.message).key != highlit) return;
  const double age = frame.now - highlit_since;
  if (age >= kHighlightSeconds) {
    highlit = 0;
    return;
  }
  animates = true;
  const double strength = std::min(1.0, 2 - 2 * age / kHighlightSeconds);
  const auto alpha = static_cast<uint32_t>((theme().selection >> 24) * strength);
  const float top = frame.origin.y + row.top, pad = 0.6f * em();
  frame.list->AddRectFilled({frame.left - pad, top}, {frame.left + layout.width() + pad, top + row.height},
                            (theme().selection & 0xFFFFFF) | alpha << 24);
}

std::optional<uint64_t> TranscriptView::take_edit() { return std::exchange(parts_->edit, std::nullopt); }

std::optional<TranscriptView::MenuTarget> TranscriptView::take_menu() {
  return std::exchange(parts_->menu, std::nullopt);
}

bool TranscriptView::take_new_selection() { return std::exchange(parts_->selected_anew, false) && has_selection(); }

bool TranscriptView::has_selection() const { return parts_->range().has_value(); }

std::string TranscriptView::selected_text(const ChatState& state) const {
  const auto range = parts_->range();
  if (!range) return "";
  const TranscriptLayout& layout = parts_->layout;
  return text_in(*range, state,
                 {[&](size_t message) { return message < layout.n_messages() && layout.shows_thought(message); },
                  [&](const FoldId& fold) { return layout.is_open(fold); }});
}

void TranscriptView::select_all() {
  const size_t n = parts_->layout.n_messages();
  if (n == 0) return;
  parts_->anchor = KeyedPlace{parts_->layout.at(0).key, MessagePart::kThought, 0, 0};
  parts_->head = KeyedPlace{parts_->layout.at(n - 1).key, MessagePart::kAnswer, SIZE_MAX, SIZE_MAX};
  parts_->selected_anew = true;
}

void TranscriptView::clear_selection() { parts_->anchor.reset(), parts_->head.reset(); }
void TranscriptView::find(std::string words, bool or_each) {
  parts_->find.set(std::move(words), or_each);
  parts_->find_wish = Parts::FindWish::kFromHere;
}

void TranscriptView::find_next(int steps) {
  parts_->find.move(steps);
  parts_->find_wish = Parts::FindWish::kShow;
}

TranscriptView::Found TranscriptView::found() const {
  const size_t n = parts_->find.n_found();
  return {n > 0 ? parts_->find.at() + 1 : 0, n};
}

void TranscriptView::scroll_to_start() { parts_->wants_start = true; }
void TranscriptView::scroll_to_end() { parts_->wants_end = true; }
void TranscriptView::scroll_to(TurnId turn) { parts_->wanted_turn = turn; }
void TranscriptView::scroll_pages(float pages) { parts_->wanted_pages += pages; }
bool TranscriptView::needs_frames() const { return parts_->animates; }
std::optional<size_t> TranscriptView::hovered_token() const { return parts_->hovered_token; }
std::optional<uint64_t> TranscriptView::hovered_message() const { return parts_->hovered_key; }
const std::vector<TranscriptView::Button>& TranscriptView::buttons() const { return parts_->buttons; }
bool TranscriptView::at_end() const { return parts_->scroll.at_end(); }

float TranscriptView::scroll_position() const {
  return parts_->layout.n_messages() > 0 ? parts_->scroll.position(parts_->layout) : 0;
}

}  // namespace warpchat::gui
