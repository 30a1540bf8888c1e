#include "app/platform/text/numbers.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "models/text_format.h"

namespace warpchat {

namespace {

struct Unit {
  double size;
  const char* name;
};

// In the largest unit that leaves a number of at least one; units from the smallest.
template <size_t n>
std::string in_units(double value, const std::array<Unit, n>& units) {
  size_t unit = 0;
  while (unit + 1 < n && value >= 0.9995 * units[unit + 1].size) ++unit;
  return three_digits(value / units[unit].size) + units[unit].name;
}

}  // namespace

std::string fixed(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string three_digits(double value) {
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size >= 999.5) return grouped(static_cast<uint64_t>(std::llround(size)));
  return fixed(value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3);
}

std::string compact_number(double value) {
  if (value < 999.5) return value == std::floor(value) ? fixed(value, 0) : three_digits(value);
  return in_units(value, std::array<Unit, 4>{{{1, ""}, {1e3, " k"}, {1e6, " M"}, {1e9, " G"}}});
}

std::string bytes_text(double bytes) {
  return in_units(bytes, std::array<Unit, 5>{{{1, " B"}, {1e3, " kB"}, {1e6, " MB"}, {1e9, " GB"}, {1e12, " TB"}}});
}

std::string duration_text(double seconds) {
  return in_units(seconds, std::array<Unit, 3>{{{1e-6, " \u00b5s"}, {1e-3, " ms"}, {1, " s"}}});
}

std::string bandwidth_text(double per_second) { return three_digits(per_second * 1e-9) + " GB/s"; }

std::string percent_text(double fraction) {
  const double percent = fraction * 100;
  return fixed(percent, percent >= 9.95 || percent == 0 ? 0 : 1) + "%";
}

}  // namespace warpchat
