#include <bit>

#include "kernels/common/columns.h"
#include "kernels/delta_net/conv_prompt.h"
#include "kernels/delta_net/delta_chunk.h"
#include "kernels/delta_net/delta_net_body.h"
#include "tests/speed_model/work_models.h"

namespace warpchat {

namespace {

using ptx::kWarpSize;
using Sharing = DeltaChunkSharing;

constexpr double kOverLanes = std::bit_width(kWarpSize) - 1;  // shuffles of a reduction over a warp
constexpr uint32_t kThreadsPerSm = 2048;
constexpr uint32_t kChunkWarps = Sharing::kThreads / kWarpSize;
constexpr uint32_t kChunkBlocksPerSm = 2;  // limited by 76 to 127 registers (ptxas) of 256 threads
constexpr uint64_t kSliceBytes = uint64_t{2} * kDeltaChunk * Sharing::kSlice * sizeof(float);

// delta_prepare for one head: the position's numbers and their decay over a warp, the matrices' parts, the diagonal
// blocks, two products per pair of blocks, and P T.
LatencyCounts prepared_head_latency() {
  constexpr uint32_t kBlock = Sharing::kInvertedRows;
  constexpr double kBlocks = kDeltaChunk / kBlock;
  constexpr double kAbove = kBlock / 4 * (kBlocks * (kBlocks - 1) / 2);  // k of all first products, by fours
  return {.l2 = 1,
          .local = 2 + 2 * kOverLanes + 1 + (kBlock + 2) + kAbove + (kBlocks - 1) * (kBlock / 4 + 2) + kDeltaChunk / 4};
}

}  // namespace

// The state's address and the position; the tail with the taps; then the channel's kind.
WorkModel conv_step_work_model(const DeltaNetSpec& s) {
  const ptx::Launch launch = conv_launch(s);
  return {.pieces = launch.blocks.total(),
          .warps = launch.threads.x / kWarpSize,
          .blocks_per_sm = 16,
          .piece = LatencyCounts{.memory = 1, .l2 = 2},
          .bytes_in_flight = uint64_t{launch.threads.x} * (2 * s.conv_kernel - 1) * sizeof(float)};
}

// The state's address and the first position; the tail and the taps; then window by window.
WorkModel conv_prompt_work_model(const DeltaNetSpec& s) {
  const double n_windows = ceil_div(s.columns, kConvWindow);
  return {.pieces = s.channels() / kWarpSize,
          .warps = kConvPromptThreads / kWarpSize,
          .blocks_per_sm = kThreadsPerSm / kConvPromptThreads,
          .piece = LatencyCounts{.memory = 1, .l2 = 1} + n_windows * LatencyCounts{.l2 = 1, .local = 4},
          .bytes_in_flight = kConvWindow * kWarpSize * sizeof(float)};
}

// The state's address and the position; the matrix; query and key with their norms; the position's other inputs; what
// key and query read from the state; the output's norm and gate.
WorkModel delta_step_work_model(const DeltaNetSpec& s) {
  constexpr LatencyCounts kSquares{.local = kOverLanes + 2};  // over the lanes; a barrier, and the warps' sums
  constexpr LatencyCounts kOverState{.local = 2};             // a read of shared memory, and the other half's sum
  const LatencyCounts position = LatencyCounts{.l2 = 1} + kSquares + LatencyCounts{.local = 1} +
                                 LatencyCounts{.l2 = 1} + 2 * kOverState + kSquares + LatencyCounts{.l2 = 1};
  const ptx::Launch launch = delta_launch(s);
  return {.pieces = launch.blocks.total(),
          .warps = launch.threads.x / kWarpSize,
          .blocks_per_sm = 1,  // up to 155 registers per thread (ptxas, sm_90); fewer would spill
          .piece = LatencyCounts{.memory = 1, .l2 = 1} + position,
          .bytes_in_flight = uint64_t{s.head_dim} * s.head_dim * sizeof(float)};
}

// The first slice; slice by slice with prefetch; the norms; then head by head.
WorkModel delta_prepare_work_model(const DeltaNetSpec& s) {
  const uint32_t n_slices = s.head_dim / Sharing::kSlice, group = s.n_v_heads / s.n_k_heads;
  return {.pieces = delta_prepare_grid(s, s.columns).total(),
          .warps = kChunkWarps,
          .blocks_per_sm = kChunkBlocksPerSm,
          .piece = LatencyCounts{.l2 = 1} + n_slices * LatencyCounts{.local = Sharing::kSlice / 4 + 1} +
                   LatencyCounts{.local = 5} + group * prepared_head_latency(),
          .bytes_in_flight = kSliceBytes};
}

// The state's address and the first position; the state and the first slice; then every slice of every chunk.
WorkModel delta_scan_work_model(const DeltaNetSpec& s) {
  const uint32_t n_slices = s.head_dim / Sharing::kSlice + 2 * (kDeltaChunk / Sharing::kSlice);
  constexpr LatencyCounts kOfSlice{.local = 2 * (Sharing::kSlice / 8) + 1};  // two per eight of k, and a barrier
  return {.pieces = uint64_t{s.head_dim / Sharing::kScanValues} * s.n_v_heads,
          .warps = kChunkWarps,
          .blocks_per_sm = kChunkBlocksPerSm,
          .piece = LatencyCounts{.memory = 1, .l2 = 2} + ceil_div(s.columns, kDeltaChunk) * n_slices * kOfSlice,
          .bytes_in_flight = kSliceBytes};
}

WorkModel delta_finish_work_model(const DeltaNetSpec& s) {
  return {.pieces = delta_finish_grid(s, s.columns).total(),
          .warps = kChunkWarps,
          .blocks_per_sm = kThreadsPerSm / Sharing::kThreads,
          .piece = LatencyCounts{.l2 = 1, .local = 5},
          .bytes_in_flight = uint64_t{kChunkWarps} * s.head_dim * 3 * sizeof(float)};
}

}  // namespace warpchat
