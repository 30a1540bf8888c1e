// Assumes that the next pass is as fast as the last one.
#include "engine/pass_length.h"

#include <algorithm>

namespace warpchat {

PassLength::PassLength(uint32_t most, bool fixed, bool in_units, uint32_t unit, uint32_t least)
    : fixed_(fixed || most <= least),
      in_units_(in_units),
      unit_(unit),
      least_(least / unit * unit),
      most_(fixed_ ? most : most / unit_ * unit_),
      length_(fixed_ ? most : least_) {}

uint32_t PassLength::next(size_t n_left, uint32_t most) const {
  if (most < unit_ && !in_units_) return static_cast<uint32_t>(std::min<size_t>(most, n_left));
  if (!fixed_) most = std::max(most / unit_ * unit_, unit_);
  const auto n = static_cast<uint32_t>(std::min<size_t>({length_, most, n_left}));
  const auto rest = static_cast<uint32_t>(std::min<size_t>(n_left - n, unit_));
  if (fixed_ || rest == 0 || rest == unit_) return n;
  return n > unit_ ? n - unit_ : n + rest;
}

void PassLength::took(uint32_t length, double seconds) {
  if (fixed_ || length < least_ || seconds <= 0) return;
  const double in_time = std::min<double>(most_, kSeconds / seconds * length);
  length_ = in_time < most_ ? std::max(least_, static_cast<uint32_t>(in_time) / unit_ * unit_) : most_;
}

}  // namespace warpchat
