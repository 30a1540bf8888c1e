#include "engine/gpu/launch_choice.h"

#include <algorithm>
#include <cstdio>

#include "models/text_format.h"

namespace warpchat {

namespace {

constexpr size_t kMaxErrorBytes = 200;  // in a status line

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

LaunchChoice::Part LaunchChoice::next(const std::function<bool(LaunchMode)>& is_ready) const {
  std::lock_guard lock(mutex_);
  for (const LaunchMode mode : kLaunchModes) {
    const Candidate& c = of(mode);
    if (!c.is_left_out && !c.is_measured() && is_ready(mode))
      return {mode, kWarmTokens + kTokens - static_cast<uint32_t>(c.seconds.size())};
  }
  return {fastest_measured(), is_complete() ? UINT32_MAX : kTokensBetweenLooks};
}

void LaunchChoice::add(LaunchMode mode, double seconds) {
  std::lock_guard lock(mutex_);
  Candidate& c = candidates_[static_cast<size_t>(mode)];
  if (!c.is_measured()) c.seconds.push_back(seconds);
}

void LaunchChoice::leave_out(LaunchMode mode, std::string_view error) {
  std::lock_guard lock(mutex_);
  Candidate& c = candidates_[static_cast<size_t>(mode)];
  c.is_left_out = true;
  c.error = printable(error.substr(0, error.find('\n')), kMaxErrorBytes);
}

bool LaunchChoice::is_settled() const {
  std::lock_guard lock(mutex_);
  return is_complete();
}

bool LaunchChoice::is_complete() const {
  return std::ranges::all_of(candidates_, [](const Candidate& c) { return c.is_left_out || c.is_measured(); });
}

LaunchMode LaunchChoice::fastest() const {
  std::lock_guard lock(mutex_);
  return fastest_measured();
}

// Stream mode if nothing is measured: it always works, and the others build on it.
LaunchMode LaunchChoice::fastest_measured() const {
  LaunchMode best = LaunchMode::kStream;
  for (const LaunchMode mode : kLaunchModes) {
    const Candidate &c = of(mode), &b = of(best);
    if (c.is_left_out || !c.is_measured()) continue;
    if (!b.is_measured() || median(c.seconds) < median(b.seconds)) best = mode;
  }
  return best;
}

bool LaunchChoice::has_worked(LaunchMode mode) const {
  std::lock_guard lock(mutex_);
  return !of(mode).is_left_out && !of(mode).seconds.empty();
}

std::string LaunchChoice::description() const {
  std::lock_guard lock(mutex_);
  std::vector<std::pair<double, LaunchMode>> measured;
  std::string left_out;
  for (const LaunchMode mode : kLaunchModes) {
    if (of(mode).is_left_out)
      left_out += "; not " + std::string(name_of(mode)) + ": " + of(mode).error;
    else if (of(mode).is_measured())
      measured.push_back({median(of(mode).seconds), mode});
  }
  if (!is_complete()) return "auto (measured while it answers" + left_out + ")";
  std::ranges::sort(measured);
  std::string text =
      measured.empty() ? "stream (the only one" : std::string(name_of(measured[0].second)) + " (fastest:";
  for (const auto& [seconds, mode] : measured) {
    char number[32];
    std::snprintf(number, sizeof number, " %.2f", seconds * 1e3);
    text += (text.back() == ':' ? " " : ", ") + std::string(name_of(mode)) + number;
  }
  return text + (measured.empty() ? "" : " ms a token") + left_out + ")";
}

}  // namespace warpchat
