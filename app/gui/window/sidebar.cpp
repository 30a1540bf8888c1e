// Lists draw the rows that are seen. The list is one stop of Tab, within which Up and Down move.
#include "app/gui/window/sidebar.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <sstream>

#include "app/gui/text/find_text.h"
#include "app/gui/window/date_groups.h"
#include "models/utf8.h"

namespace warpchat::gui {

namespace {

constexpr float kRow = 36, kHeading = 34, kHit = 58, kThrownAway = 64;
constexpr double kBreath = 2, kBreathStep = 0.1;  // seconds
constexpr ConversationId kAll = -1;               // to be erased

std::string_view title_of(const ConversationSummary& conversation) {
  return conversation.title.empty() ? std::string_view("New chat") : std::string_view(conversation.title);
}

std::string numbered(const char* kind, int64_t number) { return std::string(kind) + ":" + std::to_string(number); }

StoreTime now_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

const ConversationSummary* find(const std::vector<ConversationSummary>& list, ConversationId id) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const auto& c) { return c.id == id; });
  return found == list.end() ? nullptr : &*found;
}

void empty_note(Ui& ui, Rect rect, std::string_view text) {
  ui.paragraph({rect.x + ui.px(10), rect.y + ui.px(14)}, text, {ui.theme->faint_text, 0.9f}, rect.width - ui.px(20));
}

constexpr size_t kBefore = 12;  // characters before a marked word

// One line of the excerpt, with the matches highlighted.
void draw_snippet(Ui& ui, Rect rect, const Snippet& snippet, const TextLook& look) {
  const std::string_view text = snippet.text;
  for (const auto& [begin, end] : snippet.marks) {
    const float from = rect.x + ui.text_width(text.substr(0, begin), look);
    const float to = std::min(rect.x + ui.text_width(text.substr(0, end), look), rect.right());
    if (to > from) ui.fill(Rect{from, rect.y, to - from, rect.height}.in_middle(ui.line_height(look)), ui.theme->mark);
  }
  ui.label_in(rect, text, look);
}

}  // namespace

Snippet snippet_of(std::string_view excerpt, std::string_view words) {
  std::vector<std::pair<size_t, size_t>> marks = find_text(excerpt, words);
  std::istringstream each{std::string(words)};
  if (marks.empty())
    for (std::string word; each >> word;)
      for (const auto& mark : find_text(excerpt, word)) marks.push_back(mark);
  std::sort(marks.begin(), marks.end());
  size_t begin = marks.empty() ? 0 : marks.front().first;
  for (size_t n = 0; begin > 0 && n < kBefore; ++n) do
      --begin;
    while (begin > 0 && continues_character(excerpt[begin]));
  const std::string lead = begin > 0 ? "…" : "";
  Snippet snippet{lead + std::string(excerpt.substr(begin)), {}};
  for (const auto& [from, to] : marks)  // words may lie in each other
    if (snippet.marks.empty() || from + lead.size() - begin >= snippet.marks.back().second)
      snippet.marks.emplace_back(from - begin + lead.size(), to - begin + lead.size());
  return snippet;
}

void Sidebar::start_rename(const ConversationSummary& conversation, Ui& ui) {
  renaming_ = conversation.id;
  rename_.buffer.set(conversation.title);
  rename_.buffer.select_all();
  ui.set_focus("rename");
}

bool Sidebar::close(Frame& f) {
  if (std::exchange(renaming_, 0) != 0) return f.ui.set_focus("composer"), true;
  if (!search_.text().empty()) {
    search_.buffer.set("");
    f.actions.push(Search{});
    return f.ui.set_focus("composer"), true;
  }
  erasing_ = 0;
  return std::exchange(trash_, false);
}

void Sidebar::open_neighbour(const Frame& f, int steps) const {
  const auto& list = f.state.conversations;
  if (list.empty()) return;
  int at = steps > 0 ? -1 : static_cast<int>(list.size());
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i].id == f.state.open.id) at = static_cast<int>(i);
  const int next = at + steps;
  if (next >= 0 && next < static_cast<int>(list.size())) f.actions.push(OpenStored{list[static_cast<size_t>(next)].id});
}

void Sidebar::draw(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  ui.fill(rect, ui.theme->panel);
  Rect inner = rect.inset(ui.px(10), ui.px(10));
  draw_header(f, inner.cut_top(ui.px(86)));
  const Rect footer = inner.cut_bottom(ui.px(38));
  inner.cut_bottom(ui.px(4));
  if (renaming_ != 0 && !ui.has_focus("rename") && !ui.menu_is_open_for("rename")) renaming_ = 0;
  if (trash_)
    draw_trash(f, inner);
  else if (!search_.text().empty())
    draw_hits(f, inner);
  else
    draw_conversations(f, inner);
  draw_footer(f, footer);
  take_menu_choice(f);
}

void Sidebar::draw_header(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  if (ui.button("new", rect.cut_top(ui.px(36)),
                {.text = "New chat", .icon = Icon::kPlus, .kind = ButtonKind::kOutlined, .left_aligned = true}))
    f.commands.push_back(Command::kNewConversation);
  rect.cut_top(ui.px(8));
  Rect field = rect.cut_top(ui.px(34));
  const bool searching = !search_.text().empty();
  const Rect clear = searching ? field.cut_right(ui.px(30)) : Rect{};
  const FieldResult result =
      search_.draw(ui, "search", field, {.placeholder = "Search", .icon = Icon::kSearch, .text = 0.9f});
  if (result.changed) {
    f.actions.push(Search{search_.text()});
    trash_ = false;
  }
  const bool found = searching && f.state.search && !f.state.search->hits.empty();
  if (result.submitted && found) open_hit(f, f.state.search->hits.front());
  if (found && ui.has_focus("search") && ui.take_key(GLFW_KEY_DOWN)) ui.set_focus("hit:0");
  if (searching && ui.button("search_clear", clear, {.icon = Icon::kClose, .tooltip = "Clear (Esc)"})) close(f);
}

// The list shows what was opened elsewhere, and the keyboard enters it there.
void Sidebar::follow_open(Frame& f) {
  const ConversationId open = f.state.open.id;
  const bool has_focus = f.ui.has_focus("conversations");
  const bool is_entered = !std::exchange(had_focus_, has_focus) && has_focus;
  const bool is_other = std::exchange(followed_, open) != open;
  if (find(f.state.conversations, open) == nullptr) {
    followed_ = 0;
  } else if (is_other || is_entered) {
    cursor_ = open;
    show_cursor_ = true;
  }
}

void Sidebar::handle_list_keys(Frame& f) {
  const auto& list = f.state.conversations;
  if (list.empty()) return;
  const ConversationSummary* at = find(list, cursor_);
  if (!at) at = find(list, f.state.open.id);
  const auto index = at ? at - list.data() : -1;
  const auto move = [&](ptrdiff_t to) {
    cursor_ = list[static_cast<size_t>(std::clamp<ptrdiff_t>(to, 0, static_cast<ptrdiff_t>(list.size()) - 1))].id;
    show_cursor_ = true;
  };
  if (f.ui.take_key(GLFW_KEY_DOWN)) move(index + 1);
  if (f.ui.take_key(GLFW_KEY_UP)) move(index - 1);
  if (f.ui.take_key(GLFW_KEY_HOME)) move(0);
  if (f.ui.take_key(GLFW_KEY_END)) move(static_cast<ptrdiff_t>(list.size()) - 1);
  if (!at) return;
  if (f.ui.take_key(GLFW_KEY_ENTER) || f.ui.take_key(GLFW_KEY_SPACE)) f.actions.push(OpenStored{at->id});
  if (f.ui.take_key(GLFW_KEY_DELETE)) f.actions.push(ThrowAway{at->id});
}

void Sidebar::draw_conversations(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  if (f.state.conversations.empty()) return empty_note(ui, rect, "Your chats will be listed here.");
  follow_open(f);
  ui.add_to_tab_order("conversations");
  ui.mark("conversations", rect);
  if (ui.has_focus("conversations")) handle_list_keys(f), ui.focus_ring(rect, ui.px(8));
  ScrollArea area("conversations", rect);
  const StoreTime today = local_midnight(now_ms());
  std::string_view group;
  float y = 0;
  for (const ConversationSummary& conversation : f.state.conversations) {
    if (const std::string_view of = date_group(conversation.updated, today); of != group) {
      group = of;
      const Rect heading{rect.x + ui.px(10), rect.y + y - area.scroll_y() + ui.px(8), rect.width, ui.px(kHeading - 8)};
      if (area.sees(heading)) ui.label_in(heading, group, {ui.theme->faint_text, 0.8f, Face::kBold});
      y += ui.px(kHeading);
    }
    const Rect row{rect.x, rect.y + y - area.scroll_y(), area.width(), ui.px(kRow)};
    if (show_cursor_ && conversation.id == cursor_) area.show(y, ui.px(kRow)), show_cursor_ = false;
    if (area.sees(row)) draw_conversation(f, row, conversation);
    y += ui.px(kRow);
  }
  area.set_content_height(y);
}

void Sidebar::draw_conversation(Frame& f, Rect row, const ConversationSummary& conversation) {
  Ui& ui = f.ui;
  if (renaming_ == conversation.id) return draw_rename(f, row);
  const bool open = f.state.open.id == conversation.id;
  const bool at_cursor = ui.has_focus("conversations") && cursor_ == conversation.id;
  const bool over = row.contains(ImGui::GetIO().MousePos) && ImGui::IsWindowHovered();
  Rect inner = row;
  const Rect tools = over || open ? inner.cut_right(ui.px(34)) : Rect{};
  const Response r = ui.press(numbered("conversation", conversation.id), inner, Keys::kNone);
  if (open || at_cursor) ui.fill(row, open ? ui.theme->raised : ui.theme->hover, ui.px(8));
  if (over && !open) ui.fill(row, ui.theme->hover, ui.px(8));
  if (at_cursor) ui.focus_ring(row, ui.px(8));
  if (tools.width == 0) draw_mark(f, inner.cut_right(ui.px(20)), conversation.id);
  const Colour colour = open ? ui.theme->text : ui.theme->dim_text;
  const Rect title{row.x + ui.px(10), row.y, inner.width - ui.px(14), row.height};
  ui.label_in(title, title_of(conversation), {colour, 0.92f});
  if (over && ui.text_width(title_of(conversation), {colour, 0.92f}) > title.width)
    ui.tooltip(title_of(conversation), r);
  if (r.double_clicked) return start_rename(conversation, ui);
  if (r.clicked) f.actions.push(OpenStored{conversation.id}), cursor_ = conversation.id;
  const bool by_key = at_cursor && ui.take_menu_key();
  bool wants_menu = r.right_clicked || by_key;
  if (tools.width > 0) {
    const Response dots = ui.press(numbered("conversation_menu", conversation.id), tools, Keys::kNone);
    for (int i = -1; i <= 1; ++i)
      ImGui::GetWindowDrawList()->AddCircleFilled(
          {tools.centre().x + ui.px(5) * static_cast<float>(i), tools.centre().y}, ui.px(1.6f),
          dots.hovered ? ui.theme->text : ui.theme->faint_text);
    wants_menu = wants_menu || dots.clicked;
  }
  if (!wants_menu) return;
  menu_of_ = conversation.id;
  ui.open_menu("conversations", by_key ? ImVec2(row.x + ui.px(24), row.bottom()) : r.menu_at,
               {{"menu_rename", "Rename", Icon::kPen, "F2"},
                {"menu_duplicate", "Duplicate", Icon::kCopy},
                {"menu_export", "Export …", Icon::kExport, "Ctrl+S"},
                {.name = "menu_trash", .text = "Move to trash", .icon = Icon::kTrash, .danger = true}});
}

// A dot that pulses while an answer streams, and is still while an answer is unread.
void Sidebar::draw_mark(Frame& f, Rect place, ConversationId id) {
  const bool answering = std::ranges::count(f.state.answering, id) > 0;
  if (!answering && std::ranges::count(f.state.unread, id) == 0) return;
  Ui& ui = f.ui;
  ui.mark(numbered(answering ? "answering" : "unread", id), place);
  float alpha = 1;
  if (answering) {
    alpha = 0.6f + 0.4f * static_cast<float>(std::sin(ui.now * 2 * std::numbers::pi / kBreath));
    ui.wake_in(kBreathStep);
  }
  ImGui::GetWindowDrawList()->AddCircleFilled(place.centre(), ui.px(3.5f), with_alpha(ui.theme->accent, alpha));
}

void Sidebar::draw_rename(Frame& f, Rect row) {
  const FieldResult result =
      rename_.draw(f.ui, "rename", row.inset(0, f.ui.px(2)), {.placeholder = "Title", .text = 0.92f});
  if (!result.submitted) return;
  if (!rename_.text().empty()) f.actions.push(Rename{renaming_, rename_.text()});
  renaming_ = 0;
  f.ui.set_focus("composer");
}

void Sidebar::draw_hits(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  if (!f.state.search) return;
  const auto& hits = f.state.search->hits;
  if (hits.empty()) return empty_note(ui, rect, "Nothing found for “" + f.state.search->words + "”.");
  ScrollArea area("hits", rect);
  for (size_t i = 0; i < hits.size(); ++i) {
    Rect row{rect.x, rect.y + ui.px(kHit) * static_cast<float>(i) - area.scroll_y(), area.width(), ui.px(kHit)};
    if (!area.sees(row.inset(0, -row.height))) continue;  // the next one can get the focus, too
    const Response r = ui.press(numbered("hit", static_cast<int64_t>(i)), row);
    if (r.hovered || r.focused) ui.fill(row, ui.theme->hover, ui.px(8));
    if (r.focused) ui.focus_ring(row, ui.px(8));
    Rect inner = row.inset(ui.px(10), ui.px(6));
    ui.label_in(inner.cut_top(inner.height / 2), title_of(hits[i].conversation), {ui.theme->text, 0.92f});
    draw_snippet(ui, inner, snippet_of(hits[i].excerpt, f.state.search->words), {ui.theme->dim_text, 0.8f});
    if (r.clicked) open_hit(f, hits[i]);
    const auto at = static_cast<int64_t>(i);
    if (r.focused && ui.take_key(GLFW_KEY_DOWN) && i + 1 < hits.size()) ui.set_focus(numbered("hit", at + 1));
    if (r.focused && ui.take_key(GLFW_KEY_UP)) ui.set_focus(i == 0 ? "search" : numbered("hit", at - 1));
  }
  area.set_content_height(ui.px(kHit) * static_cast<float>(hits.size()));
}

void Sidebar::open_hit(Frame& f, const SearchHit& hit) {
  f.actions.push(OpenStored{hit.conversation.id});
  opened_hit_ = hit;
}

void Sidebar::draw_trash(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  ui.label_in(Rect(rect.cut_top(ui.px(30))).inset(ui.px(10), 0), "Trash", {ui.theme->text, 1, Face::kBold});
  if (f.state.trash.empty()) return empty_note(ui, rect, "The trash is empty.");
  draw_empty_trash(f, rect);
  ScrollArea area("trash", rect);
  float y = 0;
  for (const ConversationSummary& conversation : f.state.trash) {
    Rect row{rect.x, rect.y + y - area.scroll_y(), area.width(), ui.px(kThrownAway)};
    y += ui.px(kThrownAway);
    if (!area.sees(row.inset(0, -row.height))) continue;  // the next one can get the focus, too
    row.cut_bottom(ui.px(8));
    ui.label_in(row.cut_top(ui.px(28)).inset(ui.px(10), 0), title_of(conversation), {ui.theme->text, 0.92f});
    row.cut_left(ui.px(2));
    const ButtonLook back{.text = "Restore", .icon = Icon::kRestore};
    if (ui.button(numbered("restore", conversation.id), row.cut_left(ui.button_width(back)), back))
      f.actions.push(TakeFromTrash{conversation.id});
    const bool sure = erasing_ == conversation.id;
    const ButtonLook look{.text = sure ? "Really delete" : "Delete for good",
                          .icon = sure ? Icon::kNone : Icon::kClose,
                          .kind = sure ? ButtonKind::kOutlined : ButtonKind::kGhost,
                          .tooltip = "This cannot be undone",
                          .danger = true};
    const Rect erase = row.cut_left(std::min(ui.button_width(look), row.width));
    if (!ui.button(numbered("erase", conversation.id), erase, look)) continue;
    if (sure) f.actions.push(EraseForEver{conversation.id});
    erasing_ = sure ? 0 : conversation.id;
  }
  area.set_content_height(y);
}

// "Empty trash" asks first, as erasing one does.
void Sidebar::draw_empty_trash(Frame& f, Rect& rect) {
  Ui& ui = f.ui;
  const bool sure = erasing_ == kAll;
  const size_t n = f.state.trash.size();
  const std::string text = !sure    ? "Empty trash"
                           : n == 1 ? "Really delete it"
                                    : "Really delete all " + std::to_string(n);
  const ButtonLook look{.text = text,
                        .icon = Icon::kTrash,
                        .kind = ButtonKind::kOutlined,
                        .tooltip = "This cannot be undone",
                        .left_aligned = true,
                        .danger = true};
  Rect row = rect.cut_top(ui.px(32));
  rect.cut_top(ui.px(6));
  if (!ui.button("empty_trash", row.cut_left(std::min(ui.button_width(look), row.width)), look)) return;
  if (sure)
    for (const ConversationSummary& conversation : f.state.trash) f.actions.push(EraseForEver{conversation.id});
  erasing_ = sure ? 0 : kAll;
}

void Sidebar::draw_footer(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  ui.fill({rect.x, rect.y - ui.px(2), rect.width, std::max(ui.px(1), 1.0f)}, ui.theme->border);
  rect.cut_top(ui.px(4));
  const Rect import = rect.cut_right(ui.px(36)), keys = rect.cut_right(ui.px(36));
  const std::string text = f.state.trash.empty() ? "Trash" : "Trash (" + std::to_string(f.state.trash.size()) + ")";
  const ButtonLook trash{.text = trash_ ? "Conversations" : std::string_view(text),
                         .icon = trash_ ? Icon::kBack : Icon::kTrash,
                         .left_aligned = true};
  if (ui.button("trash", {rect.x, rect.y, std::min(ui.button_width(trash), rect.width), rect.height}, trash))
    f.commands.push_back(Command::kShowTrash);
  if (ui.button("shortcuts", keys, {.icon = Icon::kKeyboard, .tooltip = "Keyboard shortcuts (F1)"}))
    f.commands.push_back(Command::kShortcuts);
  if (ui.button("import", import, {.icon = Icon::kImport, .tooltip = "Import a conversation (Ctrl+Shift+O)"}))
    f.commands.push_back(Command::kImport);
}

void Sidebar::take_menu_choice(Frame& f) {
  const std::string chosen = f.ui.take_menu_choice("conversations");
  const ConversationSummary* of = find(f.state.conversations, menu_of_);
  if (!of || chosen.empty()) return;
  if (chosen == "menu_rename") start_rename(*of, f.ui);
  if (chosen == "menu_trash") f.actions.push(ThrowAway{of->id});
  if (chosen == "menu_duplicate") f.actions.push(Fork{.conversation = of->id});
  if (chosen != "menu_export") return;
  if (of->id != f.state.open.id) f.actions.push(OpenStored{of->id});
  f.commands.push_back(Command::kExport);
}

}  // namespace warpchat::gui
