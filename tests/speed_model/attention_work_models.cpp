#include <algorithm>
#include <cmath>

#include "kernels/attention/attention_plan.h"
#include "kernels/attention/flash_attention_plan.h"
#include "kernels/common/columns.h"
#include "tests/speed_model/work_models.h"

namespace warpchat {

namespace {

constexpr double kProduct = 1.5;  // latency of a tensor-core product, relative to a shuffle's

// AttentionSplit::attend_page, for at most kHeadsAtOnce heads: keys (loaded with the values), weights, and sums.
LatencyCounts page_latency(const AttentionPlan& plan) {
  const double products = kProduct * plan.planes();
  // The query as two f16 planes; the warp's maximum, and a barrier.
  const LatencyCounts scores{.memory = 1, .local = 1 + 2 * products + 4};
  const LatencyCounts values{.memory = plan.has_values_ahead() ? 0.0 : 1.0,
                             .local = 2 + products + 4};  // through shared memory, twice, with a barrier
  return scores + values + LatencyCounts{.local = products * (plan.turns - 1)};
}

// AttentionSplit::attend_pages. Keys are requested before the previous page's sums, values after them. So each page
// takes less than a trip to memory plus its own work. At the end, the warps' sums go through shared memory with a
// barrier.
LatencyCounts pages_latency(const AttentionPlan& plan, uint32_t n_pages) {
  const LatencyCounts page{.memory = 1, .local = 1 + 2 * kProduct + 4 + 2 + kProduct * plan.turns};
  return n_pages * page + LatencyCounts{.local = 1 + 2 + 4};  // the number of the page before; a shuffle
}

// AttentionQueries::fill: each warp takes one head after the other. The first round's loads go out with the page's.
LatencyCounts queries_latency(const AttentionPlan& plan, uint32_t heads) {
  const std::vector<KvScatterSpec>& scatters = plan.spec.scatters;
  if (scatters.empty()) return {};
  const double n_rounds = ceil_div(heads + 2, AttentionPlan::kWarps);
  const LatencyCounts norm = scatters[0].qk_norm ? LatencyCounts{.common = 1, .local = 5} : LatencyCounts{};
  return (n_rounds - 1) * LatencyCounts{.l2 = 1} + n_rounds * (norm + LatencyCounts{.local = 1}) +
         LatencyCounts{.local = 2};
}

// SplitMerge::finish: at each level, the block that arrives last reads its siblings' results.
LatencyCounts merge_latency(const AttentionPlan& plan, uint32_t n_splits) {
  const uint32_t items = plan.group * (plan.spec.head_dim / 4);
  const double turns = ceil_div(items, AttentionPlan::kWarps * ptx::kWarpSize);
  LatencyCounts counts;
  for (uint32_t nodes = n_splits; nodes > 1; nodes = ceil_div(nodes, AttentionPlan::kFanIn)) {
    const double reads = ceil_div(std::min(nodes, AttentionPlan::kFanIn), AttentionPlan::kMergeAhead);
    // The release and the arrival, then the states.
    counts = counts + LatencyCounts{.l2 = 2, .local = 3} + turns * reads * LatencyCounts{.l2 = 1};
  }
  return counts;
}

}  // namespace

// The position and the table's address, then the head and the page; the norm, if any.
WorkModel kv_scatter_work_model(const KvScatterSpec& spec) {
  const LatencyCounts norm = spec.qk_norm ? LatencyCounts{.common = 1, .local = 5} : LatencyCounts{};
  const ptx::Launch launch = kv_scatter_launch(spec);
  return {.pieces = launch.blocks.total(),
          .warps = launch.threads.x / ptx::kWarpSize,
          .blocks_per_sm = 8,
          .piece = LatencyCounts{.common = 1, .l2 = 1} + norm};
}

WorkModel attention_work_model(const AttentionSpec& spec, uint32_t keys) {
  const AttentionPlan plan(spec);
  const uint32_t n_pages = pages_of(std::max(keys, 1u)), n_splits = ceil_div(n_pages, spec.pages_per_block);
  WorkModel model{.pieces = uint64_t{n_splits} * spec.n_kv_heads * spec.columns,
                  .warps = AttentionPlan::kWarps,
                  .blocks_per_sm = 2,       // at about 110 registers per thread
                  .launch = {.common = 1},  // the position and the table's address
                  .piece = {.l2 = 1},       // the pages' numbers
                  .end = merge_latency(plan, n_splits)};
  if (spec.writes_f16) model.end = model.end + LatencyCounts{.local = 2};  // the means
  const bool rotates_once = !spec.scatters.empty() && plan.rotates_once();
  if (rotates_once) model.start = queries_latency(plan, plan.group), model.start_region = "turn";
  for (uint32_t head = 0; head < plan.group; head += AttentionPlan::kHeadsAtOnce) {
    const uint32_t heads = std::min(AttentionPlan::kHeadsAtOnce, plan.group - head);
    if (!rotates_once) model.piece = model.piece + queries_latency(plan, heads);
    model.piece = model.piece + (spec.pages_per_block > 1 ? pages_latency(plan, std::min(n_pages, spec.pages_per_block))
                                                          : page_latency(plan));
  }
  const KvLayout k{spec.k_type, 1, spec.head_dim}, v{spec.v_type, 1, spec.head_dim};
  model.bytes_in_flight = uint64_t{kPagePositions} * (k.row_bytes() + (plan.has_values_ahead() ? v.row_bytes() : 0));
  return model;
}

double flash_attention_tiles(const FlashAttentionSpec& spec, ptx::Target target, uint32_t n_queries,
                             uint32_t first_position) {
  const FlashAttentionPlan plan(spec, target);
  const double keys = spec.causal ? first_position + (n_queries + plan.rows() / static_cast<double>(plan.group)) / 2
                                  : first_position + n_queries;
  return std::max(1.0, keys / plan.keys + 0.5);  // the last tile is seldom full
}

// The queries' scales and planes, a few loads ahead as ptxas unrolls them; then tiles. Each tile is copied during the
// previous tile's product, so a warp waits for about one of its two trips.
WorkModel flash_attention_work_model(const FlashAttentionSpec& spec, ptx::Target target, uint32_t n_queries,
                                     uint32_t first_position) {
  constexpr double kUnrolled = 4;
  const FlashAttentionPlan plan(spec, target);
  const LatencyCounts queries = 2 * std::ceil(spec.head_dim / 8 / kUnrolled) * LatencyCounts{.l2 = 1} +
                                plan.dim_steps() * LatencyCounts{.local = 1};
  const LatencyCounts tile{.l2 = 1, .local = 2.0 * plan.dim_steps() + 8};
  const double n_tiles = flash_attention_tiles(spec, target, n_queries, first_position);
  return {.pieces = flash_attention_grid(spec, n_queries).total(),
          .warps = plan.warps,
          .blocks_per_sm = plan.blocks_per_sm,
          .piece = LatencyCounts{.common = 2} + queries + n_tiles * tile,
          .bytes_in_flight = plan.keys * plan.pieces(spec.k_type) * FlashAttentionPlan::kCopy};
}

}  // namespace warpchat
