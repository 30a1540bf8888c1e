// Copies text for other programs.
#pragma once
#include <string>
#include <string_view>

namespace warpchat {

// To the display's clipboard, through wl-copy, xclip or xsel if one is installed, but not over SSH; else to that of the
// terminal, which may ignore it. Returns by what it went: "xclip", "the terminal". Error: neither is there, or the text
// is too long.
std::string copy_to_clipboard(std::string_view text);

std::string base64_of(std::string_view bytes);

}  // namespace warpchat
