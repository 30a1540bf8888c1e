// Where Unicode lets a line end: UAX #14, and dictionaries for scripts that part words by nothing (Thai, Lao, Khmer,
// Burmese). ICU finds them: Debian's libunibreak is of Unicode 5 and has no dictionaries.
#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

namespace warpchat {

// Byte offsets within valid UTF-8, ascending, without 0 and the text's end. Unlike by Unicode's rules, a path
// or a command (" /") may begin a line. Error where ICU's data are missing.
std::vector<size_t> line_breaks(std::string_view text);

// Whether the breaks round this character come from a dictionary, so that they depend on what follows.
bool needs_dictionary(char32_t code_point);

}  // namespace warpchat
