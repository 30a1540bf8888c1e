#include "kernels/gemm_plan.h"

#include <algorithm>

#include "kernels/columns.h"
#include "kernels/expert_order.h"
#include "kernels/half_columns.h"

namespace warpchat {
namespace {

constexpr uint32_t kMostK = 1 << 24;  // a few rows' bytes are 32-bit numbers

void check_type(const GemmSpec& spec, TensorType type) {
  const std::string format(traits(type).name);
  require(has_gemm(type), spec, "values of " + format + " are not exact in halves; gemv takes them");
  require(spec.k <= kMostK, spec, "k is " + std::to_string(spec.k) + "; expected at most " + std::to_string(kMostK));
  require(is_packable(type, spec.k), spec,
          "k is " + std::to_string(spec.k) + "; " + format + " needs a multiple of " +
              std::to_string(traits(type).block_weights));
}

void check(const GemmSpec& spec) {
  require(spec.rows >= 16, spec, "it has " + std::to_string(spec.rows) + " rows; expected at least 16");
  check_type(spec, spec.weights);
  require(spec.experts == 0 || spec.epilogue == GemvEpilogue::kStore || spec.epilogue == GemvEpilogue::kSwiglu, spec,
          "experts have neither bias nor residual");
  require(spec.uses_per_input >= 1, spec, "an input has no uses");
  if (!spec.up) return;
  require(spec.epilogue == GemvEpilogue::kSwiglu, spec, "only swiglu has an up matrix");
  check_type(spec, *spec.up);
  require(is_float(*spec.up) == is_float(spec.weights), spec, "its matrices are of formats that do not mix");
}

constexpr uint32_t kMostRowsPerWarp = 32;

uint32_t n_matrices(const GemmSpec& spec) { return spec.epilogue == GemvEpilogue::kSwiglu ? 2 : 1; }

uint32_t rows_per_warp_of(const GemmSpec& spec) {
  if (spec.rows_per_warp != 0) return spec.rows_per_warp;
  return spec.rows < kMostRowsPerWarp ? kMostRowsPerWarp / 2 : kMostRowsPerWarp / n_matrices(spec);
}

}  // namespace

bool has_gemm(TensorType weights) { return !is_float(weights) || weights == TensorType::kF16; }

bool takes_addends(const GemmSpec& spec) { return spec.experts == 0 && spec.epilogue != GemvEpilogue::kSwiglu; }

std::string name_of(const GemmSpec& spec) {
  GemmSpec any = spec;
  if (takes_addends(spec)) any.epilogue = GemvEpilogue::kStore;
  const bool is_usual = spec.rows_per_warp == 0 && rows_per_warp_of(spec) == kMostRowsPerWarp / n_matrices(spec);
  return product_name(spec.experts > 0 ? "experts_gemm" : "gemm", any, "") +
         name_part("u", spec.experts > 0 ? spec.uses_per_input : 0) + name_part("w", spec.warps) +
         name_part("r", is_usual ? 0 : rows_per_warp_of(spec)) + name_part("c", spec.columns_per_block) +
         name_part("s", spec.splits);
}

// A warp's sums fill 64 registers: 32 rows, or 16 of two matrices, by 64 columns.
GemmPlan plan_of(const GemmSpec& spec) {
  check(spec);
  GemmPlan plan = {};
  plan.spec = spec;
  plan.matrices = matrices_of(spec);
  plan.warps = spec.warps ? spec.warps : 8;
  require(plan.warps <= 16, spec, "a block has 1 to 16 warps");
  plan.rows_per_warp = rows_per_warp_of(spec);
  require(plan.rows_per_warp == 16 || plan.rows_per_warp == 32, spec, "a warp takes 16 or 32 rows");
  require(plan.rows_per_warp <= spec.rows, spec, "a warp takes more rows than there are");
  plan.columns = spec.columns_per_block ? spec.columns_per_block : 64;
  require(plan.columns % 8 == 0 && plan.columns <= 64, spec, "columns_per_block is no multiple of 8 up to 64");
  plan.splits = std::max(1u, spec.splits);
  require(kGemmTileUnits % plan.splits == 0 && plan.warps % plan.splits == 0, spec,
          "splits are not 1, 2 or 4, or do not divide the warps");
  require(plan.splits == 1 || spec.experts == 0, spec, "experts have no splits");
  plan.n_row_blocks = ceil_div(spec.rows, plan.rows_per_block());
  return plan;
}

uint64_t input_bytes(const GemmSpec& spec, uint64_t n_columns) {
  return n_columns * (2 * half_column_values(spec.k) + 4);
}

ptx::Dimensions gemm_grid(const GemmSpec& spec, uint32_t n_columns) {
  const GemmPlan plan = plan_of(spec);
  const uint32_t n_tiles =
      spec.experts > 0 ? most_expert_tiles(spec.experts, plan.columns, n_columns) : ceil_div(n_columns, plan.columns);
  return {n_tiles, plan.n_row_blocks};
}

ptx::Cost gemm_cost(const GemmSpec& spec, uint32_t n_columns) {
  const GemmPlan plan = plan_of(spec);
  if (spec.experts > 0) return product_cost(spec, plan.matrices, n_columns, std::min(spec.experts, n_columns));
  ptx::Cost cost = product_cost(spec, plan.matrices, plan.columns);
  const uint64_t blocks = ceil_div(n_columns, plan.columns);
  return {cost.bytes * blocks, cost.flops * blocks};
}

}  // namespace warpchat
