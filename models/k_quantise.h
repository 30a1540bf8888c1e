// Quantises weights to the K formats Q4_K and Q6_K, for the model of the device check. A sub-block's scale (and
// minimum) is the one with the least weighted square error: of a ladder of initial scales, each fixes the integers, and
// least squares are solved for those. Then come the stored scales, and the integers nearest to the weights under these.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "models/quant_blocks.h"

namespace warpchat {

// weights: 256 finite values. Error if a scale exceeds binary16.
BlockQ4K quantise_q4k(std::span<const float> weights);
BlockQ6K quantise_q6k(std::span<const float> weights);

// v rounded to the nearest integer in low .. high; low for NaN.
inline int nearest(float v, int low, int high) {
  const float lowest = static_cast<float>(low), highest = static_cast<float>(high);
  const float bounded = v > lowest ? (v < highest ? v : highest) : lowest;
  return static_cast<int>(bounded - lowest + 0.5f) + low;
}

// The rest is shared with the quantisers to other formats, which only tests need.

f16 f16_scale(float scale);                  // Error if it exceeds binary16
float extreme_of(std::span<const float> x);  // signed value of largest magnitude
inline float inverse_of(float scale) { return scale == 0 ? 0.0f : 1.0f / scale; }

// Importance of a weight: its magnitude, or the sub-block's for zero, since large weights dominate a row's dot
// products.
template <size_t size>
std::array<float, size> importance_of(std::span<const float> x) {
  float square_sum = 0;
  for (float v : x) square_sum += v * v;
  const float rms = std::sqrt(square_sum / static_cast<float>(size));
  std::array<float, size> importance;
  for (size_t i = 0; i < size; ++i) importance[i] = rms + std::fabs(x[i]);
  return importance;
}

struct AffineFit {
  float scale, min;  // w = scale * q - min; both are at least 0
};

// x, importance: n <= 32 values, importance[i] > 0 wherever x[i] != 0. q is x / scale, rounded and clamped to low ..
// high, low < 0. The scale may be negative, because the side of zero with one more integer suits the larger extreme.
float fit_scale(std::span<const float> x, std::span<const float> importance, int low, int high);

// The same for w = scale * q - min with q in 0 .. levels.
AffineFit fit_affine(std::span<const float> x, std::span<const float> importance, int levels);

inline constexpr float kNegligible = 1e-30f;  // no binary16 scale is that small, and its inverse nearly overflows

// Sums over a sub-block for fixed integers q, weighted by importance.
struct WeightedSums {
  float one = 0, q = 0, qq = 0, x = 0, xq = 0, xx = 0;
};

template <class Integer>
WeightedSums weighted_sums(std::span<const float> x, std::span<const float> importance, Integer integer) {
  WeightedSums s;
  for (size_t i = 0; i < x.size(); ++i) {
    const float q = static_cast<float>(integer(x[i])), w = importance[i];
    s.one += w, s.q += w * q, s.qq += w * q * q;
    s.x += w * x[i], s.xq += w * x[i] * q, s.xx += w * x[i] * x[i];
  }
  return s;
}

// integer(v): the integer for v = x / scale. Tried scales map the extreme weight to `low`, or up to nine steps more or
// less.
template <class Integer>
float search_scale(std::span<const float> x, std::span<const float> importance, float low, float step_size,
                   Integer integer) {
  float extreme = 0;  // signed value of largest magnitude
  for (float v : x)
    if (std::fabs(v) > std::fabs(extreme)) extreme = v;
  if (std::fabs(extreme) < kNegligible) return 0;
  float best = extreme / low, best_gain = 0;
  for (int step = -9; step <= 9; ++step) {
    const float inverse = (low + step_size * static_cast<float>(step)) / extreme;
    const WeightedSums s = weighted_sums(x, importance, [&](float v) { return integer(v * inverse); });
    if (s.qq > 0 && s.xq * s.xq > best_gain * s.qq) best_gain = s.xq * s.xq / s.qq, best = s.xq / s.qq;
  }
  return best;
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
AffineParts<size> affine_parts(std::span<const float> x, int levels, int scale_levels) {
  constexpr int n = AffineParts<size>::kSubBlocks;
  std::array<AffineFit, n> fits;
  float max_scale = 0, max_min = 0;
  for (int s = 0; s < n; ++s) {
    const std::span<const float> sub = x.subspan(s * size, size);
    fits[s] = fit_affine(sub, importance_of<size>(sub), levels);
    max_scale = std::max(max_scale, fits[s].scale), max_min = std::max(max_min, fits[s].min);
  }
  AffineParts<size> parts{};
  parts.d = f16_scale(max_scale / static_cast<float>(scale_levels));
  parts.dmin = f16_scale(max_min / static_cast<float>(scale_levels));
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

SymmetricParts symmetric_parts(std::span<const float> x, int offset, int scale_offset);

void pack_bit_pairs(uint8_t (&qs)[64], const SuperBlockIntegers& q, int shift);

// Packs low nibbles in runs of `run` weights: the first of two runs into low halves of bytes, the second into high
// halves.
void pack_nibble_runs(uint8_t (&qs)[128], const SuperBlockIntegers& q, int run);

void pack_scales_and_mins(uint8_t (&scales)[12], const AffineParts<32>& parts);

}  // namespace warpchat
