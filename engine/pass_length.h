// How many of a prompt's tokens go into one pass: about 0.15 seconds' worth, so that the user can see progress and
// stop.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace warpchat {

class PassLength {
 public:
  // Target duration of a pass of more than `min` tokens. Each pass has a fixed cost: 0.5% of 512 tokens' on a CPU. In
  // a mixture of experts each expert has its own columns, and with few of them a pass mostly waits for weights.
  static constexpr double kSeconds = 0.15;
  static constexpr uint32_t kMin = 128;
  static constexpr uint32_t kColumnsOfAnExpert = 16;
  // Every pass but the last is a multiple of this, and only a shorter prompt makes a shorter pass. Timing must not
  // change a bit of the result, and on a GPU passes of fewer columns use other products and other attention.
  static constexpr uint32_t kUnit = 16;
  // The unit where a recurrent state goes through a pass in chunks (kernels/delta_net/delta_chunk.h).
  static constexpr uint32_t kChunk = 64;

  // max: of tokens per pass. fixed: every pass is of maximum length, where time means nothing. in_units: rounds to
  // units even when a caller's limit is below one. unit: at most kMin. min: at least kMin.
  PassLength(uint32_t max, bool fixed, bool in_units, uint32_t unit = kUnit, uint32_t min = kMin)
      : fixed_(fixed || max <= min),
        in_units_(in_units),
        unit_(unit),
        min_(min / unit * unit),
        max_(fixed_ ? max : max / unit_ * unit_),
        length_(fixed_ ? max : min_) {}

  // Length of the next pass with n_left tokens to go, at least 1. max: limit while other work waits for the pass.
  uint32_t next(size_t n_left, uint32_t max = UINT32_MAX) const {
    if (max < unit_ && !in_units_) return static_cast<uint32_t>(std::min<size_t>(max, n_left));
    if (!fixed_) max = std::max(max / unit_ * unit_, unit_);
    const auto n = static_cast<uint32_t>(std::min<size_t>({length_, max, n_left}));
    const auto rest = static_cast<uint32_t>(std::min<size_t>(n_left - n, unit_));
    if (fixed_ || rest == 0 || rest == unit_) return n;
    return n > unit_ ? n - unit_ : n + rest;
  }

  // Length and time of a computed pass; 0: time unknown. The next pass is assumed to be as fast.
  void record_time(uint32_t length, double seconds) {
    if (fixed_ || length < min_ || seconds <= 0) return;
    const double in_time = std::min<double>(max_, kSeconds / seconds * length);
    length_ = in_time < max_ ? std::max(min_, static_cast<uint32_t>(in_time) / unit_ * unit_) : max_;
  }

 private:
  bool fixed_, in_units_;
  uint32_t unit_, min_, max_, length_;
};

}  // namespace warpchat
