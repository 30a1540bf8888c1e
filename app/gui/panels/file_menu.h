// The menu of a local model's row: its details, its folder, another folder, its removal, which asks.
#pragma once
#include <optional>
#include <string>

#include "app/gui/panels/shortcuts.h"
#include "app/gui/widgets/text_field.h"

namespace warpchat::gui {

class FileMenu {
 public:
  // The row without its menu; nullopt: a question takes its place.
  std::optional<Rect> draw(Frame& f, Rect rect, const ModelChoice& model);
  void follow_press(Frame& f, const ModelChoice& model, const Response& row);  // a right click, or the key Del
  bool shows_details_of(const ModelChoice& model) const { return details_of_ == model.path; }
  void draw_add_folder(Frame& f, Rect rect);
  bool cancel(Ui& ui);  // whether there was a question or an open field

 private:
  void open_menu(Frame& f, const ModelChoice& model, ImVec2 at);
  void take_menu_choice(Frame& f, const ModelChoice& model);
  void ask_removal(Frame& f, const ModelChoice& model);
  void ask_folder(Frame& f);
  void draw_removal(Frame& f, Rect rect, const ModelChoice& model);

  std::string menu_of_, removes_, details_of_;  // paths; empty: none
  bool asks_folder_ = false;
  TextField folder_;
};

std::string details_text(const ModelChoice& model);  // one paragraph

}  // namespace warpchat::gui
