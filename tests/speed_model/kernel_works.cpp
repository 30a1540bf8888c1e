#include "tests/speed_model/kernel_works.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "kernels/bodies.h"
#include "kernels/columns.h"
#include "kernels/conv_prompt.h"
#include "kernels/delta_chunk.h"
#include "kernels/f16_activations.h"
#include "kernels/gemm_plan.h"
#include "kernels/gemv_plan.h"
#include "kernels/int_activations.h"
#include "kernels/persistent_decoder.h"
#include "kernels/product.h"
#include "tests/speed_model/kernel_counts.h"
#include "tests/speed_model/work_models.h"

namespace warpchat {

namespace {

constexpr uint32_t kSplits = 8;      // splits of attention; beyond these, each split costs the same
constexpr uint32_t kMinComputedTiles = 2;  // tiles of k, or of keys
constexpr uint32_t kSpacing = 448;   // positions: seven tiles of keys
constexpr uint64_t kFewBlocks = 16;  // represent all blocks of kernels whose blocks share pieces

uint32_t block_warps(const ptx::Kernel& kernel) {
  return static_cast<uint32_t>(kernel.launch.threads.total() / ptx::kWarpSize);
}

// Average per warp.
double warp_instructions(const ptx::Kernel& kernel, const LaunchSizes& sizes) {
  const uint64_t n_warps = sizes.blocks.total() * block_warps(kernel);
  return static_cast<double>(count_instructions(kernel, sizes).all) / static_cast<double>(n_warps);
}

}  // namespace

KernelWorks::KernelWorks(DecoderSpecs specs, ptx::Target target, uint32_t columns)
    : specs_(std::move(specs)), target_(target), columns_(columns) {
  for (ptx::Kernel& kernel : decoder_kernels(specs_, target)) {
    const std::string name = kernel.name;
    kernels_[name].kernel = std::move(kernel);
  }
  const auto of = [&](const std::string& name) -> Counted& { return kernels_.at(name); };
  count(of(name_of(specs_.embedding)), embedding_work_model(specs_.embedding), columns_, kFewBlocks);
  for (const KvScatterSpec& spec : specs_.kv_scatters)
    count(of(name_of(spec)), kv_scatter_work_model(spec), columns_, kFewBlocks);
  if (const auto* flash = std::get_if<FlashAttentionSpec>(&specs_.attention)) count_flash(of(name_of(*flash)), *flash);
  const auto count_product = [&](const ProductSpec& product) {
    const auto* gemv = std::get_if<GemvSpec>(&product);
    if (gemv == nullptr) return count_gemm(std::get<GemmSpec>(product));
    if (accepts_int(product)) count_int_activations(gemv->k);
    Counted& counted = of(name_of(*gemv));
    if (!std::exchange(counted.is_counted, true))
      count(counted, gemv_work_model(plan_of(*gemv)), std::min(columns_, gemv->columns), kFewBlocks);
  };
  for_each_launch(specs_, count_product, [&](const FusedProducts& fused) {
    if (const auto* gemms = std::get_if<FusedGemm>(&fused)) {
      for (const GemmSpec& product : gemms->products) count_gemm(product);
      return;
    }
    const auto& all = std::get<FusedGemv>(fused);
    count_int_activations(all.products[0].k);
    Counted& counted = of(name_of(all));  // all blocks, because products differ
    if (!std::exchange(counted.is_counted, true))
      count(counted, fused_gemv_work_model(all), std::min(columns_, all.products[0].columns), UINT64_MAX);
  });
  count_product(specs_.logits);
  count_delta_net();
  for (const ExpertSpecs& experts : specs_.experts) count_experts(experts);
}

void KernelWorks::count_experts(const ExpertSpecs& specs) {
  const auto count_once = [&](const auto& spec, const WorkModel& model) {
    Counted& counted = kernels_.at(name_of(spec));
    if (!std::exchange(counted.is_counted, true)) count(counted, model, std::min(columns_, spec.columns), kFewBlocks);
  };
  const auto count_assignments = [&](const ExpertProductSpec& assignments, const std::optional<GemmSpec>& grouped) {
    grouped ? count_gemm(*grouped) : count_once(assignments, expert_product_work_model(assignments));
  };
  count_once(specs.route, route_work_model(specs.route));
  if (specs.has_order()) count_once(specs.order, expert_order_work_model(specs.order));
  count_assignments(specs.gate_up, specs.grouped_gate_up);
  count_assignments(specs.down, specs.grouped_down);
  count_once(specs.sum, expert_sum_work_model(specs.sum));
}

// Runs the first blocks of a column and divides by the pieces that these blocks take.
void KernelWorks::count(Counted& counted, const WorkModel& model, uint32_t columns, uint64_t max_blocks) const {
  const ptx::Dimensions& all = counted.kernel.launch.blocks;
  const uint64_t n = std::min<uint64_t>(all.x, max_blocks), in_all = model.pieces / (all.total() / all.x);
  const LaunchSizes sizes{.blocks = {all.x}, .columns = columns, .max_blocks = n};
  const InstructionCount found = count_instructions(counted.kernel, sizes, model.start_region);
  const uint64_t warps = block_warps(counted.kernel), teams = warps / model.warps;
  assert(teams > 0 && in_all > 0);
  const uint64_t pieces = in_all / (all.x * teams) * (n * teams) + std::min(in_all % (all.x * teams), n * teams);
  counted.start_instructions = static_cast<double>(found.of_region) / static_cast<double>(n * warps);
  counted.piece_instructions =
      static_cast<double>(found.all - found.of_region) / static_cast<double>(pieces * model.warps);
}

// All experts get the same share of the assignments.
uint32_t KernelWorks::columns_of_block(const GemmSpec& spec) const {
  const uint32_t n = columns_of(spec);
  return std::min(spec.experts > 0 ? ceil_div(n, std::min(n, spec.experts)) : n, plan_of(spec).columns);
}

// The product's columns; with experts, assignments.
uint32_t KernelWorks::columns_of(const GemmSpec& spec) const {
  return spec.experts > 0 ? columns_ * specs_.experts[0].route.n_used : columns_;
}

void KernelWorks::count_gemm(const GemmSpec& spec) {
  count_f16_activations(spec.k);
  const GemmPlan plan = plan_of(spec);
  const ptx::Kernel& kernel = kernels_.at(name_of(spec)).kernel;
  const auto [counted, is_new] = gemms_.try_emplace({kernel.name, plan.split_k, spec.weights});
  if (!is_new) return;
  const auto of_warp = [&](uint32_t tiles) {
    const LaunchSizes sizes{.blocks = {1, 1, plan.split_k},
                            .rows = plan.rows_per_block(),
                            .k = tiles * plan.split_k * kGemmTileK,
                            .columns = columns_of_block(spec),
                            .format = format_number(spec)};
    return warp_instructions(kernel, sizes);
  };
  const double few = of_warp(kMinComputedTiles), more = of_warp(2 * kMinComputedTiles);
  counted->second = {2 * few - more, (more - few) / kMinComputedTiles};
}

void KernelWorks::count_f16_activations(uint32_t k) {
  if (f16_activations_.contains({k, false})) return;
  const ptx::Kernel& kernel = kernels_.at(name_of(*specs_.f16_activations)).kernel;
  for (const bool normalises : {false, true})
    f16_activations_[{k, normalises}] = warp_instructions(kernel, {.blocks = {1}, .k = k, .normalises = normalises});
}

void KernelWorks::count_int_activations(uint32_t k) {
  if (int_activations_.contains({k, false})) return;
  const ptx::Kernel& kernel = kernels_.at(name_of(*specs_.int_activations)).kernel;
  for (const bool normalises : {false, true}) {
    const LaunchSizes sizes{.blocks = {1}, .k = k, .normalises = normalises};
    int_activations_[{k, normalises}] = warp_instructions(kernel, sizes);
  }
}

void KernelWorks::count_flash(Counted& counted, const FlashAttentionSpec& spec) const {
  const uint32_t n = std::min({columns_, 128u, spec.max_positions}),
                 second = std::min(kSpacing, spec.max_positions - n);
  const auto of_warp = [&](uint32_t position) {
    const LaunchSizes sizes{.blocks = flash_attention_grid(spec, n), .position = position, .columns = n};
    return warp_instructions(counted.kernel, sizes);
  };
  const auto tiles = [&](uint32_t position) { return flash_attention_tiles(spec, target_, n, position); };
  const double first = of_warp(0), each = second > 0 ? (of_warp(second) - first) / (tiles(second) - tiles(0)) : 0;
  counted.by_tiles = {first - each * tiles(0), each};
}

// Average per warp of the first block, which represents all, at a position after the first.
double KernelWorks::of_block(const Counted& counted, uint32_t columns) const {
  return warp_instructions(counted.kernel, {.blocks = {1}, .position = 1, .columns = columns});
}

// Counts a kernel that processes a prompt in steps of `unit` columns.
void KernelWorks::count_steps(const std::string& name, uint32_t unit) {
  Counted& counted = kernels_.at(name);
  if (columns_ < 2 * unit) {
    counted.by_tiles = {0, of_block(counted, std::min(unit, columns_))};
    return;
  }
  const double one = of_block(counted, unit), two = of_block(counted, 2 * unit);
  counted.by_tiles = {2 * one - two, two - one};
}

void KernelWorks::count_delta_net() {
  const DeltaNetSpec& spec = specs_.delta_net;
  if (spec.n_v_heads == 0) return;
  const auto count_once = [&](const std::string& name, uint32_t columns) {
    Counted& counted = kernels_.at(name);
    counted.by_tiles.fixed = of_block(counted, columns);
  };
  if (!takes_chunks(spec)) return count_once(name_of_conv(spec), 1), count_once(name_of_step(spec), 1);
  count_steps(name_of_conv_prompt(spec), kConvWindow);
  count_once(name_of_prepare(spec), std::min(columns_, kDeltaChunk));
  count_steps(name_of_scan(spec), kDeltaChunk);
  count_once(name_of_finish(spec), 1);
}

KernelWork KernelWorks::work_of(const std::string& name, const WorkModel& model, uint64_t bytes) const {
  const Counted& counted = kernels_.at(name);
  const ptx::Launch& launch = counted.kernel.launch;
  return {.name = name,
          .model = model,
          .bytes = bytes,
          .start_instructions = counted.start_instructions,
          .piece_instructions = counted.piece_instructions,
          .blocks = launch.blocks.total(),
          .block_warps = block_warps(counted.kernel)};
}

// For kernels whose blocks are divided among the columns.
template <class Spec>
KernelWork KernelWorks::of_columns(Spec spec, WorkModel (*model)(const Spec&)) const {
  const std::string name = name_of(spec);
  const uint32_t max = std::exchange(spec.columns, columns_);
  KernelWork work = work_of(name, model(spec), kernels_.at(name).kernel.cost.bytes);
  work.bytes = work.bytes * columns_ / max;
  work.blocks = work.model.pieces;
  return work;
}

KernelWork KernelWorks::embedding() const { return of_columns(specs_.embedding, embedding_work_model); }

std::optional<KernelWork> KernelWorks::kv_scatter() const {
  if (specs_.kv_scatters.empty()) return {};
  return of_columns(specs_.kv_scatters[0], kv_scatter_work_model);
}

KernelWork KernelWorks::product(const ProductSpec& spec) const {
  if (const auto* gemm = std::get_if<GemmSpec>(&spec)) return gemm_work(*gemm);
  const GemvSpec& gemv = std::get<GemvSpec>(spec);
  const std::string name = name_of(gemv);
  const uint32_t n_groups = gemv.columns == 1 ? 1 : ceil_div(columns_, gemv.columns);  // blocks in y
  const uint32_t columns = gemv.columns == 1 ? 1 : columns_;
  KernelWork work = work_of(name, gemv_work_model(plan_of(gemv)), product_cost(gemv, matrices_of(gemv), columns).bytes);
  // Two int8 planes; tensor cores multiply int8 at twice the rate of f16.
  if (accepts_int(spec)) work.flops = static_cast<double>(product_cost(gemv, matrices_of(gemv), 8 * n_groups).flops);
  work.model.pieces *= n_groups;
  work.blocks *= n_groups;
  work.weight_bytes = uint64_t{gemv.rows} * packed_bytes_per_row(gemv.weights, gemv.k);
  return work;
}

KernelWork KernelWorks::fused(const FusedProducts& all) const {
  if (const auto* gemms = std::get_if<FusedGemm>(&all)) return gemm_work(*gemms);
  return gemv_work(std::get<FusedGemv>(all));
}

KernelWork KernelWorks::gemv_work(const FusedGemv& spec) const {
  const uint32_t n_groups = ceil_div(columns_, kGemvColumns);
  KernelWork work = work_of(name_of(spec), fused_gemv_work_model(spec), fused_gemv_bytes(spec, columns_));
  for (const GemvSpec& product : spec.products) {
    work.flops += static_cast<double>(product_cost(product, matrices_of(product), kGemvColumns * n_groups).flops);
    work.weight_bytes += uint64_t{product.rows} * packed_bytes_per_row(product.weights, product.k);
  }
  work.model.pieces *= n_groups;
  work.blocks *= n_groups;
  return work;
}

std::vector<KernelWork> KernelWorks::products(std::initializer_list<const ProductSpec*> specs, bool normalised,
                                              bool has_f16) const {
  std::vector<KernelWork> works;
  const auto first = std::ranges::find_if(specs, [](const ProductSpec* spec) { return accepts_f16(*spec); });
  if (first != specs.end() && !has_f16) works.push_back(f16_activations(std::get<GemmSpec>(**first), normalised));
  const auto integers = std::ranges::find_if(specs, [](const ProductSpec* spec) { return accepts_int(*spec); });
  if (integers != specs.end()) works.push_back(int_activations(std::get<GemvSpec>(**integers).k, normalised));
  const std::vector<FusedProducts> launches = warpchat::fuse(specs);
  for (const FusedProducts& all : launches) works.push_back(fused(all));
  for (const ProductSpec* spec : specs)
    if (is_present(*spec) && !is_fused_into_any(launches, *spec)) works.push_back(product(*spec));
  return works;
}

KernelWork KernelWorks::int_activations(uint32_t k, bool normalised) const {
  KernelWork work = work_of(name_of(*specs_.int_activations), int_activations_work_model(k, normalised, columns_),
                            int_activations_bytes(k, normalised, columns_));
  work.piece_instructions = int_activations_.at({k, normalised});
  work.blocks = work.model.pieces;
  return work;
}

KernelWork KernelWorks::f16_activations(const GemmSpec& gemm, bool normalised) const {
  const uint32_t n = columns_of(gemm) / gemm.assignments_per_input;
  KernelWork work = work_of(name_of(*specs_.f16_activations), f16_activations_work_model(gemm.k, normalised, n),
                            f16_activations_bytes(gemm.k, normalised, n));
  work.piece_instructions = f16_activations_.at({gemm.k, normalised});
  work.blocks = n;
  return work;
}

// Columns that run at the same time read weights from memory once. Fused products of different formats count the
// instructions of the longest.
KernelWork KernelWorks::gemm_work(GemmProducts products) const {
  const GemmSpec& spec = products[0];
  const uint32_t n = columns_of(spec), split_k = plan_of(spec).split_k;
  const ptx::Cost cost = spec.experts > 0 ? gemm_cost(spec, n) : gemm_block_cost(products, n);
  const std::string name = name_of(spec);
  KernelWork work = work_of(name, gemm_work_model(products, target_, n), cost.bytes);
  work.flops = static_cast<double>(cost.flops);
  for (const GemmSpec& product : products)
    work.piece_instructions =
        std::max(work.piece_instructions,
                 gemms_.at({name, split_k, product.weights}).at(1.0 * ceil_div(spec.k, kGemmTileK) / split_k));
  work.blocks = work.model.pieces;
  return work;
}

KernelWork KernelWorks::route(const RouteSpec& spec) const { return of_columns(spec, route_work_model); }
KernelWork KernelWorks::expert_sum(const ExpertSumSpec& spec) const { return of_columns(spec, expert_sum_work_model); }

KernelWork KernelWorks::expert_order(const ExpertOrderSpec& spec) const {
  return of_columns(spec, expert_order_work_model);
}

KernelWork KernelWorks::assignments(const ExpertProductSpec& spec, const std::optional<GemmSpec>& grouped) const {
  return grouped ? gemm_work(*grouped) : expert_product(spec);
}

KernelWork KernelWorks::expert_product(const ExpertProductSpec& given) const {
  KernelWork work = of_columns(given, expert_product_work_model);
  const uint64_t n_assignments = uint64_t{columns_} * given.n_used;
  work.blocks = n_assignments * plan_of(given.product).n_blocks;
  for (const ProductMatrix& matrix : matrices_of(given.product))
    work.weight_bytes += n_assignments * given.product.rows * matrix.row_bytes;
  return work;
}

KernelWork KernelWorks::convolution() const {
  DeltaNetSpec spec = specs_.delta_net;
  spec.columns = columns_;
  if (takes_chunks(spec))
    return chunk_work(name_of_conv_prompt(specs_.delta_net), conv_prompt_work_model(spec),
                      ceil_div(columns_, kConvWindow));
  return delta_work(name_of_conv(specs_.delta_net), conv_step_work_model(spec), conv_step_cost(spec).bytes, 1);
}

std::vector<KernelWork> KernelWorks::recurrence() const {
  const DeltaNetSpec& given = specs_.delta_net;
  DeltaNetSpec spec = given;
  spec.columns = columns_;
  if (!takes_chunks(spec))
    return {delta_work(name_of_step(given), delta_step_work_model(spec), delta_step_cost(spec).bytes, 1)};
  return {chunk_work(name_of_prepare(given), delta_prepare_work_model(spec), 1),
          chunk_work(name_of_scan(given), delta_scan_work_model(spec), ceil_div(columns_, kDeltaChunk)),
          chunk_work(name_of_finish(given), delta_finish_work_model(spec), 1)};
}

KernelWork KernelWorks::chunk_work(const std::string& name, const WorkModel& model, uint32_t n_steps) const {
  return delta_work(name, model, kernels_.at(name).kernel.cost.bytes / specs_.delta_net.columns * columns_, n_steps);
}

KernelWork KernelWorks::delta_work(const std::string& name, const WorkModel& model, uint64_t bytes,
                                   uint32_t n_steps) const {
  KernelWork work = work_of(name, model, bytes);
  work.piece_instructions = kernels_.at(name).by_tiles.at(n_steps);
  work.blocks = model.pieces;
  return work;
}

KernelWork KernelWorks::attention(uint32_t position) const {
  if (const auto* flash = std::get_if<FlashAttentionSpec>(&specs_.attention)) return flash_work(*flash, position);
  return incremental_work(std::get<AttentionSpec>(specs_.attention), position);
}

KernelWork KernelWorks::flash_work(const FlashAttentionSpec& spec, uint32_t position) const {
  const ptx::Cost cost = flash_attention_cost(spec, columns_, position);
  const std::string name = name_of(spec);
  KernelWork work = work_of(name, flash_attention_work_model(spec, target_, columns_, position), cost.bytes);
  work.flops = static_cast<double>(cost.flops);
  work.piece_instructions = kernels_.at(name).by_tiles.at(flash_attention_tiles(spec, target_, columns_, position));
  work.blocks = work.model.pieces;
  return work;
}

double KernelWorks::split_instructions(const AttentionSpec& spec, uint32_t keys, const char* region) const {
  const ptx::Kernel& kernel = kernels_.at(name_of(spec)).kernel;
  const ptx::Dimensions grid = attention_grid(spec, keys);
  const LaunchSizes sizes{.blocks = {grid.x, grid.y}, .position = keys - 1, .columns = spec.columns};
  const InstructionCount count = count_instructions(kernel, sizes, region);
  return static_cast<double>(region ? count.of_region : count.all) / (grid.x * grid.y * attention_warps());
}

KernelWork KernelWorks::incremental_work(const AttentionSpec& given, uint32_t position) const {
  AttentionSpec spec = given;
  spec.columns = columns_;
  const uint32_t keys = position + 1, n_splits = attention_grid(spec, keys).x;
  const std::string name = name_of(given);
  KernelWork work =
      work_of(name, attention_work_model(spec, keys), attention_cost(spec, uint64_t{columns_} * keys).bytes);
  if (n_splits < 2 * kSplits) {
    work.piece_instructions = split_instructions(given, keys);
  } else {
    const uint32_t of_split = given.pages_per_block * kPagePositions;
    const auto all = [&](uint32_t splits) { return splits * split_instructions(given, splits * of_split); };
    const double few = all(kSplits), each = (all(2 * kSplits) - few) / kSplits;
    work.piece_instructions = (few + (n_splits - kSplits) * each) / n_splits;
  }
  if (work.model.start_region) {
    work.start_instructions = split_instructions(
        given, std::min(keys, kSplits * given.pages_per_block * kPagePositions), work.model.start_region);
    work.piece_instructions -= work.start_instructions;
  }
  work.blocks = work.model.pieces;
  const ptx::Kernel& kernel = kernels_.at(name).kernel;
  if (!kernel.functions.empty())
    work.max_teams = persistent_attention_teams(kernel.functions[0]->shared_bytes, target_);
  return work;
}

// The states are zeros, so the instructions are those of greedy sampling.
KernelWork sampling_work(const SampleSpec& given, ptx::Target target, bool is_persistent, uint32_t top_k,
                         bool has_top_p) {
  SampleSpec spec = given;
  if (is_persistent) spec.threads = kPersistentThreads;
  const ptx::Kernel kernel = sample(spec, target);
  const WorkModel model = sample_work_model(spec, spec.threads, top_k, has_top_p);
  const uint64_t found = count_instructions(kernel, {.blocks = kernel.launch.blocks, .columns = spec.columns}).all;
  return {.name = name_of(spec),
          .model = model,
          .piece_instructions = static_cast<double>(found) / static_cast<double>(model.pieces),
          .blocks = kernel.launch.blocks.total(),
          .block_warps = spec.threads / ptx::kWarpSize};
}

}  // namespace warpchat
