// RMSNorm as a kernel, for inputs whose product cannot apply it as a prologue.
#pragma once
#include <cstdint>
#include <string>

#include "ptx/kernel.h"

namespace warpchat {

struct RmsNormSpec {
  uint32_t n;  // row length
  uint32_t columns = 1;
  float eps = 1e-6f;
};

// y = x * rsqrt(mean(x^2) + eps) * gamma, row by row; one block per column. Name: rmsnorm_896_c1_e<bits of eps>.
// Parameters: x f32 [columns, n], gamma f32 [n], y f32 [columns, n] (may alias x), and n_columns u32 if columns > 1: at
// most `columns`; columns beyond are neither read nor written. Finite for every x up to 1e16. Throws Error for n = 0.
ptx::Kernel rmsnorm(const RmsNormSpec& spec, ptx::Target target);
std::string name_of(const RmsNormSpec& spec);

}  // namespace warpchat
