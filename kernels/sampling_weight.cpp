#include "kernels/sampling_weight.h"

#include <numbers>

namespace warpchat {

using namespace ptx;

// 2^t as 2^n * 2^f with f in [-1/2, 1/2], where eight terms of the exponential series are exact to 1e-8.
Reg<u64> sampling_weight(Builder& b, const Reg<f32>& below, In<f32> factor, uint32_t bits) {
  constexpr float kLowest = -80;  // a weight of 0, and yet a normal number before it is rounded
  constexpr double kLog2E = std::numbers::log2e, kLn2 = std::numbers::ln2;
  constexpr float kLog2EHigh = static_cast<float>(kLog2E), kLog2ELow = static_cast<float>(kLog2E - kLog2EHigh);
  constexpr int kTerms = 8;
  Reg<f32> exponent = b.max(b.mul(below, factor), kLowest);
  Reg<f32> whole = b.round(exponent * kLog2EHigh, Round::kNearest);
  Reg<f32> part = b.fma(exponent, kLog2ELow, b.fma(exponent, kLog2EHigh, -whole));
  double coefficient[kTerms] = {1};
  for (int i = 1; i < kTerms; ++i) coefficient[i] = coefficient[i - 1] * kLn2 / i;
  Var<f32> power = b.var("power", static_cast<float>(coefficient[kTerms - 1]));
  for (int i = kTerms - 2; i >= 0; --i) power = b.fma(power, part, static_cast<float>(coefficient[i]));
  Reg<s32> scale = (b.convert<s32>(whole) + static_cast<int32_t>(bits)) << 23;
  return b.convert<u64>((Reg<f32>(power).as<s32>() + scale).as<f32>());
}

}  // namespace warpchat
