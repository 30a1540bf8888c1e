// A card of one row.
#include "app/gui/window/path_prompt.h"

#include <cstdlib>

#include "app/gui/window/card.h"
#include "models/tokenizer/utf8.h"

namespace warpchat::gui {

namespace {

struct Words {
  std::string_view title, hint, button;
};

Words words_of(PathPrompt::Purpose purpose) {
  switch (purpose) {
    case PathPrompt::Purpose::kExport:
      return {"Export conversation", "A name that ends in .json gives JSON, any other Markdown.", "Export"};
    case PathPrompt::Purpose::kImport:
      return {"Import a conversation", "A conversation that was exported, as Markdown or JSON.", "Import"};
    default:
      return {"Attach a text file", "It is sent with the next message. You can also drop files here.", "Attach"};
  }
}

std::string home_directory() {
  const char* home = std::getenv("HOME");
  return home ? home : "";
}

}  // namespace

std::string export_path_for(std::string_view title, const std::string& home) {
  constexpr size_t kLongestName = 60;
  std::string name;
  for (const char c : title.substr(0, kLongestName))
    name += c == '/' || c == '\\' || c == ':' || static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  while (!name.empty() && continues_character(name.back()) && title.size() > kLongestName) name.pop_back();
  if (title.size() > kLongestName && !name.empty() && static_cast<unsigned char>(name.back()) >= 0xC0) name.pop_back();
  while (name.ends_with(' ') || name.ends_with('.')) name.pop_back();
  while (name.starts_with(' ') || name.starts_with('.')) name.erase(0, 1);
  return (home.empty() ? "." : home) + "/" + (name.empty() ? "conversation" : name) + ".md";
}

std::string with_home(std::string path, const std::string& home) {
  while (path.ends_with(' ') || path.ends_with('\n')) path.pop_back();
  while (path.starts_with(' ')) path.erase(0, 1);
  if (path.starts_with("file://")) path.erase(0, 7);
  if (path == "~" || path.starts_with("~/")) path.replace(0, 1, home);
  return path;
}

void PathPrompt::ask(Purpose purpose, std::string path, Ui& ui) {
  purpose_ = purpose;
  is_open_ = appearing_ = true;
  path_.buffer.set(std::move(path));
  path_.buffer.select_all();
  ui.set_focus("path");
}

void PathPrompt::draw(Frame& f) {
  if (!is_open_) return;
  Ui& ui = f.ui;
  const Words words = words_of(purpose_);
  constexpr float kWidth = 560, kAround = 122;  // at scale 1: of the card without its hint
  const TextLook hint{ui.theme->dim_text, 0.85f};
  const float room = std::min(ui.px(kWidth), ImGui::GetIO().DisplaySize.x - ui.px(24)) - ui.px(40);
  const float hint_height = ui.paragraph({0, 0}, words.hint, hint, room, /*draw=*/false) / ui.px(1);
  Card card(ui, {"path_panel", words.title, kWidth, kAround + hint_height, std::exchange(appearing_, false)});
  if (card.wants_close()) is_open_ = false;
  Rect row = card.content.cut_top(ui.px(38));
  const ButtonLook look{.text = words.button, .kind = ButtonKind::kPrimary, .enabled = !path_.text().empty()};
  const Rect button = row.cut_right(ui.button_width(look));
  row.cut_right(ui.px(8));
  const FieldResult field = path_.draw(ui, "path", row, {.placeholder = "~/file"});
  const bool go = ui.button("path_go", button, look);
  card.content.cut_top(ui.px(8));
  ui.paragraph(card.content.corner(), words.hint, hint, card.content.width);
  if (!(go || field.submitted) || path_.text().empty()) return;
  const std::string path = with_home(path_.text(), home_directory());
  if (purpose_ == Purpose::kExport) f.actions.push(ExportConversation{path});
  if (purpose_ == Purpose::kImport) f.actions.push(ImportConversation{path});
  if (purpose_ == Purpose::kAttach) f.actions.push(AttachFile{path});
  is_open_ = false;
  ui.set_focus("composer");
}

}  // namespace warpchat::gui
