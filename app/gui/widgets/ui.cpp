// Focus, text and widgets. Layouts of labels are kept while they are drawn.
#include "app/gui/widgets/ui.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <cmath>

#include "app/gui/widgets/elide.h"

namespace warpchat::gui {

namespace {

constexpr double kTooltipSeconds = 0.5;
constexpr uint64_t kKeptFrames = 120;  // that a label outlives its last drawing
constexpr size_t kKeptLayouts = 1500;

std::string key_of(std::string_view text, const TextStyle& style, float width) {
  std::string key(text);
  for (const uint32_t part : {style.colour, static_cast<uint32_t>(style.size), static_cast<uint32_t>(style.face),
                              static_cast<uint32_t>(width * 4)})
    key.append(reinterpret_cast<const char*>(&part), sizeof part);
  return key;
}

}  // namespace

Colour with_alpha(Colour colour, float alpha) {
  const auto a = static_cast<Colour>(static_cast<float>(colour >> 24) * alpha);
  return (colour & 0xFFFFFF) | a << 24;
}

void Ui::begin_frame(std::vector<InputEvent> events, double seconds) {
  now = seconds;
  keys_ = std::move(events);
  std::erase_if(keys_, [](const InputEvent& e) {
    return !std::holds_alternative<KeyPress>(e) && !std::holds_alternative<TypedText>(e);
  });
  for (const InputEvent& event : keys_)
    if (const auto* key = std::get_if<KeyPress>(&event); key && key->key == GLFW_KEY_TAB) focus_visible_ = true;
  if (ImGui::IsMouseClicked(0) || ImGui::IsMouseClicked(1)) focus_visible_ = false;
  tab_order_.clear();
  marks_.clear();
  wake_ = 1e9;
  ++frame_;
  if (const uint32_t fonts = text_engine_.fonts_revision(); fonts != fonts_)
    fonts_ = fonts, layouts_.clear(), elided_.clear();
  if (layouts_.size() < kKeptLayouts && frame_ % kKeptFrames != 0) return;
  std::erase_if(layouts_, [&](const auto& entry) { return entry.second.used + kKeptFrames < frame_; });
  if (elided_.size() > kKeptLayouts) elided_.clear();
}

void Ui::end_frame() {
  focus_lost_ = std::find(tab_order_.begin(), tab_order_.end(), focus_) == tab_order_.end();
  focus_is_field_ = std::exchange(field_seen_, false);
  if (take_key(GLFW_KEY_TAB)) move_focus(1);
  if (take_key(GLFW_KEY_TAB, GLFW_MOD_SHIFT)) move_focus(-1);
}

bool Ui::take_key(int key, int mods) {
  const auto found = std::find_if(keys_.begin(), keys_.end(), [&](const InputEvent& event) {
    const auto* press = std::get_if<KeyPress>(&event);
    return press && press->key == key && press->mods == mods;
  });
  if (found == keys_.end()) return false;
  keys_.erase(found);
  return true;
}

bool Ui::take_menu_key() { return take_key(GLFW_KEY_MENU) || take_key(GLFW_KEY_F10, GLFW_MOD_SHIFT); }

void Ui::add_to_tab_order(std::string_view name) { tab_order_.emplace_back(name); }

void Ui::move_focus(int steps) {
  if (tab_order_.empty()) return;
  const int n = static_cast<int>(tab_order_.size());
  const auto found = std::find(tab_order_.begin(), tab_order_.end(), focus_);
  const int before = steps > 0 ? -1 : n;
  const int at = found == tab_order_.end() ? before : static_cast<int>(found - tab_order_.begin());
  set_focus(tab_order_[static_cast<size_t>((at + steps + n) % n)]);
  wake_ = 0;
}

void Ui::mark(std::string_view name, Rect rect) {
  if (!names_wanted) return;
  const ImVec2 from = ImGui::GetWindowDrawList()->GetClipRectMin(), to = ImGui::GetWindowDrawList()->GetClipRectMax();
  const float x = std::max(rect.x, from.x), y = std::max(rect.y, from.y);
  const Rect seen{x, y, std::min(rect.right(), to.x) - x, std::min(rect.bottom(), to.y) - y};
  if (seen.width >= 2 && seen.height >= 2) marks_.push_back({std::string(name), seen});
}

TextStyle Ui::style_of(const TextLook& look) const {
  return {.face = look.face, .size = std::round(sizes.text * look.size), .colour = look.colour};
}

const TextLayout& Ui::layout_of(std::string_view text, const TextLook& look, float width) {
  auto [entry, is_new] = layouts_.try_emplace(key_of(text, style_of(look), width));
  Drawn& drawn = entry->second;
  if (is_new) {
    StyledText styled{std::string(text), {}};
    if (!text.empty()) styled.runs.push_back({0, text.size(), style_of(look)});
    drawn.layout = text_engine_.layout(styled, width);
  }
  drawn.used = frame_;
  return *drawn.layout;
}

float Ui::text_width(std::string_view text, const TextLook& look) {
  return text.empty() ? 0 : layout_of(text, look, 0).width();
}

float Ui::line_height(const TextLook& look) { return text_engine_.line_height(style_of(look)); }

const std::string& Ui::elided(std::string_view text, const TextLook& look, float width) {
  auto [entry, is_new] = elided_.try_emplace(key_of(text, style_of(look), width));
  if (is_new) {
    TextLook measured = look;
    measured.colour = 0;
    entry->second = elide(text, width, [&](std::string_view part) { return text_width(part, measured); });
  }
  return entry->second;
}

float Ui::label(ImVec2 at, std::string_view text, const TextLook& look, float width) {
  if (text.empty() || width <= 0) return 0;
  const TextLayout& layout = layout_of(elided(text, look, width), look, 0);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  layout.draw(list, ImVec2(std::floor(at.x), std::floor(at.y)), list.GetClipRectMin().y, list.GetClipRectMax().y);
  return layout.width();
}

void Ui::heading_in(Rect rect, std::string_view text) { label_in(rect, text, {theme->dim_text, 0.85f, Face::kBold}); }

float Ui::label_in(Rect rect, std::string_view text, const TextLook& look, float align) {
  const float y = rect.y + (rect.height - line_height(look)) / 2;
  float x = rect.x;
  if (align > 0) x += std::max(rect.width - text_width(elided(text, look, rect.width), look), 0.0f) * align;
  return label({x, y}, text, look, rect.width);
}

float Ui::paragraph(ImVec2 at, std::string_view text, const TextLook& look, float width, bool draw) {
  if (text.empty()) return 0;
  const TextLayout& layout = layout_of(text, look, std::max(width, 1.0f));
  if (draw) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    layout.draw(list, ImVec2(std::floor(at.x), std::floor(at.y)), list.GetClipRectMin().y, list.GetClipRectMax().y);
  }
  return layout.height();
}

void Ui::scroll_to(Rect rect) {
  focus_moved_ = false;
  if (ImGui::GetScrollMaxY() <= 0) return;
  const float top = ImGui::GetWindowPos().y, bottom = top + ImGui::GetWindowHeight();
  if (rect.y < top) ImGui::SetScrollY(ImGui::GetScrollY() - (top - rect.y) - px(8));
  if (rect.bottom() > bottom) ImGui::SetScrollY(ImGui::GetScrollY() + rect.bottom() - bottom + px(8));
}

Response Ui::press(std::string_view name, Rect rect, Keys keys) {
  Response response{.rect = rect};
  if (keys != Keys::kNone) add_to_tab_order(name);
  if (rect.width < 1 || rect.height < 1) return response;
  mark(name, rect);
  if (focus_moved_ && has_focus(name)) scroll_to(rect);
  ImGui::SetCursorScreenPos(rect.corner());
  ImGui::PushID(name.data(), name.data() + name.size());
  response.clicked = ImGui::InvisibleButton("", ImVec2(rect.width, rect.height));
  ImGui::PopID();
  response.hovered = ImGui::IsItemHovered();
  response.held = ImGui::IsItemActive();
  response.double_clicked = response.hovered && ImGui::IsMouseDoubleClicked(0);
  response.right_clicked = response.hovered && ImGui::IsMouseClicked(1);
  response.middle_clicked = response.hovered && ImGui::IsMouseClicked(2);
  response.menu_at = ImGui::GetIO().MousePos;
  response.focused = keys != Keys::kNone && has_focus(name);
  if (response.focused && take_menu_key()) {
    response.right_clicked = true;
    response.menu_at = {rect.x + px(8), rect.bottom()};
  }
  if (response.focused && keys == Keys::kActivate &&
      (take_key(GLFW_KEY_ENTER) || take_key(GLFW_KEY_KP_ENTER) || take_key(GLFW_KEY_SPACE)))
    response.clicked = true;
  return response;
}

float Ui::button_width(const ButtonLook& look) {
  const float icon = look.icon == Icon::kNone && !look.has_icon_room ? 0 : px(20);
  if (look.text.empty()) return icon + px(12);
  return icon + text_width(look.text, {.colour = 0, .size = 0.9f}) + px(icon > 0 ? 28 : 24);
}

bool Ui::button(std::string_view name, Rect rect, const ButtonLook& look) {
  const Response r = press(name, rect, look.enabled ? Keys::kActivate : Keys::kNone);
  const float rounding = px(8);
  const bool filled = look.kind == ButtonKind::kPrimary && look.enabled;
  Colour colour = look.enabled ? (look.danger ? theme->error : theme->text) : theme->faint_text;
  if (look.kind == ButtonKind::kGhost && look.enabled && !look.danger) colour = theme->dim_text;
  if (filled) colour = theme->accent_text, fill(rect, theme->accent, rounding);
  if (look.kind == ButtonKind::kPrimary && !look.enabled) fill(rect, theme->raised, rounding);
  if (look.kind == ButtonKind::kChosen) {
    colour = theme->accent;
    fill(rect, with_alpha(theme->accent, 0.14f), rounding);
    outline(rect, with_alpha(theme->accent, 0.6f), rounding);
  }
  if (look.kind == ButtonKind::kOutlined) outline(rect, theme->border, rounding);
  if (look.enabled && r.hovered) fill(rect, r.held ? with_alpha(theme->hover, 1.8f) : theme->hover, rounding);
  if (look.enabled && r.hovered && look.kind == ButtonKind::kGhost && !look.danger) colour = theme->text;
  if (r.focused) focus_ring(rect, rounding);

  Rect inner = look.text.empty() ? rect : rect.inset(px(10), 0);
  const TextLook text{.colour = colour, .size = 0.9f};
  const float side = std::min(px(18), rect.height);
  if (look.icon != Icon::kNone || look.has_icon_room) {
    const float icon_width = look.text.empty() ? inner.width : side + px(8);
    const float content = icon_width + text_width(look.text, {.colour = 0, .size = 0.9f});
    if (!look.text.empty() && !look.left_aligned) inner.cut_left(std::max((inner.width - content) / 2, 0.0f));
    Rect place = inner.cut_left(icon_width);
    if (!look.text.empty()) place.width = side;
    if (look.icon != Icon::kNone) icon(look.icon, place, colour);
  }
  if (!look.text.empty()) label_in(inner, look.text, text, look.left_aligned || look.icon != Icon::kNone ? 0.0f : 0.5f);
  if (!look.tooltip.empty()) tooltip(look.tooltip, r);
  return look.enabled && r.clicked;
}

bool Ui::toggle(std::string_view name, Rect rect, std::string_view text, bool on) {
  const Response r = press(name, rect);
  Rect inner = rect;
  const Rect track = inner.cut_right(px(36)).in_middle(px(20));
  fill(track, on ? theme->accent : theme->border, px(10));
  const float radius = px(7);
  const ImVec2 knob{on ? track.right() - px(10) : track.x + px(10), track.centre().y};
  ImGui::GetWindowDrawList()->AddCircleFilled(knob, radius, on ? theme->accent_text : theme->background);
  label_in(inner, text, {.colour = theme->text, .size = 0.9f});
  if (r.focused) focus_ring(track, px(10));
  return r.clicked;
}

bool Ui::slider(std::string_view name, Rect rect, float& value, float from, float to, float step) {
  const Response r = press(name, rect);
  const float before = value;
  const Rect track = rect.in_middle(px(4)), travel = rect.inset(px(8), 0);  // of the knob's centre
  if (r.held && travel.width > 0) {
    const float at = std::clamp((ImGui::GetIO().MousePos.x - travel.x) / travel.width, 0.0f, 1.0f);
    value = from + std::round(at * (to - from) / step) * step;
    set_focus(std::string(name));
  }
  if (r.focused && take_key(GLFW_KEY_LEFT)) value -= step;
  if (r.focused && take_key(GLFW_KEY_RIGHT)) value += step;
  if (value != before) value = std::clamp(value, from, to);
  const float share = std::clamp((value - from) / (to - from), 0.0f, 1.0f);
  fill(track, theme->border, px(2));
  const ImVec2 knob{travel.x + travel.width * share, track.centre().y};
  fill({track.x, track.y, knob.x - track.x, track.height}, theme->accent, px(2));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddCircleFilled(knob, px(r.held || r.hovered ? 8 : 7), theme->accent);
  list.AddCircleFilled(knob, px(3), theme->accent_text);
  if (r.focused) focus_ring(rect, px(6));
  return value != before;
}

void Ui::tooltip(std::string_view text, const Response& response) {
  if (!response.hovered || response.held) {
    if (tooltip_name_ == text) tooltip_name_.clear();
    return;
  }
  if (tooltip_name_ != text) tooltip_name_ = text, hovered_since_ = now;
  const double rest = hovered_since_ + kTooltipSeconds - now;
  if (rest > 0) return wake_in(rest);
  draw_tooltip(layout_of(text, {.colour = theme->text, .size = 0.85f}, 0), response.rect, *theme, sizes);
}

void draw_tooltip(const TextLayout& text, Rect about, const Theme& theme, const Sizes& sizes) {
  const float gap = sizes.width(6), margin = sizes.width(6), x_pad = sizes.width(9), y_pad = sizes.width(4);
  const float width = text.width() + 2 * x_pad, height = text.height() + 2 * y_pad;
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const float x = std::clamp(about.centre().x - width / 2, margin, std::max(display.x - width - margin, margin));
  const bool fits_below = about.bottom() + gap + height <= display.y;
  const float y = fits_below ? about.bottom() + gap : about.y - gap - height;
  const Rect rect{std::floor(x), std::floor(y), width, height};
  ImDrawList& list = *ImGui::GetForegroundDrawList();
  list.AddRectFilled(rect.corner(), rect.end(), theme.raised, sizes.width(6));
  list.AddRect(rect.corner(), rect.end(), theme.border, sizes.width(6));
  text.draw(list, {std::floor(rect.x + x_pad), std::floor(rect.y + y_pad)}, 0, display.y);
}

void Ui::fill(Rect rect, Colour colour, float rounding) {
  ImGui::GetWindowDrawList()->AddRectFilled(rect.corner(), rect.end(), colour, rounding);
}

void Ui::outline(Rect rect, Colour colour, float rounding, float thickness) {
  ImGui::GetWindowDrawList()->AddRect(rect.corner(), rect.end(), colour, rounding, 0, std::max(px(thickness), 1.0f));
}

void Ui::shadow(Rect rect, float rounding) {
  for (int i = 8; i >= 1; --i) {
    const float spread = px(1.5f) * static_cast<float>(i);
    const Rect larger{rect.x - spread, rect.y - spread + px(3), rect.width + 2 * spread, rect.height + 2 * spread};
    fill(larger, theme->dark ? 0x0A000000u : 0x03000000u, rounding + spread);
  }
}

void Ui::focus_ring(Rect rect, float rounding) {
  if (focus_visible_) outline(rect.inset(px(-1.5f)), theme->accent, rounding + px(1.5f), 2);
}

void Ui::icon(Icon what, Rect rect, Colour colour) {
  const float side = std::min({px(18), rect.width, rect.height});
  draw_icon(*ImGui::GetWindowDrawList(), what,
            {std::round(rect.centre().x - side / 2), std::round(rect.centre().y - side / 2)}, side, colour);
}

Surface::Surface(const char* name, Rect rect, Kind kind) {
  ImGuiWindowFlags flags = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                           ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollWithMouse;
  if (kind == Kind::kBase) flags |= ImGuiWindowFlags_NoBringToFrontOnFocus;
  if (kind == Kind::kPassive) flags |= ImGuiWindowFlags_NoInputs;
  ImGui::SetNextWindowPos(rect.corner());
  ImGui::SetNextWindowSize({rect.width, rect.height});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, ImVec2(1, 1));
  ImGui::Begin(name, nullptr, flags);
  ImGui::PopStyleVar(2);
}

Surface::~Surface() { ImGui::End(); }

ScrollArea::ScrollArea(const char* name, Rect rect, bool scrollbar) : rect_(rect) {
  ImGui::SetCursorScreenPos(rect.corner());
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::BeginChild(
      name, {std::max(rect.width, 1.0f), std::max(rect.height, 1.0f)}, false,
      ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoBackground | (scrollbar ? 0 : ImGuiWindowFlags_NoScrollbar));
  ImGui::PopStyleVar();
}

ScrollArea::~ScrollArea() { ImGui::EndChild(); }

void ScrollArea::set_content_height(float height) {
  ImGui::SetCursorPos({0, 0});
  ImGui::Dummy({1, std::max(height, 1.0f)});
}

float ScrollArea::scroll_y() const { return ImGui::GetScrollY(); }

void ScrollArea::show(float y, float height) {
  if (y < ImGui::GetScrollY()) ImGui::SetScrollY(y);
  if (y + height > ImGui::GetScrollY() + rect_.height) ImGui::SetScrollY(y + height - rect_.height);
}

float ScrollArea::width() const {
  const bool scrolls = ImGui::GetScrollMaxY() > 0;
  return rect_.width - (scrolls ? std::ceil(ImGui::GetStyle().ScrollbarSize * 1.3f) : 0);
}

bool ScrollArea::sees(Rect rect) const { return rect.bottom() > rect_.y && rect.y < rect_.bottom(); }

}  // namespace warpchat::gui
