#include "kernels/product_plan.h"

#include <algorithm>
#include <set>
#include <string>

#include "kernels/common/columns.h"
#include "kernels/matmul/gemm_plan.h"
#include "kernels/matmul/weight_unit.h"

namespace warpchat {

namespace {

constexpr uint32_t kMinGemmRows = 16;
// Split-K for a batch's products, tuned for a GPU of about this many multiprocessors. A single-matrix product is split
// until nearly all multiprocessors have a block, with a minimum of tiles per split because partial sums must be added;
// or in two, if a warp would go over many tiles.
constexpr uint32_t kBatchProcessors = 132, kBatchWarps = 4, kBatchBlocks = 128, kMinPartTiles = 2, kManyPartTiles = 9;

uint32_t batch_row_blocks(uint32_t rows) { return ceil_div(rows, kBatchWarps * 16); }

uint32_t split_k_of(uint32_t n_blocks, uint32_t k) {
  const uint32_t n_tiles = ceil_div(k, kGemmTileK);
  const uint32_t of_two = std::min(ceil_div(2 * kBatchBlocks, n_blocks), ceil_div(n_tiles, kManyPartTiles));
  const uint32_t wanted = std::max(ceil_div(kBatchBlocks, n_blocks), of_two);
  return std::clamp(std::min(wanted, n_tiles / kMinPartTiles), 1u, kMaxSplitK);
}

// With two matrices: the warps per block that minimise the rows of the busiest multiprocessor.
uint32_t swiglu_warps(uint32_t rows) {
  const auto busiest = [&](uint32_t warps) {
    return ceil_div(ceil_div(rows, warps / 2 * 16), kBatchProcessors) * warps;
  };
  return std::ranges::min({16u, 12u, 8u}, {}, busiest);
}

bool gemm_takes(const GemvSpec& spec) {
  const auto takes = [&](TensorType type) { return has_gemm(type); };
  return spec.rows >= kMinGemmRows && takes(spec.weights) && takes(spec.up.value_or(spec.weights));
}

}  // namespace

// Pages per block such that, in contexts of about this length, the blocks of all columns run at once, two per
// multiprocessor.
uint32_t pages_per_block(const AttentionSpec& spec) {
  constexpr uint32_t kPages = 16;
  if (!takes_several_pages(spec)) return 1;
  const uint32_t caches = std::min(spec.columns, kMaxGemmColumns) * spec.n_kv_heads;
  return ceil_div(kPages, std::clamp(2 * kBatchProcessors / caches, 1u, kPages));
}

ProductSpec gemv_for_columns(GemvSpec gemv, uint32_t columns) {
  gemv.columns = std::min(columns, kGemvColumns);
  return gemv;
}

ProductSpec product_for(const GemvSpec& gemv, PassKind kind, uint32_t columns) {
  if (kind == PassKind::kDecode) return gemv;
  if ((kind == PassKind::kPrefill || kind == PassKind::kBatch) && gemm_takes(gemv)) {
    GemmSpec gemm{gemv.weights, gemv.rows, gemv.k, gemv.epilogue, gemv.up};
    if (kind == PassKind::kBatch) {
      gemm.columns_per_block = std::min(kMaxGemmColumns, ceil_div(columns, 8) * 8);
      const bool has_two = is_swiglu(gemm.epilogue);
      gemm.warps = has_two ? swiglu_warps(gemm.rows) : kBatchWarps;
      if (!has_two) gemm.split_k = split_k_of(batch_row_blocks(gemm.rows), gemm.k);
    }
    return gemm;
  }
  return gemv_for_columns(gemv, columns);
}

void share_split_k(std::vector<ProductSpec>& of_one_input) {
  uint32_t n_blocks = 0;
  const auto for_each_split_k = [&](const auto& visit) {
    for (ProductSpec& product : of_one_input)
      if (auto* gemm = std::get_if<GemmSpec>(&product); gemm != nullptr && gemm->split_k > 0) visit(*gemm);
  };
  for_each_split_k([&](const GemmSpec& gemm) { n_blocks += batch_row_blocks(gemm.rows); });
  for_each_split_k([&](GemmSpec& gemm) { gemm.split_k = split_k_of(n_blocks, gemm.k); });
}

void join_formats(const std::vector<ProductSpec*>& products, ProductSpec* logits) {
  const auto for_each_of_one_matrix = [&](const auto& visit) {
    for (ProductSpec* product : products)
      if (auto* gemm = std::get_if<GemmSpec>(product); gemm != nullptr && has_addends(*gemm)) visit(*gemm);
  };
  std::vector<TensorType> few_registers, many_registers;
  const auto formats_beside = [&](TensorType format) -> std::vector<TensorType>& {
    return has_two_small_scales(format) ? many_registers : few_registers;
  };
  for_each_of_one_matrix([&](const GemmSpec& gemm) {
    std::vector<TensorType>& formats = formats_beside(gemm.weights);
    if (std::ranges::find(formats, gemm.weights) == formats.end()) formats.push_back(gemm.weights);
  });
  std::set<std::string> names;
  for_each_of_one_matrix([&](GemmSpec& gemm) {
    gemm.formats = formats_beside(gemm.weights);
    names.insert(name_of(gemm));
  });
  if (logits == nullptr || !accepts_f16(*logits)) return;
  GemmSpec joined = std::get<GemmSpec>(*logits);
  joined.formats = formats_beside(joined.weights);
  const bool is_taken = std::ranges::find(joined.formats, joined.weights) != joined.formats.end();
  if (is_taken && names.contains(name_of(joined))) *logits = joined;
}

bool accepts_f16(const ProductSpec& product) { return std::holds_alternative<GemmSpec>(product); }

bool accepts_int(const ProductSpec& product) {
  const auto* gemv = std::get_if<GemvSpec>(&product);
  return gemv != nullptr && gemv->columns > 1 && !is_float(gemv->weights);
}

std::vector<FusedLaunch> fuse(const std::vector<ProductSpec>& of_one_input) {
  FusedLaunch gemvs{FusedGemv(), {}};
  std::vector<FusedLaunch> gemms;  // one per kernel
  for (size_t i = 0; i < of_one_input.size(); ++i) {
    if (const auto* gemv = std::get_if<GemvSpec>(&of_one_input[i])) {
      if (!can_fuse(*gemv)) continue;
      std::get<FusedGemv>(gemvs.spec).products.push_back(*gemv), gemvs.products.push_back(i);
      continue;
    }
    const GemmSpec& gemm = std::get<GemmSpec>(of_one_input[i]);
    if (gemm.formats.empty()) continue;
    auto own = std::ranges::find(gemms, name_of(gemm), [](const FusedLaunch& all) { return name_of(all.spec); });
    if (own == gemms.end()) own = gemms.insert(own, {FusedGemm(), {}});
    std::get<FusedGemm>(own->spec).products.push_back(gemm), own->products.push_back(i);
  }
  gemms.insert(gemms.begin(), std::move(gemvs));
  std::erase_if(gemms, [](const FusedLaunch& launch) { return launch.products.size() < 2; });
  return gemms;
}

uint64_t batch_scratch_bytes(uint32_t columns) {
  const uint64_t of_block = uint64_t{kBatchWarps} * 16 * kMaxGemmColumns * sizeof(float);
  return kGemmArrivalsBytes + of_block * (4 * kBatchBlocks) * ceil_div(columns, kMaxGemmColumns);
}

}  // namespace warpchat
