// Two columns where there is room.
#include "app/gui/window/shortcuts_panel.h"

#include <algorithm>

#include "app/gui/window/card.h"

namespace warpchat::gui {

void ShortcutsPanel::draw(Frame& f) {
  if (!open) return;
  Ui& ui = f.ui;
  Card card(ui, {"shortcuts_panel", "Shortcuts", 720, 620, std::exchange(appearing, false)});
  if (card.wants_close()) open = false;
  std::vector<const Shortcut*> rows;
  for (const Shortcut& shortcut : shortcuts())
    if (!shortcut.text.empty()) rows.push_back(&shortcut);
  const size_t columns = card.content.width > ui.px(560) ? 2 : 1;
  const size_t per_column = (rows.size() + columns - 1) / columns;
  const float row_height = ui.px(33), gap = ui.px(28);
  const float width = (card.content.width - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
  ScrollArea area("rows", card.content);
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto column = static_cast<float>(i / per_column), at = static_cast<float>(i % per_column);
    Rect row{card.content.x + column * (width + gap), card.content.y + at * row_height - area.scroll_y(), width,
             row_height};
    if (!area.sees(row)) continue;
    const TextLook keys{ui.theme->dim_text, 0.82f};
    const float key_width = ui.text_width(rows[i]->keys, keys) + ui.px(16);
    const Rect cap = row.cut_right(key_width).in_middle(ui.px(24));
    ui.fill(cap, ui.theme->raised, ui.px(6));
    ui.label_in(cap, rows[i]->keys, keys, 0.5f);
    ui.label_in(row, rows[i]->text, {ui.theme->text, 0.9f});
  }
  area.set_content_height(row_height * static_cast<float>(per_column));
}

}  // namespace warpchat::gui
