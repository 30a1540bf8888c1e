// A step of matrix products on tensor cores.
#pragma once
#include "ptx/builder.h"

namespace warpchat {

// a * b + c for 16 rows, 8 columns and 16 of k, in the layout of m16n8k16; two m16n8k8 on targets without it.
inline ptx::Vec<ptx::f32, 4> product_of_16(ptx::Builder& b, const ptx::Vec<ptx::f16x2, 4>& x,
                                           const ptx::Vec<ptx::f16x2, 2>& y, ptx::InVec<ptx::f32, 4> sum) {
  if (runs(b.target(), ptx::sm_80)) return b.mma(x, y, sum);
  return b.mma(x.slice<2>(2), y.slice<1>(1), b.mma(x.slice<2>(0), y.slice<1>(0), sum));
}

}  // namespace warpchat
