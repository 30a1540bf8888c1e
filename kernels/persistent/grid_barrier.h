// A barrier across all blocks of a cooperative launch: every block then sees what any block wrote before it.
#pragma once
#include <functional>

#include "kernels/common/virtual_block.h"
#include "ptx/builder.h"

namespace warpchat {

// The arrival counter is never reset within a launch, so no block can mistake an earlier barrier's count for this
// one's: barrier n opens once blocks * n have arrived.
class GridBarrier {
 public:
  // counter: u64, zero at launch, alone in its 128 bytes. open_at: u64 in shared memory, kept by the barrier. blocks:
  // the grid's.
  GridBarrier(ptx::Builder& b, const ptx::Global<ptx::u64>& counter, const ptx::Shared<ptx::u64>& open_at,
              const ptx::Reg<ptx::u32>& blocks)
      : b_(b), words_{counter, open_at}, blocks_(blocks) {
    b_.if_(b_.thread() == 0, [&] { words_.open_at.store(0, uint64_t{0}); });
  }

  // What a device function needs to pass the barrier.
  struct Words {
    ptx::Global<ptx::u64> counter;
    ptx::Shared<ptx::u64> open_at;  // the count that opens the last barrier, in shared memory to save registers
  };
  const Words& words() const { return words_; }

  // Called by all threads of all blocks, without divergence. `meanwhile` runs after the block has arrived, while others
  // may not have: what it reads must not be written before the barrier opens.
  void wait(const std::function<void()>& meanwhile = {}) {
    arrive();
    if (meanwhile) meanwhile();
    pass(b_, VirtualBlock(b_), words_);
  }

  // Block barriers order the block's threads with the one that counts. Its release publishes their writes with the
  // arrival.
  void arrive() {
    using namespace ptx;
    b_.region("grid barrier", [&] {
      b_.barrier();
      b_.if_(b_.thread() == 0, [&] {
        words_.counter.red(Atomic::kAdd, uint64_t{1}, Order::kRelease, Scope::kGpu);
        words_.open_at.store(0, words_.open_at.load() + wide(blocks_));
      });
    });
  }

  // Waits for all blocks after arrive(), here or in a device function. block: the whole block. The acquire makes other
  // blocks' writes visible. It also invalidates L1 at every poll, which only affects this block: no other runs on its
  // multiprocessor.
  static void pass(ptx::Builder& b, const VirtualBlock& block, const Words& words) {
    using namespace ptx;
    b.region("grid barrier", [&] {
      b.if_(block.thread() == 0, [&] {
        Reg<u64> open_at = words.open_at.load();
        b.while_([&] { return words.counter.load_acquire(Scope::kGpu) < open_at; }, [] {});
      });
      block.barrier();
    });
  }

 private:
  ptx::Builder& b_;
  Words words_;
  ptx::Reg<ptx::u32> blocks_;
};

}  // namespace warpchat
