// Sums, maxima and scans over a warp's lanes or a block's threads, in a fixed order. The warp or block must be
// convergent.
#pragma once
#include <vector>

#include "kernels/common/virtual_block.h"

namespace warpchat {

// Sum over each segment of `width` lanes (a power of two), returned in all of its lanes.
ptx::Reg<ptx::f32> warp_sum(ptx::Builder& b, const ptx::Reg<ptx::f32>& x, uint32_t width = ptx::kWarpSize);

// Maximum over the lanes with the same lane number modulo `stride`, returned in all of them.
ptx::Reg<ptx::f32> strided_max(ptx::Builder& b, const ptx::Reg<ptx::f32>& x, uint32_t stride);

// Several sums over each segment, at the cost of about one: value i's sum ends in lanes i * width / n to (i + 1) *
// width / n - 1 of the segment. values: n of them, a power of two, at most `width`.
ptx::Reg<ptx::f32> scattered_sums(ptx::Builder& b, const std::vector<ptx::Reg<ptx::f32>>& values, uint32_t width);

// Sum over the block, returned in all threads. slots: one per warp; a barrier must separate it from earlier uses.
ptx::Reg<ptx::f32> block_sum(ptx::Builder& b, const ptx::Reg<ptx::f32>& x, const ptx::Shared<ptx::f32>& slots,
                             uint32_t warps);

// Maximum over the warp, returned in all lanes.
ptx::Reg<ptx::u32> warp_max(ptx::Builder& b, ptx::In<ptx::u32> x);
ptx::Reg<ptx::u64> warp_max(ptx::Builder& b, ptx::In<ptx::u64> x);

// Sum and maximum over the block, returned in all threads. slots: [kWarpSize], zero for absent warps. Both end with a
// barrier, so slots can be reused.
ptx::Reg<ptx::u64> block_sum(ptx::Builder& b, ptx::In<ptx::u64> x, const ptx::Shared<ptx::u64>& slots,
                             const VirtualBlock& block);
ptx::Reg<ptx::u64> block_max(ptx::Builder& b, ptx::In<ptx::u64> x, const ptx::Shared<ptx::u64>& slots,
                             const VirtualBlock& block);

// Prefix sum over the block's threads: the sum of those before, and of all. slots: as in block_sum.
struct BlockScan {
  ptx::Reg<ptx::u64> before, total;
};
BlockScan block_scan(ptx::Builder& b, ptx::In<ptx::u64> x, const ptx::Shared<ptx::u64>& slots,
                     const VirtualBlock& block);

}  // namespace warpchat
