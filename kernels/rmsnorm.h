// RMSNorm by itself, for where no product follows that could take it as its prologue.
#pragma once
#include <cstdint>
#include <string>

#include "ptx/kernel.h"

namespace warpchat {

struct RmsNormSpec {
  uint32_t n;  // of a row
  uint32_t columns = 1;
  float eps = 1e-6f;
};

// y = x * rsqrt(mean(x^2) + eps) * gamma, row by row; a block a column. Name: rmsnorm_896_c1_e<bits of eps>.
// Parameters: x f32 [columns, n], gamma f32 [n], y f32 [columns, n] (may be x), and n_columns u32 if columns > 1: at
// most `columns`; what lies beyond is neither read nor written. Finite for every x up to 1e16. Throws Error for n = 0.
ptx::Kernel rmsnorm(const RmsNormSpec& spec, ptx::Target target);
std::string name_of(const RmsNormSpec& spec);

}  // namespace warpchat
