// Three steps per block: ideal sub-block scales, stored scales, then the integers nearest to the weights under the
// stored scales. Each format packs them as in models/quant_blocks.h.
#include "tests/support/gguf/quantise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>

#include "models/error.h"
#include "models/grid_blocks.h"
#include "models/k_quantise.h"
#include "models/text_format.h"

namespace warpchat {
namespace {

using Weights = std::span<const float>;

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
  b.d = f16_scale(extreme_of(x) / -8);
  std::array<int, 32> q = integers(x, to_float(b.d), 0, -8, 7);
  for (int& v : q) v += 8;
  pack_nibbles(b.qs, q);
}

void quantise(Weights x, BlockQ5_0& b) {
  b.d = f16_scale(extreme_of(x) / -16);
  std::array<int, 32> q = integers(x, to_float(b.d), 0, -16, 15);
  for (int& v : q) v += 16;
  pack_nibbles(b.qs, q), pack_fifth_bits(b, q);
}

void quantise(Weights x, BlockQ4_1& b) {
  const auto [min, max] = std::minmax_element(x.begin(), x.end());
  b.d = f16_scale((*max - *min) / 15), b.m = f16_scale(*min);
  pack_nibbles(b.qs, integers(x, to_float(b.d), to_float(b.m), 0, 15));
}

void quantise(Weights x, BlockQ5_1& b) {
  const auto [min, max] = std::minmax_element(x.begin(), x.end());
  b.d = f16_scale((*max - *min) / 31), b.m = f16_scale(*min);
  const std::array<int, 32> q = integers(x, to_float(b.d), to_float(b.m), 0, 31);
  pack_nibbles(b.qs, q), pack_fifth_bits(b, q);
}

void quantise(Weights x, BlockQ8_0& b) {
  b.d = f16_scale(std::fabs(extreme_of(x)) / 127);
  const std::array<int, 32> q = integers(x, to_float(b.d), 0, -127, 127);
  std::copy(q.begin(), q.end(), b.qs);
}

void pack_high_bits(uint8_t (&high)[32], const SuperBlockIntegers& q, int shift) {
  for (int i = 0; i < 256; ++i) high[i % 32] = static_cast<uint8_t>(high[i % 32] | (q[i] >> shift & 1) << (i / 32));
}

void quantise(Weights x, BlockQ4K& b) { b = quantise_q4k(x); }
void quantise(Weights x, BlockQ6K& b) { b = quantise_q6k(x); }

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

void quantise(Weights x, BlockQ5K& b) {
  const auto parts = affine_parts<32>(x, 31, 63);
  b.d = parts.d, b.dmin = parts.dmin;
  pack_scales_and_mins(b.scales, parts), pack_nibble_runs(b.qs, parts.q, 32), pack_high_bits(b.qh, parts.q, 4);
}

// Index of the value nearest to v; the first of equally near ones.
int nearest_of(const int8_t (&values)[16], double v) {
  const auto distance = [v](int8_t value) { return std::fabs(value - v); };
  return static_cast<int>(std::ranges::min_element(values, {}, distance) - values);
}

// fit_scale for w = scale * one of sixteen values; the first is the least and has the largest magnitude.
float fit_scale(std::span<const float> x, std::span<const float> importance, const int8_t (&values)[16]) {
  const float low = values[0];
  return search_scale(x, importance, low, low / -80, [&](float v) { return values[nearest_of(values, v)]; });
}

// Indices of a block of 32 under w = d * values[q].
std::array<int, 32> indices(Weights x, double d, const int8_t (&values)[16]) {
  std::array<int, 32> q;
  for (size_t i = 0; i < 32; ++i) q[i] = nearest_of(values, d == 0 ? 0 : x[i] / d);
  return q;
}

void quantise(Weights x, BlockIQ4NL& b) {
  b.d = f16_scale(fit_scale(x, importance_of<32>(x), kIQ4Values));
  pack_nibbles(b.qs, indices(x, to_float(b.d), kIQ4Values));
}

void quantise(Weights x, BlockIQ4XS& b) {
  std::array<float, 8> fits;
  for (int s = 0; s < 8; ++s) {
    const Weights sub = x.subspan(s * 32, 32);
    fits[s] = fit_scale(sub, importance_of<32>(sub), kIQ4Values);
  }
  b.d = f16_scale(extreme_of(fits) / -32);
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
  b.d = f16_scale(std::fabs(extreme_of(x)) * divisor / (kLargest * 31));
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

// Writes into a block whose bits there are still 0.
template <class Block>
void write_bits(Block& block, BlockBits bits, uint32_t value) {
  const size_t first = std::min(bits.at / 8, sizeof(Block) - 4);
  auto* bytes = reinterpret_cast<std::byte*>(&block) + first;
  uint32_t word;
  std::memcpy(&word, bytes, sizeof word);
  word |= value << (bits.at - 8 * first);
  std::memcpy(bytes, &word, sizeof word);
}

// Grids lack most combinations of magnitudes, above all large ones. So scales that map a sub-block's largest weight to
// a smaller magnitude are tried, too.
template <GridBlock Block>
void quantise(Weights x, Block& b) {
  using Fields = GridFields<Block>;
  constexpr int kDivisor = Fields::Expanded::kDivisor, kLargest = -Fields::Expanded::kValues[0];
  b.d = f16_scale(std::fabs(extreme_of(x)) * kDivisor / (kLargest * 15));
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
