#include "kernels/grid_barrier.h"

namespace warpchat {

using namespace ptx;

GridBarrier::GridBarrier(Builder& b, const Global<u64>& counter)
    : b_(b), counter_(counter), open_at_(b.shared<u64>("open_at", 1)) {
  b_.if_(b_.thread() == 0, [&] { open_at_.store(0, uint64_t{0}); });
}

// The block barriers carry the order from the block's threads to the one that counts, and back. The release makes all
// of that visible with the arrival, the acquire makes what others arrived with visible here.
void GridBarrier::wait() {
  b_.region("grid barrier", [&] {
    b_.barrier();
    b_.if_(b_.thread() == 0, [&] {
      counter_.red(Atomic::kAdd, uint64_t{1}, Order::kRelease, Scope::kGpu);
      Reg<u64> open_at = open_at_.load() + wide(b_.blocks());
      open_at_.store(0, open_at);
      b_.while_([&] { return counter_.load_acquire(Scope::kGpu) < open_at; }, [] {});
    });
    b_.barrier();
  });
}

}  // namespace warpchat
