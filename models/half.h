// 16-bit floats in storage: IEEE binary16 and bfloat16, with exact widening and round-to-nearest-even narrowing.
#pragma once
#include <bit>
#include <cstdint>

namespace warpchat {

struct f16 {
  uint16_t bits;
};
struct bf16 {
  uint16_t bits;
};

float to_float(f16 value);
inline float to_float(bf16 value) { return std::bit_cast<float>(uint32_t{value.bits} << 16); }
f16 to_f16(float value);  // round to nearest even; overflow gives infinity, NaN stays NaN
bf16 to_bf16(float value);

}  // namespace warpchat
