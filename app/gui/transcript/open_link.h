// Links of answers: addresses that somebody else wrote. Only the web and mail are opened, by the desktop's own program.
#pragma once
#include <string>
#include <string_view>

namespace warpchat::gui {

bool may_open_link(std::string_view target);  // http:, https: and mailto: without control characters

// Starts xdg-open and does not wait for it. Does nothing for what may not be opened.
void open_link(const std::string& target);

}  // namespace warpchat::gui
