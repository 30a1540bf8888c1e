// Feed-forward networks of experts: which ones a column goes through, the products of those alone, and their sum. Which
// they are stays in device memory, so that a launch is the same whoever is chosen.
#pragma once
#include <cstdint>
#include <string>

#include "kernels/gemv.h"

namespace warpchat {

// A use is a column's i-th best expert: use column * n_used + i.
struct RouteSpec {
  uint32_t n, n_used;       // experts: 1 to 1,024; used by a column: 1 to 32, at most n
  bool normalises = false;  // the weights of those used are divided by their sum
  float scale = 1;          // of the weights
  uint32_t columns = 1;
};
// The best by score, of equal ones the first; their weights are the softmax over all scores. Parameters in order:
//   scores     f32 [columns, n]
//   experts    u32 [columns, n_used]
//   weights    f32 [columns, n_used]
//   n_columns  u32, only if columns > 1: at most `columns`; what lies beyond is neither read nor written
// A score that is no number makes weights of its column none. Throws Error for a spec outside the bounds above.
ptx::Kernel route(const RouteSpec& spec, ptx::Target target);
std::string name_of(const RouteSpec& spec);

// The product of each use with its expert's matrix.
struct ExpertProductSpec {
  GemvSpec product;  // of one use; its epilogue is kStore or kSwiglu
  uint32_t n_used;
  bool by_column;  // x is the columns'; else each use has its own
  uint32_t columns = 1;
};
// Parameters in order, those that apply:
//   weights    of all experts, one behind the other, each as for gemv; 16-byte aligned
//   up         likewise, with kSwiglu
//   x          f32 [columns or uses, k], 16-byte aligned
//   gamma      f32 [k], with kRmsNorm
//   experts    u32 [uses]
//   y          f32 [uses, rows]
//   n_columns  u32, only if columns > 1
// A use is a block in y: at most 65,535 of them. Throws Error for a spec outside the bounds above.
ptx::Kernel expert_product(const ExpertProductSpec& spec, ptx::Target target);
std::string name_of(const ExpertProductSpec& spec);

// y += the weighted outputs of a column's uses, and where there is a shared expert its output times the sigmoid of its
// switch.
struct ExpertSumSpec {
  uint32_t hidden, n_used;
  bool has_shared = false;
  uint32_t columns = 1;
};
// Parameters in order, those that apply:
//   outputs    f32 [uses, hidden]
//   weights    f32 [uses]
//   shared     f32 [columns, hidden], with has_shared
//   switches   f32 [columns], likewise
//   y          f32 [columns, hidden]
//   n_columns  u32, only if columns > 1
ptx::Kernel expert_sum(const ExpertSumSpec& spec, ptx::Target target);
std::string name_of(const ExpertSumSpec& spec);

}  // namespace warpchat
