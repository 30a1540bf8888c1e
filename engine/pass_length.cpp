// Assumes that the next pass is as fast as the last one.
#include "engine/pass_length.h"

#include <algorithm>

namespace warpchat {

PassLength::PassLength(uint32_t max, bool fixed, bool in_units, uint32_t unit, uint32_t min)
    : fixed_(fixed || max <= min),
      in_units_(in_units),
      unit_(unit),
      min_(min / unit * unit),
      max_(fixed_ ? max : max / unit_ * unit_),
      length_(fixed_ ? max : min_) {}

uint32_t PassLength::next(size_t n_left, uint32_t max) const {
  if (max < unit_ && !in_units_) return static_cast<uint32_t>(std::min<size_t>(max, n_left));
  if (!fixed_) max = std::max(max / unit_ * unit_, unit_);
  const auto n = static_cast<uint32_t>(std::min<size_t>({length_, max, n_left}));
  const auto rest = static_cast<uint32_t>(std::min<size_t>(n_left - n, unit_));
  if (fixed_ || rest == 0 || rest == unit_) return n;
  return n > unit_ ? n - unit_ : n + rest;
}

void PassLength::record_time(uint32_t length, double seconds) {
  if (fixed_ || length < min_ || seconds <= 0) return;
  const double in_time = std::min<double>(max_, kSeconds / seconds * length);
  length_ = in_time < max_ ? std::max(min_, static_cast<uint32_t>(in_time) / unit_ * unit_) : max_;
}

}  // namespace warpchat
