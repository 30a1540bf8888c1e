#include "kernels/columns.h"
#include "tests/speed_model/work_models.h"

namespace warpchat {

// After the slots the last block reads the best of each, several a thread one after the other; for a filter once more,
// with the logits of the slots that have a candidate. top_p without top_k asks for the weights of all logits first, one
// by one, each some 70 instructions.
WorkModel sample_work_model(const SampleSpec& s, uint32_t threads, uint32_t top_k, bool has_top_p) {
  const uint32_t warps = threads / ptx::kWarpSize, n_slots = sample_slots(s);
  const double slots_of_thread = ceil_div(n_slots, threads);
  const LatencyCounts over_block{.local = 2 * 5 + 4};  // block_max, block_sum: two stages, with two barriers
  const LatencyCounts over_warp{.local = 2 * 5};
  // The arrival, then the slots.
  LatencyCounts end = LatencyCounts{.l2 = 2, .local = 3} + slots_of_thread * LatencyCounts{.l2 = 1} + over_block;
  if (top_k != 0 || has_top_p) end = end + slots_of_thread * LatencyCounts{.l2 = 1, .local = 2};
  if (top_k != 0) {
    const double rounds = ceil_div(top_k, warps);     // bound_of_top_k
    const double candidates = 2.0 * rounds * warps;   // about; choose_of_few looks at all of them twice
    const double slots = ceil_div(2 * top_k, warps);  // with candidates, per warp
    end = end + slots * LatencyCounts{.l2 = 1} + LatencyCounts{.local = 5 * rounds + 3} +
          2 * (LatencyCounts{.local = candidates} + over_block);
  } else if (has_top_p) {
    end = end + double(ceil_div(s.n_vocab, threads)) * LatencyCounts{.l2 = 1, .local = 4} + over_block;
  }
  return {.pieces = uint64_t{s.columns} * n_slots,
          .start = {.common = 1, .l2 = 1},  // settings and position
          .piece = LatencyCounts{.l2 = 1} + over_warp,
          .end = end};
}

// The rows of products are read while the block waits, except those of experts: each block routes the token itself, and
// reads the result again. kPublish reads step, choice, position and error, and the host's stop flag.
LatencyCounts phase_entry_latency(PhaseKind phase) {
  switch (phase) {
    case PhaseKind::kExpertsGateUp:
      return {.common = 1, .l2 = 2, .local = 1};
    case PhaseKind::kExpertsDown:
      return {.common = 1, .l2 = 1};
    case PhaseKind::kChoose:
      return {.l2 = 1};
    case PhaseKind::kPublish:
      return {.host = 1, .l2 = 5};
    default:
      return {};
  }
}

}  // namespace warpchat
