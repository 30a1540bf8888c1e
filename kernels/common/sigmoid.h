// Functions of e^x in fp32, by ex2.approx; the error is a few units in the last place.
#pragma once
#include "ptx/builder.h"

namespace warpchat {

// e^x
inline ptx::Reg<ptx::f32> exponential(ptx::Builder& b, const ptx::Reg<ptx::f32>& x) { return b.ex2(x * 1.44269504f); }

// x * sigmoid(gate)
inline ptx::Reg<ptx::f32> switched(ptx::Builder& b, const ptx::Reg<ptx::f32>& x, const ptx::Reg<ptx::f32>& gate) {
  return b.div_full(x, b.ex2(gate * -1.44269504f) + 1.0f);
}

inline ptx::Reg<ptx::f32> silu(ptx::Builder& b, const ptx::Reg<ptx::f32>& x) { return switched(b, x, x); }

// ln(1 + e^x)
inline ptx::Reg<ptx::f32> softplus(ptx::Builder& b, const ptx::Reg<ptx::f32>& x) {
  return b.fma(b.lg2(exponential(b, -b.abs(x)) + 1.0f), 0.69314718f, b.max(x, 0.0f));
}

}  // namespace warpchat
