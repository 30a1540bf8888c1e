#include "kernels/common/virtual_block.h"

#include <algorithm>
#include <cassert>

namespace warpchat {

using namespace ptx;

Team team_of(Builder& b, uint32_t block_warps, uint32_t warps, uint32_t max_teams) {
  assert(warps <= block_warps && max_teams > 0);
  const uint32_t n_teams = std::min(block_warps / warps, max_teams);
  if (warps == block_warps) return {block_warps, n_teams, warps, b.var("team", 0u), b.thread(), b.warp()};
  Reg<u32> index = (b.warp() / warps).named("team");
  return {block_warps, n_teams, warps, index, b.thread() - index * (warps * kWarpSize), b.warp() - index * warps};
}

// Barrier 0 is the whole block's; the teams' barriers follow.
std::optional<Reg<u32>> Team::barrier_number() const {
  if (is_block()) return {};
  return index + 1;
}

void Team::barrier(Builder& b) const {
  if (const auto number = barrier_number()) return b.barrier(*number, threads());
  b.barrier();
}

VirtualBlock VirtualBlock::of_caller(Builder& b) {
  const auto number = [&](const char* name) { return b.argument<u32>(name, Sharing::kWarp); };
  Reg<u32> x = number("block_x"), y = number("block_y"), n_x = number("n_blocks_x");
  Reg<u32> thread = b.argument<u32>("thread", Sharing::kNone);
  Reg<u32> threads = number("threads"), barrier = number("barrier");
  b.shared_argument("memory");
  Reg<u32> warp = b.warp_uniform(thread / kWarpSize).named("warp");
  return VirtualBlock(b, Played{x, y, b.var("block_z", 0u), n_x, thread, warp, threads, barrier, {}});
}

void VirtualBlock::call(const FunctionPointer& function, std::vector<CallOperand> arguments) const {
  const bool has_number = played_ && played_->barrier;
  std::vector<CallOperand> all = {block(),   block(Axis::kY),
                                  blocks(),  thread(),
                                  threads(), has_number ? CallOperand(*played_->barrier) : CallOperand(0u)};
  if (function->shared_bytes > 0)
    all.push_back(shared<u8>(function->name + "_memory", function->shared_bytes));
  else
    all.push_back(0u);
  all.insert(all.end(), arguments.begin(), arguments.end());
  b_.call(function, all);
}

Reg<u32> VirtualBlock::block(Axis axis) const {
  if (!played_) return b_.block(axis);
  return axis == Axis::kX ? played_->x : axis == Axis::kY ? played_->y : played_->z;
}

Reg<u32> VirtualBlock::blocks() const { return played_ ? played_->n_x : b_.blocks(); }
Reg<u32> VirtualBlock::thread() const { return played_ ? played_->thread : b_.thread(); }
Reg<u32> VirtualBlock::warp() const { return played_ ? played_->warp : b_.warp(); }

Reg<u32> VirtualBlock::threads() const { return played_ ? played_->threads : b_.threads(); }

void VirtualBlock::barrier() const {
  if (!played_ || !played_->barrier) return b_.barrier();
  b_.barrier(*played_->barrier, played_->threads);
}

}  // namespace warpchat
