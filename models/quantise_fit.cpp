#include "models/quantise_fit.h"

#include <algorithm>
#include <cmath>

namespace warpchat {
namespace {

constexpr float kNegligible = 1e-30f;  // no binary16 scale is that small, and its inverse nearly overflows

// Sums over a sub-block for fixed integers q, weighted by importance.
struct Sums {
  float one = 0, q = 0, qq = 0, x = 0, xq = 0, xx = 0;
};

template <class Integer>
Sums sums_of(std::span<const float> x, std::span<const float> importance, Integer integer) {
  Sums s;
  for (size_t i = 0; i < x.size(); ++i) {
    const float q = static_cast<float>(integer(x[i])), w = importance[i];
    s.one += w, s.q += w * q, s.qq += w * q * q;
    s.x += w * x[i], s.xq += w * x[i] * q, s.xx += w * x[i] * x[i];
  }
  return s;
}

// Least squares for scale and min with min >= 0; scale 0 if undetermined.
AffineFit solve(const Sums& s) {
  const float determinant = s.one * s.qq - s.q * s.q;
  if (determinant > 0) {
    const float scale = (s.one * s.xq - s.x * s.q) / determinant;
    const float min = (s.q * s.xq - s.qq * s.x) / determinant;
    if (min >= 0) return {std::max(scale, 0.0f), min};
  }
  return {s.qq > 0 ? std::max(s.xq / s.qq, 0.0f) : 0.0f, 0.0f};
}

// Weighted square error of scale * q - min.
float error_of(const Sums& s, AffineFit f) {
  return s.xx + f.scale * f.scale * s.qq + f.min * f.min * s.one +
         2 * (f.min * s.x - f.scale * s.xq - f.scale * f.min * s.q);
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
    const Sums s = sums_of(x, importance, [&](float v) { return integer(v * inverse); });
    if (s.qq > 0 && s.xq * s.xq > best_gain * s.qq) best_gain = s.xq * s.xq / s.qq, best = s.xq / s.qq;
  }
  return best;
}

}  // namespace

float fit_scale(std::span<const float> x, std::span<const float> importance, int low, int high) {
  return search_scale(x, importance, static_cast<float>(low), 0.1f, [=](float v) { return nearest(v, low, high); });
}

float fit_scale(std::span<const float> x, std::span<const float> importance, const int8_t (&values)[16]) {
  const float low = values[0];
  return search_scale(x, importance, low, low / -80, [&](float v) { return values[nearest_of(values, v)]; });
}

int nearest_of(const int8_t (&values)[16], double v) {
  const auto distance = [v](int8_t value) { return std::fabs(value - v); };
  return static_cast<int>(std::ranges::min_element(values, {}, distance) - values);
}

AffineFit fit_affine(std::span<const float> x, std::span<const float> importance, int levels) {
  const auto [min, max] = std::minmax_element(x.begin(), x.end());
  const float low = std::min(*min, 0.0f), range = *max - low;  // min >= 0: the grid cannot begin above zero
  if (range < kNegligible) return {0, -low};
  AffineFit best{range / static_cast<float>(levels), -low};
  float best_error = INFINITY;
  for (int step = 0; step <= 20; ++step) {
    const float inverse = (static_cast<float>(levels) - 1.0f + 0.1f * static_cast<float>(step)) / range;
    const Sums s = sums_of(x, importance, [&](float v) { return nearest((v - low) * inverse, 0, levels); });
    const AffineFit fit = solve(s);
    const float error = error_of(s, fit);
    if (error < best_error) best_error = error, best = fit;
  }
  return best;
}

}  // namespace warpchat
