#include "app/gui/panels/served_row.h"

#include <algorithm>

namespace warpchat::gui {

namespace {

constexpr const char* kServedMenu = "served";
constexpr std::string_view kMakeDefault = "Make default", kDefault = "Default";

void set_default(Frame& f, const ModelChoice& server, const std::string& model) {
  f.actions.push(SetDefaultModel{server.path, server.default_model == model ? "" : model});
}

ButtonLook default_look(bool is_default) {
  return {.text = is_default ? kDefault : kMakeDefault,
          .kind = is_default ? ButtonKind::kChosen : ButtonKind::kOutlined,
          .tooltip = is_default ? "It answers if no model of this server is named; a click ends that"
                                : "It is to answer if no model of this server is named"};
}

}  // namespace

const ModelChoice* stored_server(const ChatState& state) {
  const auto found = std::ranges::find(state.endpoints, state.served.endpoint, &ModelChoice::path);
  return found == state.endpoints.end() || found->is_unsaved ? nullptr : &*found;
}

// The button is there on the default model, and while the row is pointed at or has the focus.
bool ServedRow::draw(Frame& f, Rect rect, const ModelRow& row) {
  Ui& ui = f.ui;
  const ModelChoice& model = *row.model;
  const ModelChoice* server = stored_server(f.state);
  const std::string button = "default_" + row.widget;
  const bool is_loaded_here = is_loaded(f.state, model);
  const bool is_default = server != nullptr && server->default_model == model.path;
  const bool is_active = rect.contains(ImGui::GetIO().MousePos) || ui.has_focus(row.widget) || ui.has_focus(button);
  const ButtonLook look = default_look(is_default);
  Rect rest = rect;
  const bool has_button = is_default || (server != nullptr && is_active);
  const Rect place = has_button ? rest.cut_right(ui.button_width(look) + ui.px(16)) : Rect{};
  const Response r = ui.press(row.widget, rest);
  if (r.hovered || r.focused) ui.fill(rect, ui.theme->hover, ui.px(8));
  if (r.focused) ui.focus_ring(rect, ui.px(8));
  if (has_button && ui.button(button, place.inset(ui.px(8), 0).in_middle(ui.px(28)), look))
    set_default(f, *server, model.path);
  Rect inner = rest.inset(ui.px(10), 0);
  const Rect tick = inner.cut_left(ui.px(26));
  if (is_loaded_here) ui.icon(Icon::kCheck, {tick.x, tick.y, ui.px(18), tick.height}, ui.theme->accent);
  if (!model.about.empty()) {
    ui.label_in(inner.cut_bottom(inner.height * 0.46f), model.about, {ui.theme->dim_text, 0.8f});
    inner.cut_top(ui.px(4));
  }
  ui.label_in(inner, model.name, {ui.theme->text, 0.95f, is_loaded_here ? Face::kBold : Face::kText});
  if (server != nullptr && r.right_clicked) {
    menu_of_ = row.widget;
    ui.open_menu(kServedMenu, r.menu_at,
                 {{"menu_default", is_default ? "No default model" : "Make it the default", Icon::kCheck}});
  }
  if (server != nullptr && menu_of_ == row.widget && ui.take_menu_choice(kServedMenu) == "menu_default")
    set_default(f, *server, model.path);
  return r.clicked;
}

}  // namespace warpchat::gui
