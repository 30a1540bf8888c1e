// Packs rows of a file into a group: fields of each block interleaved by row (see formats.h).
#pragma once
#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/kernels/simd.h"
#include "models/block_types.h"

namespace warpchat {
namespace {

// A block has bytes, 2-byte fields, words, bytes and 2-byte fields, in this order.
struct BlockLayout {
  uint32_t front_halves, words, back_halves;
  uint32_t fifth_bits = UINT32_MAX;  // index of the word with bit 4 of all 32 weights, in Q5_0 and Q5_1
  uint32_t front_bytes = 0, back_bytes = 0;
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
constexpr BlockLayout kLayout<BlockQ2K> = {.front_halves = 0, .words = 16, .back_halves = 2, .front_bytes = 16};
template <>
constexpr BlockLayout kLayout<BlockQ3K> = {0, 27, 1};
template <>
constexpr BlockLayout kLayout<BlockQ4K> = {2, 35, 0};
template <>
constexpr BlockLayout kLayout<BlockQ5K> = {2, 43, 0};
template <>
constexpr BlockLayout kLayout<BlockQ6K> = {.front_halves = 0, .words = 48, .back_halves = 1, .back_bytes = 16};
template <>
constexpr BlockLayout kLayout<BlockIQ4NL> = {1, 4, 0};
template <>
constexpr BlockLayout kLayout<BlockIQ4XS> = {2, 33, 0};
template <>
constexpr BlockLayout kLayout<BlockMXFP4> = {.front_halves = 0, .words = 4, .back_halves = 0, .front_bytes = 1};

template <const int8_t (&values)[16], int divisor>
constexpr BlockLayout kLayout<BlockExpanded<values, divisor>> = {1, 34, 0};

// Place of word i among a block's words.
template <class Block>
constexpr uint32_t place_of_word(uint32_t i) {
  return i;
}
// Keeps ql and qh of the same weights together. For each half of the block: four words of qh with two bits of every
// second 16 weights, then eight of their ql; then the same for the other 16s.
template <>
constexpr uint32_t place_of_word<BlockQ6K>(uint32_t i) {
  const bool is_high = i >= 32;
  const uint32_t half = is_high ? (i - 32) / 8 : i / 16, which = i / 4 % 2, run = is_high ? 0 : 1 + i / 8 % 2;
  return (half * 2 + which) * 12 + run * 4 + i % 4;
}

// Moves bit 4 * quad + i to bit quad of byte i, so that one shift brings a quad's four bits to their bytes.
WARPCHAT_INLINE uint32_t by_quads(uint32_t bits) {
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    uint32_t b = bits >> i & 0x11111111u;  // every fourth bit, compacted below
    b = (b | b >> 3) & 0x03030303u;
    b = (b | b >> 6) & 0x000f000fu;
    b = (b | b >> 12) & 0xffu;
    result |= b << (8 * i);
  }
  return result;
}
WARPCHAT_INLINE uint32_t by_weights(uint32_t bits) {  // inverse of by_quads
  uint32_t result = 0;
  for (int quad = 0; quad < 8; ++quad)
    for (int i = 0; i < 4; ++i) result |= (bits >> (8 * i + quad) & 1u) << (4 * quad + i);
  return result;
}

// Calls visit(Element{}, offset, place, is_fifth_bits) for every element of a block: offset in the file's block, place
// in the group's.
template <class Block, class Visit>
WARPCHAT_INLINE void for_each_element(const Visit& visit) {
  constexpr BlockLayout layout = kLayout<Block>;
  static_assert(layout.front_bytes + layout.back_bytes + 2 * (layout.front_halves + layout.back_halves) +
                    4 * layout.words ==
                sizeof(Block));
  constexpr uint32_t kHalves = layout.front_bytes, kWords = kHalves + 2 * layout.front_halves,
                     kBackBytes = kWords + 4 * layout.words, kBack = kBackBytes + layout.back_bytes;
  const auto same_place = [&](auto element, uint32_t offset) { visit(element, offset, offset, false); };
  for (uint32_t i = 0; i < layout.front_bytes; ++i) same_place(uint8_t{}, i);
  for (uint32_t i = 0; i < layout.front_halves; ++i) same_place(uint16_t{}, kHalves + 2 * i);
  WARPCHAT_UNROLL
  for (uint32_t i = 0; i < layout.words; ++i)
    visit(uint32_t{}, kWords + 4 * i, kWords + 4 * place_of_word<Block>(i), i == layout.fifth_bits);
  for (uint32_t i = 0; i < layout.back_bytes; ++i) same_place(uint8_t{}, kBackBytes + i);
  for (uint32_t i = 0; i < layout.back_halves; ++i) same_place(uint16_t{}, kBack + 2 * i);
}

template <class Element>
WARPCHAT_INLINE Element read(const uint8_t* from) {
  Element e;
  __builtin_memcpy(&e, from, sizeof e);
  return e;
}
template <class Element>
WARPCHAT_INLINE void write(uint8_t* to, Element e) {
  __builtin_memcpy(to, &e, sizeof e);
}

template <class Block>
void pack(const PackGroup& p) {
  const uint64_t n_blocks = p.row_bytes / sizeof(Block);
  if (p.n_rows < kLanes) __builtin_memset(p.group, 0, n_blocks * kBlockBytes<Block>);
  uint8_t* to = p.group;
  for (uint64_t b = 0; b < n_blocks; ++b, to += kBlockBytes<Block>)
    for (uint32_t lane = 0; lane < p.n_rows; ++lane) {
      const uint8_t* from = p.rows + lane * p.row_bytes + b * sizeof(Block);
      for_each_element<Block>([&](auto element, uint32_t offset, uint32_t place, bool fifth_bits) {
        element = read<decltype(element)>(from + offset);
        if (fifth_bits) element = static_cast<decltype(element)>(by_quads(element));
        write(to + place * kLanes + sizeof element * lane, element);
      });
    }
}

template <class Block>
void unpack_row(const uint8_t* group, uint32_t lane, uint64_t row_bytes, uint8_t* row) {
  for (uint64_t at = 0; at < row_bytes; at += sizeof(Block), row += sizeof(Block), group += kBlockBytes<Block>) {
    for_each_element<Block>([&](auto element, uint32_t offset, uint32_t place, bool fifth_bits) {
      element = read<decltype(element)>(group + place * kLanes + sizeof element * lane);
      if (fifth_bits) element = static_cast<decltype(element)>(by_weights(element));
      write(row + offset, element);
    });
  }
}

}  // namespace
}  // namespace warpchat
