// The last pass's speed is the next one's.
#include "engine/pass_length.h"

#include <algorithm>

namespace warpchat {

PassLength::PassLength(uint32_t most, bool fixed, bool in_units)
    : fixed_(fixed || most <= kLeast),
      in_units_(in_units),
      most_(fixed_ ? most : most / kUnit * kUnit),
      length_(fixed_ ? most : kLeast) {}

uint32_t PassLength::next(size_t n_left, uint32_t most) const {
  if (most < kUnit && !in_units_) return static_cast<uint32_t>(std::min<size_t>(most, n_left));
  if (!fixed_) most = std::max(most / kUnit * kUnit, kUnit);
  const auto n = static_cast<uint32_t>(std::min<size_t>({length_, most, n_left}));
  const auto rest = static_cast<uint32_t>(std::min<size_t>(n_left - n, kUnit));
  if (fixed_ || rest == 0 || rest == kUnit) return n;
  return n > kUnit ? n - kUnit : n + rest;
}

void PassLength::took(uint32_t length, double seconds) {
  if (fixed_ || length < kLeast || seconds <= 0) return;
  const double in_time = std::min<double>(most_, kSeconds / seconds * length);
  length_ = in_time < most_ ? std::max(kLeast, static_cast<uint32_t>(in_time) / kUnit * kUnit) : most_;
}

}  // namespace warpchat
