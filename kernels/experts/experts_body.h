// The bodies of experts.h.
#pragma once
#include <optional>
#include <vector>

#include "kernels/common/body.h"
#include "kernels/experts/experts.h"
#include "kernels/matmul/gemv_body.h"

namespace warpchat {

struct RouteAddresses {
  ptx::Global<ptx::f32> scores;
  ptx::Global<ptx::u32> experts;
  ptx::Global<ptx::f32> weights;
  ColumnCount n_columns;
};
// One warp per block; grid: 1, columns.
void route_body(ptx::Builder& b, const RouteSpec& spec, const RouteAddresses& at, const VirtualBlock& block);
ptx::Kernel route_kernel(const RouteSpec& spec, ptx::Target target, const BodyOf<RouteAddresses>& body);

// The matrices of one expert, from the arrays of all experts.
std::vector<ptx::Global<ptx::u8>> matrices_of_expert(const GemvPlan& plan,
                                                     const std::vector<ptx::Global<ptx::u8>>& matrices,
                                                     const ptx::Reg<ptx::u32>& expert);
// The body computes one assignment's product; the addresses are already those of its expert.
ptx::Kernel expert_product_kernel(const ExpertProductSpec& spec, ptx::Target target, const BodyOf<GemvAddresses>& body);

struct ExpertSumAddresses {
  ptx::Global<ptx::f32> outputs, weights;
  std::optional<ptx::Global<ptx::f32>> shared, switches;
  ptx::Global<ptx::f32> y;
  ColumnCount n_columns;
};
ptx::Launch expert_sum_launch(const ExpertSumSpec& spec);  // blocks: parts of y, columns
void expert_sum_body(ptx::Builder& b, const ExpertSumSpec& spec, const ExpertSumAddresses& at,
                     const VirtualBlock& block);
ptx::Kernel expert_sum_kernel(const ExpertSumSpec& spec, ptx::Target target, const BodyOf<ExpertSumAddresses>& body);

}  // namespace warpchat
