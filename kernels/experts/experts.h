// Mixture-of-experts FFN: routing, the products of the chosen experts, and their weighted sum. The routing result stays
// in device memory, so every routing uses the same launch.
#pragma once
#include <cstdint>
#include <string>

#include "kernels/matmul/gemv.h"

namespace warpchat {

// Assignment column * n_used + i: the column's i-th best expert.
struct RouteSpec {
  uint32_t n, n_used;       // number of experts, 1 to 1,024; experts per column, 1 to 32, at most n
  bool normalises = false;  // divide the chosen experts' weights by their sum
  float scale = 1;          // factor on the weights
  uint32_t columns = 1;
};
// Top-k by score, ties to the lower index; weights are the softmax over all scores. Parameters in order:
//   scores     f32 [columns, n]
//   experts    u32 [columns, n_used]
//   weights    f32 [columns, n_used]
//   n_columns  u32, only if columns > 1: at most `columns`; columns beyond are neither read nor written
// A NaN score makes weights of its column NaN. Throws Error for a spec outside the bounds above.
ptx::Kernel route(const RouteSpec& spec, ptx::Target target);
std::string name_of(const RouteSpec& spec);

// The product of each assignment with its expert's matrix.
struct ExpertProductSpec {
  GemvSpec product;  // one assignment's; epilogue kStore or kSwiglu
  uint32_t n_used;
  bool by_column;  // x has one row per column; else one per assignment
  uint32_t columns = 1;
};
// Parameters in order, those that apply:
//   weights    matrices of all experts, consecutive, each as for gemv; 16-byte aligned
//   up         as weights, with kSwiglu
//   x          f32 [columns or uses, k], 16-byte aligned
//   gamma      f32 [k], with kRmsNorm
//   experts    u32 [uses]
//   y          f32 [uses, rows]
//   n_columns  u32, only if columns > 1
// Each assignment is a block in y, so at most 65,535. Throws Error for a spec outside the bounds above.
ptx::Kernel expert_product(const ExpertProductSpec& spec, ptx::Target target);
std::string name_of(const ExpertProductSpec& spec);

// y += the weighted outputs of the column's assignments, and the shared expert's output times the sigmoid of its gate,
// if there is one.
struct ExpertSumSpec {
  uint32_t hidden, n_used;
  bool has_shared = false;
  uint32_t columns = 1;
};
// Parameters in order, those that apply:
//   outputs    f32 [uses, hidden]
//   weights    f32 [uses]
//   shared     f32 [columns, hidden], with has_shared
//   switches   f32 [columns], with has_shared
//   y          f32 [columns, hidden]
//   n_columns  u32, only if columns > 1
ptx::Kernel expert_sum(const ExpertSumSpec& spec, ptx::Target target);
std::string name_of(const ExpertSumSpec& spec);

}  // namespace warpchat
