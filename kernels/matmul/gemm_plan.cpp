#include "kernels/matmul/gemm_plan.h"

#include <algorithm>

#include "kernels/common/columns.h"
#include "kernels/matmul/expert_tiles.h"
#include "kernels/matmul/f16_activations.h"

namespace warpchat {
namespace {

constexpr uint32_t kMaxK = 1 << 24;  // so that byte offsets of a few rows fit 32 bits

void check_type(const GemmSpec& spec, TensorType type) {
  const std::string format(traits(type).name);
  require(has_gemm(type), spec, "f16 cannot hold " + format + " values exactly; use gemv");
  require(spec.k <= kMaxK, spec, "k is " + std::to_string(spec.k) + "; expected at most " + std::to_string(kMaxK));
  require(is_packable(type, spec.k), spec,
          "k is " + std::to_string(spec.k) + "; " + format + " needs a multiple of " +
              std::to_string(traits(type).block_weights));
}

void check(const GemmSpec& spec) {
  require(spec.rows >= 16, spec, "it has " + std::to_string(spec.rows) + " rows; expected at least 16");
  check_type(spec, spec.weights);
  require(spec.experts == 0 || spec.epilogue == GemvEpilogue::kStore || spec.epilogue == GemvEpilogue::kSwiglu, spec,
          "experts cannot have a bias or residual");
  require(spec.formats.empty() || has_addends(spec), spec, "products of experts or two matrices cannot share a launch");
  require(spec.formats.empty() || std::ranges::find(spec.formats, spec.weights) != spec.formats.end(), spec,
          "the kernel does not support its format");
  for (const TensorType format : spec.formats)
    require(has_gemm(format), spec, "f16 cannot hold " + std::string(traits(format).name) + " values exactly");
  require(spec.assignments_per_input >= 1, spec, "assignments_per_input must be at least 1");
  if (!spec.up) return;
  require(is_swiglu(spec.epilogue), spec, "only swiglu has an up matrix");
  check_type(spec, *spec.up);
  require(is_float(*spec.up) == is_float(spec.weights), spec, "its two matrices have incompatible formats");
}

// Traffic of split-K partial sums: written by every part, read by one.
uint64_t parts_bytes(const GemmPlan& plan, uint32_t n_columns) {
  return uint64_t{2} * plan.split_k * plan.spec.rows * n_columns * sizeof(float);
}

}  // namespace

bool has_gemm(TensorType weights) { return !is_float(weights) || weights == TensorType::kF16; }

bool has_addends(const GemmSpec& spec) { return spec.experts == 0 && !is_swiglu(spec.epilogue); }

std::string name_of(const GemmSpec& spec) {
  GemmSpec any = spec;
  if (has_addends(spec)) any.epilogue = GemvEpilogue::kStore;
  std::string name = "gemms";
  for (const TensorType format : spec.formats) name += "_" + std::string(unit_format(format).name);
  if (spec.formats.empty()) name = product_name(spec.experts > 0 ? "experts_gemm" : "gemm", any, "");
  return name + name_part("u", spec.experts > 0 ? spec.assignments_per_input : 0) + name_part("w", spec.warps) +
         name_part("r", spec.rows_per_warp) + name_part("c", spec.columns_per_block) + (spec.split_k > 1 ? "_p" : "");
}

std::string name_of(const FusedGemm& spec) { return name_of(spec.products.at(0)); }

uint32_t format_number(const GemmSpec& spec) {
  return static_cast<uint32_t>(std::ranges::find(spec.formats, spec.weights) - spec.formats.begin());
}

bool GemmPlan::has_lowest() const {
  return std::ranges::any_of(formats, [](TensorType format) { return unit_format(format).has_lowest; });
}

bool has_two_small_scales(TensorType format) {
  return unit_format(format).has_small_scales && unit_format(format).n_scales == 2;
}

bool needs_many_registers(const GemmPlan& plan) {
  return plan.matrices.front().type != plan.matrices.back().type ||
         std::ranges::any_of(plan.formats, has_two_small_scales);
}

// A warp's sums occupy at most 64 registers: 32 rows by 64 columns.
GemmPlan plan_of(const GemmSpec& spec) {
  check(spec);
  GemmPlan plan = {};
  plan.spec = spec;
  plan.matrices = matrices_of(spec);
  plan.formats = spec.formats;
  if (spec.formats.empty())
    for (const ProductMatrix& matrix : plan.matrices) plan.formats.push_back(matrix.type);
  const auto n = static_cast<uint32_t>(plan.matrices.size());
  plan.warps = spec.warps ? spec.warps : needs_many_registers(plan) ? 8 : 8 * n;
  require(plan.warps <= 16 && plan.warps % n == 0, spec, "a block has 1 to 16 warps, as many of each matrix");
  plan.rows_per_warp = spec.rows_per_warp ? spec.rows_per_warp : 16;
  require(plan.rows_per_warp == 16 || plan.rows_per_warp == 32, spec, "a warp takes 16 or 32 rows");
  require(plan.rows_per_warp <= spec.rows, spec, "a warp takes more rows than there are");
  plan.columns = spec.columns_per_block ? spec.columns_per_block : 64;
  require(plan.columns % 8 == 0 && plan.columns <= 64, spec, "columns_per_block must be a multiple of 8 up to 64");
  require(spec.split_k <= 1 || (spec.experts == 0 && plan.matrices.size() == 1), spec,
          "split-K needs a single matrix without experts");
  require(spec.split_k <= kMaxSplitK, spec,
          "parts is " + std::to_string(spec.split_k) + "; expected at most " + std::to_string(kMaxSplitK));
  plan.split_k = std::clamp(spec.split_k, 1u, ceil_div(spec.k, kGemmTileK));
  plan.n_row_blocks = ceil_div(spec.rows, plan.rows_per_block());
  return plan;
}

// 512 threads per multiprocessor leave 128 registers each. ptxas then spills with 64 sums, with mma's k of 8, for
// formats that need many registers, and on sm_120.
uint32_t GemmPlan::blocks_per_sm(ptx::Target target) const {
  const bool is_large = rows_per_warp * columns > 16 * 64 || !ptx::runs(target, ptx::sm_80) ||
                        ptx::runs(target, ptx::sm_120) || needs_many_registers(*this);
  return std::max(1u, (is_large ? 256 : 512) / threads());
}

uint64_t input_bytes(const GemmSpec& spec, uint64_t n_columns) {
  return n_columns * (2 * f16_activation_size(spec.k) + 4);
}

ptx::Dimensions gemm_grid(GemmProducts products, uint32_t n_columns) {
  const GemmSpec& spec = products[0];
  const GemmPlan plan = plan_of(spec);
  require(products.size() == 1 || (products.size() <= kMaxGemmProducts && !spec.formats.empty()), spec,
          "a launch cannot have " + std::to_string(products.size()) + " products");
  uint32_t n_row_blocks = 0;
  for (const GemmSpec& product : products) {
    require(name_of(product) == name_of(spec) && product.k == spec.k && product.split_k == spec.split_k, product,
            "products of different inputs cannot be fused");
    n_row_blocks += plan_of(product).n_row_blocks;
  }
  const uint32_t n_tiles =
      spec.experts > 0 ? max_expert_tiles(spec.experts, plan.columns, n_columns) : ceil_div(n_columns, plan.columns);
  return {n_tiles, n_row_blocks, plan.split_k};
}

uint64_t gemm_scratch_bytes(GemmProducts products, uint32_t n_columns) {
  const GemmSpec& spec = products[0];
  if (spec.split_k <= 1) return 0;
  const GemmPlan plan = plan_of(spec);
  const ptx::Dimensions grid = gemm_grid(products, n_columns);
  require(uint64_t{grid.x} * grid.y <= kMaxSplitKTiles, spec, "it has too many blocks for split-K");
  return kGemmArrivalsBytes + grid.total() * plan.columns * plan.rows_per_block() * sizeof(float);
}

ptx::Cost gemm_cost(GemmProducts products, uint32_t n_columns) {
  const GemmSpec& first = products[0];
  if (first.experts > 0) return product_cost(first, matrices_of(first), n_columns, std::min(first.experts, n_columns));
  const uint32_t columns = plan_of(first).columns;
  const ptx::Cost cost = gemm_block_cost(products, columns);
  const uint64_t blocks = ceil_div(n_columns, columns);
  return {cost.bytes * blocks, cost.flops * blocks};
}

ptx::Cost gemm_block_cost(GemmProducts products, uint32_t n_columns) {
  ptx::Cost all{input_bytes(products[0], n_columns), 0};
  for (const GemmSpec& product : products) {
    const GemmPlan plan = plan_of(product);
    const ptx::Cost cost = product_cost(product, plan.matrices, n_columns);
    all.bytes += cost.bytes - input_bytes(product, n_columns);
    all.flops += cost.flops;
    if (product.split_k > 1) all.bytes += parts_bytes(plan, n_columns);
  }
  return all;
}

}  // namespace warpchat
