// Probabilities as integers, so that sums are exact in any order: exp(logit - best) in steps of 2^-bits. Uses only
// correctly rounded operations in a fixed order: bit-identical on every device.
#pragma once
#include <bit>
#include <cstdint>

#include "ptx/builder.h"

namespace warpchat {

// The weight of the best logit is 1 << sampling_weight_bits(n_vocab); n_vocab such weights stay below 2^62.
constexpr uint32_t sampling_weight_bits(uint32_t n_vocab) {
  return 62 - static_cast<uint32_t>(std::bit_width(n_vocab));
}

// exp(exponent) in steps of 2^-bits, rounded down; 0 below one step. The relative error is at most 6e-6. exponent =
// (logit - best) / temperature <= 0.
ptx::Reg<ptx::u64> sampling_weight(ptx::Builder& b, const ptx::Reg<ptx::f32>& exponent, uint32_t bits);

}  // namespace warpchat
