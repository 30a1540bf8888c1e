// Three steps per block: ideal sub-block scales, stored scales, then the integers nearest to the weights under the
// stored scales. Each format packs them as in models/quant_blocks.h.
#include "models/quantise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>

#include "models/error.h"
#include "models/grid_blocks.h"
#include "models/quantise_fit.h"
#include "models/text_format.h"

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

float extreme_of(Weights x) {  // signed value of largest magnitude
  return *std::max_element(x.begin(), x.end(), [](float a, float b) { return std::fabs(a) < std::fabs(b); });
}

// Importance of a weight: its magnitude, or the sub-block's for zero, since large weights dominate a row's dot
// products.
template <size_t size>
std::array<float, size> importance_of(Weights x) {
  float square_sum = 0;
  for (float v : x) square_sum += v * v;
  const float rms = std::sqrt(square_sum / static_cast<float>(size));
  std::array<float, size> importance;
  for (size_t i = 0; i < size; ++i) importance[i] = rms + std::fabs(x[i]);
  return importance;
}

// Integers of a block of 32 under w = d * q + offset, in low .. high.
std::array<int, 32> integers(Weights x, float d, float offset, int low, int high) {
  std::array<int, 32> q;
  const float inverse = inverse_of(d);
  for (size_t i = 0; i < 32; ++i) q[i] = nearest((x[i] - offset) * inverse, low, high);
  return q;
}

void pack_nibbles(uint8_t* qs, const std::array<int, 32>& q) {
  for (size_t i = 0; i < 16; ++i) qs[i] = static_cast<uint8_t>((q[i] & 15) | (q[i + 16] & 15) << 4);
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
  pack_nibbles(b.qs, q);
}

void quantise(Weights x, BlockQ5_0& b) {
  b.d = stored(extreme_of(x) / -16);
  std::array<int, 32> q = integers(x, to_float(b.d), 0, -16, 15);
  for (int& v : q) v += 16;
  pack_nibbles(b.qs, q), pack_fifth_bits(b, q);
}

void quantise(Weights x, BlockQ4_1& b) {
  const auto [min, max] = std::minmax_element(x.begin(), x.end());
  b.d = stored((*max - *min) / 15), b.m = stored(*min);
  pack_nibbles(b.qs, integers(x, to_float(b.d), to_float(b.m), 0, 15));
}

void quantise(Weights x, BlockQ5_1& b) {
  const auto [min, max] = std::minmax_element(x.begin(), x.end());
  b.d = stored((*max - *min) / 31), b.m = stored(*min);
  const std::array<int, 32> q = integers(x, to_float(b.d), to_float(b.m), 0, 31);
  pack_nibbles(b.qs, q), pack_fifth_bits(b, q);
}

void quantise(Weights x, BlockQ8_0& b) {
  b.d = stored(std::fabs(extreme_of(x)) / 127);
  const std::array<int, 32> q = integers(x, to_float(b.d), 0, -127, 127);
  std::copy(q.begin(), q.end(), b.qs);
}

using SuperBlockIntegers = std::array<uint8_t, 256>;

// Super-block of 256 / size sub-blocks with w = d * scale * q - dmin * min.
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
  float max_scale = 0, max_min = 0;
  for (int s = 0; s < n; ++s) {
    const Weights sub = x.subspan(s * size, size);
    fits[s] = fit_affine(sub, importance_of<size>(sub), levels);
    max_scale = std::max(max_scale, fits[s].scale), max_min = std::max(max_min, fits[s].min);
  }
  AffineParts<size> parts{};
  parts.d = stored(max_scale / static_cast<float>(scale_levels));
  parts.dmin = stored(max_min / static_cast<float>(scale_levels));
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

// Super-block of 16 sub-blocks with w = d * scale * (q - offset), q in 0 .. 2 * offset - 1; stored scale in
// -scale_offset .. scale_offset - 1.
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

// Packs low nibbles in runs of `run` weights: the first of two runs into low halves of bytes, the second into high
// halves.
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

// Indices of a block of 32 under w = d * values[q].
std::array<int, 32> indices(Weights x, double d, const int8_t (&values)[16]) {
  std::array<int, 32> q;
  for (size_t i = 0; i < 32; ++i) q[i] = nearest_of(values, d == 0 ? 0 : x[i] / d);
  return q;
}

void quantise(Weights x, BlockIQ4NL& b) {
  b.d = stored(fit_scale(x, importance_of<32>(x), kIQ4Values));
  pack_nibbles(b.qs, indices(x, to_float(b.d), kIQ4Values));
}

void quantise(Weights x, BlockIQ4XS& b) {
  std::array<float, 8> fits;
  for (int s = 0; s < 8; ++s) {
    const Weights sub = x.subspan(s * 32, 32);
    fits[s] = fit_scale(sub, importance_of<32>(sub), kIQ4Values);
  }
  b.d = stored(extreme_of(fits) / -32);
  const float d = to_float(b.d);
  for (int s = 0; s < 8; ++s) {
    const int scale = nearest(fits[s] * inverse_of(d), -32, 31);
    b.scales_l[s / 2] = static_cast<uint8_t>(b.scales_l[s / 2] | ((scale + 32) & 15) << (s % 2 * 4));
    b.scales_h = static_cast<uint16_t>(b.scales_h | (scale + 32) >> 4 << (2 * s));
    pack_nibbles(b.qs + s * 16, indices(x.subspan(s * 32, 32), d * static_cast<float>(scale), kIQ4Values));
  }
}

// Tries two scales, so that the largest weight is 8 to 16 times the scale, or half as much; the largest value is 12.
void quantise(Weights x, BlockMXFP4& b) {
  const float extreme = std::fabs(extreme_of(x));
  const int min = extreme == 0 ? 0 : std::clamp(std::ilogb(extreme) - 3 + 128, 0, 253);
  double min_error = INFINITY;
  for (int e : {min, min + 1}) {
    const double d = std::ldexp(1.0, e - 128);
    const std::array<int, 32> q = indices(x, d, kMXFP4Values);
    double error = 0;
    for (size_t i = 0; i < 32; ++i) error += std::pow(d * kMXFP4Values[q[i]] - x[i], 2);
    if (error >= min_error) continue;
    min_error = error, b.e = static_cast<uint8_t>(e);
    pack_nibbles(b.qs, q);
  }
}

// Scale 2 * s + 1, in units of d / divisor, that maps the weight of largest magnitude to `largest`.
struct OddScale {
  double unit;  // d / divisor
  int fitting(Weights x, int largest) const {
    return nearest(static_cast<float>(unit == 0 ? 0 : (std::fabs(extreme_of(x)) / (unit * largest) - 1) / 2), 0, 15);
  }
  double of(int s) const { return unit * (2 * s + 1); }
};

template <const int8_t (&values)[16], int divisor>
void quantise(Weights x, BlockExpanded<values, divisor>& b) {
  constexpr int kLargest = -values[0];
  b.d = stored(std::fabs(extreme_of(x)) * divisor / (kLargest * 31));
  const OddScale scale{double{to_float(b.d)} / divisor};
  for (size_t sub = 0; sub < 16; ++sub) {
    const int s = scale.fitting(x.subspan(sub * 16, 16), kLargest);
    b.scales[sub / 2] = static_cast<uint8_t>(b.scales[sub / 2] | s << (sub % 2 * 4));
    for (size_t i = 0; i < 16; ++i) {
      const int code = nearest_of(values, scale.unit == 0 ? 0 : x[sub * 16 + i] / scale.of(s));
      uint8_t& byte = b.qs[sub / 2 * 16 + i];
      byte = static_cast<uint8_t>(byte | code << (sub % 2 * 4));
    }
  }
}

struct NearestEntry {
  uint32_t index;
  float error;  // squared error of scale * magnitudes
};
template <class Block>
NearestEntry nearest_entry(Weights x, double scale) {
  using Fields = GridFields<Block>;
  const int8_t* magnitudes = Fields::Expanded::kValues + expanded_code<Block>(0, false);
  float distances[Fields::kGroup][8];  // each weight's distance from each magnitude
  for (size_t i = 0; i < x.size(); ++i)
    for (int m = 0; m < 8; ++m)
      distances[i][m] = static_cast<float>(std::pow(std::fabs(x[i]) - scale * magnitudes[m], 2));
  NearestEntry best{0, INFINITY};
  for (uint32_t index = 0; index < Fields::kGrid.size(); ++index) {
    float error = 0;
    for (size_t i = 0; i < x.size() && error < best.error; ++i)
      error += distances[i][magnitude_of<Block>(Fields::kGrid[index], i)];
    if (error < best.error) best = {index, error};
  }
  return best;
}

// Grid entries of a sub-block's groups under one scale.
template <class Block>
struct GridFit {
  int s = 0;
  float error = INFINITY;
  std::array<uint32_t, GridFields<Block>::kScaled / GridFields<Block>::kGroup> entries = {};

  GridFit() = default;
  GridFit(Weights x, const OddScale& scale, int candidate) : s(candidate), error(0) {
    constexpr size_t kGroup = GridFields<Block>::kGroup;
    for (size_t group = 0; group < entries.size(); ++group) {
      const NearestEntry found = nearest_entry<Block>(x.subspan(group * kGroup, kGroup), scale.of(s));
      entries[group] = found.index, error += found.error;
    }
  }
};

// Signs of eight weights. If the eighth is implied, the smallest weight's sign is sacrificed.
uint32_t signs_of(Weights x, int n_signs) {
  uint32_t signs = 0;
  for (size_t i = 0; i < 8; ++i) signs |= (x[i] < 0 ? 1u : 0u) << i;
  if (n_signs == 8) return signs;
  const auto smallest = std::ranges::min_element(x, {}, [](float v) { return std::fabs(v); }) - x.begin();
  if (std::popcount(signs) % 2 != 0) signs ^= 1u << smallest;
  return signs & 127;
}

// Grids lack most combinations of magnitudes, above all large ones. So scales that map a sub-block's largest weight to
// a smaller magnitude are tried, too.
template <GridBlock Block>
void quantise(Weights x, Block& b) {
  using Fields = GridFields<Block>;
  constexpr int kDivisor = Fields::Expanded::kDivisor, kLargest = -Fields::Expanded::kValues[0];
  b.d = stored(std::fabs(extreme_of(x)) * kDivisor / (kLargest * 15));
  const OddScale scale{double{to_float(b.d)} / kDivisor};
  for (size_t sub = 0; sub < 256 / Fields::kScaled; ++sub) {
    const Weights weights = x.subspan(sub * Fields::kScaled, Fields::kScaled);
    const int min = scale.fitting(weights, kLargest);
    GridFit<Block> best;
    for (int s = min; s <= std::min(15, 2 * min + 1); ++s)
      if (const GridFit<Block> fit(weights, scale, s); fit.error < best.error) best = fit;
    write_bits(b, Fields::scale(sub), static_cast<uint32_t>(best.s));
    for (size_t i = 0; i < best.entries.size(); ++i) {
      const size_t group = sub * best.entries.size() + i;
      const BlockBits low = Fields::index(group);
      write_bits(b, low, best.entries[i] & ((1u << low.width) - 1));
      write_bits(b, Fields::high(group), best.entries[i] >> low.width);
    }
  }
  for (size_t eight = 0; eight < 32; ++eight) {
    const BlockBits signs = Fields::signs(eight);
    write_bits(b, signs, signs_of(x.subspan(8 * eight, 8), signs.width));
  }
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
  return with_block(type, [&](auto block) { return quantise_blocks<decltype(block)>(type, weights); });
}

}  // namespace warpchat
