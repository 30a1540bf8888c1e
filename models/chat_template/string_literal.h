// The escapes of Python's string literals.
#pragma once
#include <string>
#include <string_view>

namespace warpchat::jinja {

// What stands between the quotes, with \n, \x41, \u00e9, \101 and the like replaced; an unknown escape stays as it is.
// Fault for an escape that is cut short, and for \N{...} and lone surrogates, which have no UTF-8.
std::string unescape(std::string_view text);

}  // namespace warpchat::jinja
