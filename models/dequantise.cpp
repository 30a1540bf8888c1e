// Each format has one function from block and index to weight, derived directly from the layout's description. Doubles
// hold all products and sums of a block's fields exactly, so only the conversion to the caller's type rounds.
#include "models/dequantise.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstring>

#include "models/grid_blocks.h"

namespace warpchat {
namespace {

int nibble(uint8_t byte, int which) { return byte >> (4 * which) & 15; }
int bit_pair(uint8_t byte, int which) { return byte >> (2 * which) & 3; }
int bit(uint8_t byte, int which) { return byte >> which & 1; }

double weight(float block, int) { return block; }
double weight(f16 block, int) { return to_float(block); }
double weight(bf16 block, int) { return to_float(block); }

double weight(const BlockQ4_0& b, int i) { return double{to_float(b.d)} * (nibble(b.qs[i % 16], i / 16) - 8); }

double weight(const BlockQ4_1& b, int i) {
  return double{to_float(b.d)} * nibble(b.qs[i % 16], i / 16) + double{to_float(b.m)};
}

double weight(const BlockQ5_0& b, int i) {
  const int q = nibble(b.qs[i % 16], i / 16) | bit(b.qh[i / 8], i % 8) << 4;
  return double{to_float(b.d)} * (q - 16);
}

double weight(const BlockQ5_1& b, int i) {
  const int q = nibble(b.qs[i % 16], i / 16) | bit(b.qh[i / 8], i % 8) << 4;
  return double{to_float(b.d)} * q + double{to_float(b.m)};
}

double weight(const BlockQ8_0& b, int i) { return double{to_float(b.d)} * b.qs[i]; }

double weight(const BlockQ2K& b, int i) {
  const int q = bit_pair(b.qs[i / 128 * 32 + i % 32], i / 32 % 4);
  const int scale = nibble(b.scales[i / 16], 0), min = nibble(b.scales[i / 16], 1);
  return double{to_float(b.d)} * (scale * q) - double{to_float(b.dmin)} * min;
}

double weight(const BlockQ3K& b, int i) {
  const int q = bit_pair(b.qs[i / 128 * 32 + i % 32], i / 32 % 4) | bit(b.hmask[i % 32], i / 32) << 2;
  return double{to_float(b.d)} * (q3k_scale(b.scales, i / 16) - 32) * (q - 4);
}

double weight(const BlockQ4K& b, int i) {
  const auto [scale, min] = scale_and_min(b.scales, i / 32);
  const int q = nibble(b.qs[i / 64 * 32 + i % 32], i / 32 % 2);
  return double{to_float(b.d)} * (scale * q) - double{to_float(b.dmin)} * min;
}

double weight(const BlockQ5K& b, int i) {
  const auto [scale, min] = scale_and_min(b.scales, i / 32);
  const int q = nibble(b.qs[i / 64 * 32 + i % 32], i / 32 % 2) | bit(b.qh[i % 32], i / 32) << 4;
  return double{to_float(b.d)} * (scale * q) - double{to_float(b.dmin)} * min;
}

double weight(const BlockQ6K& b, int i) {
  const int low = nibble(b.ql[i / 128 * 64 + i % 64], i / 64 % 2);
  const int high = bit_pair(b.qh[i / 128 * 32 + i % 32], i / 32 % 4);
  return double{to_float(b.d)} * b.scales[i / 16] * ((low | high << 4) - 32);
}

double weight(const BlockIQ4NL& b, int i) { return double{to_float(b.d)} * kIQ4Values[nibble(b.qs[i % 16], i / 16)]; }

double weight(const BlockIQ4XS& b, int i) {
  const int value = kIQ4Values[nibble(b.qs[i / 32 * 16 + i % 16], i / 16 % 2)];
  return double{to_float(b.d)} * (iq4xs_scale(b, i / 32) - 32) * value;
}

double weight(const BlockMXFP4& b, int i) { return std::ldexp(kMXFP4Values[nibble(b.qs[i % 16], i / 16)], b.e - 128); }

template <const int8_t (&values)[16], int divisor>
double weight(const BlockExpanded<values, divisor>& b, int i) {
  const int scale = 2 * nibble(b.scales[i / 32], i / 16 % 2) + 1;
  return double{to_float(b.d)} * scale / divisor * values[nibble(b.qs[i / 32 * 16 + i % 16], i / 16 % 2)];
}

// The block to read single weights from: grid blocks are expanded first.
template <class Block>
auto readable(const Block& b) {
  if constexpr (GridBlock<Block>)
    return expanded(b);
  else
    return b;
}

bool finite(f16 value) { return (value.bits & 0x7c00) != 0x7c00; }
bool finite(bf16 value) { return (value.bits & 0x7f80) != 0x7f80; }
bool finite(float value) { return (std::bit_cast<uint32_t>(value) & 0x7f800000) != 0x7f800000; }

template <class Block>
bool scales_finite(const Block& b) {
  if constexpr (!kHasCodes<Block>)
    return finite(b);
  else if constexpr (requires { b.dmin; })
    return finite(b.d) && finite(b.dmin);
  else if constexpr (requires { b.m; })
    return finite(b.d) && finite(b.m);
  else if constexpr (requires { b.e; })
    return b.e != 255;
  else
    return finite(b.d);
}

template <class Float>
void dequantise(TensorType type, std::span<const std::byte> row, std::span<Float> out) {
  assert(row.size() == bytes_per_row(type, out.size()));
  const size_t block_weights = traits(type).block_weights;
  with_block(type, [&](auto block) {
    for (size_t n = 0; n * block_weights < out.size(); ++n) {
      std::memcpy(&block, row.data() + n * sizeof(block), sizeof(block));
      const auto weights = readable(block);
      for (size_t i = 0; i < block_weights; ++i) {
        out[n * block_weights + i] = static_cast<Float>(weight(weights, static_cast<int>(i)));
      }
    }
  });
}

}  // namespace

void dequantise_row(TensorType type, std::span<const std::byte> row, std::span<double> out) {
  dequantise(type, row, out);
}

void dequantise_row(TensorType type, std::span<const std::byte> row, std::span<float> out) {
  dequantise(type, row, out);
}

bool scales_are_finite(TensorType type, std::span<const std::byte> data) {
  return with_block(type, [&](auto block) {
    assert(data.size() % sizeof(block) == 0);
    constexpr size_t kBatchBytes = 4096 * sizeof(block);  // no branch inside, so that the loop vectorises
    for (size_t begin = 0; begin < data.size(); begin += kBatchBytes) {
      const std::byte* batch = data.data() + begin;
      const size_t n_blocks = std::min(kBatchBytes, data.size() - begin) / sizeof(block);
      unsigned n_bad = 0;
      for (size_t i = 0; i < n_blocks; ++i) {
        decltype(block) one;
        std::memcpy(&one, batch + i * sizeof(one), sizeof(one));
        n_bad += scales_finite(one) ? 0 : 1;
      }
      if (n_bad != 0) return false;
    }
    return true;
  });
}

}  // namespace warpchat
