// The body of gemv.h.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "kernels/common/body.h"
#include "kernels/matmul/gemv.h"
#include "kernels/matmul/gemv_plan.h"

namespace warpchat {

struct GemvAddresses {
  std::vector<ptx::Global<ptx::u8>> matrices;  // weights, and up with kSwiglu
  ptx::Global<ptx::f32> x;
  std::optional<ptx::Global<ptx::f32>> gamma, bias;
  ptx::Global<ptx::f32> y;
  ColumnCount n_columns;
  // Only in a body that serves several products: this product's rows, at least the plan's rows_per_step, and whether it
  // has a bias. None: rows and bias as in the plan.
  std::optional<ptx::Reg<ptx::u32>> rows;
  std::optional<ptx::Pred> has_bias;
};
// A block computes every block of the grid with the same index modulo `blocks()`, so any grid computes the whole
// product.
//
// before_input: emitted where the block may wait until x is written; all its threads get there. With loads_ahead the
// first weights have been requested by then.
using BeforeInput = std::function<void()>;
void gemv_body(ptx::Builder& b, const GemvPlan& plan, const GemvAddresses& at, const VirtualBlock& block,
               const BeforeInput& before_input = {});
// A played block with plans[which]; `which` is uniform in the team. The plans differ only in weights and rows, so
// shared code is emitted once.
void gemv_body(ptx::Builder& b, std::vector<GemvPlan> plans, const ptx::Reg<ptx::u32>& which, const GemvAddresses& at,
               const VirtualBlock& block, const BeforeInput& before_input = {});
ptx::Kernel gemv_kernel(const GemvSpec& spec, ptx::Target target, const BodyOf<GemvAddresses>& body);

}  // namespace warpchat
