// Vector clocks of warps: what each warp knows to have happened before it. Warps are numbered through the grid;
// those of one block lie together and are dense, others enter only by release and acquire.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ptx::emulator {

class Clock {
 public:
  Clock() = default;
  Clock(uint32_t first_warp, uint32_t n_warps) : first_(first_warp), own_(n_warps, 0) {}

  uint32_t of(uint32_t warp) const {
    if (warp - first_ < own_.size()) return own_[warp - first_];
    const auto found = others_.find(warp);
    return found == others_.end() ? 0 : found->second;
  }
  void raise(uint32_t warp, uint32_t to) {
    uint32_t& value = warp - first_ < own_.size() ? own_[warp - first_] : others_[warp];
    value = std::max(value, to);
  }
  void join(const Clock& other) {
    for (uint32_t k = 0; k < other.own_.size(); ++k) {
      if (other.own_[k]) raise(other.first_ + k, other.own_[k]);
    }
    for (const auto& [warp, value] : other.others_) raise(warp, value);
  }
  bool empty() const { return own_.empty() && others_.empty(); }

 private:
  uint32_t first_ = 0;
  std::vector<uint32_t> own_;
  std::unordered_map<uint32_t, uint32_t> others_;
};

// One access as a cell remembers it. Clock 0: none.
struct Epoch {
  uint32_t warp = 0, clock = 0;
  uint32_t instruction = 0;  // index in `places` of the detector
  uint8_t lanes[4] = {};     // which lane touched each byte of the word
  uint8_t bytes = 0;         // mask of the word's bytes
  bool is_strong = false;    // volatile, relaxed or stronger
  uint32_t instance = 0;     // of the instruction within its warp: lanes of one instance do not race
  uint32_t lane_epoch = 0;   // warp barriers of the lane before it
};

}  // namespace ptx::emulator
