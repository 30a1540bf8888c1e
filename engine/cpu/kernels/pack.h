// From rows as they lie in a file to a group: every field of every block interleaved by row (see formats.h).
#pragma once
#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/kernels/simd.h"
#include "models/quant_blocks.h"

namespace warpchat {
namespace {

// A block is some 2-byte fields, then words, then 2-byte fields.
struct BlockLayout {
  uint32_t front_halves, words, back_halves;
  uint32_t fifth_bits = UINT32_MAX;  // the word of Q5_0 and Q5_1 with bit 4 of all 32 weights
};
template <class Block>
constexpr BlockLayout kLayout = {};
template <>
constexpr BlockLayout kLayout<float> = {0, 1, 0};
template <>
constexpr BlockLayout kLayout<f16> = {1, 0, 0};
template <>
constexpr BlockLayout kLayout<bf16> = {1, 0, 0};
template <>
constexpr BlockLayout kLayout<BlockQ4_0> = {1, 4, 0};
template <>
constexpr BlockLayout kLayout<BlockQ4_1> = {2, 4, 0};
template <>
constexpr BlockLayout kLayout<BlockQ5_0> = {1, 5, 0, 0};
template <>
constexpr BlockLayout kLayout<BlockQ5_1> = {2, 5, 0, 0};
template <>
constexpr BlockLayout kLayout<BlockQ8_0> = {1, 8, 0};
template <>
constexpr BlockLayout kLayout<BlockQ2K> = {0, 20, 2};
template <>
constexpr BlockLayout kLayout<BlockQ3K> = {0, 27, 1};
template <>
constexpr BlockLayout kLayout<BlockQ4K> = {2, 35, 0};
template <>
constexpr BlockLayout kLayout<BlockQ5K> = {2, 43, 0};
template <>
constexpr BlockLayout kLayout<BlockQ6K> = {0, 52, 1};

// Bit 4 * quad + i goes to bit quad of byte i: then one shift brings a quad's four bits to their bytes.
WARPCHAT_INLINE uint32_t by_quads(uint32_t bits) {
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    uint32_t b = bits >> i & 0x11111111u;  // bit 4 * quad
    b = (b | b >> 3) & 0x03030303u;
    b = (b | b >> 6) & 0x000f000fu;
    b = (b | b >> 12) & 0xffu;
    result |= b << (8 * i);
  }
  return result;
}

template <class Element>
WARPCHAT_INLINE Element read(const uint8_t* from) {
  Element e;
  __builtin_memcpy(&e, from, sizeof e);
  return e;
}

template <class Block>
void pack(const PackGroup& p) {
  constexpr BlockLayout layout = kLayout<Block>;
  static_assert(2 * (layout.front_halves + layout.back_halves) + 4 * layout.words == sizeof(Block));
  constexpr uint32_t kWords = 2 * layout.front_halves, kBack = kWords + 4 * layout.words;
  const uint64_t n_blocks = p.row_bytes / sizeof(Block);
  uint8_t* to = p.group;
  for (uint64_t b = 0; b < n_blocks; ++b, to += sizeof(Block) * kLanes) {
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      const uint8_t* from = p.rows + lane * p.row_bytes + b * sizeof(Block);
      const bool real = lane < p.n_rows;
      const auto put_half = [&](uint32_t offset) {
        const uint16_t half = real ? read<uint16_t>(from + offset) : uint16_t{0};
        __builtin_memcpy(to + offset * kLanes + 2 * lane, &half, 2);
      };
      for (uint32_t i = 0; i < layout.front_halves; ++i) put_half(2 * i);
      for (uint32_t i = 0; i < layout.words; ++i) {
        uint32_t word = real ? read<uint32_t>(from + kWords + 4 * i) : 0;
        if (i == layout.fifth_bits) word = by_quads(word);
        __builtin_memcpy(to + (kWords + 4 * i) * kLanes + 4 * lane, &word, 4);
      }
      for (uint32_t i = 0; i < layout.back_halves; ++i) put_half(kBack + 2 * i);
    }
  }
}

}  // namespace
}  // namespace warpchat
