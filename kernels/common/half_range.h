// Brings values of any magnitude into f16 range by a power of two: the largest becomes 2^14 to 2^15.
#pragma once
#include "ptx/builder.h"

namespace warpchat {

// Biased float exponents (bias 127).
constexpr uint32_t kTopExponent = 14;                // of the scaled largest value, unbiased
constexpr uint32_t kMinExponent = kTopExponent + 1;  // magnitudes below 2^-112 become zero
constexpr uint32_t kOnes = 0x3c003c00;               // 1 in both f16

// 2^(n - 127)
inline ptx::Reg<ptx::f32> power_of_two(const ptx::Reg<ptx::u32>& n) { return (n << 23).as<ptx::f32>(); }

}  // namespace warpchat
