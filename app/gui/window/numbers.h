// Numbers as the window writes them.
#pragma once
#include <cstdint>
#include <string>

namespace warpchat::gui {

std::string compact(uint64_t n);                // "950", "1.2k", "34k", "1.5M"
std::string fixed(double value, int decimals);  // "0.70"
std::string seconds_text(double seconds);       // "85 ms", "1.4 s"

}  // namespace warpchat::gui
