// GEMV of several columns with quantised weights on tensor cores: codes times the integer planes that
// kernels/integer_columns.h makes of eight columns. Integer sums are exact; the rest is summed in the same order as for
// a single column. Several products of one input can share a launch.
#pragma once
#include <string>
#include <vector>

#include "kernels/gemv_plan.h"
#include "ptx/builder.h"

namespace warpchat {

// Requires plan.on_tensor_cores().
ptx::Kernel gemv_of_columns(const GemvPlan& plan, ptx::Target target);

// Fused GEMV: products of one input and the same number of columns in one launch, blocks of the first product, then of
// the next.
struct GemvTogether {
  std::vector<GemvSpec> products;  // each satisfies goes_together()
};
// Several columns of quantised weights, at least 16 rows, epilogue kStore or kBias.
bool goes_together(const GemvSpec& spec);

// Parameters in order:
//   weights, bias, y              of each product in turn: as in gemv, except that a bias may be null
//   integers, factors, n_columns  as in gemv, shared by all products
ptx::Kernel gemv_together(const GemvTogether& spec, ptx::Target target);
std::vector<GemvPlan> plans_of(const GemvTogether& spec);  // plans with equal warps and tiles per block
uint64_t gemv_together_bytes(const GemvTogether& spec, uint64_t n_columns);
std::string name_of(const GemvTogether& spec);  // gemv_q4k_2048_q6k_256x2048_c8: format and rows of each, k, columns

}  // namespace warpchat
