// The window's only context menu. Its owner reads the choice in a later frame. As wide as its longest item. Below it
// what a row with a menu has: the dots that open it, and the question before a removal.
#include <GLFW/glfw3.h>

#include <algorithm>

#include "app/gui/widgets/ui.h"

namespace warpchat::gui {

void Ui::open_menu(std::string_view owner, ImVec2 at, std::vector<MenuItem> items) {
  menu_ = {.owner = std::string(owner), .items = std::move(items), .at = at, .is_open = true, .just_opened = true};
  menu_.focus_before = focus_;
  wake_ = 0;
}

bool Ui::close_menu() {
  if (!std::exchange(menu_.is_open, false)) return false;
  set_focus(menu_.focus_before);
  return true;
}

std::string Ui::take_menu_choice(std::string_view owner) {
  return menu_.owner == owner ? std::exchange(menu_.chosen, "") : "";
}

void Ui::draw_menu() {
  if (!menu_.is_open) return;
  float width = px(150);
  const bool has_icons = std::ranges::any_of(menu_.items, [](const MenuItem& i) { return i.icon != Icon::kNone; });
  const TextLook dim{theme->faint_text, 0.82f};
  for (const MenuItem& item : menu_.items)
    width = std::max(width, button_width({.text = item.text, .icon = item.icon, .has_icon_room = has_icons}) +
                                text_width(item.keys, dim) + px(36));
  const float row = px(32), height = row * static_cast<float>(menu_.items.size()) + px(12);
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const Rect card{std::clamp(menu_.at.x, px(4), std::max(display.x - width - px(4), px(4))),
                  std::clamp(menu_.at.y, px(4), std::max(display.y - height - px(4), px(4))), width, height};
  if (menu_.just_opened) ImGui::SetNextWindowFocus();
  const Surface surface("menu", card, Surface::Kind::kOverlay);
  confine_focus();
  fill(card, theme->raised, px(10));
  outline(card, theme->border, px(10));
  Rect rows = card.inset(px(6));
  for (const MenuItem& item : menu_.items) {
    const Rect place = rows.cut_top(row);
    if (button(item.name, place,
               {.text = item.text,
                .icon = item.icon,
                .has_icon_room = has_icons,
                .enabled = item.enabled,
                .left_aligned = true,
                .danger = item.danger}))
      menu_.chosen = item.name;
    label_in(place.inset(px(10), 0), item.keys, dim, 1);
  }
  if (std::exchange(menu_.just_opened, false)) {
    const auto first = std::ranges::find_if(menu_.items, &MenuItem::enabled);
    if (first != menu_.items.end()) set_focus(std::string(first->name));
    return;
  }
  if (take_key(GLFW_KEY_DOWN)) move_focus(1);
  if (take_key(GLFW_KEY_UP)) move_focus(-1);
  const bool clicked = ImGui::IsMouseClicked(0) || ImGui::IsMouseClicked(1);
  const bool outside = clicked && !card.contains(ImGui::GetIO().MousePos);
  if (menu_.chosen.empty() && !outside) return;
  close_menu();
  wake_ = 0;
}

Response Ui::menu_dots(std::string_view name, Rect rect, std::string_view tip) {
  const Response dots = press(name, rect, Keys::kNone);
  for (int i = -1; i <= 1; ++i)
    ImGui::GetWindowDrawList()->AddCircleFilled({rect.centre().x + px(5) * static_cast<float>(i), rect.centre().y},
                                                px(1.6f), dots.hovered ? theme->text : theme->faint_text);
  if (!tip.empty()) tooltip(tip, dots);
  return dots;
}

Ui::Removal Ui::ask_removal(Rect row, std::string_view question, std::string_view keep_name,
                            std::string_view remove_name) {
  const ButtonLook keep{.text = "Keep", .kind = ButtonKind::kOutlined};
  const ButtonLook remove{.text = "Remove", .kind = ButtonKind::kOutlined, .danger = true};
  const bool keeps = button(keep_name, row.cut_right(button_width(keep)), keep);
  row.cut_right(px(6));
  const bool removes = button(remove_name, row.cut_right(button_width(remove)), remove);
  label_in(row.inset(px(10), 0), question, {theme->text, 0.9f});
  return removes ? Removal::kRemove : keeps ? Removal::kKeep : Removal::kOpen;
}

}  // namespace warpchat::gui
