// An empty conversation: three ways to a model, and prompts to begin with.
#pragma once
#include <string>
#include <string_view>

#include "app/gui/panels/shortcuts.h"
#include "app/gui/widgets/rect.h"

namespace warpchat::gui {

class StartScreen {
 public:
  // Returns the chosen prompt, which is to begin the message; empty: none.
  std::string_view draw(Frame& f, Rect rect);

 private:
  bool has_asked_ = false;  // which models are here
};

// The message with the prompt at its beginning, in place of another starter's.
std::string with_starter(std::string_view prompt, std::string_view message);

}  // namespace warpchat::gui
