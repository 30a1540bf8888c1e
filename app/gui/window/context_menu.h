// A small menu at a point; Esc, a click elsewhere or a choice closes it.
#pragma once
#include <span>
#include <string_view>

#include "app/gui/window/ui.h"

namespace warpchat::gui {

struct MenuItem {
  std::string_view name, text;
  Icon icon = Icon::kNone;
  bool danger = false;
};

class ContextMenu {
 public:
  void open_at(ImVec2 at) { is_open_ = true, just_opened_ = true, at_ = at; }
  bool is_open() const { return is_open_; }
  bool close() { return std::exchange(is_open_, false); }
  std::string_view draw(Ui& ui, std::span<const MenuItem> items);  // the name of what was chosen in this frame

 private:
  bool is_open_ = false, just_opened_ = false;
  ImVec2 at_{0, 0};
};

}  // namespace warpchat::gui
