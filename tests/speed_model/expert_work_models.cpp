#include <bit>

#include "kernels/common/columns.h"
#include "kernels/experts/experts_body.h"
#include "tests/speed_model/work_models.h"

namespace warpchat {

namespace {

constexpr double kOverLanes = std::bit_width(ptx::kWarpSize) - 1;  // shuffles of a reduction over a warp

}  // namespace

// The scores; for each choice the maximum over the lanes and its score; the sum of all.
WorkModel route_work_model(const RouteSpec& s) {
  return {
      .pieces = s.columns, .blocks_per_sm = 16, .piece = {.l2 = 1, .local = s.n_used * (kOverLanes + 1) + kOverLanes}};
}

// A warp reads its assignments twice, one counter round per group. In between come the experts' counters and a scan
// over the warps' scans.
WorkModel expert_order_work_model(const ExpertOrderSpec& s) {
  constexpr double kGroup = 4, kBarriers = 5;
  const uint32_t counting_warps = expert_counting_warps(s);
  const double n_groups = ceil_div(s.columns * s.n_used, counting_warps * ptx::kWarpSize);
  return {.warps = kExpertOrderThreads / ptx::kWarpSize,
          .piece = 2 * n_groups * LatencyCounts{.l2 = 1, .local = kGroup} +
                   LatencyCounts{.local = counting_warps + 2 * kOverLanes + kBarriers}};
}

// A block first reads which expert's matrix it uses.
WorkModel expert_product_work_model(const ExpertProductSpec& s) {
  WorkModel model = gemv_work_model(plan_of(s.product));
  model.pieces *= uint64_t{s.columns} * s.n_used;
  model.start = LatencyCounts{.l2 = 1} + model.start;
  return model;
}

// Its reads are independent.
WorkModel expert_sum_work_model(const ExpertSumSpec& s) {
  const ptx::Launch launch = expert_sum_launch(s);
  return {.pieces = launch.blocks.total(),
          .warps = launch.threads.x / ptx::kWarpSize,
          .blocks_per_sm = 16,
          .piece = {.l2 = 1}};
}

}  // namespace warpchat
