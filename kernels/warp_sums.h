// Sums, maxima and scans over the lanes of a warp or the threads of a block, in a fixed order. No branch may have split
// the warp, or the block.
#pragma once
#include <vector>

#include "kernels/virtual_block.h"

namespace warpchat {

// The sum over each segment of `width` lanes (a power of two), in all of its lanes.
ptx::Reg<ptx::f32> warp_sum(ptx::Builder& b, const ptx::Reg<ptx::f32>& x, uint32_t width = ptx::kWarpSize);

// The largest over the lanes that have the same lane number modulo `stride`, in all of them.
ptx::Reg<ptx::f32> strided_max(ptx::Builder& b, const ptx::Reg<ptx::f32>& x, uint32_t stride);

// Several sums over each segment at once, for the shuffles of about one: value i's sum ends in the lanes
// i * width / n to (i + 1) * width / n - 1 of its segment. `values`: n, a power of two, at most `width`.
ptx::Reg<ptx::f32> scattered_sums(ptx::Builder& b, const std::vector<ptx::Reg<ptx::f32>>& values, uint32_t width);

// The sum over the block's threads, in all of them. slots: one a warp, which a barrier must part from earlier uses.
ptx::Reg<ptx::f32> block_sum(ptx::Builder& b, const ptx::Reg<ptx::f32>& x, const ptx::Shared<ptx::f32>& slots,
                             uint32_t warps);

// The largest over the warp, in all lanes.
ptx::Reg<ptx::u32> warp_max(ptx::Builder& b, ptx::In<ptx::u32> x);
ptx::Reg<ptx::u64> warp_max(ptx::Builder& b, ptx::In<ptx::u64> x);

// The sum and the largest over the block, in all threads. slots: [kWarpSize], zero for the warps that the block has
// not; both end with a barrier, so that they may be used again.
ptx::Reg<ptx::u64> block_sum(ptx::Builder& b, ptx::In<ptx::u64> x, const ptx::Shared<ptx::u64>& slots,
                             const VirtualBlock& block);
ptx::Reg<ptx::u64> block_max(ptx::Builder& b, ptx::In<ptx::u64> x, const ptx::Shared<ptx::u64>& slots,
                             const VirtualBlock& block);

// Over the block's threads in their order: the sum of those before, and of all. slots: as of block_sum.
struct BlockScan {
  ptx::Reg<ptx::u64> before, total;
};
BlockScan block_scan(ptx::Builder& b, ptx::In<ptx::u64> x, const ptx::Shared<ptx::u64>& slots,
                     const VirtualBlock& block);

}  // namespace warpchat
