// All but the program's own names is foreign text, shown as text.
#include "app/gui/panels/tools_panel.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <vector>

#include "app/formats/shown_call.h"
#include "app/gui/widgets/card.h"
#include "app/gui/widgets/numbers.h"
#include "app/mcp/mcp_config.h"
#include "app/platform/typed_path.h"
#include "models/ascii.h"
#include "models/text_format.h"

namespace warpchat::gui {

namespace {

constexpr float kToolRow = 46, kToolHeading = 34, kToolField = 36, kToolsGap = 8, kPermission = 170;  // at scale 1
constexpr size_t kMaxToolText = 400;                                                                  // bytes
constexpr std::string_view kPermissionMenu = "tool_permission";

struct PermissionItem {
  Permission permission;
  std::string_view name, text;
};
constexpr PermissionItem kPermissionItems[] = {
    {Permission::kAsk, "permission_ask", "Ask each time"},
    {Permission::kConversation, "permission_here", "Allow in this chat"},
    {Permission::kAlways, "permission_always", "Always allow"},
    {Permission::kNever, "permission_never", "Never allow"},
};

std::string_view permission_text(Permission permission) {
  return std::ranges::find(kPermissionItems, permission, &PermissionItem::permission)->text;
}

// A heading or a row of the list.
struct ListedRow {
  std::string_view heading = {};
  const ToolServerLine* server = nullptr;
  const OfferedTool* tool = nullptr;
  const std::string* folder = nullptr;
};

std::vector<ListedRow> rows_of(const OfferedTools& offered) {
  std::vector<ListedRow> rows;
  if (!offered.servers.empty()) rows.push_back({.heading = "Servers"});
  for (const ToolServerLine& server : offered.servers) rows.push_back({.server = &server});
  if (!offered.tools.empty()) rows.push_back({.heading = "Tools"});
  for (const OfferedTool& tool : offered.tools) rows.push_back({.tool = &tool});
  if (!offered.folders.empty()) rows.push_back({.heading = "Open folders"});
  for (const std::string& folder : offered.folders) rows.push_back({.folder = &folder});
  return rows;
}

}  // namespace

void ToolsPanel::toggle(Frame& f) {
  is_open_ = appearing_ = !is_open_;
  shown_.clear();
  f.ui.set_focus(is_open_ ? "tools_folder" : "composer");
  if (is_open_) f.actions.push(ListTools{});
}

bool ToolsPanel::close(Frame& f) {
  if (!is_open_) return false;
  if (!f.state.tools.import && !std::exchange(shown_, "").empty())
    f.ui.set_focus("tools_folder");
  else
    leave(f);
  return true;
}

// What a file offers and the user did not start is refused.
void ToolsPanel::leave(Frame& f) {
  shown_.clear();
  is_open_ = false;
  if (!f.state.tools.import) return;
  is_refused_ = true;
  f.actions.push(AddToolServers{false});
}

void ToolsPanel::show(Frame& f, std::string name, bool is_server) {
  shown_ = std::move(name);
  shows_server_ = is_server;
  f.ui.set_focus("tools_back");
  f.actions.push(ListTools{});
  f.ui.wake_in(0);
}

void ToolsPanel::draw(Frame& f) {
  const std::optional<ServerImport>& import = f.state.tools.import;
  is_refused_ = is_refused_ && import;
  if (import && !is_open_ && !is_refused_) is_open_ = appearing_ = true, f.ui.set_focus("tools_import_cancel");
  if (!is_open_) return;
  const std::string title = shown_.empty() ? "Tools" : printable(shown_, kMaxToolText);
  Card card(f.ui, {"tools", title, 720, 640, std::exchange(appearing_, false)});
  if (card.wants_close()) {
    leave(f);
    return f.ui.set_focus("composer");
  }
  Rect content = card.content;
  if (import) return draw_import(f, content, *import);
  if (!shown_.empty()) return draw_detail(f, content);
  draw_end(f, content.cut_bottom(f.ui.px(kToolField)));
  content.cut_bottom(f.ui.px(kToolsGap));
  draw_list(f, content);
}

void ToolsPanel::draw_list(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  const OfferedTools& offered = f.state.tools;
  const std::vector<ListedRow> rows = rows_of(offered);
  if (rows.empty()) {
    const std::string text = "There are no tools yet. " + printable(mcp_config_file(), kMaxToolText) +
                             " may name MCP servers, which are started with this program. A folder that you open below "
                             "lets the model read its files, with your approval.";
    ui.paragraph({rect.x, rect.y}, offered.is_opening ? "The servers are being opened …" : text,
                 {ui.theme->dim_text, 0.92f}, rect.width);
    return;
  }
  ScrollArea area("tools", rect);
  float y = rect.y - area.scroll_y();
  const float top = y;
  for (const ListedRow& row : rows) {
    const Rect place{rect.x, y, area.width() - ui.px(4), ui.px(row.heading.empty() ? kToolRow : kToolHeading)};
    y += place.height;
    if (!area.sees(place.inset(0, -place.height))) continue;  // the next can get the focus
    if (!row.heading.empty()) ui.heading_in(place, row.heading);
    if (row.server != nullptr) draw_server(f, place, *row.server);
    if (row.tool != nullptr) draw_tool(f, place, *row.tool);
    if (row.folder != nullptr)
      ui.label_in(place.inset(ui.px(10), 0), printable(*row.folder, kMaxToolText), {ui.theme->text, 0.92f});
  }
  area.set_content_height(y - top);
}

bool ToolsPanel::draw_row(Ui& ui, Rect rect, const std::string& name, std::string_view text, std::string_view about,
                          Colour colour) {
  const Response r = ui.press(name, rect);
  if (r.hovered || r.focused) ui.fill(rect, with_alpha(ui.theme->hover, 0.5f), ui.px(8));
  if (r.focused) ui.focus_ring(rect, ui.px(8));
  Rect inner = rect.inset(ui.px(10), 0);
  ui.label_in(inner.cut_bottom(inner.height * 0.46f), about, {colour, 0.8f});
  inner.cut_top(ui.px(4));
  ui.label_in(inner, text, {ui.theme->text, 0.95f});
  if (ui.text_width(about, {.size = 0.8f}) > inner.width) ui.tooltip(about, r);
  return r.clicked;
}

void ToolsPanel::draw_server(Frame& f, Rect rect, const ToolServerLine& server) {
  const std::string about = printable(server.condition, kMaxToolText) + " · " + printable(server.address, kMaxToolText);
  const Colour colour = server.is_open || f.state.tools.is_opening ? f.ui.theme->dim_text : f.ui.theme->error;
  if (draw_row(f.ui, rect, "tool_server:" + server.name, printable(server.name, kMaxToolText), about, colour))
    show(f, server.name, /*is_server=*/true);
}

void ToolsPanel::draw_tool(Frame& f, Rect rect, const OfferedTool& tool) {
  draw_permission(f, rect.cut_right(f.ui.px(kPermission)).in_middle(f.ui.px(kToolField)), tool);
  rect.cut_right(f.ui.px(kToolsGap));
  if (draw_row(f.ui, rect, "tool:" + tool.name, tool.name, first_line(tool.description, kMaxToolText),
               f.ui.theme->dim_text))
    show(f, tool.name, /*is_server=*/false);
}

void ToolsPanel::draw_permission(Frame& f, Rect rect, const OfferedTool& tool) {
  Ui& ui = f.ui;
  const std::string owner = std::string(kPermissionMenu) + ":" + tool.name;
  const ButtonLook look{.text = permission_text(tool.permission), .kind = ButtonKind::kOutlined};
  if (ui.button(owner, rect, look)) {
    std::vector<MenuItem> items;
    for (const PermissionItem& item : kPermissionItems)
      items.push_back({item.name, item.text, item.permission == tool.permission ? Icon::kCheck : Icon::kNone});
    ui.open_menu(owner, {rect.x, rect.bottom()}, std::move(items));
  }
  const std::string chosen = ui.take_menu_choice(owner);
  for (const PermissionItem& item : kPermissionItems)
    if (chosen == item.name) f.actions.push(SetToolPermission{tool.name, item.permission});
}

// The folder stays open in this run.
void ToolsPanel::draw_end(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  if (const uint32_t tokens = f.state.tools.tokens; tokens > 0) {
    const std::string text = "They take " + counted(tokens, "token") + " of each prompt";
    const float width = ui.text_width(text, {.size = 0.82f});
    ui.label_in(rect.cut_right(width), text, {ui.theme->dim_text, 0.82f});
    rect.cut_right(ui.px(kToolsGap));
  }
  const ButtonLook import{.text = "Import …", .icon = Icon::kImport, .kind = ButtonKind::kOutlined};
  if (ui.button("tools_import", rect.cut_right(ui.button_width(import)), import)) {
    is_open_ = false;
    f.commands.push_back(Command::kImportTools);
  }
  rect.cut_right(ui.px(kToolsGap));
  const FieldResult result =
      folder_.draw(ui, "tools_folder", rect, {.placeholder = "Open a folder to the model", .text = 0.95f});
  const std::string path = typed_path(folder_.text());
  if (!result.submitted || path.empty()) return;
  f.actions.push(OpenFolder{path});
  f.actions.push(ListTools{});
  folder_.buffer.set("");
}

void ToolsPanel::draw_detail(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  const ButtonLook back{.text = "Back", .kind = ButtonKind::kOutlined};
  Rect end = rect.cut_bottom(ui.px(kToolField));
  rect.cut_bottom(ui.px(kToolsGap));
  if (ui.button("tools_back", end.cut_left(ui.button_width(back)), back)) shown_.clear(), ui.wake_in(0);
  const OfferedTools& offered = f.state.tools;
  std::string text, code;
  if (const auto server = std::ranges::find(offered.servers, shown_, &ToolServerLine::name);
      shows_server_ && server != offered.servers.end()) {
    text = printable(server->address, kMaxToolText) + "\n" + printable(server->condition, kMaxToolText) + "\n" +
           (server->log.empty() ? "Its log is empty." : "Its log:");
    for (const std::string& line : server->log) code += shown_text(line) + "\n";
  }
  if (const auto tool = std::ranges::find(offered.tools, shown_, &OfferedTool::name);
      !shows_server_ && tool != offered.tools.end()) {
    text = shown_text(trimmed(tool->description)) + "\n\nIts arguments, as JSON Schema:";
    code = shown_text(tool->schema);
  }
  draw_texts(ui, rect, text, code);
}

// Nothing is started before the answer.
void ToolsPanel::draw_import(Frame& f, Rect rect, const ServerImport& import) {
  Ui& ui = f.ui;
  const ButtonLook start{.text = "Start and keep", .kind = ButtonKind::kPrimary};
  const ButtonLook cancel{.text = "Cancel", .kind = ButtonKind::kOutlined};
  Rect end = rect.cut_bottom(ui.px(kToolField));
  rect.cut_bottom(ui.px(kToolsGap));
  const bool is_cancelled = ui.button("tools_import_cancel", end.cut_left(ui.button_width(cancel)), cancel);
  end.cut_left(ui.px(kToolsGap));
  const bool is_started = ui.button("tools_import_start", end.cut_left(ui.button_width(start)), start);
  if (is_cancelled || is_started) f.actions.push(AddToolServers{is_started}), ui.set_focus("tools_folder");
  draw_texts(ui, rect,
             printable(import.path, kMaxToolText) + " names " + counted(import.n_servers, "server") +
                 ". A server is a program with your rights, or an address that gets what is asked of it. Only start "
                 "what you trust.",
             import.shown);
}

void ToolsPanel::draw_texts(Ui& ui, Rect rect, std::string_view text, std::string_view code) {
  ScrollArea area("tools_texts", rect);
  const float width = area.width() - ui.px(4), y = rect.y - area.scroll_y();
  const float height = ui.paragraph({rect.x, y}, text, {ui.theme->text, 0.92f}, width);
  const float below =
      ui.paragraph({rect.x, y + height + ui.px(kToolsGap)}, code, {ui.theme->dim_text, 0.85f, Face::kCode}, width);
  area.set_content_height(height + below + 2 * ui.px(kToolsGap));
}

}  // namespace warpchat::gui
