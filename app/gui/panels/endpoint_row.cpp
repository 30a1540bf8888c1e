// What changes an endpoint takes the place of its row.
#include "app/gui/panels/endpoint_row.h"

#include <GLFW/glfw3.h>

#include "app/gui/panels/connect_form.h"
#include "app/gui/panels/model_rows.h"
#include "app/model_choice/endpoint_changes.h"
#include "models/ascii.h"
#include "models/text_format.h"

namespace warpchat::gui {

namespace {

constexpr const char* kMenu = "endpoints";
constexpr std::string_view kWidget = "endpoint:";

bool is_free(const ChatState& state, const std::string& name) {
  return std::ranges::none_of(state.endpoints, [&](const ModelChoice& other) { return other.path == name; });
}

}  // namespace

void EndpointRow::edit(Frame& f, Edit what, const std::string& endpoint) {
  edit_ = what;
  edited_ = endpoint;
  field_.buffer.set(what == Edit::kRename ? endpoint : "");
  field_.buffer.select_all();
  f.ui.set_focus(what == Edit::kRename ? "endpoint_name" : what == Edit::kKey ? "endpoint_key" : "endpoint_remove");
}

bool EndpointRow::cancel(Ui& ui) {
  if (std::exchange(edit_, Edit::kNone) == Edit::kNone) return false;
  field_.buffer.set("");
  ui.set_focus(std::string(kWidget) + edited_);
  return true;
}

bool EndpointRow::rename_focused(Frame& f) {
  if (!f.ui.focus().starts_with(kWidget)) return false;
  const std::string focused = f.ui.focus().substr(kWidget.size());
  const auto is_focused = [&](const ModelChoice& endpoint) { return endpoint.path == focused && !endpoint.is_unsaved; };
  if (std::ranges::any_of(f.state.endpoints, is_focused)) edit(f, Edit::kRename, focused);
  return true;
}

EndpointRow::Wish EndpointRow::draw(Frame& f, Rect rect, const ModelChoice& endpoint) {
  take_menu_choice(f, endpoint);
  if (edit_ != Edit::kNone && edited_ == endpoint.path) {
    draw_edit(f, rect, endpoint);
    return Wish::kNone;
  }
  Ui& ui = f.ui;
  Rect inner = rect;
  constexpr ButtonLook kSave{.text = "Save this server", .kind = ButtonKind::kOutlined};
  const Rect tools = inner.cut_right(endpoint.is_unsaved ? ui.button_width(kSave) + ui.px(6) : ui.px(34));
  const Rect arrow = inner.cut_right(ui.px(34));
  const Response r = ui.press(std::string(kWidget) + endpoint.path, inner);
  const Response list = ui.press("endpoint_models:" + endpoint.path, arrow, Keys::kNone);
  ui.tooltip("Its models", list);
  const Response dots = endpoint.is_unsaved
                            ? Response{}
                            : ui.menu_dots("endpoint_menu:" + endpoint.path, tools, "Rename, new API key, remove");
  if (r.hovered || r.focused || list.hovered || dots.hovered) ui.fill(rect, ui.theme->hover, ui.px(8));
  if (r.focused) ui.focus_ring(rect, ui.px(8));
  if (endpoint.is_unsaved && ui.button("endpoint_save", tools.in_middle(ui.px(30)), kSave))
    f.actions.push(ConnectServer{.endpoint = endpoint.path, .request = next_request(f.state)});
  inner = inner.inset(ui.px(10), 0);
  const bool in_use = is_loaded(f.state, endpoint), is_asked = f.state.served.endpoint == endpoint.path;
  const Rect tick = inner.cut_left(ui.px(26));
  const Rect sign{tick.x, tick.y, ui.px(18), tick.height};
  if (in_use) ui.icon(Icon::kCheck, sign, ui.theme->accent);
  ui.icon(is_asked ? Icon::kDown : Icon::kForward, {arrow.x + ui.px(8), arrow.y, ui.px(18), arrow.height},
          list.hovered ? ui.theme->text : ui.theme->faint_text);
  const std::string_view saved = !endpoint.is_unsaved ? "" : in_use ? "  ·  used now, not saved" : "  ·  not saved";
  const std::string& model = endpoint.default_model;
  const std::string chosen = model.empty() ? "" : "  ·  default: " + printable(model, 200);
  const std::string about = printable(endpoint.about, 400) + chosen + std::string(saved);
  ui.label_in(inner.cut_bottom(inner.height * 0.46f), about, {ui.theme->dim_text, 0.8f});
  inner.cut_top(ui.px(4));
  ui.label_in(inner, endpoint.name, {ui.theme->text, 0.95f, in_use ? Face::kBold : Face::kText});
  const Wish wish = list.clicked ? Wish::kShowModels : r.clicked ? Wish::kUse : Wish::kNone;
  if (endpoint.is_unsaved) return wish;
  if (r.right_clicked || dots.clicked) open_menu(f, endpoint, r.right_clicked ? r.menu_at : dots.menu_at);
  if (r.focused && ui.take_key(GLFW_KEY_DELETE)) edit(f, Edit::kRemove, endpoint.path);
  return wish;
}

void EndpointRow::open_menu(Frame& f, const ModelChoice& endpoint, ImVec2 at) {
  menu_of_ = endpoint.path;
  f.ui.open_menu(
      kMenu, at,
      {{"menu_endpoint_rename", "Rename", Icon::kPen, "F2"},
       {"menu_endpoint_key", "New API key", Icon::kNone},
       {.name = "menu_endpoint_remove", .text = "Remove", .icon = Icon::kTrash, .keys = "Del", .danger = true}});
}

void EndpointRow::take_menu_choice(Frame& f, const ModelChoice& endpoint) {
  if (menu_of_ != endpoint.path) return;
  const std::string chosen = f.ui.take_menu_choice(kMenu);
  if (chosen == "menu_endpoint_rename") edit(f, Edit::kRename, endpoint.path);
  if (chosen == "menu_endpoint_key") edit(f, Edit::kKey, endpoint.path);
  if (chosen == "menu_endpoint_remove") edit(f, Edit::kRemove, endpoint.path);
}

void EndpointRow::draw_edit(Frame& f, Rect rect, const ModelChoice& endpoint) {
  rect = rect.in_middle(f.ui.px(36));
  if (edit_ == Edit::kRename) return draw_rename(f, rect, endpoint);
  edit_ == Edit::kKey ? draw_key(f, rect, endpoint) : draw_removal(f, rect, endpoint);
}

void EndpointRow::draw_rename(Frame& f, Rect rect, const ModelChoice& endpoint) {
  Ui& ui = f.ui;
  const std::string name = field_.text();
  const char* fault = !can_name_endpoint(name)                           ? "Letters, digits, - _ and dots"
                      : name != endpoint.path && !is_free(f.state, name) ? "There is another server of this name"
                                                                         : "";
  const TextLook look{ui.theme->error, 0.82f};
  if (*fault != 0) ui.label_in(rect.cut_right(ui.text_width(fault, look) + ui.px(10)), fault, look, 1);
  const FieldResult result = field_.draw(ui, "endpoint_name", rect, {.placeholder = "Name", .text = 0.95f});
  if (!result.submitted || *fault != 0) return;
  f.actions.push(RenameEndpoint{endpoint.path, name});
  cancel(ui);
  ui.set_focus(std::string(kWidget) + name);
}

void EndpointRow::draw_key(Frame& f, Rect rect, const ModelChoice& endpoint) {
  const FieldResult result =
      field_.draw(f.ui, "endpoint_key", rect,
                  {.placeholder = "New API key; Enter checks and stores it", .secret = true, .text = 0.95f});
  const std::string key(trimmed(field_.text(), " \t\n"));
  if (!result.submitted || key.empty()) return;
  f.actions.push(ConnectServer{.endpoint = endpoint.path, .key = key, .request = next_request(f.state)});
  cancel(f.ui);
}

void EndpointRow::draw_removal(Frame& f, Rect rect, const ModelChoice& endpoint) {
  const auto answer =
      f.ui.ask_removal(rect, "Remove " + endpoint.name + " and its API key?", "endpoint_keep", "endpoint_remove");
  if (answer == Ui::Removal::kOpen) return;
  if (answer == Ui::Removal::kRemove) f.actions.push(RemoveEndpoint{endpoint.path});
  cancel(f.ui);
  if (answer == Ui::Removal::kRemove) f.ui.set_focus("model_filter");
}

}  // namespace warpchat::gui
