// An overlay as wide as its longest item.
#include "app/gui/window/context_menu.h"

#include <GLFW/glfw3.h>

#include <algorithm>

namespace warpchat::gui {

std::string_view ContextMenu::draw(Ui& ui, std::span<const MenuItem> items) {
  if (!is_open_) return {};
  float width = ui.px(150);
  for (const MenuItem& item : items)
    width = std::max(width, ui.button_width({.text = item.text, .icon = item.icon}) + ui.px(20));
  const float row = ui.px(34), height = row * static_cast<float>(items.size()) + ui.px(12);
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const Rect card{std::clamp(at_.x, ui.px(4), std::max(display.x - width - ui.px(4), ui.px(4))),
                  std::clamp(at_.y, ui.px(4), std::max(display.y - height - ui.px(4), ui.px(4))), width, height};
  if (just_opened_) ImGui::SetNextWindowFocus();
  const Surface surface("menu", card.inset(ui.px(-16)), Surface::Kind::kOverlay);
  ui.confine_focus();
  ui.shadow(card, ui.px(10));
  ui.fill(card, ui.theme->background, ui.px(10));
  ui.outline(card, ui.theme->border, ui.px(10));
  Rect rows = card.inset(ui.px(6));
  std::string_view chosen;
  for (const MenuItem& item : items)
    if (ui.button(item.name, rows.cut_top(row),
                  {.text = item.text, .icon = item.icon, .left_aligned = true, .danger = item.danger}))
      chosen = item.name;
  if (just_opened_) ui.set_focus(std::string(items.front().name));
  if (ui.take_key(GLFW_KEY_DOWN)) ui.move_focus(1);
  if (ui.take_key(GLFW_KEY_UP)) ui.move_focus(-1);
  const bool outside = ImGui::IsMouseClicked(0) && !card.contains(ImGui::GetIO().MousePos);
  if (!chosen.empty() || (outside && !just_opened_)) is_open_ = false;
  just_opened_ = false;
  return chosen;
}

}  // namespace warpchat::gui
