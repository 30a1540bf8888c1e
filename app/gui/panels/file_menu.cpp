#include "app/gui/panels/file_menu.h"

#include <GLFW/glfw3.h>

#include <filesystem>
#include <utility>

#include "app/gui/desktop/open_link.h"
#include "app/gui/panels/model_rows.h"
#include "app/model_choice/model_list.h"
#include "app/platform/typed_path.h"
#include "models/human_bytes.h"
#include "models/text_format.h"

namespace warpchat::gui {

namespace {

constexpr const char* kFileMenu = "files";

bool is_only_listed(const ModelChoice& model) { return model.store == name_of(ModelStore::kOpened); }

}  // namespace

std::string details_text(const ModelChoice& model) {
  std::string text = model_details(model, {});
  while (text.ends_with('\n')) text.pop_back();
  std::string paragraph;
  for (const char c : text) paragraph += c == '\n' ? "  ·  " : c == '\t' ? ": " : std::string(1, c);
  return paragraph;
}

std::optional<Rect> FileMenu::draw(Frame& f, Rect rect, const ModelChoice& model) {
  take_menu_choice(f, model);
  if (removes_ == model.path) {
    draw_removal(f, rect.in_middle(f.ui.px(36)), model);
    return std::nullopt;
  }
  Ui& ui = f.ui;
  const Rect place = rect.cut_right(ui.px(34));
  const Response dots = ui.menu_dots("model_menu:" + model.path, place, "Details, folder, remove");
  if (dots.clicked) open_menu(f, model, dots.menu_at);
  return rect;
}

void FileMenu::follow_press(Frame& f, const ModelChoice& model, const Response& row) {
  if (row.right_clicked) open_menu(f, model, row.menu_at);
  if (row.focused && !is_loaded(f.state, model) && f.ui.take_key(GLFW_KEY_DELETE)) ask_removal(f, model);
}

void FileMenu::open_menu(Frame& f, const ModelChoice& model, ImVec2 at) {
  menu_of_ = model.path;
  f.ui.open_menu(kFileMenu, at,
                 {{"menu_model_details", details_of_ == model.path ? "Hide details" : "Details"},
                  {"menu_model_folder", "Show in folder", Icon::kFolder},
                  {"menu_model_add_folder", "Add a folder …", Icon::kPlus},
                  {.name = "menu_model_remove",
                   .text = is_only_listed(model) ? "Remove from the list" : "Remove …",
                   .icon = Icon::kTrash,
                   .keys = "Del",
                   .enabled = !is_loaded(f.state, model),
                   .danger = true}});
}

void FileMenu::take_menu_choice(Frame& f, const ModelChoice& model) {
  if (menu_of_ != model.path) return;
  const std::string chosen = f.ui.take_menu_choice(kFileMenu);
  if (chosen == "menu_model_details") details_of_ = details_of_ == model.path ? "" : model.path;
  if (chosen == "menu_model_folder") open_folder(std::filesystem::path(model.path).parent_path().string());
  if (chosen == "menu_model_add_folder") ask_folder(f);
  if (chosen == "menu_model_remove") ask_removal(f, model);
}

void FileMenu::ask_removal(Frame& f, const ModelChoice& model) {
  if (is_only_listed(model)) return f.actions.push(RemoveModel{model.path});
  cancel(f.ui);
  removes_ = model.path;
  f.ui.set_focus("model_keep");
  f.ui.wake_in(0);  // the field above has drawn itself with the focus
}

void FileMenu::draw_removal(Frame& f, Rect rect, const ModelChoice& model) {
  const bool is_own = model.store == name_of(ModelStore::kOwn) || model.store == name_of(ModelStore::kFolder);
  const std::string size = model.bytes > 0 ? ", " + human_bytes(model.bytes) + "," : "";
  const std::string question = "Remove " + model.name + size + " from " + (is_own ? "the disk" : model.store) + "?";
  const auto answer = f.ui.ask_removal(rect, question, "model_keep", "model_remove");
  if (answer == Ui::Removal::kOpen) return;
  if (answer == Ui::Removal::kRemove) f.actions.push(RemoveModel{model.path});
  removes_.clear();
  f.ui.set_focus("model_filter");
}

void FileMenu::ask_folder(Frame& f) {
  cancel(f.ui);
  asks_folder_ = true;
  folder_.buffer.set("");
  f.ui.set_focus("model_folder");
  f.ui.wake_in(0);
}

void FileMenu::draw_add_folder(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  if (!asks_folder_) {
    const ButtonLook look{.text = "Add a folder …", .icon = Icon::kPlus, .left_aligned = true};
    if (ui.button("model_add_folder", {rect.x, rect.y, ui.button_width(look), rect.height}, look)) ask_folder(f);
    return;
  }
  const FieldResult result =
      folder_.draw(ui, "model_folder", rect.in_middle(ui.px(36)),
                   {.placeholder = "A folder with GGUF files, such as ~/models; Enter adds it", .text = 0.95f});
  const std::string path = typed_path(folder_.text());
  if (!result.submitted || path.empty()) return;
  f.actions.push(AddModelFolder{path});
  cancel(ui);
}

bool FileMenu::cancel(Ui& ui) {
  const bool asked = !removes_.empty() || asks_folder_;
  removes_.clear();
  asks_folder_ = false;
  if (asked) ui.set_focus("model_filter");
  return asked;
}

}  // namespace warpchat::gui
