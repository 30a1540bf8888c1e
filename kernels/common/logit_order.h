// Logits as integers that compare in sampling order.
#pragma once
#include "ptx/builder.h"

namespace warpchat {

// Increases with the logit; -0 equals +0. Finite logits map to 0x00800000 to 0xff7fffff.
inline ptx::Reg<ptx::u32> ordered_bits(const ptx::Reg<ptx::f32>& logit) {
  ptx::Reg<ptx::u32> bits = (logit + 0.0f).as<ptx::u32>();  // -0 becomes +0
  ptx::Reg<ptx::u32> sign = (bits.as<ptx::s32>() >> 31).as<ptx::u32>();
  return bits ^ (sign | 0x80000000u);
}

// Inverse of ordered_bits.
inline ptx::Reg<ptx::f32> logit_of(const ptx::Reg<ptx::u32>& ordered) {
  ptx::Reg<ptx::u32> was_negative = (~ordered.as<ptx::s32>() >> 31).as<ptx::u32>();
  return (ordered ^ (was_negative | 0x80000000u)).as<ptx::f32>();
}

}  // namespace warpchat
