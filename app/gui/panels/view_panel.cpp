// Two lists of fonts side by side; the first row of each is the usual font.
#include "app/gui/panels/view_panel.h"

#include <algorithm>

#include "app/gui/widgets/card.h"
#include "app/gui/widgets/numbers.h"

namespace warpchat::gui {

namespace {

constexpr float kLookRow = 44, kFontRow = 32, kFontHeading = 30, kLookLabel = 84, kBetweenLists = 16;  // at scale 1

void draw_label(Ui& ui, Rect& rect, std::string_view text) {
  ui.label_in(rect.cut_left(ui.px(kLookLabel)), text, {ui.theme->dim_text, 0.88f, Face::kBold});
}

bool draw_button(Ui& ui, Rect& rect, std::string_view name, const ButtonLook& look) {
  const Rect place = rect.cut_left(std::min(ui.button_width(look), rect.width)).in_middle(ui.px(34));
  rect.cut_left(ui.px(6));
  return ui.button(name, place, look);
}

}  // namespace

void ViewPanel::toggle(Ui& ui) {
  is_open_ = appearing_ = !is_open_;
  ui.set_focus(is_open_ ? "view_close" : "composer");
  if (!is_open_) return;
  text_families_ = ui.text_engine().families(/*code=*/false);
  code_families_ = ui.text_engine().families(/*code=*/true);
}

void ViewPanel::draw(Frame& f, WindowMemory& memory) {
  if (!is_open_) return;
  Ui& ui = f.ui;
  Card card(ui, {"view", "View", 600, 520, std::exchange(appearing_, false)});
  if (card.wants_close()) is_open_ = false, ui.set_focus("composer");
  Rect content = card.content;
  const WindowMemory before = memory;
  draw_theme(ui, content.cut_top(ui.px(kLookRow)), memory);
  draw_size(f, content.cut_top(ui.px(kLookRow)), memory.zoom);
  const Rect text = content.cut_left((content.width - ui.px(kBetweenLists)) / 2);
  content.cut_left(ui.px(kBetweenLists));
  draw_fonts(ui, text, "text_font", text_families_, memory.text_font);
  draw_fonts(ui, content, "code_font", code_families_, memory.code_font);
  if (!(memory == before)) ui.wake_in(0);
}

void ViewPanel::draw_theme(Ui& ui, Rect rect, WindowMemory& memory) {
  draw_label(ui, rect, "Theme");
  constexpr std::pair<ThemeChoice, std::string_view> kThemes[] = {
      {ThemeChoice::kSystem, "As the system's"}, {ThemeChoice::kLight, "Light"}, {ThemeChoice::kDark, "Dark"}};
  for (const auto& [theme, text] : kThemes) {
    const ButtonLook look{.text = text, .kind = memory.theme == theme ? ButtonKind::kChosen : ButtonKind::kOutlined};
    if (draw_button(ui, rect, std::string("theme:") + name_of(theme), look)) memory.theme = theme;
  }
}

void ViewPanel::draw_size(Frame& f, Rect rect, float zoom) {
  draw_label(f.ui, rect, "Size");
  const ButtonLook smaller{.text = "−", .kind = ButtonKind::kOutlined, .tooltip = "Smaller (Ctrl+minus)"},
      larger{.text = "+", .kind = ButtonKind::kOutlined, .tooltip = "Larger (Ctrl+plus)"},
      usual{.text = "Normal size", .kind = ButtonKind::kGhost, .tooltip = "Ctrl+0"};
  if (draw_button(f.ui, rect, "view_smaller", smaller)) f.commands.push_back(Command::kZoomOut);
  f.ui.label_in(rect.cut_left(f.ui.px(56)), fixed(zoom * 100, 0) + " %", {f.ui.theme->text, 0.92f}, 0.5f);
  rect.cut_left(f.ui.px(6));
  if (draw_button(f.ui, rect, "view_larger", larger)) f.commands.push_back(Command::kZoomIn);
  if (zoom != 1 && draw_button(f.ui, rect, "view_normal", usual)) f.commands.push_back(Command::kZoomReset);
}

void ViewPanel::draw_fonts(Ui& ui, Rect rect, const std::string& list, const std::vector<std::string>& families,
                           std::string& chosen) {
  ui.label_in(rect.cut_top(ui.px(kFontHeading)), list == "text_font" ? "Font of text" : "Font of code",
              {ui.theme->dim_text, 0.88f, Face::kBold});
  ScrollArea area(list.c_str(), rect);
  const float height = ui.px(kFontRow);
  area.set_content_height(height * static_cast<float>(families.size() + 1));
  for (size_t i = 0; i <= families.size(); ++i) {
    const std::string family = i == 0 ? "" : families[i - 1];
    const Rect row{rect.x, rect.y + height * static_cast<float>(i) - area.scroll_y(), area.width() - ui.px(4), height};
    if (!area.sees(row.inset(0, -height))) continue;  // the next one can get the focus, too
    const bool is_on = family == chosen;
    const Response r = ui.press(list + ":" + family, row);
    if (is_on) ui.fill(row, ui.theme->selection, ui.px(8));
    if (r.hovered) ui.fill(row, ui.theme->hover, ui.px(8));
    if (r.focused) ui.focus_ring(row.inset(1), ui.px(8));
    ui.label_in(row.inset(ui.px(10), 0), i == 0 ? "Automatic" : family, {ui.theme->text, 0.92f});
    if (r.clicked) chosen = family;
  }
}

}  // namespace warpchat::gui
