// A barrier of all blocks of a cooperative launch: what any block wrote before it, every block reads behind it.
#pragma once
#include <functional>

#include "ptx/builder.h"

namespace warpchat {

// Arrivals are counted in one number that is never set back within a launch, so that nobody can meet the remains of an
// earlier barrier: barrier number n is open once blocks * n have arrived.
class GridBarrier {
 public:
  // counter: u64, zero when the launch begins; nothing else beside it in its 128 bytes.
  GridBarrier(ptx::Builder& b, const ptx::Global<ptx::u64>& counter);

  // By every thread of every block, which must not have parted. `meanwhile`, if any, runs when the block has arrived
  // and others may not have: what it reads must not be written before the barrier opens.
  void wait(const std::function<void()>& meanwhile = {});

 private:
  ptx::Builder& b_;
  ptx::Global<ptx::u64> counter_;
  ptx::Shared<ptx::u64>
      open_at_;  // the count that opens the last barrier: of one thread, so not in everybody's registers
};

}  // namespace warpchat
