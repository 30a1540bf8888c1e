// Two digits below ten, integers above.
#include "models/human_bytes.h"

#include <array>
#include <cstdio>
#include <string_view>

namespace warpchat {

std::string human_bytes(uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  char text[32];
  std::snprintf(text, sizeof text, unit > 0 && value < 9.95 ? "%.1f %s" : "%.0f %s", value, kUnits[unit].data());
  return text;
}

}  // namespace warpchat
