// One line that says what decides the speed, from numbers alone.
#pragma once
#include <optional>
#include <string>

#include "app/chat/profile/profiler_data.h"

namespace warpchat::gui {

// "29.1 tokens/s: weights of 398 MB a token at 11.6 GB/s are 46% of this machine's 25.2 GB/s; attention takes 12%".
// Empty before the second token.
std::string why_this_speed(const ProfilerData& data);

// The mean of the answer's last tokens, without its first one, which comes from prefill.
std::optional<double> seconds_per_token(const ProfilerData& data);

}  // namespace warpchat::gui
