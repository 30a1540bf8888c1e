#include "kernels/matmul/gemv_plan.h"

#include <algorithm>
#include <bit>

#include "kernels/common/columns.h"
#include "kernels/matmul/int_activations.h"
#include "ptx/target.h"

namespace warpchat {
namespace {

// Static shared memory only, which every target has: two blocks per multiprocessor then hide each other's latency. A
// little is left for a kernel that plays this one among others.
constexpr uint32_t kSharedBytes = ptx::kMaxStaticSharedBytes - 64;
constexpr uint32_t kMaxGemvColumns = 8;
constexpr uint32_t kFewBlocks = 112;   // about one per multiprocessor of a large GPU
constexpr uint32_t kManyBlocks = 264;  // more would only repeat the prologue

void check(const GemvSpec& spec) {
  require(spec.rows > 0, spec, "it has no rows");
  require(is_packable(spec.weights, spec.k), spec,
          "k is " + std::to_string(spec.k) + "; " + std::string(traits(spec.weights).name) + " needs a multiple of " +
              std::to_string(traits(spec.weights).block_weights));
  require(spec.columns >= 1 && spec.columns <= kMaxGemvColumns, spec,
          "it has " + std::to_string(spec.columns) + " columns; expected 1 to " + std::to_string(kMaxGemvColumns));
  if (!spec.up) return;
  require(is_swiglu(spec.epilogue), spec, "only swiglu has an up matrix");
  require(is_packable(*spec.up, spec.k) && is_float(*spec.up) == is_float(spec.weights) &&
              (!is_float(*spec.up) ||
               packed_streams(*spec.up, spec.k).unit_weights == packed_streams(spec.weights, spec.k).unit_weights),
          spec, "its two matrices have incompatible formats");
}

// Half a warp or fewer lanes per row if the units would leave many lanes idle in the last round, or too few per lane.
// Depends on k only, so that one kernel serves any number of rows.
uint32_t choose_lanes(uint32_t n_units) {
  constexpr uint32_t kMinLanes = 8, kMinUnits = 3;  // units per lane, if there are more lanes than kMinLanes
  for (uint32_t lanes : {32u, 16u, kMinLanes}) {
    const uint32_t rounds = ceil_div(n_units, lanes);
    if ((rounds >= kMinUnits || lanes == kMinLanes) && n_units * 20 >= rounds * lanes * 17) return lanes;
  }
  return 4;
}

void share_rows(GemvPlan& plan) {
  const GemvSpec& spec = plan.spec;
  plan.warps = spec.warps;
  require(plan.warps >= 1 && plan.warps <= 32, spec, "a block has 1 to 32 warps");
  plan.lanes_per_row = spec.lanes_per_row ? spec.lanes_per_row : choose_lanes(plan.n_units);
  if (spec.lanes_per_row == 0 && spec.rows < 32 / plan.lanes_per_row) plan.lanes_per_row = 32;
  require(std::has_single_bit(plan.lanes_per_row) && plan.lanes_per_row <= 32, spec,
          "lanes_per_row must be a power of two up to 32");
  plan.n_groups = 32 / plan.lanes_per_row;
  plan.rows_per_warp = spec.rows_per_warp;
  if (plan.rows_per_warp == 0) {
    plan.rows_per_warp = spec.columns == 1 ? 1 : 2 / static_cast<uint32_t>(plan.matrices.size());
    while (plan.rows_per_warp > 1 && spec.rows / (plan.warps * plan.n_groups * plan.rows_per_warp) < kFewBlocks)
      plan.rows_per_warp /= 2;
  }
  plan.rows_per_step = plan.n_groups * plan.rows_per_warp;
  require(plan.rows_per_step <= spec.rows, spec, "a warp takes more rows than there are");
  plan.n_steps = ceil_div(spec.rows, plan.rows_per_step);
  const uint32_t rows_per_pass = plan.rows_per_step * plan.warps;
  uint32_t n_passes;  // steps per warp, in sequence
  if (spec.rows_per_block != 0) {
    require(spec.rows_per_block % rows_per_pass == 0, spec,
            "rows_per_block must be a multiple of " + std::to_string(rows_per_pass));
    n_passes = spec.rows_per_block / rows_per_pass;
  } else {
    n_passes = plan.is_tiled() ? 1 : ceil_div(ceil_div(plan.n_steps, plan.warps), kManyBlocks);
  }
  require(n_passes == 1 || !plan.is_tiled(), spec, "its input is tiled, so a warp can make only one step");
  plan.n_blocks = ceil_div(plan.n_steps, plan.warps * n_passes);
}

// Units of each row so that a lane has four in all.
uint32_t few_units(const GemvPlan& plan) {
  return std::max(4 / (plan.rows_per_warp * static_cast<uint32_t>(plan.matrices.size())), 1u);
}

// A single column computes quickly, so many loads must be in flight: four per lane, and one more if that completes the
// row.
uint32_t choose_units_in_flight(const GemvPlan& plan) {
  if (plan.spec.columns > 1 || plan.is_tiled()) return 1;
  const uint32_t units = few_units(plan), all = ceil_div(plan.n_units, plan.lanes_per_row);
  return all <= units + 1 ? all : units;
}

// The maximum number of units that fit, evenly distributed over the tiles; a multiple of 32, so that lanes get the same
// units in the same order as without tiles.
void lay_out_input(GemvPlan& plan) {
  const uint32_t slots = std::max(32u, ceil_div(plan.n_units, GemvPlan::kFillUnits));
  const uint32_t squares_bytes = plan.normalises() ? plan.spec.columns * slots * 4 : 0;
  const uint32_t max = ((kSharedBytes - squares_bytes) / plan.spec.columns - 15) / plan.input_unit_bytes();
  plan.tile_units = plan.n_units;
  if (plan.n_units <= max) return;
  const uint32_t n_tiles = ceil_div(plan.n_units, max / 32 * 32);
  plan.tile_units = ceil_div(ceil_div(plan.n_units, n_tiles), 32) * 32;
}

}  // namespace

uint32_t GemvPlan::part_floats() const {
  return row_tiles * static_cast<uint32_t>(matrices.size()) * lanes_per_row * kTileFloats;
}

uint32_t GemvPlan::blocks_per_sm() const { return std::max(1u, 512 / threads()); }

uint32_t GemvPlan::fill_rounds() const { return ceil_div(tile_units, kFillUnits); }

uint32_t GemvPlan::prefetched_fill_rounds() const {
  return std::min(ceil_div(spec.columns * fill_rounds(), warps), kMaxFillAhead);
}

uint32_t GemvPlan::squares_slots() const { return has_float_input ? warps : fill_rounds(); }

uint32_t GemvPlan::input_unit_bytes() const {
  if (has_float_input) return unit_weights * 4;
  return unit_weights * 2 + (has_input_sums ? 8 : 0) + 4;
}

uint32_t GemvPlan::input_column_bytes() const { return (tile_units * input_unit_bytes() + 15) / 16 * 16; }

uint32_t GemvPlan::row_tiles_in_all() const { return ceil_div(spec.rows, kTileRows); }

// More units per warp amortise its work, but all multiprocessors need enough warps.
void distribute_tiles(GemvPlan& plan, uint32_t n_tiles) {
  constexpr uint32_t kManyWarps = 2048, kBlockWarps = 8, kMaxUnits = 4;
  const GemvSpec& spec = plan.spec;
  require(spec.k <= kMaxIntActivationValues, spec,
          "k is " + std::to_string(spec.k) + "; expected at most " + std::to_string(kMaxIntActivationValues));
  const uint32_t lanes = plan.lanes_per_row;
  // Two matrices, one with two scales per unit: more units would exceed the registers.
  const bool is_large = std::ranges::any_of(
      plan.matrices, [](const ProductMatrix& matrix) { return unit_format(matrix.type).n_scales == 2; });
  uint32_t& at_once = plan.units_at_once;
  at_once = is_large && plan.matrices.size() == 2 ? kMaxUnits / 2 : kMaxUnits;
  while (lanes % at_once != 0 || plan.n_units % at_once != 0) at_once /= 2;
  while (at_once > 2 && n_tiles * lanes / at_once < kManyWarps) at_once /= 2;
  plan.splits = lanes / at_once;
  plan.row_tiles = std::min(std::max(1u, kBlockWarps / plan.splits), n_tiles);
  while (plan.part_floats() * sizeof(float) > kSharedBytes) plan.row_tiles /= 2;
  plan.warps = plan.row_tiles * plan.splits;
  plan.n_blocks = ceil_div(plan.row_tiles_in_all(), plan.row_tiles);
}

GemvPlan plan_of(const GemvSpec& spec) {
  check(spec);
  GemvPlan plan = {};
  plan.spec = spec;
  plan.matrices = matrices_of(spec);
  for (const ProductMatrix& matrix : plan.matrices)
    plan.has_input_sums |= unit_format(matrix.type).zero != 0 || unit_format(matrix.type).has_lowest;
  plan.has_float_input = is_float(spec.weights);
  plan.unit_weights = plan.matrices[0].streams.unit_weights;
  plan.n_units = plan.matrices[0].streams.n_units;
  plan.tile_units = plan.n_units;
  if (!plan.on_tensor_cores()) lay_out_input(plan);
  share_rows(plan);
  if (plan.on_tensor_cores()) distribute_tiles(plan, plan.row_tiles_in_all());
  plan.units_in_flight = choose_units_in_flight(plan);
  return plan;
}

void load_ahead(GemvPlan& plan) {
  if (plan.spec.columns > 1 || plan.is_tiled()) return;
  plan.loads_ahead = true;
  plan.units_in_flight = std::min(plan.units_in_flight, few_units(plan));
}

bool share_input(std::vector<GemvPlan>& plans) {
  const auto has_sums = [](const GemvPlan& plan) { return plan.has_input_sums; };
  const bool any_has_sums = std::ranges::any_of(plans, has_sums);
  std::vector<GemvPlan> shared = plans;
  for (GemvPlan& plan : shared) {
    plan.has_input_sums = any_has_sums;
    lay_out_input(plan);
    if (plan.is_tiled() || plan.has_float_input != plans[0].has_float_input || plan.n_units != plans[0].n_units)
      return false;
  }
  plans = std::move(shared);
  return true;
}

}  // namespace warpchat
