// Four values as f16 in the layout of kernels/matmul/f16_activations.h, with the mean over four lanes' sixteen values.
#pragma once
#include <array>

#include "kernels/matmul/f16_activations.h"
#include "ptx/builder.h"

namespace warpchat {

struct HalfQuad {
  ptx::Reg<ptx::b32> first, second;  // pairs
  ptx::Reg<ptx::b32> mean;           // mean over four neighbouring lanes, and its remainder; the same in all four
};

// Warp-uniform control flow is required.
inline HalfQuad half_quad(ptx::Builder& b, const std::array<ptx::Reg<ptx::f32>, 4>& values) {
  using namespace ptx;
  const Reg<f16x2> first = b.convert_pair<f16x2>(values[0], values[1]),
                   second = b.convert_pair<f16x2>(values[2], values[3]);
  const Vec<f32, 2> front = b.widen(first), back = b.widen(second);
  Var<f32> sum = b.var("sum", (front[0] + front[1]) + (back[0] + back[1]));
  for (uint32_t distance : {1, 2}) sum += b.shuffle_xor(sum, distance);
  Reg<f32> mean = sum * (1.0f / kHalfMeanValues);
  const Reg<f16> rounded = b.convert<f16>(mean);
  return {first.as<b32>(), second.as<b32>(), b.convert_pair<f16x2>(mean, mean - b.convert<f32>(rounded)).as<b32>()};
}

}  // namespace warpchat
