// The field above the list keeps the keyboard; arrows move through the rows, Enter uses one.
#include "app/gui/panels/prompts_panel.h"

#include <GLFW/glfw3.h>

#include <algorithm>

#include "app/gui/text/fuzzy_match.h"
#include "app/gui/widgets/card.h"
#include "app/gui/widgets/numbers.h"
#include "models/ascii.h"
#include "models/text_format.h"

namespace warpchat::gui {

namespace {

constexpr float kPromptRow = 46, kPromptField = 36, kPromptGap = 8, kPromptsWidth = 620, kPromptsHeight = 560;
constexpr const char* kPromptMenu = "prompts";
constexpr size_t kMaxDescription = 200, kMaxShownMessage = 60;

const LibraryPrompt* find_prompt(const ChatState& state, const std::string& name) {
  const auto place = std::ranges::find(state.prompts, name, &LibraryPrompt::name);
  return place == state.prompts.end() ? nullptr : &*place;
}

}  // namespace

void PromptsPanel::open(Frame& f, Page page) {
  if (page_ == Page::kClosed) appearing_ = true;
  page_ = page;
  f.actions.push(ListPrompts{});
  f.ui.wake_in(0);
}

void PromptsPanel::leave(Ui& ui) {
  page_ = Page::kClosed;
  ui.set_focus("composer");
}

void PromptsPanel::show_list(Ui& ui) {
  page_ = Page::kList;
  from_list_ = true;
  removes_.clear();
  ui.set_focus("prompt_filter");
}

void PromptsPanel::toggle(Frame& f, const std::string& message) {
  if (is_open()) return leave(f.ui);
  message_ = message;
  filter_.buffer.set("");
  chosen_ = 0;
  open(f, Page::kList);
  show_list(f.ui);
}

void PromptsPanel::save_message(Frame& f, const std::string& message) {
  from_list_ = page_ == Page::kList;
  open(f, Page::kEditor);
  editor_.open(f, {"", message});
}

void PromptsPanel::use(Frame& f, const std::string& name) {
  const LibraryPrompt* prompt = find_prompt(f.state, name);
  if (prompt == nullptr || !prompt->fault.empty()) return;
  form_.open(f.ui, *prompt);
  title_ = printable(name);
  if (!form_.has_fields()) {
    text_ = prompt->text;
    return leave(f.ui);
  }
  from_list_ = page_ == Page::kList;
  open(f, Page::kForm);
}

void PromptsPanel::edit(Frame& f, const LibraryPrompt& prompt) {
  from_list_ = true;
  open(f, Page::kEditor);
  editor_.open(f, prompt);
}

bool PromptsPanel::close(Ui& ui) {
  if (!is_open()) return false;
  if (page_ == Page::kList && !removes_.empty())
    show_list(ui);
  else if (page_ != Page::kList && from_list_)
    show_list(ui);
  else
    leave(ui);
  return true;
}

void PromptsPanel::draw(Frame& f) {
  if (!is_open()) return;
  Ui& ui = f.ui;
  const std::string title = page_ == Page::kForm     ? title_
                            : page_ == Page::kEditor ? (editor_.is_new() ? "New prompt" : "Edit the prompt")
                                                     : "Prompts";
  Card card(ui, {"prompts", title, kPromptsWidth, kPromptsHeight, std::exchange(appearing_, false)});
  if (card.wants_close()) return leave(ui);
  if (page_ == Page::kList) return draw_list(f, card.content);
  if (page_ == Page::kEditor) {
    const PromptEditor::Result result = editor_.draw(f, card.content);
    if (result == PromptEditor::Result::kOpen) return;
    from_list_ ? show_list(ui) : leave(ui);
    return;
  }
  text_ = form_.draw(ui, card.content);
  if (text_) return leave(ui);
  if (form_.take_back()) close(ui);
}

std::vector<const LibraryPrompt*> PromptsPanel::found(const ChatState& state) const {
  std::vector<std::pair<int, const LibraryPrompt*>> scored;
  for (const LibraryPrompt& prompt : state.prompts)
    if (const auto match = fuzzy_match(prompt.name, filter_.text())) scored.emplace_back(match->score, &prompt);
  std::ranges::stable_sort(scored, std::greater(), &std::pair<int, const LibraryPrompt*>::first);
  std::vector<const LibraryPrompt*> rows;
  for (const auto& [score, prompt] : scored) rows.push_back(prompt);
  return rows;
}

void PromptsPanel::draw_list(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  take_menu_choice(f);
  if (page_ != Page::kList) return;
  const Rect tools = rect.cut_top(ui.px(kPromptField));
  rect.cut_top(ui.px(kPromptGap));
  draw_tools(f, tools);
  if (page_ != Page::kList) return;
  const std::vector<const LibraryPrompt*> rows = found(f.state);
  if (rows.empty()) return draw_empty(f, rect);
  const bool is_cut = f.state.prompts.size() == kMaxListedPrompts;
  ScrollArea area("prompt_rows", rect);
  const float height = ui.px(kPromptRow);
  area.set_content_height(height * static_cast<float>(rows.size() + is_cut));
  if (std::exchange(shows_chosen_, false)) area.show(height * static_cast<float>(chosen_), height), ui.wake_in(0);
  for (size_t i = 0; i < rows.size() && page_ == Page::kList; ++i) {
    const Rect row{rect.x, rect.y + height * static_cast<float>(i) - area.scroll_y(), area.width() - ui.px(2), height};
    if (area.sees(row.inset(0, -height))) draw_row(f, row, *rows[i], i == chosen_);  // the next one can get the focus
  }
  const Rect last{rect.x, rect.y + height * static_cast<float>(rows.size()) - area.scroll_y(), area.width(), height};
  if (is_cut)
    ui.label_in(last.inset(ui.px(10), 0), "Only the first " + grouped(kMaxListedPrompts) + " prompts are listed",
                {ui.theme->dim_text, 0.85f});
}

void PromptsPanel::draw_tools(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  const ButtonLook add{.text = "New", .icon = Icon::kPlus, .kind = ButtonKind::kOutlined, .tooltip = "A new prompt"};
  const ButtonLook save{.text = "Save the message",
                        .kind = ButtonKind::kOutlined,
                        .tooltip = "Save the text that you are writing as a prompt"};
  const bool adds = ui.button("prompt_new", rect.cut_right(ui.button_width(add)), add);
  rect.cut_right(ui.px(kPromptGap));
  const bool has_message = !trimmed(message_).empty();
  const bool saves = has_message && ui.button("prompt_save_message", rect.cut_right(ui.button_width(save)), save);
  if (has_message) rect.cut_right(ui.px(kPromptGap));
  if (ui.has_focus("prompt_filter")) {
    if (ui.take_key(GLFW_KEY_DOWN)) ++chosen_, shows_chosen_ = true;
    if (ui.take_key(GLFW_KEY_UP)) chosen_ -= chosen_ > 0, shows_chosen_ = true;
  }
  const FieldResult typed =
      filter_.draw(ui, "prompt_filter", rect, {.placeholder = "Search", .icon = Icon::kSearch, .text = 0.95f});
  if (typed.changed) chosen_ = 0;
  const std::vector<const LibraryPrompt*> shown = found(f.state);
  chosen_ = shown.empty() ? 0 : std::min(chosen_, shown.size() - 1);
  if (adds || saves) return save_message(f, saves ? message_ : "");
  if (typed.submitted && !shown.empty()) use(f, shown[chosen_]->name);
}

void PromptsPanel::draw_empty(Frame& f, Rect rect) const {
  const std::string text = f.state.prompts.empty()
                               ? "There is no prompt yet. Write one with \"New\". What stands in braces, such as "
                                 "{text} or {language=English}, is asked for when you use the prompt."
                               : "No prompt's name has these letters.";
  rect = rect.inset(f.ui.px(10), f.ui.px(10));
  f.ui.paragraph({rect.x, rect.y}, text, {f.ui.theme->dim_text, 0.92f}, rect.width);
}

void PromptsPanel::draw_row(Frame& f, Rect rect, const LibraryPrompt& prompt, bool is_chosen) {
  Ui& ui = f.ui;
  if (removes_ == prompt.name) {
    const auto answer = ui.ask_removal(rect.in_middle(ui.px(kPromptField)),
                                       "Remove the prompt " + printable(prompt.name, kMaxShownMessage) + "?",
                                       "prompt_keep", "prompt_remove");
    if (answer == Ui::Removal::kOpen) return;
    if (answer == Ui::Removal::kRemove) f.actions.push(RemovePrompt{prompt.name});
    return show_list(ui);
  }
  const Rect whole = rect;
  const Response dots = ui.menu_dots("prompt_menu:" + prompt.name, rect.cut_right(ui.px(34)), "Edit, remove");
  const Response r = ui.press("prompt:" + prompt.name, rect);
  if (is_chosen) ui.fill(whole, ui.theme->selection, ui.px(8));
  if (r.hovered || dots.hovered) ui.fill(whole, ui.theme->hover, ui.px(8));
  if (r.focused) ui.focus_ring(whole.inset(1), ui.px(8));
  const bool is_faulty = !prompt.fault.empty();
  Rect inner = rect.inset(ui.px(10), 0);
  ui.label_in(inner.cut_bottom(inner.height * 0.46f), description_of(prompt, kMaxDescription),
              {is_faulty ? ui.theme->error : ui.theme->dim_text, 0.8f});
  inner.cut_top(ui.px(4));
  ui.label_in(inner, printable(prompt.name), {ui.theme->text, 0.95f});
  if (r.right_clicked || dots.clicked) return open_menu(f, prompt, r.right_clicked ? r.menu_at : dots.menu_at);
  if (r.focused && ui.take_key(GLFW_KEY_DELETE)) {
    removes_ = prompt.name;
    return ui.set_focus("prompt_keep");
  }
  if (r.clicked) use(f, prompt.name);
}

void PromptsPanel::open_menu(Frame& f, const LibraryPrompt& prompt, ImVec2 at) {
  menu_of_ = prompt.name;
  f.ui.open_menu(
      kPromptMenu, at,
      {{.name = "menu_prompt_edit", .text = "Edit", .icon = Icon::kPen, .enabled = prompt.fault.empty()},
       {.name = "menu_prompt_remove", .text = "Remove …", .icon = Icon::kTrash, .keys = "Del", .danger = true}});
}

void PromptsPanel::take_menu_choice(Frame& f) {
  const std::string chosen = f.ui.take_menu_choice(kPromptMenu);
  const LibraryPrompt* prompt = find_prompt(f.state, menu_of_);
  if (chosen.empty() || prompt == nullptr) return;
  if (chosen == "menu_prompt_edit") return edit(f, *prompt);
  removes_ = menu_of_;
  f.ui.set_focus("prompt_keep");
}

}  // namespace warpchat::gui
