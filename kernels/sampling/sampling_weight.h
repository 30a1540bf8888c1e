// Probabilities as integers, so that sums are exact in any order: exp(logit - best) in steps of 2^-bits. Uses only
// correctly rounded operations in a fixed order: bit-identical on every device.
#pragma once
#include <bit>
#include <cstdint>
#include <numbers>

#include "ptx/builder.h"

namespace warpchat {

// The weight of the best logit is 1 << sampling_weight_bits(n_vocab); n_vocab such weights stay below 2^62.
constexpr uint32_t sampling_weight_bits(uint32_t n_vocab) {
  return 62 - static_cast<uint32_t>(std::bit_width(n_vocab));
}

// exp(exponent) in steps of 2^-bits, rounded down; 0 below one step. The relative error is at most 6e-6. exponent =
// (logit - best) / temperature <= 0.
inline ptx::Reg<ptx::u64> sampling_weight(ptx::Builder& b, const ptx::Reg<ptx::f32>& exponent, uint32_t bits) {
  using namespace ptx;
  // e^t as 2^n * 2^f with f in [-1/2, 1/2], where eight terms of the exponential series are exact to 1e-8.
  constexpr float kLowest = -80;  // its weight is 0, yet it is a normal float before rounding
  constexpr double kLog2E = std::numbers::log2e, kLn2 = std::numbers::ln2;
  constexpr float kLog2EHigh = static_cast<float>(kLog2E), kLog2ELow = static_cast<float>(kLog2E - kLog2EHigh);
  constexpr int kTerms = 8;
  Reg<f32> t = b.max(exponent, kLowest);
  Reg<f32> negative = b.round(t * -kLog2EHigh, Round::kNearest);  // integer part, negated
  Reg<f32> part = b.fma(t, kLog2ELow, b.fma(t, kLog2EHigh, negative));
  double coefficient[kTerms] = {1};
  for (int i = 1; i < kTerms; ++i) coefficient[i] = coefficient[i - 1] * kLn2 / i;
  const auto term = [&](int i) { return static_cast<float>(coefficient[i]); };
  Var<f32> power = b.var("power", b.fma(term(kTerms - 1), part, term(kTerms - 2)));
  for (int i = kTerms - 3; i >= 0; --i) power = b.fma(power, part, term(i));
  Reg<s32> scale = (static_cast<int32_t>(bits) - b.convert<s32>(negative)) << 23;
  return b.convert<u64>((Reg<f32>(power).as<s32>() + scale).as<f32>());
}

}  // namespace warpchat
