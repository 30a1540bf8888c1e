// Values of any size as halves: scaled by a power of two, so that the largest one becomes 2^14 to 2^15.
#pragma once
#include "ptx/builder.h"

namespace warpchat {

// Of float exponents with their bias of 127.
constexpr uint32_t kTopExponent = 14;                  // of the largest value
constexpr uint32_t kLeastExponent = kTopExponent + 1;  // below 2^-112 a value vanishes
constexpr uint32_t kOnes = 0x3c003c00;                 // 1 in both halves

// 2^n, n with the bias
inline ptx::Reg<ptx::f32> power_of_two(const ptx::Reg<ptx::u32>& n) { return (n << 23).as<ptx::f32>(); }

}  // namespace warpchat
