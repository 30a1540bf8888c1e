// The list of shortcuts.
#pragma once
#include "app/gui/panels/shortcuts.h"

namespace warpchat::gui {

struct ShortcutsPanel {
  bool open = false, appearing = false;
  void draw(Frame& f);
};

}  // namespace warpchat::gui
