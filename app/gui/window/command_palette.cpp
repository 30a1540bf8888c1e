// The field keeps the keyboard; arrows move through the rows.
#include "app/gui/window/command_palette.h"

#include <GLFW/glfw3.h>

#include <algorithm>

#include "app/gui/widgets/card.h"
#include "models/text_format.h"

namespace warpchat::gui {

namespace {

constexpr float kPaletteRow = 34, kPaletteHeight = 520, kPaletteWidth = 620;  // at scale 1
constexpr size_t kMaxRecent = 6, kPalettePage = 10;

Icon icon_of(PaletteRow::Kind kind) {
  switch (kind) {
    case PaletteRow::Kind::kModel:
      return Icon::kFile;
    case PaletteRow::Kind::kServer:
      return Icon::kServer;
    case PaletteRow::Kind::kConversation:
      return Icon::kBack;
    case PaletteRow::Kind::kPrompt:
      return Icon::kPrompts;
    default:
      return Icon::kNone;
  }
}

}  // namespace

void CommandPalette::toggle(Frame& f) {
  if (close(f.ui)) return;
  is_open_ = appearing_ = true;
  field_.buffer.set("");
  found_.reset();
  f.actions.push(RefreshModels{});
  f.actions.push(ListPrompts{});
  f.ui.set_focus("palette");
}

bool CommandPalette::close(Ui& ui) {
  if (!std::exchange(is_open_, false)) return false;
  ui.set_focus("composer");
  return true;
}

// Only when something changed: there may be thousands of conversations.
void CommandPalette::find(const ChatState& state) {
  Found now{field_.text(), state.models.size(), state.endpoints.size(), state.conversations.size(), {}, state.open.id};
  for (const LibraryPrompt& prompt : state.prompts) now.prompts.push_back(prompt.name);
  if (found_ == now) return;
  const bool is_other_text = !found_ || found_->text != now.text;
  rows_ = palette_rows(state, now.text, recent);
  found_ = std::move(now);
  chosen_ = is_other_text ? 0 : std::min(chosen_, rows_.empty() ? 0 : rows_.size() - 1);
  shows_chosen_ = true;
}

void CommandPalette::draw(Frame& f) {
  if (!is_open_) return;
  Ui& ui = f.ui;
  Card card(ui, {"palette_card", "Commands", kPaletteWidth, kPaletteHeight, std::exchange(appearing_, false)});
  if (card.wants_close()) return void(close(ui));
  Rect content = card.content;
  const Rect field = content.cut_top(ui.px(36));
  content.cut_top(ui.px(8));
  const size_t before = chosen_;
  const auto move = [&](int key, int steps) {
    if (!ui.take_key(key) || rows_.empty()) return;
    chosen_ = static_cast<size_t>(std::clamp(static_cast<int>(chosen_) + steps, 0, static_cast<int>(rows_.size()) - 1));
  };
  move(GLFW_KEY_DOWN, 1), move(GLFW_KEY_UP, -1);
  move(GLFW_KEY_PAGE_DOWN, kPalettePage), move(GLFW_KEY_PAGE_UP, -static_cast<int>(kPalettePage));
  const FieldResult typed =
      field_.draw(ui, "palette", field,
                  {.placeholder = "Type a command, a model, a prompt or a chat", .icon = Icon::kSearch, .text = 0.95f});
  find(f.state);
  shows_chosen_ |= chosen_ != before;
  draw_rows(f, content);
  if (typed.submitted && is_open_ && chosen_ < rows_.size()) choose(f, rows_[chosen_]);
}

void CommandPalette::draw_rows(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  if (rows_.empty())
    return void(ui.label_in(rect.cut_top(ui.px(kPaletteRow)).inset(ui.px(10), 0),
                            "No command, model, prompt or chat has these letters", {ui.theme->dim_text, 0.9f}));
  ScrollArea area("palette_rows", rect);
  const float height = ui.px(kPaletteRow);
  area.set_content_height(height * static_cast<float>(rows_.size()));
  if (std::exchange(shows_chosen_, false)) area.show(height * static_cast<float>(chosen_), height), ui.wake_in(0);
  std::optional<size_t> clicked;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const Rect row{rect.x, rect.y + height * static_cast<float>(i) - area.scroll_y(), area.width() - ui.px(2), height};
    if (area.sees(row) && draw_row(ui, row, i)) clicked = i;
  }
  if (clicked) choose(f, rows_[*clicked]);
}

bool CommandPalette::draw_row(Ui& ui, Rect rect, size_t index) const {
  const PaletteRow& row = rows_[index];
  const Response r = ui.press("palette:" + std::to_string(index), rect, Keys::kNone);
  if (index == chosen_) ui.fill(rect, ui.theme->selection, ui.px(8));
  if (r.hovered) ui.fill(rect, ui.theme->hover, ui.px(8));
  rect = rect.inset(ui.px(10), 0);
  const TextLook dim{ui.theme->dim_text, 0.82f}, look{ui.theme->text, 0.92f};
  if (!row.detail.empty()) {
    ui.label_in(rect.cut_right(ui.text_width(row.detail, dim)), row.detail, dim);
    rect.cut_right(ui.px(10));
  }
  if (const Icon icon = icon_of(row.kind); icon != Icon::kNone) {
    const Rect sign = rect.cut_left(ui.px(26));
    ui.icon(icon, {sign.x, sign.y, ui.px(17), sign.height}, ui.theme->dim_text);
  }
  for (const auto& [begin, end] : row.marks) {
    const float from = rect.x + ui.text_width(std::string_view(row.text).substr(0, begin), look);
    const float to = std::min(rect.x + ui.text_width(std::string_view(row.text).substr(0, end), look), rect.right());
    if (to > from) ui.fill(Rect{from, rect.y, to - from, rect.height}.in_middle(ui.line_height(look)), ui.theme->mark);
  }
  ui.label_in(rect, row.text, look);
  return r.clicked;
}

void CommandPalette::choose(Frame& f, const PaletteRow& chosen) {
  const PaletteRow row = chosen;
  close(f.ui);
  switch (row.kind) {
    case PaletteRow::Kind::kCommand:
      std::erase(recent, row.text);
      recent.insert(recent.begin(), row.text);
      if (recent.size() > kMaxRecent) recent.resize(kMaxRecent);
      return f.commands.push_back(row.command);
    case PaletteRow::Kind::kModel:
      return f.actions.push(LoadModel{.path = row.path});
    case PaletteRow::Kind::kServer:
      return f.actions.push(LoadModel{.endpoint = row.path});
    case PaletteRow::Kind::kConversation:
      return f.actions.push(OpenStored{row.conversation});
    case PaletteRow::Kind::kPrompt:
      prompt_ = row.path;
      return;
  }
}

}  // namespace warpchat::gui
