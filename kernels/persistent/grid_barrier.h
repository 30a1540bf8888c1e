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
  GridBarrier(ptx::Builder& b, const ptx::Global<ptx::u64>& counter)
      : b_(b), counter_(counter), open_at_(b.shared<ptx::u64>("open_at", 1)) {
    b_.if_(b_.thread() == 0, [&] { open_at_.store(0, uint64_t{0}); });
  }

  // Called by all threads of all blocks, without divergence. `meanwhile` runs after the block has arrived, while others
  // may not have: what it reads must not be written before the barrier opens.
  //
  // Block barriers order the block's threads with the one that counts. Its release publishes their writes with the
  // arrival; its acquire makes other blocks' writes visible. The acquire also invalidates L1 at every poll, which only
  // affects this block: no other runs on its multiprocessor.
  void wait(const std::function<void()>& meanwhile = {}) {
    using namespace ptx;
    b_.region("grid barrier", [&] {
      b_.barrier();
      const auto in_first_thread = [&](const auto& body) { b_.if_(b_.thread() == 0, body); };
      in_first_thread([&] {
        counter_.red(Atomic::kAdd, uint64_t{1}, Order::kRelease, Scope::kGpu);
        open_at_.store(0, open_at_.load() + wide(b_.blocks()));
      });
      if (meanwhile) meanwhile();
      in_first_thread([&] {
        Reg<u64> open_at = open_at_.load();
        b_.while_([&] { return counter_.load_acquire(Scope::kGpu) < open_at; }, [] {});
      });
      b_.barrier();
    });
  }

 private:
  ptx::Builder& b_;
  ptx::Global<ptx::u64> counter_;
  ptx::Shared<ptx::u64>
      open_at_;  // the count that opens the last barrier, kept by one thread in shared memory to save registers
};

}  // namespace warpchat
