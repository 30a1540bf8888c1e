// Buttons at both ends, the title in between.
#include "app/gui/window/top_bar.h"

#include <algorithm>

namespace warpchat::gui {

namespace {

void draw_model_button(Frame& f, Rect& rect) {
  Ui& ui = f.ui;
  std::string text = "Choose a model";
  if (f.state.loading)
    text = (f.state.loading->is_server          ? "Connecting to "
            : f.state.loading->transfer.empty() ? "Loading "
                                                : "Fetching ") +
           f.state.loading->name;
  else if (f.state.model)
    text = f.state.model->name;
  const TextLook look{ui.theme->text, 0.9f};
  const float width = std::min(ui.text_width(text, look) + ui.px(46), std::max(rect.width * 0.6f, ui.px(120)));
  Rect place = rect.cut_right(width).in_middle(ui.px(34));
  const Response r = ui.press("model", place);
  ui.fill(place, r.hovered ? ui.theme->raised : ui.theme->panel, ui.px(17));
  if (!f.state.model && !f.state.loading) ui.outline(place, ui.theme->accent, ui.px(17));
  if (r.focused) ui.focus_ring(place, ui.px(17));
  Rect inner = place.inset(ui.px(14), 0);
  ui.icon(Icon::kDown, inner.cut_right(ui.px(16)), ui.theme->dim_text);
  ui.label_in(inner, text, look);
  ui.tooltip("Models and devices (Ctrl+O)", r);
  if (r.clicked) f.commands.push_back(Command::kModels);
}

}  // namespace

void TopBar::draw(Frame& f, Rect rect, bool profiler_open) const {
  Ui& ui = f.ui;
  ui.fill({rect.x, rect.bottom() - 1, rect.width, 1}, ui.theme->border);
  rect = rect.inset(ui.px(10), 0);
  const auto tool = [&](std::string_view name, Rect place, Icon icon, std::string_view tooltip, Command command,
                        bool on = false) {
    const ButtonLook look{.icon = icon, .kind = on ? ButtonKind::kChosen : ButtonKind::kGhost, .tooltip = tooltip};
    if (ui.button(name, place.in_middle(ui.px(34)), look)) f.commands.push_back(command);
  };
  const float side = ui.px(36);
  tool("sidebar", rect.cut_left(side), Icon::kSidebar, "Conversations (Ctrl+B)", Command::kSidebar);
  rect.cut_left(ui.px(8));
  const bool wide = rect.width > ui.px(420);
  // Placed from the right, drawn from the left, as Tab goes.
  const Rect settings = rect.cut_right(side), theme = wide ? rect.cut_right(side) : Rect{};
  const Rect view = wide ? rect.cut_right(side) : Rect{};
  const Rect profiler = wide ? rect.cut_right(side) : Rect{}, exporting = wide ? rect.cut_right(side) : Rect{};
  rect.cut_right(ui.px(8));
  draw_model_button(f, rect);
  if (wide) {
    tool("export", exporting, Icon::kExport, "Export (Ctrl+S)", Command::kExport);
    tool("profiler", profiler, Icon::kProfiler, "Profiler (F12)", Command::kProfiler, profiler_open);
    tool("view", view, Icon::kText, "View: theme, size and fonts", Command::kView);
    tool("theme", theme, ui.theme->dark ? Icon::kSun : Icon::kMoon, "Light or dark (Ctrl+Shift+L)", Command::kTheme);
  }
  tool("settings", settings, Icon::kSettings, "Settings (Ctrl+,)", Command::kSettings);
  rect.cut_right(ui.px(12));
  const std::string& title = f.state.open.title;
  ui.label_in(rect, title.empty() ? "New chat" : title, {ui.theme->text, 1, Face::kBold});
}

}  // namespace warpchat::gui
