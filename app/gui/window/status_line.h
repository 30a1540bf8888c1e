// The line at the bottom: what runs where and why, how fast while it does; loading and its cancel.
#pragma once
#include "app/gui/panels/shortcuts.h"
#include "app/gui/widgets/ui.h"

namespace warpchat::gui {

struct StatusLine {
  void draw(Frame& f, Rect rect) const;
};

// Speed and first token of the answer that streams; afterwards its footer has them, and the context is the composer's.
std::string speed_text(const ChatState& state);

}  // namespace warpchat::gui
