#pragma once
#include <concepts>

namespace warpchat {

template <std::unsigned_integral N>
constexpr N ceil_div(N a, N b) {
  return (a + b - 1) / b;
}

template <std::unsigned_integral N>
constexpr N round_up(N n, N multiple) {
  return ceil_div(n, multiple) * multiple;
}

}  // namespace warpchat
