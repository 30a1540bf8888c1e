// A barrier across all blocks of a cooperative launch: every block then sees what any block wrote before it.
#pragma once
#include <functional>

#include "ptx/builder.h"

namespace warpchat {

// The arrival counter is never reset within a launch, so no block can mistake an earlier barrier's count for this
// one's: barrier n opens once blocks * n have arrived.
class GridBarrier {
 public:
  // counter: u64, zero at launch, alone in its 128 bytes.
  GridBarrier(ptx::Builder& b, const ptx::Global<ptx::u64>& counter);

  // Called by all threads of all blocks, without divergence. `meanwhile` runs after the block has arrived, while others
  // may not have: what it reads must not be written before the barrier opens.
  void wait(const std::function<void()>& meanwhile = {});

 private:
  ptx::Builder& b_;
  ptx::Global<ptx::u64> counter_;
  ptx::Shared<ptx::u64>
      open_at_;  // the count that opens the last barrier, kept by one thread in shared memory to save registers
};

}  // namespace warpchat
