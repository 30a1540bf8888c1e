// The list is the controller's, which reads the folder of assistants each time that the panel opens.
#include "app/gui/panels/assistants_panel.h"

#include <GLFW/glfw3.h>

#include <algorithm>

#include "app/gui/widgets/card.h"
#include "app/gui/widgets/numbers.h"
#include "models/text_format.h"

namespace warpchat::gui {

namespace {

constexpr float kAssistantRow = 48, kAssistantTool = 34, kAssistantGap = 8, kAssistantButton = 36;  // at scale 1
constexpr size_t kMaxAssistantName = 64, kMaxAssistantAbout = 400;                                  // bytes
constexpr std::string_view kAssistantWidget = "assistant_row:";

}  // namespace

std::string name_of_copy(const AssistantList& list, const std::string& name) {
  const std::string copy = name + " copy";
  std::string free = copy;
  for (int n = 2; std::ranges::find(list.all, free, &AssistantChoice::name) != list.all.end(); ++n)
    free = copy + " " + std::to_string(n);
  return free;
}

void AssistantsPanel::toggle(Frame& f) {
  is_open_ = appearing_ = !is_open_;
  removes_.clear();
  editor_.close();
  f.ui.set_focus(is_open_ ? "assistants_new" : "composer");
  if (is_open_) f.actions.push(ListAssistants{});
}

bool AssistantsPanel::close(Frame& f) {
  if (!is_open_) return false;
  const bool had_more = !std::exchange(removes_, "").empty() || editor_.close();
  if (had_more)
    f.ui.set_focus("assistants_new");
  else
    is_open_ = false;
  return true;
}

void AssistantsPanel::draw(Frame& f) {
  if (!is_open_) return;
  const std::string_view title = editor_.is_open() ? "Assistant" : "Assistants";
  Card card(f.ui, {"assistants", title, 660, 640, std::exchange(appearing_, false)});
  if (card.wants_close()) {
    close(f);
    if (!is_open_) f.ui.set_focus("composer");
  }
  Rect content = card.content;
  if (editor_.is_open()) return editor_.draw(f, content);
  draw_end(f, content.cut_bottom(f.ui.px(kAssistantButton)));
  content.cut_bottom(f.ui.px(kAssistantGap));
  draw_list(f, content);
}

void AssistantsPanel::draw_list(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  ScrollArea area("assistants", rect);
  const float height = ui.px(kAssistantRow);
  const auto row_at = [&](size_t i) {
    return Rect{rect.x, rect.y + height * static_cast<float>(i) - area.scroll_y(), area.width() - ui.px(4), height};
  };
  draw_none(f, row_at(0));
  const std::vector<AssistantChoice>& all = f.state.assistants.all;
  for (size_t i = 0; i < all.size(); ++i)
    if (area.sees(row_at(i + 1).inset(0, -height))) draw_row(f, row_at(i + 1), all[i]);  // the next can get the focus
  area.set_content_height(height * static_cast<float>(all.size() + 1));
  if (!all.empty()) return;
  ui.paragraph({rect.x + ui.px(10), row_at(1).y + ui.px(8)},
               "An assistant is a name for a system prompt and settings, also with a model or a server.",
               {ui.theme->faint_text, 0.9f}, rect.width - ui.px(20));
}

void AssistantsPanel::draw_none(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  const Response r = ui.press(kAssistantWidget, rect);
  if (r.hovered || r.focused) ui.fill(rect, ui.theme->hover, ui.px(8));
  if (r.focused) ui.focus_ring(rect, ui.px(8));
  Rect inner = rect.inset(ui.px(10), 0);
  const Rect tick = inner.cut_left(ui.px(26));
  if (f.state.open.assistant.empty()) ui.icon(Icon::kCheck, {tick.x, tick.y, ui.px(18), tick.height}, ui.theme->accent);
  ui.label_in(inner, "No assistant", {ui.theme->text, 0.95f});
  if (r.clicked) choose(f, "");
}

void AssistantsPanel::draw_row(Frame& f, Rect rect, const AssistantChoice& assistant) {
  Ui& ui = f.ui;
  if (removes_ == assistant.name) return draw_removal(f, rect.in_middle(ui.px(36)), assistant);
  const Rect whole = rect;
  if (draw_tools(f, rect, assistant)) return;
  const Response r = ui.press(std::string(kAssistantWidget) + assistant.name, rect);
  if (r.hovered || r.focused) ui.fill(whole, with_alpha(ui.theme->hover, 0.5f), ui.px(8));
  if (r.focused) ui.focus_ring(rect, ui.px(8));
  Rect inner = rect.inset(ui.px(10), 0);
  const Rect tick = inner.cut_left(ui.px(26));
  const bool is_chosen = f.state.open.assistant == assistant.name;
  if (is_chosen) ui.icon(Icon::kCheck, {tick.x, tick.y, ui.px(18), tick.height}, ui.theme->accent);
  const bool has_fault = !assistant.fault.empty();
  const std::string about = printable(has_fault ? full_sentence(assistant.fault) : assistant.about, kMaxAssistantAbout);
  ui.label_in(inner.cut_bottom(inner.height * 0.46f), about, {has_fault ? ui.theme->error : ui.theme->dim_text, 0.8f});
  inner.cut_top(ui.px(4));
  ui.label_in(inner, printable(assistant.name, kMaxAssistantName),
              {ui.theme->text, 0.95f, is_chosen ? Face::kBold : Face::kText});
  if (ui.text_width(about, {.size = 0.8f}) > inner.width) ui.tooltip(about, r);
  if (r.focused && ui.take_key(GLFW_KEY_DELETE)) {
    removes_ = assistant.name;
    ui.set_focus("assistant_keep");
  }
  if (r.clicked) choose(f, assistant.name);
}

// Whether one of its buttons was pressed.
bool AssistantsPanel::draw_tools(Frame& f, Rect& rect, const AssistantChoice& assistant) {
  Ui& ui = f.ui;
  const std::string& name = assistant.name;
  const auto tool = [&](const char* what, const ButtonLook& look) {
    const Rect place = rect.cut_right(ui.px(kAssistantTool)).in_middle(ui.px(kAssistantTool));
    return ui.button(std::string(what) + ":" + name, place, look);
  };
  const bool removes = tool("assistant_remove", {.icon = Icon::kTrash, .tooltip = "Remove (Del)"});
  const bool exports = tool("assistant_export", {.icon = Icon::kExport, .tooltip = "Export"});
  const bool copies = tool("assistant_copy", {.icon = Icon::kCopy, .tooltip = "Duplicate"});
  const bool edits = tool("assistant_edit", {.icon = Icon::kPen, .tooltip = "Edit"});
  rect.cut_right(ui.px(6));
  if (removes) removes_ = name, ui.set_focus("assistant_keep");
  if (exports) exports_ = name, is_open_ = false;
  if (copies) editor_.open(f, "", name_of_copy(f.state.assistants, name), assistant.settings);
  if (edits) editor_.open(f, name, name, assistant.settings);
  if (removes || copies || edits) ui.wake_in(0);
  return removes || exports || copies || edits;
}

void AssistantsPanel::draw_removal(Frame& f, Rect rect, const AssistantChoice& assistant) {
  Ui& ui = f.ui;
  const std::string question = "Remove " + printable(assistant.name, kMaxAssistantName) + " for good?";
  const auto answer = ui.ask_removal(rect, question, "assistant_keep", "assistant_really_remove");
  if (answer == Ui::Removal::kOpen) return;
  if (answer == Ui::Removal::kRemove) f.actions.push(RemoveAssistant{assistant.name});
  removes_.clear();
  ui.set_focus("assistants_new");
}

void AssistantsPanel::draw_end(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  const auto button = [&](const char* name, const ButtonLook& look) {
    const Rect place = rect.cut_left(std::min(ui.button_width(look), rect.width));
    rect.cut_left(ui.px(6));
    return ui.button(name, place, look);
  };
  if (button("assistants_new", {.text = "New", .icon = Icon::kPlus, .kind = ButtonKind::kOutlined}))
    editor_.open(f, "", "", {});
  if (button("assistants_from_chat", {.text = "New from this chat",
                                      .icon = Icon::kPlus,
                                      .kind = ButtonKind::kOutlined,
                                      .tooltip = "With its system prompt, settings and model"}))
    editor_.open(f, "", "", settings_of_chat(f.state));
  if (!button("assistants_import", {.text = "Import …", .icon = Icon::kImport, .kind = ButtonKind::kOutlined})) return;
  is_open_ = false;
  f.commands.push_back(Command::kImportAssistants);
}

void AssistantsPanel::choose(Frame& f, const std::string& name) {
  f.actions.push(SetAssistant{name});
  is_open_ = false;
  f.ui.set_focus("composer");
}

}  // namespace warpchat::gui
