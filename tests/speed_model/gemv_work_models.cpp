#include <bit>

#include "kernels/common/columns.h"
#include "tests/speed_model/work_models.h"

namespace warpchat {

namespace {

// SharedInput::fill, for a tile of all columns.
LatencyCounts fill_latency(const GemvPlan& plan) {
  const LatencyCounts load = plan.normalises() ? LatencyCounts{.common = 1} : LatencyCounts{.l2 = 1};
  const LatencyCounts squares =
      plan.normalises() ? LatencyCounts{.local = 6} : LatencyCounts{};  // a warp's sum, to shared memory
  if (plan.has_float_input) {
    const double n_rounds = ceil_div(plan.tile_units * plan.unit_weights, plan.threads());
    return plan.spec.columns * (n_rounds * (load + LatencyCounts{.local = 1}) + squares) + LatencyCounts{.local = 1};
  }
  // Shuffles find the largest value, and the sums.
  const LatencyCounts scale{.local = plan.has_input_sums ? 3.0 : 2.0};
  const uint32_t n_rounds = ceil_div(plan.spec.columns * plan.fill_rounds(), plan.warps);  // per warp
  return double(ceil_div(n_rounds, plan.prefetched_fill_rounds())) * load + n_rounds * (scale + squares) +
         LatencyCounts{.local = 1};
}

// GemvWriter::write_rows: sums over a row's lanes, RMSNorm's factor, and the epilogue's reads.
LatencyCounts end_of_rows_latency(const GemvPlan& plan) {
  LatencyCounts counts{.local = static_cast<double>(std::bit_width(plan.lanes_per_row) - 1)};
  if (plan.normalises()) counts.local += 2;
  if (adds_bias(plan.spec.epilogue)) counts.common += 1;
  if (adds_residual(plan.spec.epilogue)) counts.l2 += 1;
  return ceil_div(plan.spec.columns * plan.rows_per_warp, plan.lanes_per_row) * counts;
}

// For plans on_tensor_cores(). Weights are prefetched, so all reads but the first wait for the L2 cache, together with
// their columns.
WorkModel gemv_columns_work_model(const GemvPlan& plan) {
  const double n_rounds = ceil_div(plan.n_units, plan.lanes_per_row);
  // The barrier; the lanes' sums and their total; the column's factor, with the old value.
  LatencyCounts end{.l2 = 1, .local = 4};
  if (adds_bias(plan.spec.epilogue)) end.common += 1;
  uint64_t row_bytes = 0;
  for (const ProductMatrix& matrix : plan.matrices) row_bytes += matrix.row_bytes;
  return {.pieces = plan.n_blocks,
          .warps = plan.warps,
          .blocks_per_sm = plan.blocks_per_sm(),
          .piece = LatencyCounts{.memory = 1, .l2 = n_rounds - 1, .local = n_rounds} + end,
          .bytes_in_flight = plan.row_tiles * GemvPlan::kTileRows * row_bytes};
}

}  // namespace

WorkModel gemv_work_model(const GemvPlan& plan) {
  if (plan.on_tensor_cores()) return gemv_columns_work_model(plan);
  const uint32_t n_tiles = ceil_div(plan.n_units, plan.tile_units);
  const uint32_t n_rounds = n_tiles * ceil_div(plan.tile_units, plan.lanes_per_row * plan.units_in_flight);
  WorkModel model{.pieces = plan.n_steps,
                  .blocks_per_sm = plan.blocks_per_sm(),
                  .piece = n_rounds * LatencyCounts{.memory = 1} + end_of_rows_latency(plan)};
  if (plan.is_tiled()) {
    model.piece = model.piece + n_tiles * fill_latency(plan);
  } else {
    model.start = fill_latency(plan);
    model.start_region = "normalise";
  }
  uint64_t row_bytes = 0;
  for (const ProductMatrix& matrix : plan.matrices) row_bytes += matrix.row_bytes;
  model.bytes_in_flight = 32 * plan.units_in_flight * plan.rows_per_warp * row_bytes / plan.n_units;
  return model;
}

WorkModel fused_gemv_work_model(const FusedGemv& spec) {
  const std::vector<GemvPlan> plans = plans_of(spec);
  WorkModel model = gemv_columns_work_model(plans[0]);
  model.pieces = 0;
  for (const GemvPlan& plan : plans) model.pieces += plan.n_blocks;
  model.piece.common = 1;  // a bias
  return model;
}

}  // namespace warpchat
