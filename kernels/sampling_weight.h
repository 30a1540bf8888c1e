// Probabilities as whole numbers, so that sums are exact and no order matters: exp(logit - best) in steps of 2^-bits.
// Only correctly rounded operations, in a fixed order: the same bits on every device.
#pragma once
#include <bit>
#include <cstdint>

#include "ptx/builder.h"

namespace warpchat {

// The weight of the best logit is 1 << sampling_weight_bits(n_vocab); n_vocab such weights stay below 2^62.
constexpr uint32_t sampling_weight_bits(uint32_t n_vocab) {
  return 62 - static_cast<uint32_t>(std::bit_width(n_vocab));
}

// exp(exponent) in steps of 2^-bits, rounded down; 0 where that is less than one step. Within 6e-6 of it.
// exponent <= 0: (logit - best) / temperature.
ptx::Reg<ptx::u64> sampling_weight(ptx::Builder& b, const ptx::Reg<ptx::f32>& exponent, uint32_t bits);

}  // namespace warpchat
