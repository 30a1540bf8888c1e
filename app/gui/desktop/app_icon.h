// The program's icon, assets/warpchat.svg, as pixels for the window's title and the task bar.
#pragma once
#include <cstdint>
#include <vector>

namespace warpchat::gui {

// [side, side] pixels of four bytes: red, green, blue, alpha; from the top left.
std::vector<uint8_t> app_icon(int side);

}  // namespace warpchat::gui
