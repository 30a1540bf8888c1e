// The surface covers the window, so that it gets clicks outside of the card.
#include "app/gui/widgets/card.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace warpchat::gui {

Card::Backdrop::Backdrop(bool appearing) {
  if (appearing) ImGui::SetNextWindowFocus();
}

Rect Card::place(const Ui& ui, const CardLook& look) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const float width = std::min(ui.px(look.width), display.x - ui.px(24));
  const float height = std::min(ui.px(look.height), display.y - ui.px(24));
  return {std::floor((display.x - width) / 2), std::floor(std::max((display.y - height) * 0.4f, ui.px(12))), width,
          height};
}

Card::Card(Ui& ui, const CardLook& look)
    : backdrop_(look.appearing),
      surface_(std::string(look.name).c_str(), {0, 0, ImGui::GetIO().DisplaySize.x, ImGui::GetIO().DisplaySize.y},
               Surface::Kind::kOverlay) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const Rect card = place(ui, look);
  const float rounding = ui.px(14);
  ui.confine_focus();
  ui.fill({0, 0, display.x, display.y}, 0x50000000u);
  ui.shadow(card, rounding);
  ui.fill(card, ui.theme->panel, rounding);
  ui.outline(card, ui.theme->border, rounding);
  content = card.inset(ui.px(20), ui.px(14));
  Rect title = content.cut_top(ui.px(36));
  const Rect close = title.cut_right(ui.px(32)).in_middle(ui.px(32));
  ui.label_in(title, look.title, {ui.theme->text, 1.15f, Face::kBold});
  content.cut_top(ui.px(6));
  wants_close_ = ui.button(std::string(look.name) + "_close", close, {.icon = Icon::kClose, .tooltip = "Close (Esc)"});
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (!look.appearing && ImGui::IsMouseClicked(0) && ImGui::IsWindowHovered() && !card.contains(mouse))
    wants_close_ = true;
}

}  // namespace warpchat::gui
