#include "kernels/common/columns.h"
#include "tests/speed_model/work_models.h"

namespace warpchat {

// After the slots, the last block reads each slot's best logit, several per thread in turn. A filter reads them again,
// with the logits of slots that have a candidate. top_p without top_k first sums all weights, some 70 instructions
// each.
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
    const double candidates = 2.0 * rounds * warps;   // approximate; sample_from_candidates reads all twice
    const double slots = ceil_div(2 * top_k, warps);  // slots with candidates, per warp
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

// A product's rows are read while the block waits, except for experts: each block routes the token itself and reads the
// result again. kPublish reads step, choice, position and error, and the host's stop flag.
LatencyCounts phase_entry_latency(PhaseKind phase) {
  switch (phase) {
    case PhaseKind::kExpertsGateUp:
      return {.common = 1, .l2 = 2, .local = 1};
    case PhaseKind::kExpertsDown:
      return {.common = 1, .l2 = 1};
    case PhaseKind::kSample:
      return {.l2 = 1};
    case PhaseKind::kEmit:
      return {.host = 1, .l2 = 5};
    default:
      return {};
  }
}

}  // namespace warpchat
