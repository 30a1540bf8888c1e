// Finds the last of several blocks to finish, which combines the results that the others left in device memory.
#pragma once
#include "kernels/common/virtual_block.h"

namespace warpchat {

// Called by all threads of n blocks, without divergence. Returns whether this block is the last to arrive at
// `arrivals`, which counts modulo n and so is zero again for the next launch. The barriers and the acquire-release
// atomic make every store of the earlier blocks visible to all threads of the last. slot: one per block; a barrier must
// separate this call from earlier accesses to it.
inline ptx::Pred last_to_arrive(ptx::Builder& b, const VirtualBlock& block, const ptx::Global<ptx::u32>& arrivals,
                                const ptx::Reg<ptx::u32>& n, const ptx::Shared<ptx::u32>& slot) {
  block.barrier();
  b.if_(block.thread() == 0, [&] {
    slot.store(0, arrivals.atom(ptx::Atomic::kIncrement, n - 1, ptx::Order::kAcquireRelease, ptx::Scope::kGpu));
  });
  block.barrier();
  return block.uniform(slot.load()) == n - 1;
}

}  // namespace warpchat
