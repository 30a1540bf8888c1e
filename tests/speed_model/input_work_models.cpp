#include "kernels/common/columns.h"
#include "kernels/matmul/embedding_body.h"
#include "kernels/matmul/f16_activations.h"
#include "kernels/matmul/int_activations.h"
#include "tests/speed_model/work_models.h"

namespace warpchat {

WorkModel embedding_work_model(const EmbeddingSpec& spec) {
  const ptx::Launch launch = embedding_launch(spec);
  return {.pieces = launch.blocks.total(),
          .warps = launch.threads.x / ptx::kWarpSize,
          .blocks_per_sm = 16,
          .piece = {.memory = 1, .l2 = 1}};  // the token, then its row
}

// Each turn waits for values and gamma; all but the last read them twice. In between come the sums of warps and block,
// at the end the means.
WorkModel f16_activations_work_model(uint32_t k, bool normalises, uint32_t n_columns) {
  const double turns = ceil_div(static_cast<uint32_t>(f16_activation_values(k)), kF16ActivationTurn);
  const LatencyCounts turn = normalises ? LatencyCounts{.common = 1, .l2 = 1} : LatencyCounts{.l2 = 1};
  return {.pieces = n_columns,
          .warps = kF16ActivationThreads / ptx::kWarpSize,
          .blocks_per_sm = f16_activation_blocks_per_sm(k % 4 == 0),
          .piece = (2 * turns - 1) * turn + turns * LatencyCounts{.local = 2} + LatencyCounts{.local = 6 + 2 + 6 + 3}};
}

// A warp's round waits for values and gamma together, for the unit's maximum, and for sums. One thread adds the rounds'
// squares.
WorkModel int_activations_work_model(uint32_t k, bool normalises, uint32_t n_columns) {
  const uint32_t n_rounds = ceil_div(k, kIntegerColumnRound);
  const LatencyCounts round = normalises ? LatencyCounts{.common = 1, .local = 9} : LatencyCounts{.l2 = 1, .local = 4};
  const LatencyCounts end = normalises ? LatencyCounts{.local = 3.0 + n_rounds} : LatencyCounts{.local = 1};
  return {.pieces = int_activation_blocks(n_columns),
          .warps = kIntegerColumnWarps,
          .blocks_per_sm = kIntegerColumnBlocksPerSm,
          .piece = ceil_div(n_rounds, kIntegerColumnWarps) * round + end};
}

}  // namespace warpchat
