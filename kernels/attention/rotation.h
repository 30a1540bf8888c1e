// The angles of RoPE on the device: cosine and sine of position * frequency, to 2e-7 at every position.
#pragma once
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <numbers>
#include <vector>

#include "ptx/builder.h"

namespace warpchat {

// A frequency in radians per position as 2^-64 turns per position: products with a position wrap exactly.
inline uint64_t turns_per_position(double frequency) {
  const double turns = frequency / (2 * std::numbers::pi);
  const double fraction = std::ldexp(turns - std::floor(turns), 64);  // [0, 2^64]
  return fraction < 0x1p64 ? static_cast<uint64_t>(std::nearbyint(fraction)) : 0;
}

struct Rotation {
  ptx::Reg<ptx::f32> cosine, sine;
};
// Cosine and sine of turns * position. Uses no approximate instructions, so it is identical on every device.
inline Rotation rotation_at(ptx::Builder& b, const ptx::Reg<ptx::u64>& turns, const ptx::Reg<ptx::u32>& position) {
  using namespace ptx;
  // 1 + z * (c[0] + z * (c[1] + ...))
  const auto series = [&](const Reg<f32>& z, std::initializer_list<float> coefficients) {
    const std::vector<float> c = coefficients;
    Var<f32> sum = b.var("series", c.back());
    for (size_t i = c.size() - 1; i > 0; --i) sum = b.fma(sum, z, c[i - 1]);
    return b.fma(sum, z, 1.0f);
  };
  // The nearest quarter turn and what is left of it, at most an eighth of a turn, where Taylor's series to the ninth
  // power are within 3e-8.
  Reg<u32> angle = b.convert<u32>((turns * wide(position)) >> 32);  // 2^-32 turns
  Reg<u32> quarter = (angle + (1u << 29)) >> 30;
  Reg<s32> rest = (angle - (quarter << 30)).as<s32>();
  Reg<f32> x = b.convert<f32>(rest) * static_cast<float>(2 * std::numbers::pi * 0x1p-32), z = x * x;
  Reg<f32> sine = x * series(z, {-1 / 6.0f, 1 / 120.0f, -1 / 5040.0f, 1 / 362880.0f});
  Reg<f32> cosine = series(z, {-1 / 2.0f, 1 / 24.0f, -1 / 720.0f, 1 / 40320.0f});

  Pred odd = (quarter & 1) != 0;
  Reg<f32> rotated_sine = b.select(odd, cosine, sine), rotated_cosine = b.select(odd, sine, cosine);
  return {b.select(((quarter + 1) & 2) != 0, -rotated_cosine, rotated_cosine),
          b.select((quarter & 2) != 0, -rotated_sine, rotated_sine)};
}

}  // namespace warpchat
