// Field positions of the IQ2 and IQ3 formats, and the blocks of four-bit codes that replace them in kernels: exactly
// the same weights, in 4.3 bits each.
#pragma once
#include <algorithm>
#include <cstring>
#include <span>

#include "models/block_types.h"
#include "models/grids.h"

namespace warpchat {

// A bit field of a block, whose bytes form one little-endian number.
struct BlockBits {
  size_t at;
  int width;  // 0 if the format lacks the field; at most 9
};

template <class Block>
uint32_t read_bits(const Block& block, BlockBits bits) {
  const size_t first = std::min(bits.at / 8, sizeof(Block) - 4);
  uint32_t word;
  std::memcpy(&word, reinterpret_cast<const std::byte*>(&block) + first, sizeof word);
  return word >> (bits.at - 8 * first) & ((1u << bits.width) - 1);
}

// kGroup weights share a grid entry, kScaled share a scale. index, high: low and high bits of the entry's number, by
// group. signs: of eight weights, the first one's in the lowest bit. scale: by sub-block. With seven signs, the eighth
// makes the number of negative ones even.
template <class Block>
struct GridFields;

template <>
struct GridFields<BlockIQ2XXS> {
  using Expanded = BlockIQ2Expanded;
  static constexpr std::span<const uint16_t> kGrid = kIQ2XXSGrid;
  static constexpr int kGroup = 8, kScaled = 32;
  static constexpr BlockBits index(size_t group) { return {16 + group / 4 * 64 + group % 4 * 8, 8}; }
  static constexpr BlockBits high(size_t) { return {}; }
  static constexpr BlockBits signs(size_t eight) { return {16 + eight / 4 * 64 + 32 + eight % 4 * 7, 7}; }
  static constexpr BlockBits scale(size_t sub) { return {16 + sub * 64 + 60, 4}; }
};

template <>
struct GridFields<BlockIQ2XS> {
  using Expanded = BlockIQ2Expanded;
  static constexpr std::span<const uint16_t> kGrid = kIQ2XSGrid;
  static constexpr int kGroup = 8, kScaled = 16;
  static constexpr BlockBits index(size_t group) { return {16 + group * 16, 9}; }
  static constexpr BlockBits high(size_t) { return {}; }
  static constexpr BlockBits signs(size_t eight) { return {16 + eight * 16 + 9, 7}; }
  static constexpr BlockBits scale(size_t sub) { return {8 * offsetof(BlockIQ2XS, scales) + sub * 4, 4}; }
};

template <>
struct GridFields<BlockIQ2S> {
  using Expanded = BlockIQ2Expanded;
  static constexpr std::span<const uint16_t> kGrid = kIQ2SGrid;
  static constexpr int kGroup = 8, kScaled = 16;
  static constexpr BlockBits index(size_t group) { return {8 * offsetof(BlockIQ2S, qs) + group * 8, 8}; }
  static constexpr BlockBits high(size_t group) { return {8 * offsetof(BlockIQ2S, qh) + group * 2, 2}; }
  static constexpr BlockBits signs(size_t eight) { return {8 * offsetof(BlockIQ2S, signs) + eight * 8, 8}; }
  static constexpr BlockBits scale(size_t sub) { return {8 * offsetof(BlockIQ2S, scales) + sub * 4, 4}; }
};

template <>
struct GridFields<BlockIQ3XXS> {
  using Expanded = BlockIQ3XXSExpanded;
  static constexpr std::span<const uint16_t> kGrid = kIQ3XXSGrid;
  static constexpr int kGroup = 4, kScaled = 32;
  static constexpr size_t kSigns = 8 * offsetof(BlockIQ3XXS, signs_and_scales);
  static constexpr BlockBits index(size_t group) { return {8 * offsetof(BlockIQ3XXS, qs) + group * 8, 8}; }
  static constexpr BlockBits high(size_t) { return {}; }
  static constexpr BlockBits signs(size_t eight) { return {kSigns + eight / 4 * 32 + eight % 4 * 7, 7}; }
  static constexpr BlockBits scale(size_t sub) { return {kSigns + sub * 32 + 28, 4}; }
};

template <>
struct GridFields<BlockIQ3S> {
  using Expanded = BlockIQ3SExpanded;
  static constexpr std::span<const uint16_t> kGrid = kIQ3SGrid;
  static constexpr int kGroup = 4, kScaled = 32;
  static constexpr BlockBits index(size_t group) { return {8 * offsetof(BlockIQ3S, qs) + group * 8, 8}; }
  static constexpr BlockBits high(size_t group) { return {8 * offsetof(BlockIQ3S, qh) + group, 1}; }
  static constexpr BlockBits signs(size_t eight) { return {8 * offsetof(BlockIQ3S, signs) + eight * 8, 8}; }
  static constexpr BlockBits scale(size_t sub) { return {8 * offsetof(BlockIQ3S, scales) + sub * 4, 4}; }
};

template <class Block>
concept GridBlock = requires {
  typename GridFields<Block>::Expanded;
};

// Magnitude of weight i (of kGroup) in an entry, as its rank among the magnitudes.
template <GridBlock Block>
constexpr int magnitude_of(uint16_t entry, size_t i) {
  constexpr int kBits = 16 / GridFields<Block>::kGroup;
  return entry >> (kBits * static_cast<int>(i)) & ((1 << kBits) - 1);
}

// Code of a weight in an expanded block: values are sorted, those of both signs in one table.
template <GridBlock Block>
constexpr int expanded_code(int magnitude, bool is_negative) {
  constexpr int kMagnitudes = GridFields<Block>::kGroup == 8 ? 3 : 8;
  return is_negative ? kMagnitudes - 1 - magnitude : kMagnitudes + magnitude;
}

// Expanded codes of the eight weights from 8 * eight on.
template <GridBlock Block>
void read_codes(const Block& block, size_t eight, uint8_t (&codes)[8]) {
  using Fields = GridFields<Block>;
  const BlockBits sign_bits = Fields::signs(eight);
  uint32_t signs = read_bits(block, sign_bits);
  if (sign_bits.width == 7) signs |= static_cast<uint32_t>(std::popcount(signs) & 1) << 7;
  for (size_t first = 0; first < 8; first += Fields::kGroup) {
    const size_t group = (8 * eight + first) / Fields::kGroup;
    const uint32_t high = read_bits(block, Fields::high(group)) << Fields::index(group).width;
    const uint16_t entry = Fields::kGrid[read_bits(block, Fields::index(group)) | high];
    for (size_t i = 0; i < Fields::kGroup; ++i) {
      const bool is_negative = signs >> (first + i) & 1;
      codes[first + i] = static_cast<uint8_t>(expanded_code<Block>(magnitude_of<Block>(entry, i), is_negative));
    }
  }
}

template <GridBlock Block>
typename GridFields<Block>::Expanded expanded(const Block& block) {
  typename GridFields<Block>::Expanded out = {};
  out.d = block.d;
  for (size_t eight = 0; eight < 32; ++eight) {
    uint8_t codes[8];
    read_codes(block, eight, codes);
    uint8_t* to = out.qs + eight / 4 * 16 + eight % 2 * 8;
    for (int i = 0; i < 8; ++i) to[i] = static_cast<uint8_t>(to[i] | codes[i] << (eight / 2 % 2 * 4));
  }
  for (size_t sub = 0; sub < 16; ++sub) {
    const uint32_t scale = read_bits(block, GridFields<Block>::scale(sub * 16 / GridFields<Block>::kScaled));
    out.scales[sub / 2] = static_cast<uint8_t>(out.scales[sub / 2] | scale << (sub % 2 * 4));
  }
  return out;
}

}  // namespace warpchat
