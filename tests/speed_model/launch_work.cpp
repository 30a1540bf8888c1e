#include "tests/speed_model/launch_work.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "engine/decoder.h"
#include "kernels/attention/attention_body.h"
#include "kernels/common/columns.h"
#include "kernels/common/overloaded.h"
#include "kernels/delta_net/conv_prompt.h"
#include "kernels/delta_net/delta_chunk.h"
#include "kernels/matmul/gemm_plan.h"
#include "kernels/persistent/persistent_decoder.h"
#include "kernels/persistent/product_variants.h"
#include "kernels/persistent/token_functions.h"
#include "kernels/product_plan.h"
#include "tests/speed_model/work_models.h"

namespace warpchat {

namespace {

using Form = KernelGroup::Form;

constexpr uint32_t kSplits = 8;            // splits of attention; beyond these, each split costs the same
constexpr uint32_t kMinComputedTiles = 2;  // tiles of k, or of keys
constexpr uint32_t kSpacing = 448;         // positions: seven tiles of keys
constexpr uint64_t kFewBlocks = 16;        // represent all blocks of kernels whose blocks share pieces

uint32_t block_warps(const ptx::Kernel& kernel) {
  return static_cast<uint32_t>(kernel.launch.threads.total() / ptx::kWarpSize);
}

WorkModel model_of(const KernelSpec& spec, ptx::Target target, const LaunchColumns& c) {
  const auto of_columns = [&](auto s) {
    s.columns = c.n;
    return s;
  };
  const auto of_groups = [&](WorkModel model, const GemvSpec& s) {
    model.pieces *= ceil_div(c.n, s.columns);
    return model;
  };
  using DeltaModel = WorkModel (*)(const DeltaNetSpec&);
  constexpr DeltaModel kDeltaModels[] = {conv_step_work_model,     delta_step_work_model, conv_prompt_work_model,
                                         delta_prepare_work_model, delta_scan_work_model, delta_finish_work_model};
  return std::visit(
      Overloaded{
          [&](const EmbeddingSpec& s) { return embedding_work_model(of_columns(s)); },
          [&](const F16Conversion& s) { return f16_activations_work_model(s.k, s.normalises, c.n); },
          [&](const IntConversion& s) { return int_activations_work_model(s.k, s.normalises, c.n); },
          [&](const GemvSpec& s) { return of_groups(gemv_work_model(plan_of(s)), s); },
          [&](const FusedGemv& s) { return of_groups(fused_gemv_work_model(s), s.products[0]); },
          [&](const GemmSpec& s) { return gemm_work_model(s, target, c.n); },
          [&](const FusedGemm& s) { return gemm_work_model(s, target, c.n); },
          [&](const KvScatterSpec& s) { return kv_scatter_work_model(of_columns(s)); },
          [&](const AttentionSpec& s) { return attention_work_model(s, c.longest); },
          [&](const FlashAttentionSpec& s) { return flash_attention_work_model(s, target, c.n, c.longest - c.n); },
          [&](const DeltaKernelSpec& s) { return kDeltaModels[static_cast<size_t>(s.step)](of_columns(s.net)); },
          [&](const RouteSpec& s) { return route_work_model(of_columns(s)); },
          [&](const ExpertOrderSpec& s) { return expert_order_work_model(of_columns(s)); },
          [&](const ExpertProductSpec& s) { return expert_product_work_model(of_columns(s)); },
          [&](const ExpertSumSpec& s) { return expert_sum_work_model(of_columns(s)); }},
      spec);
}

// The launch to count for every layer: with the first layer's state and rotation, and without the biases and residuals
// that may be absent.
KernelLaunch counted_launch(KernelLaunch launch) {
  for (auto& [name, value] : launch.arguments) {
    if (name.starts_with("bias") || name.starts_with("residual")) value = {};
    if (name == "layer" || name == "rope") value.number = 0;
  }
  return launch;
}

// A gemm's launch with the rows of one block of this product alone, and so many values of k.
KernelLaunch part_of(KernelLaunch launch, const GemmSpec& product, uint32_t k) {
  for (auto& [name, value] : launch.arguments) {
    const bool is_first = name.find('_') == std::string::npos || name.ends_with("_0");
    if (name.starts_with("rows")) value.number = is_first ? plan_of(product).rows_per_block() : 0;
    if (name.starts_with("format")) value.number = is_first ? format_number(product) : 0;
    if (name == "k") value.number = k;
  }
  return launch;
}

// Whether the persistent decoder asks for the launch's first bytes ahead. Experts are known only after the router.
bool asks_ahead(const KernelLaunch& launch) {
  if (std::holds_alternative<ExpertProductSpec>(launch.spec)) return launch.phase == PhaseKind::kExpertsDown;
  return std::holds_alternative<GemvSpec>(launch.spec) || std::holds_alternative<AttentionSpec>(launch.spec);
}

// Divides what the persistent decoder asks for ahead among the blocks, each for its own work.
void limit_ahead(KernelGroup& group) {
  uint64_t bytes = 0;
  for (const KernelWork& work : group.kernels) bytes += work.model.bytes_ahead;
  for (KernelWork& work : group.kernels)
    work.model.bytes_ahead = work.model.bytes_ahead * std::min(bytes, kMaxBytesAhead) / std::max<uint64_t>(bytes, 1);
}

uint64_t matrices_bytes(const GemvSpec& s) {
  uint64_t bytes = 0;
  for (const ProductMatrix& matrix : matrices_of(s)) bytes += s.rows * matrix.row_bytes;
  return bytes;
}

// Blocks are shared by the products' first matrices. Tensor cores multiply int8, of which activations have two planes,
// at twice the rate of f16.
void add_products(KernelWork& work, std::span<const GemvSpec> products, uint32_t n_columns) {
  for (const GemvSpec& product : products) {
    work.weight_bytes += product.rows * packed_bytes_per_row(product.weights, product.k);
    if (!accepts_int(product)) continue;
    const uint32_t computed = kGemvColumns * ceil_div(n_columns, product.columns);
    work.flops += static_cast<double>(product_cost(product, matrices_of(product), computed).flops);
  }
}

}  // namespace

LaunchList launches_of(const ModelShape& shape, const PassShape& pass) {
  return launch_list(text_decoder(shape.config), shape.config, shape.formats, pass);
}

PassWork::PassWork(LaunchList list, ptx::Target target, const PassWork* token)
    : list_(std::move(list)), target_(target) {
  for (const ptx::Kernel& kernel : kernels_of(list_, target)) kernels_.emplace(kernel.name, kernel);
  if (token != nullptr && list_.shape.kind == PassKind::kPrefill)
    logits_ = token->work_of(token->list_.operations.back().launches.back(), 1, 0);
  if (list_.shape.kind != PassKind::kDecode) return;
  const SampleSpec sampling{.n_vocab = list_.first<EmbeddingSpec>()->n_vocab, .ring = sample_ring(list_.shape.context)};
  sampling_ = {{PhaseKind::kSample, {sampling_work(sampling, target, false)}, Form::kSeparate},
               {PhaseKind::kSample, {sampling_work(sampling, target, true)}, Form::kPersistent},
               {PhaseKind::kEmit, {}, Form::kPersistent}};
}

const ptx::Kernel& PassWork::kernel_of(const KernelLaunch& launch) const { return kernels_.at(name_of(launch.spec)); }

InstructionCount PassWork::count(const KernelLaunch& given, const LaunchSizes& sizes, const char* region) const {
  const ptx::Kernel& kernel = kernel_of(given);
  const std::vector<Operand> operands = operands_of(counted_launch(given), kernel);
  std::vector<uint64_t> numbers = {sizes.blocks.x, sizes.blocks.y, sizes.blocks.z,
                                   sizes.position, sizes.columns,  sizes.max_blocks};
  for (const Operand& operand : operands)
    numbers.push_back(operand.kind == Operand::Kind::kAbsent ? UINT64_MAX : operand.number);
  const auto [found, is_new] = counts_.try_emplace({kernel.name, region ? region : "", std::move(numbers)});
  if (is_new) found->second = count_instructions(kernel, operands, sizes, region);
  return found->second;
}

double PassWork::warp_instructions(const KernelLaunch& launch, const LaunchSizes& sizes, const char* region) const {
  const InstructionCount found = count(launch, sizes, region);
  return static_cast<double>(region ? found.of_region : found.all) /
         static_cast<double>(sizes.blocks.total() * block_warps(kernel_of(launch)));
}

// Runs the first blocks of a column and divides by the pieces that these blocks take.
void PassWork::count_first_blocks(KernelWork& work, const KernelLaunch& launch, const LaunchColumns& columns,
                                  uint64_t max_blocks) const {
  const ptx::Kernel& kernel = kernel_of(launch);
  const ptx::Dimensions all = blocks_of(launch.spec, kernel, columns);
  const WorkModel& model = work.model;
  const uint64_t n = std::min<uint64_t>(all.x, max_blocks), in_all = model.pieces / (all.total() / all.x);
  const LaunchSizes sizes{.blocks = {all.x}, .columns = columns.n, .max_blocks = n};
  const InstructionCount found = count(launch, sizes, model.start_region);
  const uint64_t warps = block_warps(kernel), teams = warps / model.warps;
  assert(teams > 0 && in_all > 0);
  const uint64_t pieces = in_all / (all.x * teams) * (n * teams) + std::min(in_all % (all.x * teams), n * teams);
  work.start_instructions = static_cast<double>(found.of_region) / static_cast<double>(n * warps);
  work.piece_instructions =
      static_cast<double>(found.all - found.of_region) / static_cast<double>(pieces * model.warps);
}

// Average per warp in the columns' splits. Beyond a few splits, each costs the same.
void PassWork::count_attention(KernelWork& work, const KernelLaunch& launch, const AttentionSpec& spec,
                               uint32_t keys) const {
  const uint32_t n_splits = attention_grid(spec, keys).x, split_positions = spec.pages_per_block * kPagePositions;
  const auto average = [&](uint32_t n_keys, const char* region = nullptr) {
    const ptx::Dimensions grid = attention_grid(spec, n_keys);
    const LaunchSizes sizes{.blocks = {grid.x, grid.y}, .position = n_keys - 1, .columns = spec.columns};
    return warp_instructions(launch, sizes, region);
  };
  if (n_splits < 2 * kSplits) {
    work.piece_instructions = average(keys);
  } else {
    const auto all = [&](uint32_t splits) { return splits * average(splits * split_positions); };
    const double few = all(kSplits), each = (all(2 * kSplits) - few) / kSplits;
    work.piece_instructions = (few + (n_splits - kSplits) * each) / n_splits;
  }
  if (work.model.start_region == nullptr) return;
  work.start_instructions = average(std::min(keys, kSplits * split_positions), work.model.start_region);
  work.piece_instructions -= work.start_instructions;
}

double PassWork::flash_instructions(const KernelLaunch& launch, const FlashAttentionSpec& spec,
                                    const LaunchColumns& columns) const {
  const uint32_t n = std::min({columns.n, 128u, spec.max_positions}),
                 second = std::min(kSpacing, spec.max_positions - n);
  const auto of_warp = [&](uint32_t position) {
    return warp_instructions(launch, {.blocks = flash_attention_grid(spec, n), .position = position, .columns = n});
  };
  const auto tiles = [&](uint32_t position) { return flash_attention_tiles(spec, target_, n, position); };
  const double first = of_warp(0), each = second > 0 ? (of_warp(second) - first) / (tiles(second) - tiles(0)) : 0;
  return first - each * tiles(0) + each * flash_attention_tiles(spec, target_, columns.n, columns.longest - columns.n);
}

// The first block represents all, at a position after the first. Some kernels go over a prompt in steps.
double PassWork::delta_instructions(const KernelLaunch& launch, DeltaKernelSpec::Step step, uint32_t n_columns) const {
  using Step = DeltaKernelSpec::Step;
  const auto of_block = [&](uint32_t columns) {
    return warp_instructions(launch, {.blocks = {1}, .position = 1, .columns = columns});
  };
  if (step == Step::kPrepare) return of_block(std::min(n_columns, kDeltaChunk));
  if (step != Step::kConvPrompt && step != Step::kScan) return of_block(1);
  const uint32_t unit = step == Step::kScan ? kDeltaChunk : kConvWindow, n_steps = ceil_div(n_columns, unit);
  if (n_columns < 2 * unit) return n_steps * of_block(std::min(unit, n_columns));
  const double one = of_block(unit), two = of_block(2 * unit);
  return 2 * one - two + n_steps * (two - one);
}

// Per warp. All experts get the same share of the assignments.
double PassWork::gemm_instructions(const KernelLaunch& launch, const GemmSpec& product, uint32_t n_columns) const {
  const GemmPlan plan = plan_of(product);
  const uint32_t n_experts = std::min(n_columns, std::max(product.experts, 1u));
  const uint32_t of_block = std::min(ceil_div(n_columns, n_experts), plan.columns);
  const auto of_warp = [&](uint32_t tiles) {
    return warp_instructions(part_of(launch, product, tiles * plan.split_k * kGemmTileK),
                             {.blocks = {1, 1, plan.split_k}, .columns = of_block});
  };
  const double few = of_warp(kMinComputedTiles), more = of_warp(2 * kMinComputedTiles);
  const double each = (more - few) / kMinComputedTiles;
  return 2 * few - more + 1.0 * ceil_div(product.k, kGemmTileK) / plan.split_k * each;
}

KernelWork PassWork::work_of(const KernelLaunch& launch, uint32_t pass_columns, uint32_t position) const {
  const ptx::Kernel& kernel = kernel_of(launch);
  const uint32_t n = pass_columns * launch.per_column;
  const bool is_flash = std::holds_alternative<FlashAttentionSpec>(launch.spec);
  const LaunchColumns columns{n, position + (is_flash ? n : 1), uint64_t{n} * (position + 1)};
  KernelSpec spec = launch.spec;
  if (auto* attention = std::get_if<AttentionSpec>(&spec)) attention->columns = n;  // a prompt's launches as one
  KernelWork work{.name = kernel.name,
                  .model = model_of(spec, target_, columns),
                  .bytes = bytes_of(spec, kernel, columns),
                  .blocks = blocks_of(spec, kernel, columns).total(),
                  .block_warps = block_warps(kernel)};
  const auto count_few_blocks = [&] { count_first_blocks(work, launch, columns, kFewBlocks); };
  // Columns that run at the same time read weights from memory once. Products of different formats count the
  // instructions of the longest.
  const auto multiply = [&](GemmProducts products) {
    const ptx::Cost cost = products[0].experts > 0 ? gemm_cost(products, n) : gemm_block_cost(products, n);
    work.bytes = cost.bytes, work.flops = static_cast<double>(cost.flops);
    work.blocks = work.model.pieces;
    for (const GemmSpec& product : products)
      work.piece_instructions = std::max(work.piece_instructions, gemm_instructions(launch, product, n));
  };
  std::visit(
      Overloaded{
          [&]<class S>(const Conversion<S>&) { work.piece_instructions = warp_instructions(launch, {.blocks = {1}}); },
          [&](const GemvSpec& s) {
            add_products(work, {&s, 1}, n);
            count_few_blocks();
          },
          [&](const FusedGemv& s) {
            add_products(work, s.products, n);
            count_first_blocks(work, launch, columns, UINT64_MAX);  // products differ
          },
          [&](const GemmSpec& s) { multiply(s); }, [&](const FusedGemm& s) { multiply(s); },
          [&](const AttentionSpec& s) {
            count_attention(work, launch, s, position + 1);
            if (!kernel.functions.empty())
              work.max_teams = persistent_attention_teams(kernel.functions[0]->shared_bytes, target_);
          },
          [&](const FlashAttentionSpec& s) {
            work.flops = static_cast<double>(flash_attention_cost(s, n, position).flops);
            work.piece_instructions = flash_instructions(launch, s, columns);
          },
          [&](const DeltaKernelSpec& s) { work.piece_instructions = delta_instructions(launch, s.step, n); },
          [&](const ExpertOrderSpec& s) {
            work.bytes = kernel.cost.bytes * n / s.columns;  // a column has no whole number of tiles
            count_few_blocks();
          },
          [&](const ExpertProductSpec& s) {
            work.weight_bytes = uint64_t{n} * s.n_used * matrices_bytes(s.product);
            count_few_blocks();
          },
          [&](const auto&) { count_few_blocks(); }},
      launch.spec);
  return work;
}

std::vector<KernelGroup> PassWork::at(uint32_t position) const {
  const Form form = list_.shape.kind == PassKind::kDecode ? Form::kBoth : Form::kSeparate;
  uint32_t columns = list_.shape.columns;
  std::vector<KernelGroup> groups;
  for (const OperationLaunches& operation : list_.operations) {
    // Only WantedColumns launches nothing: a prompt wants its last.
    if (operation.launches.empty() && list_.shape.kind == PassKind::kPrefill) columns = 1;
    const size_t first = groups.size();
    for (const KernelLaunch& launch : operation.launches) {
      if (logits_ && launch.phase == PhaseKind::kLogits) continue;
      if (groups.size() == first || groups.back().phase != launch.phase) groups.push_back({launch.phase, {}, form});
      KernelWork& work = groups.back().kernels.emplace_back(work_of(launch, columns, position));
      if (asks_ahead(launch)) work.model.bytes_ahead = work.bytes;
    }
  }
  for (KernelGroup& group : groups) limit_ahead(group);
  if (logits_) groups.push_back({PhaseKind::kLogits, {*logits_}, form});
  groups.insert(groups.end(), sampling_.begin(), sampling_.end());
  return groups;
}

uint64_t PassWork::barriers() const { return barriers_of_a_token(decoder_program(list_), phases_of_layers(list_)); }

uint64_t PassWork::weight_bytes() const {
  uint64_t bytes = 0;
  for_each_launch(list_, [&](const KernelLaunch& launch, uint32_t) {
    const bool is_of_experts = std::holds_alternative<ExpertProductSpec>(launch.spec);
    const uint64_t n = is_of_experts ? list_.first<RouteSpec>()->n : 1;
    if (const GemvSpec* product = product_of(launch)) bytes += n * matrices_bytes(*product);
  });
  return bytes;
}

double prompt_seconds(const GpuTraits& gpu, const PassWork& work, uint32_t n_tokens) {
  double seconds = 0;
  for (uint32_t first = 0; first < n_tokens; first += work.list().shape.columns)
    seconds += 1 / predict(gpu, work.at(first), 0).stream;
  return seconds;
}

// The states are zeros, so the instructions are those of greedy sampling.
KernelWork sampling_work(const SampleSpec& given, ptx::Target target, bool is_persistent, uint32_t top_k,
                         bool has_top_p) {
  SampleSpec spec = given;
  if (is_persistent) spec.threads = kPersistentThreads;
  const ptx::Kernel kernel = sample(spec, target);
  const WorkModel model = sample_work_model(spec, spec.threads, top_k, has_top_p);
  const uint64_t found = count_instructions(kernel, {}, {.blocks = kernel.launch.blocks, .columns = spec.columns}).all;
  return {.name = name_of(spec),
          .model = model,
          .piece_instructions = static_cast<double>(found) / static_cast<double>(model.pieces),
          .blocks = kernel.launch.blocks.total(),
          .block_warps = spec.threads / ptx::kWarpSize};
}

}  // namespace warpchat
