// Vector clocks of warps: the events known to have happened before. Warps are numbered through the grid. Those of the
// same block are stored densely, others, known by release and acquire, sparsely.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace ptx::emulator {

class Clock {
 public:
  Clock() = default;
  Clock(uint32_t first_warp, uint32_t n_warps) : first_(first_warp), own_(n_warps, 0) {}

  // Events of `warp` up to this count happened before; 0: none did.
  uint32_t of(uint32_t warp) const { return warp - first_ < own_.size() ? own_[warp - first_] : of_other(warp); }
  void raise(uint32_t warp, uint32_t to);
  void join(const Clock& other);

 private:
  struct Entry {
    uint32_t warp, value;
  };
  using Entries = std::vector<Entry>;  // sorted by warp

  uint32_t of_other(uint32_t warp) const;
  void join(const Entries& entries);

  uint32_t first_ = 0;
  std::vector<uint32_t> own_;
  std::shared_ptr<const Entries> others_;  // immutable, so that warps of a block can share them
};

}  // namespace ptx::emulator
