// Parses numbers like Python's int() and float().
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace warpchat::jinja {

// Allows surrounding white space, a sign, single underscores between digits, and the base's prefix. base: 0 or 2 to 36.
// Nothing: not a number. Fault for integers beyond 64 bits.
std::optional<int64_t> parse_integer(std::string_view text, int64_t base);
// Decimal notation, "inf", "infinity" and "nan"; infinite beyond double's range.
std::optional<double> parse_real(std::string_view text);

}  // namespace warpchat::jinja
