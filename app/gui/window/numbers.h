// Numbers as the window writes them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "app/numbers.h"

namespace warpchat::gui {

std::string compact(uint64_t n);                    // "950", "1.2k", "34k", "1.5M"
std::string as_sentence(std::string_view message);  // with a capital, unless it begins with a name of a file
std::string seconds_text(double seconds);           // "85 ms", "1.4 s"

}  // namespace warpchat::gui
