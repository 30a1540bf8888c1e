// Above the conversation: its title, the model, and what opens the panels.
#pragma once
#include "app/gui/panels/shortcuts.h"
#include "app/gui/widgets/ui.h"

namespace warpchat::gui {

struct TopBar {
  void draw(Frame& f, Rect rect, bool profiler_open) const;
};

}  // namespace warpchat::gui
