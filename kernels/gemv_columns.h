// The GEMV of several columns of quantised weights, on tensor cores: codes times the planes of integers that
// kernels/integer_columns.h makes of eight columns. The integers' sums are exact, and what follows is added up in the
// order in which a column by itself has it. Several products of one input are one launch.
#pragma once
#include <string>
#include <vector>

#include "kernels/gemv_plan.h"
#include "ptx/builder.h"

namespace warpchat {

// Of a plan that is on_tensor_cores().
ptx::Kernel gemv_of_columns(const GemvPlan& plan, ptx::Target target);

// Products of one input, of as many columns, in one launch: blocks of the first, then of the next.
struct GemvTogether {
  std::vector<GemvSpec> products;  // each as goes_together asks
};
// Of several columns of quantised weights, of at least 16 rows, with a bias or nothing behind.
bool goes_together(const GemvSpec& spec);

// Parameters in order:
//   weights, bias, y of each product in turn: as gemv has them, but that a bias may be null
//   integers, factors, n_columns: as gemv has them, of all
// The kernel serves products with a bias and without.
ptx::Kernel gemv_together(const GemvTogether& spec, ptx::Target target);
std::vector<GemvPlan> plans_of(const GemvTogether& spec);  // which share a launch: as many warps and tiles a block
uint64_t gemv_together_bytes(const GemvTogether& spec, uint64_t n_columns);
std::string name_of(const GemvTogether& spec);  // gemv_q4k_2048_q6k_256x2048_c8: formats and rows, k and columns

}  // namespace warpchat
