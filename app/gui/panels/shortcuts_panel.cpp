// Groups of shortcuts in two columns, or in one where there is little room.
#include "app/gui/panels/shortcuts_panel.h"

#include <algorithm>

#include "app/gui/widgets/card.h"

namespace warpchat::gui {

namespace {

constexpr float kKeyRow = 28, kKeysHeading = 36, kBetweenKeys = 28;  // at scale 1

struct Group {
  KeyGroup group;
  std::string_view name;
};
constexpr Group kGroups[] = {{KeyGroup::kConversations, "Conversations"},
                             {KeyGroup::kReading, "Reading"},
                             {KeyGroup::kMessages, "Messages"},
                             {KeyGroup::kWindow, "Window"}};

void draw_shortcut(Ui& ui, Rect row, const Shortcut& shortcut) {
  const TextLook keys{ui.theme->dim_text, 0.82f};
  const Rect cap = row.cut_right(ui.text_width(shortcut.keys, keys) + ui.px(16)).in_middle(ui.px(24));
  ui.fill(cap, ui.theme->raised, ui.px(6));
  ui.label_in(cap, shortcut.keys, keys, 0.5f);
  row.cut_right(ui.px(8));
  ui.label_in(row, shortcut.text, {ui.theme->text, 0.9f});
}

// Returns its height.
float draw_group(Ui& ui, const ScrollArea& area, Rect place, const Group& group) {
  const float top = place.y;
  const Rect heading = place.cut_top(ui.px(kKeysHeading));
  if (area.sees(heading)) ui.heading_in(heading, group.name);
  for (const Shortcut& shortcut : shortcuts()) {
    if (shortcut.group != group.group || shortcut.text.empty() || shortcut.keys.empty()) continue;
    const Rect row = place.cut_top(ui.px(kKeyRow));
    if (area.sees(row)) draw_shortcut(ui, row, shortcut);
  }
  return place.y - top;
}

}  // namespace

void ShortcutsPanel::draw(Frame& f) {
  if (!open) return;
  Ui& ui = f.ui;
  Card card(ui, {"shortcuts_panel", "Shortcuts", 760, 756, std::exchange(appearing, false)});
  if (card.wants_close()) open = false;
  const Rect content = card.content;
  const size_t columns = content.width > ui.px(560) ? 2 : 1;
  ScrollArea area("rows", content);
  const float width =
      (area.width() - ui.px(kBetweenKeys) * static_cast<float>(columns - 1)) / static_cast<float>(columns);
  float heights[2] = {0, 0};
  for (size_t i = 0; i < std::size(kGroups); ++i) {
    const size_t column = columns == 1 ? 0 : i / 2;
    const Rect place{content.x + static_cast<float>(column) * (width + ui.px(kBetweenKeys)),
                     content.y + heights[column] - area.scroll_y(), width, 1e5f};
    heights[column] += draw_group(ui, area, place, kGroups[i]);
  }
  area.set_content_height(std::max(heights[0], heights[1]));
}

}  // namespace warpchat::gui
