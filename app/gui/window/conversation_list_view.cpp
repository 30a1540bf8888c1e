// The list is one stop of Tab, within which Up and Down move.
#include "app/gui/window/conversation_list_view.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>

#include "app/formats/conversation_query.h"
#include "app/gui/window/date_groups.h"
#include "models/ascii.h"
#include "models/text_format.h"

namespace warpchat::gui {

namespace {

constexpr float kRow = 36, kHeading = 34, kBar = 40;
constexpr double kBreath = 2, kBreathStep = 0.1;  // seconds
constexpr size_t kMaxFolderItems = 14;            // of the menu; another folder is typed

StoreTime now_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

bool is_same_name(std::string_view a, std::string_view b) { return lower_case(a) == lower_case(b); }

bool has_name(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::any_of(names, [&](const std::string& other) { return is_same_name(other, name); });
}

}  // namespace

std::string_view title_of(const ConversationSummary& conversation) {
  return conversation.title.empty() ? std::string_view("New chat") : std::string_view(conversation.title);
}

std::string numbered(const char* kind, int64_t number) { return std::string(kind) + ":" + std::to_string(number); }

std::vector<std::string> tags_in(std::string_view typed) {
  std::vector<std::string> tags;
  while (!typed.empty()) {
    const size_t comma = std::min(typed.find(','), typed.size());
    std::string_view tag = trimmed(typed.substr(0, comma));
    while (tag.starts_with('#')) tag.remove_prefix(1);
    if (!tag.empty() && tag.size() <= kMaxNameBytes && !has_name(tags, tag)) tags.emplace_back(tag);
    typed.remove_prefix(std::min(comma + 1, typed.size()));
  }
  return tags;
}

// The state's lists have the pinned ones first, then those of each folder.
std::vector<ConversationListView::Row> ConversationListView::rows_of(const ChatState& state) const {
  const StoreTime today = local_midnight(now_ms());
  std::vector<Row> rows;
  std::string_view heading;
  size_t at = 0;
  const auto& list = archive_ ? state.archived : state.conversations;
  const auto add = [&](std::string_view group) {
    if (group != heading && !group.empty()) rows.push_back({group, nullptr, nullptr});
    heading = group;
    rows.push_back({"", nullptr, &list[at++]});
  };
  while (at < list.size() && list[at].filing.pinned) add("Pinned");
  for (const NameCount& folder : state.folders) {
    const auto is_inside = [&] { return at < list.size() && is_same_name(list[at].filing.folder, folder.name); };
    if (!is_inside()) continue;
    rows.push_back({folder.name, &folder, nullptr});
    for (; is_inside(); ++at)
      if (!folded.contains(folder.name)) rows.push_back({"", nullptr, &list[at]});
  }
  const bool by_title = state.order == ConversationOrder::kTitle;
  const bool has_groups = !rows.empty();
  while (at < list.size())
    add(by_title ? (has_groups ? "Others" : "")
                 : date_group(state.order == ConversationOrder::kCreated ? list[at].created : list[at].updated, today));
  return rows;
}

void ConversationListView::draw(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  const auto is_listed = [&](ConversationId id) { return find_listed(f.state, id) != nullptr; };
  std::erase_if(selected_, [&](ConversationId id) { return !is_listed(id); });
  const char* const field = naming_ == Naming::kTitle ? "rename" : "naming";
  if (naming_ != Naming::kNothing && !ui.has_focus(field) && !ui.menu_is_open_for(field)) naming_ = Naming::kNothing;
  if (archive_) draw_archive_title(f, rect.cut_top(ui.px(kBar)));
  if (naming_ == Naming::kFolder || naming_ == Naming::kTags) draw_naming(f, rect.cut_top(ui.px(kBar)));
  if (!selected_.empty()) draw_selection(f, rect.cut_bottom(ui.px(kBar)));
  const std::vector<Row> rows = rows_of(f.state);
  if (rows.empty()) {
    const char* const note = archive_ ? "The archive is empty." : "Your chats will be listed here.";
    ui.paragraph({rect.x + ui.px(10), rect.y + ui.px(14)}, note, {ui.theme->faint_text, 0.9f}, rect.width - ui.px(20));
    return;
  }
  follow_open(f);
  std::vector<const ConversationSummary*> shown;
  for (const Row& row : rows)
    if (row.conversation != nullptr) shown.push_back(row.conversation);
  ui.add_to_tab_order("conversations");
  ui.mark("conversations", rect);
  if (ui.has_focus("conversations")) handle_keys(f, shown), ui.focus_ring(rect, ui.px(8));
  ScrollArea area(archive_ ? "archive" : "conversations", rect);
  float y = 0;
  for (const Row& what : rows) {
    const float height = ui.px(what.conversation != nullptr ? kRow : kHeading);
    const Rect row{rect.x, rect.y + y - area.scroll_y(), area.width(), height};
    const bool is_cursor = what.conversation != nullptr && what.conversation->id == cursor_;
    if (show_cursor_ && is_cursor) area.show(y, height), show_cursor_ = false;
    if (area.sees(row)) draw_row(f, row, what);
    y += height;
  }
  if (f.state.has_more) {
    const Rect row{rect.x, rect.y + y - area.scroll_y(), area.width(), ui.px(kRow)};
    if (area.sees(row) && ui.button("list_more", row, {.text = "Show more"}))
      f.actions.push(ListConversations{f.state.order, f.state.limit + kListedConversations});
    y += ui.px(kRow);
  }
  area.set_content_height(y);
}

void ConversationListView::draw_row(Frame& f, Rect row, const Row& what) {
  what.conversation == nullptr ? draw_heading(f, row, what) : draw_conversation(f, row, *what.conversation);
}

void ConversationListView::draw_archive_title(Frame& f, Rect row) {
  Ui& ui = f.ui;
  const Rect back = row.cut_right(ui.px(36)).in_middle(ui.px(32));
  ui.label_in(row.inset(ui.px(10), 0), "Archive", {ui.theme->text, 1, Face::kBold});
  if (ui.button("archive_close", back, {.icon = Icon::kBack, .tooltip = "Conversations"})) archive_ = false;
}

void ConversationListView::draw_heading(Frame& f, Rect row, const Row& what) {
  Ui& ui = f.ui;
  row.cut_top(ui.px(8));
  const TextLook look{ui.theme->faint_text, 0.8f, Face::kBold};
  if (what.folder == nullptr)
    return void(ui.label_in({row.x + ui.px(10), row.y, row.width, row.height}, what.heading, look));
  const Response r = ui.press("folder:" + what.folder->name, row, Keys::kNone);
  const bool is_folded = folded.contains(what.folder->name);
  if (r.hovered) ui.fill(row, ui.theme->hover, ui.px(8));
  Rect inner = row.inset(ui.px(8), 0);
  ui.icon(is_folded ? Icon::kForward : Icon::kDown, inner.cut_left(ui.px(16)).in_middle(ui.px(14)), look.colour);
  inner.cut_left(ui.px(4));
  ui.label_in(inner.cut_right(ui.px(40)), std::to_string(what.folder->n), {ui.theme->faint_text, 0.8f}, 1);
  ui.label_in(inner, what.heading, look);
  if (!r.clicked) return;
  if (is_folded)
    folded.erase(what.folder->name);
  else
    folded.insert(what.folder->name);
  ui.wake_in(0);
}

void ConversationListView::draw_conversation(Frame& f, Rect row, const ConversationSummary& conversation) {
  Ui& ui = f.ui;
  const ConversationId id = conversation.id;
  if (naming_ == Naming::kTitle && named_ == std::vector{id}) return draw_rename(f, row);
  const bool open = f.state.open.id == id, is_selected = std::ranges::count(selected_, id) > 0;
  const bool at_cursor = ui.has_focus("conversations") && cursor_ == id;
  const bool over = row.contains(ImGui::GetIO().MousePos) && ImGui::IsWindowHovered();
  Rect inner = row;
  const Rect tools = over || open ? inner.cut_right(ui.px(34)) : Rect{};
  const Response r = ui.press(numbered("conversation", id), inner, Keys::kNone);
  if (is_selected) ui.fill(row, with_alpha(ui.theme->accent, 0.22f), ui.px(8));
  if ((open || at_cursor) && !is_selected) ui.fill(row, open ? ui.theme->raised : ui.theme->hover, ui.px(8));
  if (over && !open && !is_selected) ui.fill(row, ui.theme->hover, ui.px(8));
  if (at_cursor) ui.focus_ring(row, ui.px(8));
  if (tools.width == 0) draw_mark(f, inner.cut_right(ui.px(20)), conversation);
  const TextLook look{open ? ui.theme->text : ui.theme->dim_text, 0.92f};
  const Rect title{row.x + ui.px(10), row.y, inner.width - ui.px(14), row.height};
  ui.label_in(title, title_of(conversation), look);
  std::string about =
      ui.text_width(title_of(conversation), look) > title.width ? std::string(title_of(conversation)) : "";
  for (const std::string& tag : conversation.filing.tags) about += (about.empty() ? "#" : "  #") + tag;
  if (over && !about.empty()) ui.tooltip(about, r);
  const ImGuiIO& io = ImGui::GetIO();
  if (r.clicked && (io.KeyCtrl || io.KeyShift)) return select(f, id, io.KeyShift);
  if (r.double_clicked) return start_rename(conversation, ui), draw_rename(f, row);
  if (r.clicked) f.actions.push(OpenStored{id}), cursor_ = id, selected_.clear();
  const bool by_key = at_cursor && ui.take_menu_key();
  bool wants_menu = r.right_clicked || by_key;
  if (tools.width > 0) {
    const Response dots = ui.menu_dots(numbered("conversation_menu", id), tools, "");
    wants_menu = wants_menu || dots.clicked;
  }
  if (wants_menu) open_menu(f, conversation, by_key ? ImVec2(row.x + ui.px(24), row.bottom()) : r.menu_at);
}

// A dot that pulses while an answer streams, and is still while an answer is unread.
void ConversationListView::draw_mark(Frame& f, Rect place, const ConversationSummary& conversation) {
  const ConversationId id = conversation.id;
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

// --- Names ---

void ConversationListView::start_rename(const ConversationSummary& conversation, Ui& ui) {
  naming_ = Naming::kTitle;
  named_ = {conversation.id};
  rename_.buffer.set(conversation.title);
  rename_.buffer.select_all();
  ui.set_focus("rename");
}

void ConversationListView::draw_rename(Frame& f, Rect row) {
  const FieldResult result =
      rename_.draw(f.ui, "rename", row.inset(0, f.ui.px(2)), {.placeholder = "Title", .text = 0.92f});
  if (!result.submitted) return;
  if (!rename_.text().empty()) f.actions.push(Rename{named_.front(), rename_.text()});
  naming_ = Naming::kNothing;
  f.ui.set_focus("composer");
}

void ConversationListView::start_naming(Frame& f, Naming naming, std::vector<ConversationId> ids) {
  naming_ = naming;
  old_tags_.clear();
  const ConversationSummary* first = find_listed(f.state, ids.front());
  if (naming == Naming::kTags && first != nullptr) old_tags_ = first->filing.tags;
  for (const ConversationId id : ids)
    if (const ConversationSummary* other = find_listed(f.state, id))
      std::erase_if(old_tags_, [&](const std::string& tag) { return !has_name(other->filing.tags, tag); });
  named_ = std::move(ids);
  name_.buffer.set(word_list(old_tags_));
  f.ui.set_focus("naming");
}

void ConversationListView::draw_naming(Frame& f, Rect row) {
  const bool is_folder = naming_ == Naming::kFolder;
  const FieldResult result = name_.draw(f.ui, "naming", row.inset(0, f.ui.px(3)),
                                        {.placeholder = is_folder ? "Name of the folder" : "Tags, with commas between",
                                         .icon = is_folder ? Icon::kFolder : Icon::kTag,
                                         .text = 0.9f});
  if (!result.submitted) return;
  apply_name(f);
  naming_ = Naming::kNothing;
  selected_.clear();
  f.ui.set_focus("composer");
}

void ConversationListView::apply_name(Frame& f) {
  FilingChange change;
  if (naming_ == Naming::kFolder) {
    change.folder = std::string(trimmed(name_.text()));
    if (change.folder->empty() || change.folder->size() > kMaxNameBytes) return;
    folded.erase(*change.folder);
  } else {
    const std::vector<std::string> tags = tags_in(name_.text());
    for (const std::string& tag : tags)
      if (!has_name(old_tags_, tag)) change.add_tags.push_back(tag);
    for (const std::string& tag : old_tags_)
      if (!has_name(tags, tag)) change.remove_tags.push_back(tag);
  }
  f.actions.push(FileConversations{named_, change});
}

// --- Several ---

// A range goes from the one that was selected or opened last.
void ConversationListView::select(Frame& f, ConversationId id, bool range) {
  const ConversationId from = cursor_ != 0 ? cursor_ : f.state.open.id;
  if (!range) {
    if (std::erase(selected_, id) == 0) selected_.push_back(id);
    cursor_ = id;
    return;
  }
  std::vector<ConversationId> ids;
  for (const Row& row : rows_of(f.state))
    if (row.conversation != nullptr) ids.push_back(row.conversation->id);
  auto first = std::ranges::find(ids, from), last = std::ranges::find(ids, id);
  if (first == ids.end()) first = last;
  if (first > last) std::swap(first, last);
  selected_.assign(first, last + 1);
}

void ConversationListView::draw_selection(Frame& f, Rect row) {
  Ui& ui = f.ui;
  ui.fill({row.x, row.y, row.width, std::max(ui.px(1), 1.0f)}, ui.theme->border);
  struct Tool {
    const char *name, *tooltip;
    Icon icon;
  };
  const Tool tools[] = {{"menu_clear", "Select none (Esc)", Icon::kClose},
                        {"menu_trash", "Move to trash", Icon::kTrash},
                        {"menu_export", "Export …", Icon::kExport},
                        {"menu_archive", archive_ ? "Take out of the archive" : "Archive", Icon::kArchive},
                        {"menu_folder", "Move to a folder …", Icon::kFolder}};
  for (const Tool& tool : tools) {
    const Rect place = row.cut_right(ui.px(32)).in_middle(ui.px(30));
    if (!ui.button("selection" + std::string(tool.name).substr(4), place, {.icon = tool.icon, .tooltip = tool.tooltip}))
      continue;
    menu_at_ = {place.x, place.y};
    act(f, tool.name, selected_);
  }
  ui.label_in(row.inset(ui.px(6), 0), std::to_string(selected_.size()) + " selected", {ui.theme->dim_text, 0.85f});
}

bool ConversationListView::close(Frame& f) {
  if (!std::exchange(selected_, {}).empty()) return f.ui.wake_in(0), true;
  return std::exchange(archive_, false);
}

// --- Menus ---

std::vector<const ConversationSummary*> ConversationListView::menu_targets(const ChatState& state) const {
  std::vector<const ConversationSummary*> targets;
  const bool is_of_selection = std::ranges::count(selected_, menu_of_) > 0;
  for (const ConversationId id : is_of_selection ? selected_ : std::vector{menu_of_})
    if (const ConversationSummary* conversation = find_listed(state, id)) targets.push_back(conversation);
  return targets;
}

void ConversationListView::open_menu(Frame& f, const ConversationSummary& conversation, ImVec2 at) {
  menu_of_ = conversation.id;
  menu_at_ = at;
  const auto targets = menu_targets(f.state);
  const bool is_one = targets.size() == 1;
  const bool is_pinned = std::ranges::all_of(targets, [](const auto* c) { return c->filing.pinned; });
  const bool is_archived = std::ranges::all_of(targets, [](const auto* c) { return c->filing.archived; });
  f.ui.open_menu("conversations", at,
                 {{.name = "menu_rename", .text = "Rename", .icon = Icon::kPen, .keys = "F2", .enabled = is_one},
                  {.name = "menu_duplicate", .text = "Duplicate", .icon = Icon::kCopy, .enabled = is_one},
                  {is_pinned ? "menu_unpin" : "menu_pin", is_pinned ? "Unpin" : "Pin", Icon::kPin},
                  {"menu_folder", "Move to a folder …", Icon::kFolder},
                  {"menu_tags", "Tags …", Icon::kTag},
                  {is_archived ? "menu_unarchive" : "menu_archive", is_archived ? "Take out of the archive" : "Archive",
                   Icon::kArchive},
                  {"menu_export", "Export …", Icon::kExport, "Ctrl+S"},
                  {.name = "menu_trash", .text = "Move to trash", .icon = Icon::kTrash, .danger = true}});
}

void ConversationListView::open_folder_menu(Frame& f) {
  folder_items_.clear();
  for (const NameCount& folder : f.state.folders)
    if (folder_items_.size() < kMaxFolderItems) folder_items_.emplace_back("menu_folder:" + folder.name, folder.name);
  std::vector<MenuItem> items;
  for (const auto& [name, folder] : folder_items_) items.push_back({name, folder, Icon::kFolder});
  items.push_back({"menu_new_folder", "New folder …", Icon::kPlus});
  items.push_back({"menu_no_folder", "No folder", Icon::kClose});
  f.ui.open_menu("folders", menu_at_, std::move(items));
}

void ConversationListView::open_order_menu(Frame& f, Rect below) {
  const auto mark = [&](ConversationOrder order) { return f.state.order == order ? Icon::kCheck : Icon::kNone; };
  f.ui.open_menu("list_menu", {below.x, below.bottom()},
                 {{"menu_by_change", "By last change", mark(ConversationOrder::kUpdated)},
                  {"menu_by_creation", "By creation", mark(ConversationOrder::kCreated)},
                  {"menu_by_title", "By title", mark(ConversationOrder::kTitle)},
                  {"menu_show_archive", archive_ ? "Leave the archive" : "Show the archive", Icon::kArchive}});
}

void ConversationListView::take_menu_choice(Frame& f) {
  if (const std::string chosen = f.ui.take_menu_choice("conversations"); !chosen.empty()) {
    std::vector<ConversationId> ids;
    for (const ConversationSummary* conversation : menu_targets(f.state)) ids.push_back(conversation->id);
    if (!ids.empty()) act(f, chosen, std::move(ids));
  }
  if (const std::string chosen = f.ui.take_menu_choice("folders"); !chosen.empty()) {
    if (chosen == "menu_new_folder") return start_naming(f, Naming::kFolder, named_);
    std::string folder;  // none
    for (const auto& [name, of] : folder_items_)
      if (name == chosen) folder = of;
    f.actions.push(FileConversations{named_, {.folder = folder}});
    selected_.clear();
  }
  const std::string chosen = f.ui.take_menu_choice("list_menu");
  const auto order = [&](ConversationOrder by) { f.actions.push(ListConversations{by, f.state.limit}); };
  if (chosen == "menu_by_change") order(ConversationOrder::kUpdated);
  if (chosen == "menu_by_creation") order(ConversationOrder::kCreated);
  if (chosen == "menu_by_title") order(ConversationOrder::kTitle);
  if (chosen == "menu_show_archive") archive_ = !archive_, selected_.clear();
}

void ConversationListView::act(Frame& f, std::string_view chosen, std::vector<ConversationId> ids) {
  if (chosen == "menu_rename") {
    if (const ConversationSummary* one = find_listed(f.state, ids.front())) start_rename(*one, f.ui);
    return;
  }
  if (chosen == "menu_folder") {
    named_ = std::move(ids);
    return open_folder_menu(f);
  }
  if (chosen == "menu_tags") return start_naming(f, Naming::kTags, std::move(ids));
  if (chosen == "menu_duplicate") f.actions.push(Fork{.conversation = ids.front()});
  if (chosen == "menu_pin") f.actions.push(FileConversations{ids, {.pinned = true}});
  if (chosen == "menu_unpin") f.actions.push(FileConversations{ids, {.pinned = false}});
  if (chosen == "menu_archive") f.actions.push(FileConversations{ids, {.archived = !archive_}});
  if (chosen == "menu_unarchive") f.actions.push(FileConversations{ids, {.archived = false}});
  if (chosen == "menu_trash") f.actions.push(ThrowAway{ids});
  if (chosen == "menu_export") exported_ = ids, f.commands.push_back(Command::kExport);
  selected_.clear();
}

// --- The keyboard ---

void ConversationListView::open_neighbour(const Frame& f, int steps) const {
  std::vector<ConversationId> ids;
  for (const Row& row : rows_of(f.state))
    if (row.conversation != nullptr) ids.push_back(row.conversation->id);
  if (ids.empty()) return;
  int at = steps > 0 ? -1 : static_cast<int>(ids.size());
  for (size_t i = 0; i < ids.size(); ++i)
    if (ids[i] == f.state.open.id) at = static_cast<int>(i);
  const int next = at + steps;
  if (next >= 0 && next < static_cast<int>(ids.size())) f.actions.push(OpenStored{ids[static_cast<size_t>(next)]});
}

// The list shows what was opened elsewhere, and the keyboard enters it there.
void ConversationListView::follow_open(Frame& f) {
  const ConversationId open = f.state.open.id;
  const bool has_focus = f.ui.has_focus("conversations");
  const bool is_entered = !std::exchange(had_focus_, has_focus) && has_focus;
  const bool is_other = std::exchange(followed_, open) != open;
  const ConversationSummary* listed = find_listed(f.state, open);
  if (listed == nullptr) {
    followed_ = 0;
  } else if (is_other || is_entered) {
    cursor_ = open;
    show_cursor_ = true;
    if (is_other) folded.erase(listed->filing.folder);
  }
}

void ConversationListView::handle_keys(Frame& f, const std::vector<const ConversationSummary*>& shown) {
  if (shown.empty()) return;
  const auto place_of = [&](ConversationId id) {
    return std::ranges::find_if(shown, [&](const ConversationSummary* c) { return c->id == id; }) - shown.begin();
  };
  const auto n = static_cast<ptrdiff_t>(shown.size());
  ptrdiff_t index = place_of(cursor_);
  if (index == n) index = place_of(f.state.open.id);
  if (index == n) index = -1;
  const auto move = [&](ptrdiff_t to) {
    cursor_ = shown[static_cast<size_t>(std::clamp<ptrdiff_t>(to, 0, n - 1))]->id;
    show_cursor_ = true;
  };
  if (f.ui.take_key(GLFW_KEY_DOWN)) move(index + 1);
  if (f.ui.take_key(GLFW_KEY_UP)) move(index - 1);
  if (f.ui.take_key(GLFW_KEY_HOME)) move(0);
  if (f.ui.take_key(GLFW_KEY_END)) move(n - 1);
  if (index < 0) return;
  const ConversationId at = shown[static_cast<size_t>(index)]->id;
  if (f.ui.take_key(GLFW_KEY_ENTER) || f.ui.take_key(GLFW_KEY_SPACE)) f.actions.push(OpenStored{at});
  if (f.ui.take_key(GLFW_KEY_SPACE, GLFW_MOD_CONTROL)) select(f, cursor_, /*range=*/false);
  if (f.ui.take_key(GLFW_KEY_DELETE))
    f.actions.push(ThrowAway{selected_.empty() ? std::vector{at} : std::exchange(selected_, {})});
}

}  // namespace warpchat::gui
