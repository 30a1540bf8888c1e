#include <algorithm>

#include "kernels/common/columns.h"
#include "kernels/matmul/gemm_plan.h"
#include "tests/speed_model/work_models.h"

namespace warpchat {

namespace {

// A tile of k is requested one turn or tile before it is read, except where threads copy columns. The four lanes of a
// row share scales, and each unit's columns come from shared memory.
LatencyCounts tile_latency(ptx::Target target) {
  const LatencyCounts columns =
      ptx::runs(target, ptx::sm_80) ? LatencyCounts{.local = 2} : LatencyCounts{.l2 = 1, .local = 3};
  return columns + LatencyCounts{.local = 1 + 2.0 * kGemmTileUnits};
}

// GemmWriter::write_staged for two matrices, else write_sums. With split-K, the release and the arrival come first.
// Then several partial tiles are read at once, with what is added to them.
LatencyCounts write_latency(const GemmPlan& plan, uint32_t n_columns) {
  const auto n_matrices = static_cast<uint32_t>(plan.matrices.size());
  if (n_matrices == 2) {
    const uint32_t at_once = ptx::kWarpSize / plan.rows_per_warp * n_matrices * GemmPlan::kStagedAtOnce;
    return ceil_div(n_columns, at_once) * LatencyCounts{.local = 1} + LatencyCounts{.local = 4};
  }
  const uint32_t n_tiles = ceil_div(n_columns, 8) * (plan.rows_per_warp / 16);
  if (plan.spec.split_k > 1)
    return LatencyCounts{.l2 = 2, .local = 4} + ceil_div(n_tiles, GemmPlan::kWrittenTiles) *
                                                    ceil_div(plan.split_k, GemmPlan::kMergedParts) *
                                                    LatencyCounts{.l2 = 1};
  const GemvEpilogue epilogue = plan.spec.epilogue;
  const LatencyCounts residual = adds_residual(epilogue) ? LatencyCounts{.l2 = 1} : LatencyCounts{};
  const LatencyCounts bias = adds_bias(epilogue) ? LatencyCounts{.common = 1} : LatencyCounts{};
  return bias + ceil_div(n_tiles, GemmPlan::kWrittenTiles) * residual + LatencyCounts{.local = 1};
}

}  // namespace

WorkModel gemm_work_model(GemmProducts products, ptx::Target target, uint32_t n_columns) {
  const GemmSpec& spec = products[0];
  const GemmPlan plan = plan_of(spec);
  const bool has_experts = spec.experts > 0;
  const uint32_t n_groups = has_experts ? std::min(spec.experts, n_columns) : 1;
  const uint64_t n_tiles = uint64_t{n_groups} * ceil_div(ceil_div(n_columns, n_groups), plan.columns);
  const uint32_t block_columns = std::min(ceil_div(n_columns, n_groups), plan.columns);
  uint64_t max_unit_bytes = 0;  // per matrix, of the product with the largest units
  for (const GemmSpec& product : products) {
    uint64_t unit_bytes = 0;
    for (const ProductMatrix& matrix : matrices_of(product)) unit_bytes += matrix.row_bytes * kGemmUnit / spec.k;
    max_unit_bytes = std::max(max_unit_bytes, unit_bytes);
  }
  const uint32_t n_steps = ceil_div(ceil_div(spec.k, kGemmTileK), plan.split_k);
  const LatencyCounts write = write_latency(plan, block_columns);
  // With experts, a block first reads its tile and the order, then its columns.
  const LatencyCounts first{.memory = 1, .l2 = has_experts ? 3.0 : 1.0};
  return {.pieces = n_tiles * gemm_grid(products, 1).y * plan.split_k,
          .warps = plan.warps,
          .blocks_per_sm = plan.blocks_per_sm(target),
          .piece = first + n_steps * tile_latency(target) + (spec.split_k > 1 ? LatencyCounts{} : write),
          .end = spec.split_k > 1 ? write : LatencyCounts{},
          .bytes_in_flight = plan.rows_per_block() * max_unit_bytes * kGemmTileUnits};
}

}  // namespace warpchat
