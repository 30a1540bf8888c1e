// Finds the launch mode that decodes fastest on this machine, by timing tokens of answers, so that the user does not
// wait. A mode that fails is excluded, with the reason.
#pragma once
#include <array>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "engine/launch_mode.h"

namespace warpchat {

class LaunchChoice {
 public:
  // Timed tokens per mode, after warm-up tokens that record graphs, compile kernels and raise clocks.
  // kTokensBetweenLooks: tokens before another check for modes that were not ready.
  static constexpr uint32_t kTokens = 12, kWarmTokens = 3, kTokensBetweenLooks = 16;

  struct Part {  // consecutive tokens of an answer in one mode
    LaunchMode mode;
    uint32_t tokens;  // UINT32_MAX: until the answer ends
  };
  // Next mode to use: the first in kLaunchModes that is ready but not measured, else the fastest.
  Part next(const std::function<bool(LaunchMode)>& is_ready) const;
  void add(LaunchMode mode, double seconds);                // time of one token
  void leave_out(LaunchMode mode, std::string_view error);  // the last remaining mode must not be excluded

  bool is_settled() const;     // every mode is measured or excluded
  LaunchMode fastest() const;  // so far
  bool has_worked(LaunchMode mode) const;
  std::string description() const;  // for the status line; thread-safe

 private:
  struct Candidate {
    std::vector<double> seconds;
    bool is_left_out = false;
    std::string error;  // reason for exclusion
    bool is_measured() const { return seconds.size() >= kTokens; }
  };
  const Candidate& of(LaunchMode mode) const { return candidates_[static_cast<size_t>(mode)]; }
  LaunchMode fastest_measured() const;
  bool is_complete() const;

  mutable std::mutex mutex_;
  std::array<Candidate, kLaunchModes.size()> candidates_;
};

}  // namespace warpchat
