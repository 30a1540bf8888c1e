// The last pass's speed is the next one's.
#include "engine/pass_length.h"

#include <algorithm>

namespace warpchat {

PassLength::PassLength(uint32_t most, bool fixed)
    : fixed_(fixed || most <= kLeast), most_(fixed_ ? most : most / kUnit * kUnit), length_(fixed_ ? most : kLeast) {}

uint32_t PassLength::next(size_t n_left) const {
  const auto n = static_cast<uint32_t>(std::min<size_t>(length_, n_left));
  const size_t rest = n_left - n;
  return !fixed_ && rest > 0 && rest < kUnit ? n - kUnit : n;
}

void PassLength::took(uint32_t length, double seconds) {
  if (fixed_ || length < kLeast || seconds <= 0) return;
  const double in_time = std::min<double>(most_, kSeconds / seconds * length);
  length_ = in_time < most_ ? std::max(kLeast, static_cast<uint32_t>(in_time) / kUnit * kUnit) : most_;
}

}  // namespace warpchat
