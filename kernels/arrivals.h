// Blocks that leave something in device memory for the one of them that comes last.
#pragma once
#include "kernels/virtual_block.h"

namespace warpchat {

// By every thread of n blocks, which must not have parted: whether this one is the last to arrive at `arrivals`, which
// counts modulo n, so that the last one leaves zero for the next launch. The barriers and the atomic's release and
// acquire make what all threads of the earlier blocks have stored visible to all threads of the last. slot: of the
// block, which a barrier must part from earlier uses.
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
