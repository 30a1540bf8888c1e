// An endpoint's row in the models' panel: a click uses its default model, if it has one, and else asks for its models,
// which the arrow always does; its menu renames it, gives it another key, or
// removes it.
#pragma once
#include <string>

#include "app/gui/panels/shortcuts.h"
#include "app/gui/widgets/text_field.h"

namespace warpchat::gui {

class EndpointRow {
 public:
  enum class Wish { kNone, kUse, kShowModels };
  Wish draw(Frame& f, Rect rect, const ModelChoice& endpoint);
  bool rename_focused(Frame& f);  // whether an endpoint's row has the focus
  void enter_key(Frame& f, const std::string& endpoint) { edit(f, Edit::kKey, endpoint); }
  bool cancel(Ui& ui);  // whether one was changed

 private:
  enum class Edit { kNone, kRename, kKey, kRemove };
  void edit(Frame& f, Edit what, const std::string& endpoint);
  void draw_edit(Frame& f, Rect rect, const ModelChoice& endpoint);
  void draw_rename(Frame& f, Rect rect, const ModelChoice& endpoint);
  void draw_key(Frame& f, Rect rect, const ModelChoice& endpoint);
  void draw_removal(Frame& f, Rect rect, const ModelChoice& endpoint);
  void open_menu(Frame& f, const ModelChoice& endpoint, ImVec2 at);
  void take_menu_choice(Frame& f, const ModelChoice& endpoint);

  Edit edit_ = Edit::kNone;
  std::string edited_, menu_of_;  // names
  TextField field_;
};

}  // namespace warpchat::gui
