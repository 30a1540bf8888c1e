// Lists draw the rows that are seen.
#include "app/gui/window/sidebar.h"

#include <GLFW/glfw3.h>

#include <algorithm>

#include "engine/store/find_text.h"
#include "models/utf8.h"

namespace warpchat::gui {

namespace {

constexpr float kHit = 58, kMoreHits = 40, kThrownAway = 64;
constexpr ConversationId kAll = -1;  // to be erased

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
  const TextPlaces marks = find_searched(excerpt, words);
  size_t begin = marks.empty() ? 0 : marks.front().first;
  for (size_t n = 0; begin > 0 && n < kBefore; ++n) do
      --begin;
    while (begin > 0 && continues_character(excerpt[begin]));
  const std::string lead = begin > 0 ? "…" : "";
  Snippet snippet{lead + std::string(excerpt.substr(begin)), {}};
  for (const auto& [from, to] : marks) snippet.marks.emplace_back(from - begin + lead.size(), to - begin + lead.size());
  return snippet;
}

bool Sidebar::close(Frame& f) {
  if (list_.stop_naming()) return f.ui.set_focus("composer"), true;
  if (!search_.text().empty()) {
    search_.buffer.set("");
    f.actions.push(Search{});
    return f.ui.set_focus("composer"), true;
  }
  erasing_ = 0;
  return list_.close(f) || std::exchange(trash_, false);
}

void Sidebar::draw(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  ui.fill(rect, ui.theme->panel);
  list_.take_menu_choice(f);  // first: a field that it opens is drawn in this frame, else it would lose the focus
  Rect inner = rect.inset(ui.px(10), ui.px(10));
  draw_header(f, inner.cut_top(ui.px(86)));
  const Rect footer = inner.cut_bottom(ui.px(38));
  inner.cut_bottom(ui.px(4));
  if (trash_)
    draw_trash(f, inner);
  else if (!search_.text().empty())
    draw_hits(f, inner);
  else
    list_.draw(f, inner);
  draw_footer(f, footer);
}

void Sidebar::draw_header(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  Rect top = rect.cut_top(ui.px(36));
  const Rect order = top.cut_right(ui.px(36));
  top.cut_right(ui.px(4));
  if (ui.button("list_menu", order, {.icon = Icon::kOrder, .tooltip = "Order, archive"}))
    list_.open_order_menu(f, order);
  if (ui.button("new", top,
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
    list_.show_archive(false);
  }
  const bool found = searching && f.state.search && !f.state.search->hits.empty();
  if (result.submitted && found) open_hit(f, f.state.search->hits.front());
  if (found && ui.has_focus("search") && ui.take_key(GLFW_KEY_DOWN)) ui.set_focus("hit:0");
  if (searching && ui.button("search_clear", clear, {.icon = Icon::kClose, .tooltip = "Clear (Esc)"})) close(f);
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
    draw_snippet(ui, inner, snippet_of(hits[i].excerpt, f.state.search->sought), {ui.theme->dim_text, 0.8f});
    if (r.clicked) open_hit(f, hits[i]);
    const auto at = static_cast<int64_t>(i);
    if (r.focused && ui.take_key(GLFW_KEY_DOWN) && i + 1 < hits.size()) ui.set_focus(numbered("hit", at + 1));
    if (r.focused && ui.take_key(GLFW_KEY_UP)) ui.set_focus(i == 0 ? "search" : numbered("hit", at - 1));
  }
  float height = ui.px(kHit) * static_cast<float>(hits.size());
  if (f.state.search->has_more) {
    const Rect row{rect.x, rect.y + height - area.scroll_y(), area.width(), ui.px(kMoreHits)};
    if (area.sees(row) && ui.button("hits_more", row, {.text = "Show more"}))
      f.actions.push(Search{f.state.search->words, f.state.search->limit + kListedHits});
    height += ui.px(kMoreHits);
  }
  area.set_content_height(height);
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
    const Rect title = row.cut_top(ui.px(28));
    const Response r = ui.press(numbered("trashed", conversation.id), title);
    if (r.hovered || conversation.id == f.state.open.id) ui.fill(title, ui.theme->hover, ui.px(8));
    if (r.focused) ui.focus_ring(title, ui.px(8));
    if (r.clicked) f.actions.push(OpenStored{conversation.id});
    ui.label_in(title.inset(ui.px(10), 0), title_of(conversation), {ui.theme->text, 0.92f});
    row.cut_left(ui.px(2));
    const ButtonLook back{.text = "Restore", .icon = Icon::kRestore};
    if (ui.button(numbered("restore", conversation.id), row.cut_left(ui.button_width(back)), back))
      f.actions.push(TakeFromTrash{{conversation.id}});
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

}  // namespace warpchat::gui
