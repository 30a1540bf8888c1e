#include "models/k_quantise.h"

#include <string>

#include "models/error.h"

namespace warpchat {
namespace {

// Least squares for scale and min with min >= 0; scale 0 if undetermined.
AffineFit solve(const WeightedSums& s) {
  const float determinant = s.one * s.qq - s.q * s.q;
  if (determinant > 0) {
    const float scale = (s.one * s.xq - s.x * s.q) / determinant;
    const float min = (s.q * s.xq - s.qq * s.x) / determinant;
    if (min >= 0) return {std::max(scale, 0.0f), min};
  }
  return {s.qq > 0 ? std::max(s.xq / s.qq, 0.0f) : 0.0f, 0.0f};
}

// Weighted square error of scale * q - min.
float error_of(const WeightedSums& s, AffineFit f) {
  return s.xx + f.scale * f.scale * s.qq + f.min * f.min * s.one +
         2 * (f.min * s.x - f.scale * s.xq - f.scale * f.min * s.q);
}

}  // namespace

float fit_scale(std::span<const float> x, std::span<const float> importance, int low, int high) {
  return search_scale(x, importance, static_cast<float>(low), 0.1f, [=](float v) { return nearest(v, low, high); });
}

AffineFit fit_affine(std::span<const float> x, std::span<const float> importance, int levels) {
  const auto [min, max] = std::minmax_element(x.begin(), x.end());
  const float low = std::min(*min, 0.0f), range = *max - low;  // min >= 0: the grid cannot begin above zero
  if (range < kNegligible) return {0, -low};
  AffineFit best{range / static_cast<float>(levels), -low};
  float best_error = INFINITY;
  for (int step = 0; step <= 20; ++step) {
    const float inverse = (static_cast<float>(levels) - 1.0f + 0.1f * static_cast<float>(step)) / range;
    const WeightedSums s =
        weighted_sums(x, importance, [&](float v) { return nearest((v - low) * inverse, 0, levels); });
    const AffineFit fit = solve(s);
    const float error = error_of(s, fit);
    if (error < best_error) best_error = error, best = fit;
  }
  return best;
}

f16 f16_scale(float scale) {
  const f16 half = to_f16(scale);
  if ((half.bits & 0x7c00) == 0x7c00) {
    throw Error("cannot quantise: the scale " + std::to_string(scale) + " exceeds binary16's 65504");
  }
  return half;
}

float extreme_of(std::span<const float> x) {
  return *std::max_element(x.begin(), x.end(), [](float a, float b) { return std::fabs(a) < std::fabs(b); });
}

SymmetricParts symmetric_parts(std::span<const float> x, int offset, int scale_offset) {
  std::array<float, 16> fits;
  for (int s = 0; s < 16; ++s) {
    const std::span<const float> sub = x.subspan(s * 16, 16);
    fits[s] = fit_scale(sub, importance_of<16>(sub), -offset, offset - 1);
  }
  SymmetricParts parts{};
  parts.d = f16_scale(extreme_of(fits) / static_cast<float>(-scale_offset));
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

BlockQ4K quantise_q4k(std::span<const float> weights) {
  BlockQ4K b{};
  const auto parts = affine_parts<32>(weights, 15, 63);
  b.d = parts.d, b.dmin = parts.dmin;
  pack_scales_and_mins(b.scales, parts), pack_nibble_runs(b.qs, parts.q, 32);
  return b;
}

BlockQ6K quantise_q6k(std::span<const float> weights) {
  BlockQ6K b{};
  const SymmetricParts parts = symmetric_parts(weights, 32, 128);
  b.d = parts.d;
  std::copy(parts.scales.begin(), parts.scales.end(), b.scales);
  pack_nibble_runs(b.ql, parts.q, 64), pack_bit_pairs(b.qh, parts.q, 4);
  return b;
}

}  // namespace warpchat
