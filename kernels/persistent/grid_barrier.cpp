#include "kernels/persistent/grid_barrier.h"

namespace warpchat {

using namespace ptx;

GridBarrier::GridBarrier(Builder& b, const Global<u64>& counter)
    : b_(b), counter_(counter), open_at_(b.shared<u64>("open_at", 1)) {
  b_.if_(b_.thread() == 0, [&] { open_at_.store(0, uint64_t{0}); });
}

// Block barriers order the block's threads with the one that counts. Its release publishes their writes with the
// arrival; its acquire makes other blocks' writes visible. The acquire also invalidates L1 at every poll, which only
// affects this block: no other runs on its multiprocessor.
void GridBarrier::wait(const std::function<void()>& meanwhile) {
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

}  // namespace warpchat
