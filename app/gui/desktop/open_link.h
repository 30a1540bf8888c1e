// Links of answers are untrusted: only web and mail addresses are opened, by the desktop's program.
#pragma once
#include <string>
#include <string_view>

namespace warpchat::gui {

bool may_open_link(std::string_view target);  // http:, https: and mailto: without control characters

// Starts xdg-open without waiting for it. Ignores other links.
void open_link(const std::string& target);

// Shows a folder in the desktop's file manager, likewise. path: absolute.
void open_folder(const std::string& path);

}  // namespace warpchat::gui
