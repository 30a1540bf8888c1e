// Sets of tokens as bits: bit i % 32 of word i / 32 is token i.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "models/token.h"

namespace warpchat {

inline bool is_allowed(std::span<const uint32_t> mask, Token token) {
  return (mask[static_cast<size_t>(token) / 32] >> (token % 32) & 1) != 0;
}
inline void allow(std::span<uint32_t> mask, Token token) {
  mask[static_cast<size_t>(token) / 32] |= uint32_t{1} << (token % 32);
}
inline void forbid(std::span<uint32_t> mask, Token token) {
  mask[static_cast<size_t>(token) / 32] &= ~(uint32_t{1} << (token % 32));
}
inline bool allows_none(std::span<const uint32_t> mask) {
  return std::ranges::all_of(mask, [](uint32_t word) { return word == 0; });
}

}  // namespace warpchat
