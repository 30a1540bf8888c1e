// Shuffles, votes, matches and redux by warp; tiles and coalesced groups of cooperative_groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

// to[mode][lane], every mode of shuffle with whole and part widths; one warp.
extern "C" __global__ void shuffles(const int* from, int* to, int by, int width) {
  const int lane = threadIdx.x, mine = from[lane];
  to[0 * 32 + lane] = __shfl_sync(~0u, mine, by, width);
  to[1 * 32 + lane] = __shfl_up_sync(~0u, mine, by, width);
  to[2 * 32 + lane] = __shfl_down_sync(~0u, mine, by, width);
  to[3 * 32 + lane] = __shfl_xor_sync(~0u, mine, by, width);
  to[4 * 32 + lane] = __shfl_sync(~0u, mine, lane * by, width);
  to[5 * 32 + lane] = __shfl_up_sync(~0u, mine, 1);
  to[6 * 32 + lane] = __shfl_down_sync(~0u, mine, 16, 32);
  to[7 * 32 + lane] = __shfl_xor_sync(~0u, mine, 5, 8);
}

extern "C" __global__ void shuffles_64(const double* from, double* to, int by) {
  to[threadIdx.x] = __shfl_down_sync(~0u, from[threadIdx.x], by) + __shfl_sync(~0u, from[threadIdx.x], 31 - by);
}

// Lanes of the mask alone shuffle and vote; the others leave first.
extern "C" __global__ void masked_warp(const int* from, int* to, unsigned mask) {
  const int lane = threadIdx.x;
  if (!(mask >> lane & 1)) {
    to[lane] = -1;
    return;
  }
  const unsigned odd = __ballot_sync(mask, from[lane] & 1);
  const int first = __shfl_sync(mask, from[lane], __ffs(mask) - 1);
  to[lane] = first * 1000 + __popc(odd) * 10 + (__any_sync(mask, from[lane] > 90) ? 1 : 0) +
             (__all_sync(mask, from[lane] > 2) ? 2 : 0) + (__activemask() == mask ? 4 : 0);
}

extern "C" __global__ void votes(const int* from, unsigned* to) {
  const int lane = threadIdx.x;
  to[lane] = __ballot_sync(~0u, from[lane] > lane);
  int all_equal;
  to[32 + lane] = __match_any_sync(~0u, from[lane] % 5);
  to[64 + lane] = __match_all_sync(~0u, from[lane], &all_equal);
  to[96 + lane] = all_equal;
  to[128 + lane] = __match_all_sync(~0u, from[lane] * 0ll + 7, &all_equal);
  to[160 + lane] = all_equal + 10 * __match_any_sync(~0u, (unsigned long long)(from[lane] % 2) << 40);
}

#if __CUDA_ARCH__ >= 800
// Each lane's result of redux over the lanes of the same parity.
extern "C" __global__ void reductions_of_lanes(const int* from, int* to) {
  const int lane = threadIdx.x, mine = from[lane];
  const unsigned mask = lane % 2 ? 0xaaaaaaaa : 0x55555555;
  to[lane] = __reduce_add_sync(mask, mine);
  to[32 + lane] = __reduce_min_sync(mask, mine);
  to[64 + lane] = __reduce_max_sync(mask, mine);
  to[96 + lane] = __reduce_min_sync(mask, (unsigned)mine);
  to[128 + lane] = __reduce_max_sync(mask, (unsigned)mine);
  to[160 + lane] = __reduce_and_sync(mask, (unsigned)mine | 5);
  to[192 + lane] = __reduce_or_sync(mask, (unsigned)mine);
  to[224 + lane] = __reduce_xor_sync(mask, (unsigned)mine);
}
#endif

// Sums by tiles of 8 lanes, then prefix sums by the group of lanes whose value is odd.
extern "C" __global__ void group_sums(const int* from, int* tile_sums, int* odd_prefix, int* odd_ranks) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int i = threadIdx.x, mine = from[i];
  tile_sums[i] = cg::reduce(tile, mine, cg::plus<int>());
  odd_prefix[i] = odd_ranks[i] = -1;
  if (mine & 1) {
    const auto group = cg::coalesced_threads();
    odd_prefix[i] = cg::inclusive_scan(group, mine, cg::plus<int>());
    odd_ranks[i] = group.thread_rank() * 100 + group.size();
  }
}

// One atomic for the lanes that keep their value, each gets its place: stream compaction. Order within a warp holds.
extern "C" __global__ void compact(const int* from, int n, int* to, unsigned* count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool keep = i < n && from[i] % 3 == 0;
  const unsigned keepers = __ballot_sync(~0u, keep), lane = threadIdx.x % 32;
  unsigned base = 0;
  if (lane == 0 && keepers) base = atomicAdd(count, __popc(keepers));
  base = __shfl_sync(~0u, base, 0);
  if (keep) to[base + __popc(keepers & ((1u << lane) - 1))] = from[i];
}
