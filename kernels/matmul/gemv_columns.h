// GEMV of several columns with quantised weights on tensor cores: codes times the integer planes that
// kernels/matmul/int_activations.h makes of eight columns. Integer sums are exact; the rest is summed in the same order
// as for a single column. Several products of one input can share a launch.
#pragma once
#include <string>
#include <vector>

#include "kernels/matmul/gemv_plan.h"
#include "ptx/builder.h"

namespace warpchat {

// Requires plan.on_tensor_cores().
ptx::Kernel gemv_of_columns(const GemvPlan& plan, ptx::Target target);

// Fused GEMV: products of one input and the same number of columns in one launch, blocks of the first product, then of
// the next.
struct FusedGemv {
  std::vector<GemvSpec> products;  // each satisfies can_fuse()
};
// Several columns of quantised weights, at least 16 rows, epilogue kStore or kBias.
bool can_fuse(const GemvSpec& spec);

// Parameters in order:
//   weights, bias, y              of each product in turn: as in gemv, except that a bias may be null
//   integers, factors, n_columns  as in gemv, shared by all products
ptx::Kernel fused_gemv(const FusedGemv& spec, ptx::Target target);
std::vector<GemvPlan> plans_of(const FusedGemv& spec);  // plans with equal warps and tiles per block
uint64_t fused_gemv_bytes(const FusedGemv& spec, uint64_t n_columns);
std::string name_of(const FusedGemv& spec);  // gemv_q4k_2048_q6k_256x2048_c8: format and rows of each, k, columns

}  // namespace warpchat
