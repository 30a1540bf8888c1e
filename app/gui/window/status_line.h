// The line at the bottom: what runs where and why, how fast, how much of the context is used; loading and its cancel.
#pragma once
#include "app/gui/window/shortcuts.h"
#include "app/gui/window/ui.h"

namespace warpchat::gui {

struct StatusLine {
  void draw(Frame& f, Rect rect) const;
};

// Speed, first token and context of the answer that streams or was last; empty before the first.
std::string speed_text(const DeskState& state);

}  // namespace warpchat::gui
