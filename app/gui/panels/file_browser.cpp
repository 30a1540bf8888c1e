// Typed paths are looked up on another thread; Enter and Tab wait for the result.
#include "app/gui/panels/file_browser.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "app/gui/widgets/card.h"
#include "models/human_bytes.h"
#include "models/text_format.h"

namespace warpchat::gui {

namespace {

constexpr float kWidth = 760, kHeight = 600, kEntry = 30, kPlaces = 150;  // at scale 1
constexpr float kMinForPlaces = 480, kMinForBottom = 120;

std::string last_name(std::string folder) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  if (in_short(folder) == "~") return "Home";
  const std::string name = folder.substr(folder.rfind('/') + 1);
  return name.empty() ? folder : name;
}

std::string parent_of(std::string folder) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  return folder.substr(0, folder.rfind('/') + 1);
}

std::string with_slash(const std::string& folder) {
  const std::string path = std::filesystem::path(folder).lexically_normal().string();
  return path.ends_with('/') ? path : path + "/";
}

}  // namespace

bool has_extension(std::string_view name, const FileFilter& filter) {
  const auto ends_alike = [&](std::string_view end) {
    return name.size() > end.size() && begins_alike(name.substr(name.size() - end.size()), end);
  };
  return filter.extensions.empty() || std::ranges::any_of(filter.extensions, ends_alike);
}

void FileBrowser::open(FileQuestion question, std::vector<std::string> recent, Ui& ui) {
  question_ = std::move(question);
  places_ = usual_folders();
  n_usual_places_ = places_.size();
  for (std::string& folder : recent)
    if (std::ranges::find(places_, folder) == places_.end()) places_.push_back(std::move(folder));
  is_open_ = appearing_ = true;
  base_ = question_.folder;
  view_ = {};
  shown_.clear();
  format_ = 0;
  ticked_.clear();
  narrows_ = false;
  set_text(in_short(base_) + question_.name);
  const size_t end = path_.text().size(), dot = std::min(path_.text().rfind('.'), end);
  if (question_.saves) path_.buffer.select(path_.text().rfind('/') + 1, dot);
  ui.set_focus("path");
}

bool FileBrowser::take_news() {
  if (!reader_.update(view_)) return false;
  list();
  return true;
}

void FileBrowser::set_text(std::string text) {
  path_.buffer.set(std::move(text));
  look();
}

void FileBrowser::look() {
  message_.clear();
  selected_.reset();
  asks_to_replace_ = false;
  wish_ = Wish::kNone;
  if (is_read())
    list();
  else
    reader_.look(path_.text(), base_);
}

void FileBrowser::enter(const std::string& folder) {
  const std::string name = question_.saves && !view_.begin.empty() && view_.kind != FolderView::Kind::kFolder
                               ? view_.begin
                               : "";  // what was written is kept
  base_ = with_slash(folder);
  narrows_ = false;
  set_text(in_short(base_) + name);
}

void FileBrowser::list() {
  shown_.clear();
  for (size_t i = 0; i < view_.entries.size(); ++i) {
    const FolderEntry& entry = view_.entries[i];
    if (entry.name.starts_with('.') && !(narrows_ && view_.begin.starts_with('.'))) continue;
    if (narrows_ && !begins_alike(entry.name, view_.begin)) continue;
    if (entry.is_folder || has_extension(entry.name, question_.filters[format_])) shown_.push_back(i);
  }
  selected_.reset();
  completion_ = completed(view_, shown_);
}

void FileBrowser::choose_format(size_t format) {
  const FileFilter before = question_.filters[format_], now = question_.filters[format];
  format_ = format;
  list();
  const std::string& text = path_.text();
  for (const std::string_view extension : before.extensions)
    if (question_.saves && has_extension(text, {"", {extension}}))
      return set_text(text.substr(0, text.size() - extension.size()) + std::string(now.extensions[0]));
}

void FileBrowser::take_keys(Ui& ui) {
  if (!ui.has_focus("path")) return;
  const auto move = [&](int steps) {
    if (shown_.empty()) return;
    const int last = static_cast<int>(shown_.size()) - 1, at = selected_ ? static_cast<int>(*selected_) : -1;
    selected_ = static_cast<size_t>(std::clamp(at + steps, 0, last));
    selection_moved_ = true;
  };
  if (ui.take_key(GLFW_KEY_DOWN)) move(1);
  if (ui.take_key(GLFW_KEY_UP)) move(-1);
  if (ui.take_key(GLFW_KEY_UP, GLFW_MOD_CONTROL)) enter(parent_of(folder()));
  if ((!is_read() || completion_ != path_.text()) && ui.take_key(GLFW_KEY_TAB)) wish_ = Wish::kComplete;
}

std::optional<FileAnswer> FileBrowser::draw(Ui& ui) {
  if (!is_open_) return std::nullopt;
  {
    Card card(ui, {"path_panel", question_.title, kWidth, kHeight, std::exchange(appearing_, false)});
    if (card.wants_close()) close();
    Rect content = card.content;
    take_keys(ui);
    draw_field(ui, content.cut_top(ui.px(36)));
    content.cut_top(ui.px(8));
    if (content.height > ui.px(kMinForBottom)) {
      draw_bottom(ui, content.cut_bottom(ui.px(34)));
      const Rect line = content.cut_bottom(ui.px(28));
      const std::string& wrong = message_.empty() && is_read() ? view_.fault : message_;
      const TextLook look{wrong.empty() ? ui.theme->dim_text : ui.theme->error, 0.85f};
      if (!wrong.empty()) ui.mark("path_message", line);
      ui.label_in(line, wrong.empty() ? question_.hint : std::string_view(wrong), look);
    }
    if (content.width > ui.px(kMinForPlaces)) {
      draw_places(ui, content.cut_left(ui.px(kPlaces)));
      content.cut_left(ui.px(10));
    }
    draw_entries(ui, content);
  }
  fulfil_wish();
  if (answer_) close();
  if (!is_open_) ui.set_focus("composer");
  return std::exchange(answer_, std::nullopt);
}

void FileBrowser::draw_field(Ui& ui, Rect row) {
  const Rect up = row.cut_left(ui.px(36));
  row.cut_left(ui.px(6));
  const FieldResult field = path_.draw(ui, "path", row, {.placeholder = "~/file"});
  if (field.changed) {
    narrows_ = true;
    look();
  }
  if (field.submitted && selected_)
    activate(*selected_, /*goes=*/true);
  else if (field.submitted)
    wish_ = Wish::kGo;
  if (ui.button("path_up", up, {.icon = Icon::kUp, .tooltip = "Folder above (Ctrl+Up)"})) enter(parent_of(folder()));
}

void FileBrowser::draw_places(Ui& ui, Rect column) {
  for (size_t i = 0; i < places_.size(); ++i) {
    if (i == n_usual_places_) {
      if (column.height < ui.px(2 * kEntry)) return;
      ui.heading_in(column.cut_top(ui.px(kEntry)).inset(ui.px(10), 0), "Recent");
    }
    if (column.height < ui.px(kEntry)) return;
    const bool here = is_read() && view_.folder == places_[i];
    const std::string name = last_name(places_[i]);
    const ButtonLook look{.text = name,
                          .icon = Icon::kFolder,
                          .kind = here ? ButtonKind::kChosen : ButtonKind::kGhost,
                          .tooltip = places_[i],
                          .left_aligned = true};
    if (ui.button("place:" + std::to_string(i), column.cut_top(ui.px(kEntry)).inset(1), look)) enter(places_[i]);
  }
}

void FileBrowser::draw_entries(Ui& ui, Rect rect) {
  const float height = ui.px(kEntry), around = ui.px(8);
  rect.height = std::max(std::floor((rect.height - around) / height), 1.0f) * height + around;  // whole rows
  ui.fill(rect, ui.theme->background, ui.px(8));
  ui.outline(rect, ui.theme->border, ui.px(8));
  rect = rect.inset(around / 2);
  ScrollArea area("files", rect);
  if (selected_ && std::exchange(selection_moved_, false)) area.show(static_cast<float>(*selected_) * height, height);
  const size_t first = static_cast<size_t>(std::max(area.scroll_y(), 0.0f) / height);
  for (size_t i = first; i < shown_.size(); ++i) {
    const Rect row{rect.x, rect.y + static_cast<float>(i) * height - area.scroll_y(), area.width(), height};
    if (row.y >= rect.bottom()) break;
    draw_entry(ui, row, i);
  }
  if (shown_.empty()) {
    std::string_view words = narrows_ ? "No name here begins like this" : "No matching files here";
    if (!view_.fault.empty()) words = view_.fault;
    if (!is_read()) words = "Reading …";
    ui.label_in(rect.in_middle(std::min(height, rect.height)), words, {ui.theme->dim_text, 0.9f}, 0.5f);
  }
  area.set_content_height(static_cast<float>(shown_.size()) * height);
}

void FileBrowser::draw_entry(Ui& ui, Rect row, size_t index) {
  const FolderEntry& entry = view_.entries[shown_[index]];
  const std::string path = view_.folder + entry.name;
  const Response r = ui.press((entry.is_folder ? "folder:" : "file:") + entry.name, row, Keys::kNone);
  const bool chosen = is_ticked(path) || (!question_.several && !entry.is_folder && view_.path == path);
  if (chosen) ui.fill(row, with_alpha(ui.theme->accent, 0.14f), ui.px(6));
  if (r.hovered) ui.fill(row, ui.theme->hover, ui.px(6));
  if (selected_ == index) ui.outline(row, ui.theme->accent, ui.px(6), 1.5f);
  Rect inner = row.inset(ui.px(8), 0);
  const Icon icon = entry.is_folder ? Icon::kFolder : is_ticked(path) ? Icon::kCheck : Icon::kFile;
  ui.icon(icon, inner.cut_left(ui.px(18)), entry.is_folder ? ui.theme->accent : ui.theme->dim_text);
  inner.cut_left(ui.px(8));
  if (!entry.is_folder)
    ui.label_in(inner.cut_right(ui.px(70)), human_bytes(entry.bytes), {ui.theme->dim_text, 0.85f}, 1);
  inner.cut_right(ui.px(6));
  ui.label_in(inner, entry.name, {ui.theme->text, 0.95f});
  // A single click opens a folder, so the second click of a double click hits an entry of the new listing.
  if (r.double_clicked && !entry.is_folder && clicked_ == path) return activate(index, /*goes=*/true);
  if (!r.clicked) return;
  clicked_ = path;
  activate(index, /*goes=*/false);
}

void FileBrowser::draw_bottom(Ui& ui, Rect row) {
  std::string text(question_.button);
  if (ticked_.size() > 1) text += " " + counted(ticked_.size(), "file");
  if (asks_to_replace_) text = "Replace";
  const ButtonLook go{.text = text, .kind = ButtonKind::kPrimary, .enabled = !path_.text().empty()};
  if (ui.button("path_go", row.cut_right(ui.button_width(go)), go)) wish_ = Wish::kGo;
  for (size_t i = 0; question_.filters.size() > 1 && i < question_.filters.size(); ++i) {
    const ButtonLook look{.text = question_.filters[i].name,
                          .kind = i == format_ ? ButtonKind::kChosen : ButtonKind::kOutlined};
    const float width = ui.button_width(look);
    if (row.width < width) return;
    if (ui.button("format:" + std::to_string(i), row.cut_left(width), look)) choose_format(i);
    row.cut_left(ui.px(6));
  }
}

bool FileBrowser::is_ticked(const std::string& path) const { return std::ranges::find(ticked_, path) != ticked_.end(); }

// goes: confirms the file, too.
void FileBrowser::activate(size_t index, bool goes) {
  const FolderEntry entry = view_.entries[shown_[index]];
  const std::string path = view_.folder + entry.name;
  if (entry.is_folder) return enter(path);
  message_.clear();
  if (question_.several) {
    if (!is_ticked(path))
      ticked_.push_back(path);
    else if (!goes)
      std::erase(ticked_, path);
    if (goes) answer_ = FileAnswer{ticked_};
    return;
  }
  narrows_ = false;
  base_ = view_.folder;
  set_text(in_short(path));
  if (goes) wish_ = Wish::kGo;
}

void FileBrowser::fulfil_wish() {
  if (wish_ == Wish::kNone || !is_read()) return;
  const Wish wish = std::exchange(wish_, Wish::kNone);
  const bool nothing_typed = view_.begin.empty();
  if (wish == Wish::kComplete) {
    narrows_ = true;
    if (completion_ != path_.text()) set_text(completion_);
  } else if (!ticked_.empty() && nothing_typed) {
    answer_ = FileAnswer{ticked_};
  } else if (view_.kind == FolderView::Kind::kFolder && !nothing_typed) {
    enter(view_.path);
  } else if (nothing_typed) {
    message_ = question_.saves ? "Name the file" : "Choose a file";
  } else if (question_.saves) {
    save(view_.path);
  } else if (view_.kind == FolderView::Kind::kFile) {
    if (!is_ticked(view_.path)) ticked_.push_back(view_.path);
    answer_ = FileAnswer{ticked_};
  } else if (view_.fault.empty()) {
    message_ = "No such file: " + in_short(view_.path);
  }
}

// A name without a format's ending gets that of the chosen one, and is looked up again.
void FileBrowser::save(const std::string& path) {
  const auto ends = [&](const FileFilter& filter) { return has_extension(path, filter); };
  if (std::ranges::none_of(question_.filters, ends)) {
    set_text(in_short(path) + std::string(question_.filters[format_].extensions[0]));
    wish_ = Wish::kGo;
  } else if (view_.kind == FolderView::Kind::kFile && !std::exchange(asks_to_replace_, true)) {
    message_ = in_short(path) + " already exists; press Enter again to replace it";
  } else if (view_.fault.empty()) {
    answer_ = FileAnswer{{path}, 0, view_.kind == FolderView::Kind::kFile};
  }
}

}  // namespace warpchat::gui
