#include "kernels/bodies.h"
#include "kernels/columns.h"
#include "kernels/half_columns.h"
#include "kernels/integer_columns.h"
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
WorkModel half_columns_work_model(uint32_t k, bool normalises, uint32_t n_columns) {
  const double turns = ceil_div(static_cast<uint32_t>(half_column_values(k)), kHalfColumnTurn);
  const LatencyCounts turn = normalises ? LatencyCounts{.common = 1, .l2 = 1} : LatencyCounts{.l2 = 1};
  return {.pieces = n_columns,
          .warps = kHalfColumnThreads / ptx::kWarpSize,
          .blocks_per_sm = half_column_blocks_per_sm(k % 4 == 0),
          .piece = (2 * turns - 1) * turn + turns * LatencyCounts{.local = 2} + LatencyCounts{.local = 6 + 2 + 6 + 3}};
}

// A warp's round waits for values and gamma together, for the unit's maximum, and for sums. One thread adds the rounds'
// squares.
WorkModel integer_columns_work_model(uint32_t k, bool normalises, uint32_t n_columns) {
  const uint32_t n_rounds = ceil_div(k, kIntegerColumnRound);
  const LatencyCounts round = normalises ? LatencyCounts{.common = 1, .local = 9} : LatencyCounts{.l2 = 1, .local = 4};
  const LatencyCounts end = normalises ? LatencyCounts{.local = 3.0 + n_rounds} : LatencyCounts{.local = 1};
  return {.pieces = integer_column_blocks(n_columns),
          .warps = kIntegerColumnWarps,
          .blocks_per_sm = kIntegerColumnBlocksPerSm,
          .piece = ceil_div(n_rounds, kIntegerColumnWarps) * round + end};
}

}  // namespace warpchat
