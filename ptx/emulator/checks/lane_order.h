// Which accesses of other lanes in its warp a lane may rely on: those before a bar.warp.sync that both joined, directly
// or through a chain of such barriers.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include "ptx/emulator/instruction.h"

namespace ptx::emulator {

class LaneOrder {
 public:
  uint32_t time() const { return time_; }  // barriers passed by any lane of the warp

  void barrier(uint32_t lanes, uint32_t live) {
    ++time_;
    if ((live & ~lanes) == 0) {
      all_ = time_;
      known_.reset();
      return;
    }
    if (!known_) known_ = std::make_unique<Known>();
    std::array<uint32_t, kLanes> together{};
    for (uint32_t l = 0; l < kLanes; ++l) {
      if (!(lanes >> l & 1)) continue;
      for (uint32_t other = 0; other < kLanes; ++other)
        together[other] = std::max(together[other], (*known_)[l][other]);
    }
    for (uint32_t l = 0; l < kLanes; ++l) together[l] = lanes >> l & 1 ? time_ : together[l];
    for (uint32_t l = 0; l < kLanes; ++l) {
      if (lanes >> l & 1) (*known_)[l] = together;
    }
  }

  // Whether accesses of `other` at `time` are ordered before what `lane` does now.
  bool knows(uint32_t lane, uint32_t other, uint32_t time) const {
    return all_ > time || (known_ && (*known_)[lane][other] > time);
  }

  // Whether accesses of any lane at `time` are ordered before what all lanes do now.
  bool all_know(uint32_t time) const { return all_ > time; }

 private:
  using Known = std::array<std::array<uint32_t, kLanes>, kLanes>;  // [lane][other]: time up to which it is known
  uint32_t time_ = 0, all_ = 0;
  std::unique_ptr<Known> known_;  // since the last full barrier; null without partial ones
};

}  // namespace ptx::emulator
