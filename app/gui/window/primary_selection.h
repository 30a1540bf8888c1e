// What is selected somewhere on an X11 desktop, for the middle button to paste. Elsewhere there is none.
#pragma once
#include <string>

namespace warpchat::gui {

std::string primary_selection();  // empty: nobody has selected text
void set_primary_selection(const std::string& text);

}  // namespace warpchat::gui
