// A block is made in three steps: real scales for its sub-blocks, the scales as stored, and then the integers nearest
// to the weights under the stored scales; each format packs them as models/quant_blocks.h lays them out.
#include "models/quantise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>

#include "models/error.h"
#include "models/message.h"
#include "models/quant_blocks.h"
#include "models/quantise_fit.h"

namespace warpchat {
namespace {

using Weights = std::span<const float>;

f16 stored(float scale) {
  const f16 half = to_f16(scale);
  if ((half.bits & 0x7c00) == 0x7c00) {
    throw Error("cannot quantise: the scale " + std::to_string(scale) + " exceeds binary16's 65504");
  }
  return half;
}

float inverse_of(float scale) { return scale == 0 ? 0.0f : 1.0f / scale; }

float extreme_of(Weights x) {  // the signed value of largest magnitude
  return *std::max_element(x.begin(), x.end(), [](float a, float b) { return std::fabs(a) < std::fabs(b); });
}

// A weight counts by its size, and zero by the sub-block's: large weights carry most of a row's products.
template <size_t size>
std::array<float, size> importance_of(Weights x) {
  float square_sum = 0;
  for (float v : x) square_sum += v * v;
  const float rms = std::sqrt(square_sum / static_cast<float>(size));
  std::array<float, size> importance;
  for (size_t i = 0; i < size; ++i) importance[i] = rms + std::fabs(x[i]);
  return importance;
}

// The integers of a block of 32 under w = d * q + offset, in low .. high.
std::array<int, 32> integers(Weights x, float d, float offset, int low, int high) {
  std::array<int, 32> q;
  const float inverse = inverse_of(d);
  for (size_t i = 0; i < 32; ++i) q[i] = nearest((x[i] - offset) * inverse, low, high);
  return q;
}

template <class Block>
void pack_nibbles(Block& b, const std::array<int, 32>& q) {
  for (size_t i = 0; i < 16; ++i) b.qs[i] = static_cast<uint8_t>((q[i] & 15) | (q[i + 16] & 15) << 4);
}

template <class Block>
void pack_fifth_bits(Block& b, const std::array<int, 32>& q) {
  for (size_t i = 0; i < 32; ++i) b.qh[i / 8] = static_cast<uint8_t>(b.qh[i / 8] | (q[i] >> 4) << (i % 8));
}

void quantise(Weights x, float& out) { out = x[0]; }
void quantise(Weights x, f16& out) { out = to_f16(x[0]); }
void quantise(Weights x, bf16& out) { out = to_bf16(x[0]); }

void quantise(Weights x, BlockQ4_0& b) {
  b.d = stored(extreme_of(x) / -8);
  std::array<int, 32> q = integers(x, to_float(b.d), 0, -8, 7);
  for (int& v : q) v += 8;
  pack_nibbles(b, q);
}

void quantise(Weights x, BlockQ5_0& b) {
  b.d = stored(extreme_of(x) / -16);
  std::array<int, 32> q = integers(x, to_float(b.d), 0, -16, 15);
  for (int& v : q) v += 16;
  pack_nibbles(b, q), pack_fifth_bits(b, q);
}

void quantise(Weights x, BlockQ4_1& b) {
  const auto [least, most] = std::minmax_element(x.begin(), x.end());
  b.d = stored((*most - *least) / 15), b.m = stored(*least);
  pack_nibbles(b, integers(x, to_float(b.d), to_float(b.m), 0, 15));
}

void quantise(Weights x, BlockQ5_1& b) {
  const auto [least, most] = std::minmax_element(x.begin(), x.end());
  b.d = stored((*most - *least) / 31), b.m = stored(*least);
  const std::array<int, 32> q = integers(x, to_float(b.d), to_float(b.m), 0, 31);
  pack_nibbles(b, q), pack_fifth_bits(b, q);
}

void quantise(Weights x, BlockQ8_0& b) {
  b.d = stored(std::fabs(extreme_of(x)) / 127);
  const std::array<int, 32> q = integers(x, to_float(b.d), 0, -127, 127);
  std::copy(q.begin(), q.end(), b.qs);
}

using SuperBlockIntegers = std::array<uint8_t, 256>;

// A super-block of 256 / size sub-blocks with w = d * scale * q - dmin * min.
template <int size>
struct AffineParts {
  static constexpr int kSubBlocks = 256 / size;
  f16 d, dmin;
  std::array<uint8_t, kSubBlocks> scales, mins;
  SuperBlockIntegers q;
};

template <int size>
AffineParts<size> affine_parts(Weights x, int levels, int scale_levels) {
  constexpr int n = AffineParts<size>::kSubBlocks;
  std::array<AffineFit, n> fits;
  float most_scale = 0, most_min = 0;
  for (int s = 0; s < n; ++s) {
    const Weights sub = x.subspan(s * size, size);
    fits[s] = fit_affine(sub, importance_of<size>(sub), levels);
    most_scale = std::max(most_scale, fits[s].scale), most_min = std::max(most_min, fits[s].min);
  }
  AffineParts<size> parts{};
  parts.d = stored(most_scale / static_cast<float>(scale_levels));
  parts.dmin = stored(most_min / static_cast<float>(scale_levels));
  const float d = to_float(parts.d), dmin = to_float(parts.dmin);
  for (int s = 0; s < n; ++s) {
    parts.scales[s] = static_cast<uint8_t>(nearest(fits[s].scale * inverse_of(d), 0, scale_levels));
    parts.mins[s] = static_cast<uint8_t>(nearest(fits[s].min * inverse_of(dmin), 0, scale_levels));
    const float min = dmin * parts.mins[s], inverse = inverse_of(d * parts.scales[s]);
    for (int i = s * size; i < (s + 1) * size; ++i) {
      parts.q[i] = static_cast<uint8_t>(nearest((x[i] + min) * inverse, 0, levels));
    }
  }
  return parts;
}

// A super-block of 16 sub-blocks with w = d * scale * (q - offset), q in 0 .. 2 * offset - 1; scale in
// -scale_offset .. scale_offset - 1, stored as it is.
struct SymmetricParts {
  f16 d;
  std::array<int, 16> scales;
  SuperBlockIntegers q;
};

SymmetricParts symmetric_parts(Weights x, int offset, int scale_offset) {
  std::array<float, 16> fits;
  for (int s = 0; s < 16; ++s) {
    const Weights sub = x.subspan(s * 16, 16);
    fits[s] = fit_scale(sub, importance_of<16>(sub), -offset, offset - 1);
  }
  SymmetricParts parts{};
  parts.d = stored(extreme_of(fits) / static_cast<float>(-scale_offset));
  const float d = to_float(parts.d);
  for (int s = 0; s < 16; ++s) {
    parts.scales[s] = nearest(fits[s] * inverse_of(d), -scale_offset, scale_offset - 1);
    const float inverse = inverse_of(d * static_cast<float>(parts.scales[s]));
    for (int i = s * 16; i < (s + 1) * 16; ++i) {
      parts.q[i] = static_cast<uint8_t>(nearest(x[i] * inverse, -offset, offset - 1) + offset);
    }
  }
  return parts;
}

void pack_bit_pairs(uint8_t (&qs)[64], const SuperBlockIntegers& q, int shift) {
  for (int i = 0; i < 256; ++i) {
    uint8_t& byte = qs[i / 128 * 32 + i % 32];
    byte = static_cast<uint8_t>(byte | (q[i] >> shift & 3) << (i / 32 % 4 * 2));
  }
}

void pack_high_bits(uint8_t (&high)[32], const SuperBlockIntegers& q, int shift) {
  for (int i = 0; i < 256; ++i) high[i % 32] = static_cast<uint8_t>(high[i % 32] | (q[i] >> shift & 1) << (i / 32));
}

// Low nibbles, in runs of `run` weights: the first of two runs in the low halves of its bytes, the second in the high.
void pack_nibble_runs(uint8_t (&qs)[128], const SuperBlockIntegers& q, int run) {
  for (int i = 0; i < 256; ++i) {
    uint8_t& byte = qs[i / (2 * run) * run + i % run];
    byte = static_cast<uint8_t>(byte | (q[i] & 15) << (i / run % 2 * 4));
  }
}

void pack_scales_and_mins(uint8_t (&scales)[12], const AffineParts<32>& parts) {
  for (int s = 0; s < 4; ++s) {
    const int scale = parts.scales[s + 4], min = parts.mins[s + 4];
    scales[s] = static_cast<uint8_t>(parts.scales[s] | (scale >> 4) << 6);
    scales[s + 4] = static_cast<uint8_t>(parts.mins[s] | (min >> 4) << 6);
    scales[s + 8] = static_cast<uint8_t>((scale & 15) | (min & 15) << 4);
  }
}

void quantise(Weights x, BlockQ2K& b) {
  const auto parts = affine_parts<16>(x, 3, 15);
  b.d = parts.d, b.dmin = parts.dmin;
  for (int s = 0; s < 16; ++s) b.scales[s] = static_cast<uint8_t>(parts.scales[s] | parts.mins[s] << 4);
  pack_bit_pairs(b.qs, parts.q, 0);
}

void quantise(Weights x, BlockQ3K& b) {
  const SymmetricParts parts = symmetric_parts(x, 4, 32);
  b.d = parts.d;
  for (int s = 0; s < 16; ++s) {
    const int scale = parts.scales[s] + 32;
    b.scales[s % 8] = static_cast<uint8_t>(b.scales[s % 8] | (scale & 15) << (s / 8 * 4));
    b.scales[8 + s % 4] = static_cast<uint8_t>(b.scales[8 + s % 4] | (scale >> 4) << (s / 4 * 2));
  }
  pack_bit_pairs(b.qs, parts.q, 0), pack_high_bits(b.hmask, parts.q, 2);
}

void quantise(Weights x, BlockQ4K& b) {
  const auto parts = affine_parts<32>(x, 15, 63);
  b.d = parts.d, b.dmin = parts.dmin;
  pack_scales_and_mins(b.scales, parts), pack_nibble_runs(b.qs, parts.q, 32);
}

void quantise(Weights x, BlockQ5K& b) {
  const auto parts = affine_parts<32>(x, 31, 63);
  b.d = parts.d, b.dmin = parts.dmin;
  pack_scales_and_mins(b.scales, parts), pack_nibble_runs(b.qs, parts.q, 32), pack_high_bits(b.qh, parts.q, 4);
}

void quantise(Weights x, BlockQ6K& b) {
  const SymmetricParts parts = symmetric_parts(x, 32, 128);
  b.d = parts.d;
  std::copy(parts.scales.begin(), parts.scales.end(), b.scales);
  pack_nibble_runs(b.ql, parts.q, 64), pack_bit_pairs(b.qh, parts.q, 4);
}

template <class Block>
std::vector<std::byte> quantise_blocks(TensorType type, Weights x) {
  const size_t size = traits(type).block_weights;
  std::vector<std::byte> out(x.size() / size * sizeof(Block));
  for (size_t n = 0; n * size < x.size(); ++n) {
    Block block{};
    quantise(x.subspan(n * size, size), block);
    std::memcpy(out.data() + n * sizeof(Block), &block, sizeof(Block));
  }
  return out;
}

void check(TensorType type, Weights x) {
  const TensorTypeTraits& format = traits(type);
  if (x.size() % format.block_weights != 0) {
    throw Error("cannot quantise: " + std::string(format.name) + " needs rows of a multiple of " +
                std::to_string(format.block_weights) + " weights, found " + grouped(x.size()));
  }
  const auto bad = std::find_if(x.begin(), x.end(), [](float v) { return !std::isfinite(v); });
  if (bad != x.end()) {
    throw Error("cannot quantise: weight " + std::to_string(bad - x.begin()) + " of " + grouped(x.size()) + " is " +
                std::to_string(*bad));
  }
}

}  // namespace

std::vector<std::byte> quantise_row(TensorType type, std::span<const float> weights) {
  check(type, weights);
  switch (type) {
    case TensorType::kF32:
      return quantise_blocks<float>(type, weights);
    case TensorType::kF16:
      return quantise_blocks<f16>(type, weights);
    case TensorType::kBF16:
      return quantise_blocks<bf16>(type, weights);
    case TensorType::kQ4_0:
      return quantise_blocks<BlockQ4_0>(type, weights);
    case TensorType::kQ4_1:
      return quantise_blocks<BlockQ4_1>(type, weights);
    case TensorType::kQ5_0:
      return quantise_blocks<BlockQ5_0>(type, weights);
    case TensorType::kQ5_1:
      return quantise_blocks<BlockQ5_1>(type, weights);
    case TensorType::kQ8_0:
      return quantise_blocks<BlockQ8_0>(type, weights);
    case TensorType::kQ2_K:
      return quantise_blocks<BlockQ2K>(type, weights);
    case TensorType::kQ3_K:
      return quantise_blocks<BlockQ3K>(type, weights);
    case TensorType::kQ4_K:
      return quantise_blocks<BlockQ4K>(type, weights);
    case TensorType::kQ5_K:
      return quantise_blocks<BlockQ5K>(type, weights);
    case TensorType::kQ6_K:
      return quantise_blocks<BlockQ6K>(type, weights);
  }
  throw Error("cannot quantise to an unknown format");
}

}  // namespace warpchat
