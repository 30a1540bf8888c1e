// How lanes read each block format. A group holds kLanes rows. It stores block after block; within a block the fields
// of the file's struct in order, with elements interleaved by row: 1 or 2 bytes for scalar fields, 4-byte words for
// others. So element i of a field at byte `offset` is at (offset + i * size) * kLanes. Large blocks are vector-aligned:
// loads across cache lines kept Q6_K at two thirds of the memory's bandwidth. A Format returns four consecutive codes
// of every row as bytes of a word, and their conversion to weights: w = scale * code + lowest, or scale * (code +
// kLowest) where a format has that. Both are exact in float.
#pragma once
#include "engine/cpu/kernels/exact_dot.h"
#include "models/block_types.h"

namespace warpchat {
namespace {

template <class Block>  // a block of all rows of a group
constexpr size_t kBlockBytes = sizeof(Block) < 64 ? sizeof(Block) * kLanes : (sizeof(Block) + 3) / 4 * 4 * kLanes;

WARPCHAT_INLINE Words words_at(const uint8_t* block, size_t offset, int index) {
  return load<Words>(block + (offset + 4 * index) * kLanes);
}
template <class Narrow>
WARPCHAT_INLINE Words narrow_at(const uint8_t* block, size_t offset) {
  return load_narrow<Narrow>(block + offset * kLanes);
}
WARPCHAT_INLINE Floats halves_at(const uint8_t* block, size_t offset) { return load_halves(block + offset * kLanes); }

WARPCHAT_INLINE Words nibbles(Words w, int which) { return w >> (4 * which) & 0x0f0f0f0fu; }
WARPCHAT_INLINE Words bit_pairs(Words w, int which) { return w >> (2 * which) & 0x03030303u; }
// Bits of every byte selected by `mask`, after moving bit `from` to bit `to`.
WARPCHAT_INLINE Words moved(Words w, int from, int to, uint32_t mask) {
  return (from > to ? w >> (from - to) : w << (to - from)) & mask;
}
WARPCHAT_INLINE Words moved_bit(Words w, int from, int to) { return moved(w, from, to, 0x01010101u << to); }
WARPCHAT_INLINE Words byte_of(Words w, int which) { return w >> (8 * which) & 0xffu; }
WARPCHAT_INLINE Floats to_floats(Words w) { return to_floats(reinterpret_cast<Ints>(w)); }  // below 2^31

// Specialised below. kScaled weights share a scale; `sub` is the sub-block in the block, `quad` the four weights in it.
template <class Block>
struct Format;

template <class Block>
struct SimpleFormat {  // one scale per block of 32
  static constexpr int kWeights = 32, kScaled = 32;
  const uint8_t* block;
  WARPCHAT_INLINE explicit SimpleFormat(const uint8_t* at) : block(at) {}
  WARPCHAT_INLINE Floats scale(int) const { return halves_at(block, offsetof(Block, d)); }
  WARPCHAT_INLINE Words low_bits(int quad) const {
    return nibbles(words_at(block, offsetof(Block, qs), quad % 4), quad / 4);
  }
  // Packing moved bit 4 * quad + i of qh to bit quad of byte i.
  WARPCHAT_INLINE Words five_bits(int quad) const {
    return low_bits(quad) | moved_bit(words_at(block, offsetof(Block, qh), 0), quad, 4);
  }
};

template <>
struct Format<BlockQ4_0> : SimpleFormat<BlockQ4_0> {
  using SimpleFormat::SimpleFormat;
  WARPCHAT_INLINE Words codes(int, int quad) const { return low_bits(quad); }
  static constexpr int kLowest = -8;
};

template <>
struct Format<BlockQ4_1> : SimpleFormat<BlockQ4_1> {
  using SimpleFormat::SimpleFormat;
  WARPCHAT_INLINE Words codes(int, int quad) const { return low_bits(quad); }
  WARPCHAT_INLINE Floats lowest(int) const { return halves_at(block, offsetof(BlockQ4_1, m)); }
};

template <>
struct Format<BlockQ5_0> : SimpleFormat<BlockQ5_0> {
  using SimpleFormat::SimpleFormat;
  WARPCHAT_INLINE Words codes(int, int quad) const { return five_bits(quad); }
  static constexpr int kLowest = -16;
};

template <>
struct Format<BlockQ5_1> : SimpleFormat<BlockQ5_1> {
  using SimpleFormat::SimpleFormat;
  WARPCHAT_INLINE Words codes(int, int quad) const { return five_bits(quad); }
  WARPCHAT_INLINE Floats lowest(int) const { return halves_at(block, offsetof(BlockQ5_1, m)); }
};

template <>
struct Format<BlockQ8_0> : SimpleFormat<BlockQ8_0> {
  using SimpleFormat::SimpleFormat;
  WARPCHAT_INLINE Words codes(int, int quad) const {  // q, or q + 128
    return words_at(block, offsetof(BlockQ8_0, qs), quad) ^ (kSignedCodes ? 0 : 0x80808080u);
  }
  static constexpr int kLowest = kSignedCodes ? 0 : -128;
};

template <>
struct Format<BlockQ2K> {
  static constexpr int kWeights = 256, kScaled = 16;
  const uint8_t* block;
  Floats d, minus_dmin;
  WARPCHAT_INLINE explicit Format(const uint8_t* at)
      : block(at), d(halves_at(at, offsetof(BlockQ2K, d))), minus_dmin(-halves_at(at, offsetof(BlockQ2K, dmin))) {}
  WARPCHAT_INLINE Words codes(int sub, int quad) const {
    const int word = sub / 8 * 8 + sub % 2 * 4 + quad;
    return bit_pairs(words_at(block, offsetof(BlockQ2K, qs), word), sub / 2 % 4);
  }
  WARPCHAT_INLINE Words scales(int sub) const { return narrow_at<Bytes>(block, offsetof(BlockQ2K, scales) + sub); }
  WARPCHAT_INLINE Floats scale(int sub) const { return d * to_floats(scales(sub) & 15u); }
  WARPCHAT_INLINE Floats lowest(int sub) const { return minus_dmin * to_floats(scales(sub) >> 4); }
};

template <>
struct Format<BlockQ3K> {
  static constexpr int kWeights = 256, kScaled = 16;
  const uint8_t* block;
  Floats d;
  WARPCHAT_INLINE explicit Format(const uint8_t* at) : block(at), d(halves_at(at, offsetof(BlockQ3K, d))) {}
  WARPCHAT_INLINE Words codes(int sub, int quad) const {
    const int group = sub / 2, word = sub % 2 * 4 + quad;  // group: 32 weights
    return bit_pairs(words_at(block, offsetof(BlockQ3K, qs), group / 4 * 8 + word), group % 4) |
           moved_bit(words_at(block, offsetof(BlockQ3K, hmask), word), group, 2);
  }
  WARPCHAT_INLINE Floats scale(int sub) const {
    const Words low = nibbles(words_at(block, offsetof(BlockQ3K, scales), sub / 4 % 2), sub / 8);
    const Words high = moved(words_at(block, offsetof(BlockQ3K, scales), 2), sub / 4 * 2, 4, 0x30303030u);
    return d * to_floats(reinterpret_cast<Ints>(byte_of(low | high, sub % 4)) - 32);
  }
  static constexpr int kLowest = -4;
};

template <class Block>
struct TwoLevelFormat {  // Q4_K and Q5_K: six-bit scales and minimums for eight sub-blocks
  static constexpr int kWeights = 256, kScaled = 32;
  const uint8_t* block;
  Floats d, minus_dmin;
  Words scale_words[2], min_words[2];  // a byte per sub-block; unpacked as by scale_and_min in models/quant_blocks.h
  WARPCHAT_INLINE explicit TwoLevelFormat(const uint8_t* at)
      : block(at), d(halves_at(at, offsetof(Block, d))), minus_dmin(-halves_at(at, offsetof(Block, dmin))) {
    const Words front = words_at(at, offsetof(Block, scales), 0), middle = words_at(at, offsetof(Block, scales), 1),
                back = words_at(at, offsetof(Block, scales), 2);
    scale_words[0] = front & 0x3f3f3f3fu;
    min_words[0] = middle & 0x3f3f3f3fu;
    scale_words[1] = nibbles(back, 0) | (front >> 2 & 0x30303030u);
    min_words[1] = nibbles(back, 1) | (middle >> 2 & 0x30303030u);
  }
  WARPCHAT_INLINE Words low_bits(int sub, int quad) const {
    return nibbles(words_at(block, offsetof(Block, qs), sub / 2 * 8 + quad), sub % 2);
  }
  WARPCHAT_INLINE Floats scale(int sub) const { return d * to_floats(byte_of(scale_words[sub / 4], sub % 4)); }
  WARPCHAT_INLINE Floats lowest(int sub) const { return minus_dmin * to_floats(byte_of(min_words[sub / 4], sub % 4)); }
};

template <>
struct Format<BlockQ4K> : TwoLevelFormat<BlockQ4K> {
  using TwoLevelFormat::TwoLevelFormat;
  WARPCHAT_INLINE Words codes(int sub, int quad) const { return low_bits(sub, quad); }
};

template <>
struct Format<BlockQ5K> : TwoLevelFormat<BlockQ5K> {
  using TwoLevelFormat::TwoLevelFormat;
  WARPCHAT_INLINE Words codes(int sub, int quad) const {
    return low_bits(sub, quad) | moved_bit(words_at(block, offsetof(BlockQ5K, qh), quad), sub, 4);
  }
};

template <>
struct Format<BlockQ6K> {
  static constexpr int kWeights = 256, kScaled = 16;
  const uint8_t* block;
  Floats d;
  WARPCHAT_INLINE explicit Format(const uint8_t* at) : block(at), d(halves_at(at, offsetof(BlockQ6K, d))) {}
  WARPCHAT_INLINE Words codes(int sub, int quad) const {
    const int group = sub / 2 % 4, at = (sub / 8 * 2 + sub % 2) * 12 + quad;  // see place_of_word
    return nibbles(words_at(block, 0, at + 4 + group % 2 * 4), group / 2) |
           moved(words_at(block, 0, at), 2 * group, 4, 0x30303030u);
  }
  WARPCHAT_INLINE Floats scale(int sub) const {
    return d * to_floats(reinterpret_cast<Ints>(narrow_at<SignedBytes>(block, offsetof(BlockQ6K, scales) + sub)));
  }
  static constexpr int kLowest = -32;
};

// Codes that index a table: the bytes are table values, or their distance to the least one.
template <const int8_t (&values)[16]>
struct TableCodes {
  static constexpr int kMin = [] {
    int min = 0;
    if (kSignedCodes) return min;
    for (int8_t value : values) min = value < min ? value : min;
    return min;
  }();
  static constexpr ByteTable kTable = [] {
    ByteTable table = {};
    for (int i = 0; i < 16; ++i) table.bytes[i] = static_cast<uint8_t>(values[i] - kMin);
    return table;
  }();
};

template <>
struct Format<BlockIQ4NL> : SimpleFormat<BlockIQ4NL> {
  using SimpleFormat::SimpleFormat;
  using Codes = TableCodes<kIQ4Values>;
  WARPCHAT_INLINE Words codes(int, int quad) const { return look_up(Codes::kTable, low_bits(quad)); }
  static constexpr int kLowest = Codes::kMin;
};

template <>
struct Format<BlockIQ4XS> {
  static constexpr int kWeights = 256, kScaled = 32;
  using Codes = TableCodes<kIQ4Values>;
  const uint8_t* block;
  Floats d;
  WARPCHAT_INLINE explicit Format(const uint8_t* at) : block(at), d(halves_at(at, offsetof(BlockIQ4XS, d))) {}
  WARPCHAT_INLINE Words codes(int sub, int quad) const {
    const Words word = words_at(block, offsetof(BlockIQ4XS, qs), sub * 4 + quad % 4);
    return look_up(Codes::kTable, nibbles(word, quad / 4));
  }
  WARPCHAT_INLINE Floats scale(int sub) const {
    const Words low = words_at(block, offsetof(BlockIQ4XS, scales_l), 0) >> (4 * sub) & 15u;
    const Words high = narrow_at<Halves>(block, offsetof(BlockIQ4XS, scales_h)) >> (2 * sub) & 3u;
    return d * to_floats(reinterpret_cast<Ints>(low | high << 4) - 32);
  }
  static constexpr int kLowest = Codes::kMin;
};

template <>
struct Format<BlockMXFP4> {
  static constexpr int kWeights = 32, kScaled = 32;
  using Codes = TableCodes<kMXFP4Values>;
  const uint8_t* block;
  WARPCHAT_INLINE explicit Format(const uint8_t* at) : block(at) {}
  WARPCHAT_INLINE Words codes(int, int quad) const {
    return look_up(Codes::kTable, nibbles(words_at(block, offsetof(BlockMXFP4, qs), quad % 4), quad / 4));
  }
  // 2^(e - 127), subnormal for e = 0, and half of it.
  WARPCHAT_INLINE Floats scale(int) const {
    const Words exponent = narrow_at<Bytes>(block, offsetof(BlockMXFP4, e));
    const Words power = exponent == 0 ? Words{} + 0x00400000u : exponent << 23;
    return reinterpret_cast<Floats>(power) * 0.5f;
  }
  static constexpr int kLowest = Codes::kMin;
};

template <const int8_t (&values)[16], int divisor>
struct Format<BlockExpanded<values, divisor>> {
  static constexpr int kWeights = 256, kScaled = 16;
  using Block = BlockExpanded<values, divisor>;
  using Codes = TableCodes<values>;
  const uint8_t* block;
  Floats d;
  WARPCHAT_INLINE explicit Format(const uint8_t* at)
      : block(at), d(halves_at(at, offsetof(Block, d)) * (1.0f / divisor)) {}
  WARPCHAT_INLINE Words codes(int sub, int quad) const {
    return look_up(Codes::kTable, nibbles(words_at(block, offsetof(Block, qs), sub / 2 * 4 + quad), sub % 2));
  }
  WARPCHAT_INLINE Floats scale(int sub) const {
    const Words nibble = words_at(block, offsetof(Block, scales), sub / 8) >> (4 * (sub % 8)) & 15u;
    return d * to_floats(nibble << 1 | 1u);
  }
  static constexpr int kLowest = Codes::kMin;
};

// Formats without blocks: weight i of every row.
template <>
struct Format<float> {
  static WARPCHAT_INLINE Floats weights(const uint8_t* group, size_t i) { return load<Floats>(group + i * 4 * kLanes); }
};
template <>
struct Format<f16> {
  static WARPCHAT_INLINE Floats weights(const uint8_t* group, size_t i) { return load_halves(group + i * 2 * kLanes); }
};
template <>
struct Format<bf16> {
  static WARPCHAT_INLINE Floats weights(const uint8_t* group, size_t i) { return load_bfloats(group + i * 2 * kLanes); }
};

}  // namespace
}  // namespace warpchat
