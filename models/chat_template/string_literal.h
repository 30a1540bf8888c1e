// Escapes in Python's string literals.
#pragma once
#include <string>
#include <string_view>

namespace warpchat::jinja {

// Replaces \n, \x41, \u00e9, \101 and the like in the text between quotes; unknown escapes stay. Fault for an
// incomplete escape, for \N{...}, and for lone surrogates, which have no UTF-8.
std::string unescape(std::string_view text);

}  // namespace warpchat::jinja
