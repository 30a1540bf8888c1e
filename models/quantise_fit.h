// Searches a sub-block's scale (and minimum) with the least weighted square error: tries a ladder of initial scales,
// each of which fixes the integers, and solves least squares for those.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace warpchat {

struct AffineFit {
  float scale, min;  // w = scale * q - min; both are at least 0
};

// x, importance: n <= 32 values, importance[i] > 0 wherever x[i] != 0. q is x / scale, rounded and clamped to low ..
// high, low < 0. The scale may be negative, because the side of zero with one more integer suits the larger extreme.
float fit_scale(std::span<const float> x, std::span<const float> importance, int low, int high);

// The same for w = scale * one of sixteen values; the first is the least and has the largest magnitude.
float fit_scale(std::span<const float> x, std::span<const float> importance, const int8_t (&values)[16]);

// The same for w = scale * q - min with q in 0 .. levels.
AffineFit fit_affine(std::span<const float> x, std::span<const float> importance, int levels);

// v rounded to the nearest integer in low .. high; low for NaN.
inline int nearest(float v, int low, int high) {
  const float lowest = static_cast<float>(low), highest = static_cast<float>(high);
  const float bounded = v > lowest ? (v < highest ? v : highest) : lowest;
  return static_cast<int>(bounded - lowest + 0.5f) + low;
}

// Index of the value nearest to v; the first of equally near ones.
int nearest_of(const int8_t (&values)[16], double v);

}  // namespace warpchat
