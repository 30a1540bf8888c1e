// A description of where each format keeps its codes' bits drives the packing.
#include "kernels/matmul/weight_layout.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "models/block_types.h"

namespace warpchat {
namespace {

constexpr int kUnit = 32;
using Codes = uint8_t[kUnit];

// Position of part of a code, in bits of a byte of the block.
struct BitsAt {
  size_t offset;
  int shift;
};

// Positions of the low and high bits of code i in a block's unit.
template <class Block>
struct Fields;

template <class Block>
struct NibbleFields {  // for formats with one block per unit
  static constexpr int kLowBits = 4;
  static BitsAt low(int, int i) { return {offsetof(Block, qs) + i % 16, i / 16 * 4}; }
};
template <>
struct Fields<BlockQ4_0> : NibbleFields<BlockQ4_0> {};
template <>
struct Fields<BlockQ4_1> : NibbleFields<BlockQ4_1> {};
template <>
struct Fields<BlockQ5_0> : NibbleFields<BlockQ5_0> {
  static constexpr int kHighBits = 1;
  static BitsAt high(int, int i) { return {offsetof(BlockQ5_0, qh) + i / 8, i % 8}; }
};
template <>
struct Fields<BlockQ5_1> : NibbleFields<BlockQ5_1> {
  static constexpr int kHighBits = 1;
  static BitsAt high(int, int i) { return {offsetof(BlockQ5_1, qh) + i / 8, i % 8}; }
};
template <>
struct Fields<BlockIQ4NL> : NibbleFields<BlockIQ4NL> {};
template <>
struct Fields<BlockMXFP4> : NibbleFields<BlockMXFP4> {};
template <>
struct Fields<BlockIQ4XS> {
  static constexpr int kLowBits = 4;
  static BitsAt low(int unit, int i) { return {offsetof(BlockIQ4XS, qs) + unit * 16 + i % 16, i / 16 * 4}; }
};
template <const int8_t (&values)[16], int divisor>
struct Fields<BlockExpanded<values, divisor>> {
  static constexpr int kLowBits = 4;
  static BitsAt low(int unit, int i) { return {offsetof(BlockIQ2Expanded, qs) + unit * 16 + i % 16, i / 16 * 4}; }
};
template <>
struct Fields<BlockQ8_0> {
  static constexpr int kLowBits = 8;
  static BitsAt low(int, int i) { return {offsetof(BlockQ8_0, qs) + i, 0}; }
};
template <>
struct Fields<BlockQ2K> {
  static constexpr int kLowBits = 2;
  static BitsAt low(int unit, int i) { return {offsetof(BlockQ2K, qs) + unit / 4 * 32 + i, unit % 4 * 2}; }
};
template <>
struct Fields<BlockQ3K> {
  static constexpr int kLowBits = 2, kHighBits = 1;
  static BitsAt low(int unit, int i) { return {offsetof(BlockQ3K, qs) + unit / 4 * 32 + i, unit % 4 * 2}; }
  static BitsAt high(int unit, int i) { return {offsetof(BlockQ3K, hmask) + i, unit}; }
};
template <>
struct Fields<BlockQ4K> {
  static constexpr int kLowBits = 4;
  static BitsAt low(int unit, int i) { return {offsetof(BlockQ4K, qs) + unit / 2 * 32 + i, unit % 2 * 4}; }
};
template <>
struct Fields<BlockQ5K> {
  static constexpr int kLowBits = 4, kHighBits = 1;
  static BitsAt low(int unit, int i) { return {offsetof(BlockQ5K, qs) + unit / 2 * 32 + i, unit % 2 * 4}; }
  static BitsAt high(int unit, int i) { return {offsetof(BlockQ5K, qh) + i, unit}; }
};
template <>
struct Fields<BlockQ6K> {
  static constexpr int kLowBits = 4, kHighBits = 2;
  static BitsAt low(int unit, int i) {
    return {offsetof(BlockQ6K, ql) + unit / 4 * 64 + unit % 2 * 32 + i, unit / 2 % 2 * 4};
  }
  static BitsAt high(int unit, int i) { return {offsetof(BlockQ6K, qh) + unit / 4 * 32 + i, unit % 4 * 2}; }
};

template <class Block>
concept HasHigh = requires {
  Fields<Block>::high(0, 0);
};

// Index of the code at bit `at` of byte `byte` in a unit of a stream, for codes of `bits` bits.
constexpr int code_at(int bits, int byte, int at) {
  if (bits == 4) return byte + 4 * at;
  if (bits == 2) return byte / 4 * 16 + byte % 4 + 2 * at;
  return bits == 1 ? byte + 4 * at : byte;
}

template <int bits>
void put(const Codes& codes, std::byte* stream) {
  for (int byte = 0; byte < 4 * bits; ++byte) {
    unsigned value = 0;
    for (int at = 0; at < 8; at += bits) value |= (codes[code_at(bits, byte, at)] & ((1u << bits) - 1)) << at;
    stream[byte] = std::byte(value);
  }
}

// A unit's bytes in the scale stream.
template <class Block>
constexpr uint32_t kScaleBytes = requires(Block b) {
  b.scales;
}
? 2 : 0;
template <>
constexpr uint32_t kScaleBytes<BlockIQ4XS> = 1;
template <>
constexpr uint32_t kScaleBytes<BlockMXFP4> = 1;

template <const int8_t (&values)[16], int divisor>
constexpr uint32_t kScaleBytes<BlockExpanded<values, divisor>> = 1;

struct ScaleBytes {
  uint8_t first, second;
};
template <class Block>
ScaleBytes read_scales(const Block& b, int unit) {
  if constexpr (std::is_same_v<Block, BlockIQ4XS>) {
    return {iq4xs_scale(b, unit), 0};
  } else if constexpr (std::is_same_v<Block, BlockMXFP4>) {
    return {b.e, 0};
  } else if constexpr (kScaleBytes<Block> == 1) {
    return {b.scales[unit], 0};
  } else if constexpr (std::is_same_v<Block, BlockQ3K>) {
    return {q3k_scale(b.scales, 2 * unit), q3k_scale(b.scales, 2 * unit + 1)};
  } else if constexpr (sizeof b.scales == 12) {
    const auto [scale, min] = scale_and_min(b.scales, unit);
    return {scale, min};
  } else {
    return {static_cast<uint8_t>(b.scales[2 * unit]), static_cast<uint8_t>(b.scales[2 * unit + 1])};
  }
}

// The block's f16 numbers, in the order of its head.
template <class Block, class Visit>
void for_each_head(Block& b, Visit visit) {
  if constexpr (requires { b.d; }) visit(b.d);
  if constexpr (requires { b.dmin; }) visit(b.dmin);
  if constexpr (requires { b.m; }) visit(b.m);
}

template <class Block>
void pack_unit(const PackedStreams& s, const Block& block, int sub, uint64_t unit, std::byte* row) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&block);
  using Of = Fields<Block>;
  Codes codes;
  for (int i = 0; i < kUnit; ++i) {
    const BitsAt at = Of::low(sub, i);
    codes[i] = static_cast<uint8_t>(bytes[at.offset] >> at.shift);  // `put` masks the bits
  }
  if constexpr (Of::kLowBits == 8) {  // in two consecutive streams
    std::memcpy(row + unit * 16, codes, 16);
    std::memcpy(row + s.n_units * uint64_t{16} + unit * 16, codes + 16, 16);
  } else {
    put<Of::kLowBits>(codes, row + unit * 4 * Of::kLowBits);
  }
  if constexpr (HasHigh<Block>) {
    for (int i = 0; i < kUnit; ++i) {
      const BitsAt at = Of::high(sub, i);
      codes[i] = static_cast<uint8_t>(bytes[at.offset] >> at.shift);
    }
    put<Of::kHighBits>(codes, row + s.high + unit * 4 * Of::kHighBits);
  }
  if constexpr (kScaleBytes<Block> != 0) {
    const ScaleBytes scales = read_scales(block, sub);
    std::memcpy(row + s.scales + unit * kScaleBytes<Block>, &scales, kScaleBytes<Block>);
  }
}

template <class Block>
void pack_row(const PackedStreams& s, const std::byte* blocks, std::byte* row) {
  for (uint64_t unit = 0; unit < s.n_units; blocks += sizeof(Block)) {
    Block block;
    std::memcpy(&block, blocks, sizeof block);
    std::byte* head = row + s.heads + unit / s.units_per_head * s.head_bytes;
    for_each_head(block, [&](const f16& number) {
      std::memcpy(head, &number, 2);
      head += 2;
    });
    for (uint32_t sub = 0; sub < s.units_per_head; ++sub) pack_unit(s, block, static_cast<int>(sub), unit++, row);
  }
}

// The fields that do not depend on the number of units.
template <class Block>
PackedStreams unit_streams() {
  PackedStreams s = {};
  s.unit_weights = kHasCodes<Block> ? kUnit : 16 / sizeof(Block);
  if constexpr (!kHasCodes<Block>) {
    s.low_bits = 8 * sizeof(Block);
  } else {
    s.low_bits = Fields<Block>::kLowBits;
    if constexpr (HasHigh<Block>) s.high_bits = Fields<Block>::kHighBits;
    s.scale_bytes = kScaleBytes<Block>;
    Block block;
    for_each_head(block, [&](const f16& number) { s.head_bytes += sizeof number; });
  }
  return s;
}

}  // namespace

bool is_packable(TensorType type, uint32_t k) { return k > 0 && k % traits(type).block_weights == 0; }

PackedStreams packed_streams(TensorType type, uint32_t k) {
  assert(is_packable(type, k));
  PackedStreams s = KernelBlocks::visit(type, [](auto block) { return unit_streams<decltype(block)>(); });
  s.n_units = static_cast<uint32_t>((uint64_t{k} + s.unit_weights - 1) / s.unit_weights);
  s.units_per_head = std::max(1u, traits(type).block_weights / kUnit);
  const uint64_t n_units = s.n_units;
  s.high = n_units * s.unit_weights * s.low_bits / 8;
  const uint64_t high_end = s.high + n_units * kUnit * s.high_bits / 8;
  const uint64_t n_heads = n_units / s.units_per_head;
  // Streams of four bytes precede streams of two, so that each is aligned.
  s.heads = s.head_bytes == 2 ? high_end + n_units * s.scale_bytes : high_end;
  s.scales = s.head_bytes == 2 ? high_end : high_end + n_heads * s.head_bytes;
  s.end = high_end + n_heads * s.head_bytes + n_units * s.scale_bytes;
  return s;
}

uint64_t packed_bytes_per_row(TensorType type, uint32_t k) { return (packed_streams(type, k).end + 15) / 16 * 16; }

void pack_rows(TensorType type, uint32_t k, uint64_t n_rows, std::span<const std::byte> blocks,
               std::span<std::byte> packed) {
  const uint64_t row_bytes = bytes_per_row(type, k), packed_bytes = packed_bytes_per_row(type, k);
  assert(blocks.size() == n_rows * row_bytes && packed.size() == n_rows * packed_bytes);
  const PackedStreams streams = packed_streams(type, k);
  for (uint64_t row = 0; row < n_rows; ++row) {
    const std::byte* from = blocks.data() + row * row_bytes;
    std::byte* to = packed.data() + row * packed_bytes;
    std::memset(to + packed_bytes - 16, 0, 16);  // the padding is shorter than that
    KernelBlocks::visit(type, [&](auto block) {
      if constexpr (kHasCodes<decltype(block)>)
        pack_row<decltype(block)>(streams, from, to);
      else
        std::memcpy(to, from, row_bytes);
    });
  }
}

}  // namespace warpchat
