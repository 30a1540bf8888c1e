#include "kernels/virtual_block.h"

#include <algorithm>
#include <cassert>

namespace warpchat {

using namespace ptx;

Team team_of(Builder& b, uint32_t block_warps, uint32_t warps, uint32_t most_teams) {
  assert(block_warps % warps == 0 && most_teams > 0);
  const uint32_t n_teams = std::min(block_warps / warps, most_teams);
  if (warps == block_warps) return {block_warps, n_teams, warps, b.var("team", 0u), b.thread(), b.warp()};
  Reg<u32> index = (b.warp() / warps).named("team");
  return {block_warps, n_teams, warps, index, b.thread() - index * (warps * kWarpSize), b.warp() - index * warps};
}

// Barrier 0 is the whole block's; each team has one of its own behind it.
void Team::barrier(Builder& b) const {
  if (is_block()) return b.barrier();
  b.barrier(index + 1, threads());
}

Reg<u32> VirtualBlock::block(Axis axis) const {
  if (!played_) return b_.block(axis);
  return axis == Axis::kX ? played_->x : axis == Axis::kY ? played_->y : played_->z;
}

Reg<u32> VirtualBlock::blocks() const { return played_ ? played_->n_x : b_.blocks(); }
Reg<u32> VirtualBlock::thread() const { return played_ ? played_->team.thread : b_.thread(); }
Reg<u32> VirtualBlock::warp() const { return played_ ? played_->team.warp : b_.warp(); }

Reg<u32> VirtualBlock::threads() const {
  return played_ ? Reg<u32>(b_.var("threads", played_->team.threads())) : b_.threads();
}

void VirtualBlock::barrier() const {
  if (!played_) return b_.barrier();
  played_->team.barrier(b_);
}

}  // namespace warpchat
