// Which way of launching decodes a token fastest on this machine: measured with the tokens of answers, so that nobody
// waits for it. A mode that does not work here is left out, and says why.
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
  // Tokens of a mode that count, and those before them that record, compile and raise the clocks. Between modes that
  // have been measured, tokens after which to look again whether one that was not ready is.
  static constexpr uint32_t kTokens = 12, kWarmTokens = 3, kTokensBetweenLooks = 16;

  struct Part {  // of an answer
    LaunchMode mode;
    uint32_t tokens;  // UINT32_MAX: to its end
  };
  // What comes next: a mode that is ready and not measured yet, in the order of kLaunchModes, else the fastest.
  Part next(const std::function<bool(LaunchMode)>& is_ready) const;
  void add(LaunchMode mode, double seconds);                // of a token
  void leave_out(LaunchMode mode, std::string_view error);  // of the last one that remains there is no leaving out

  bool is_settled() const;     // every mode is measured or left out
  LaunchMode fastest() const;  // so far
  bool has_worked(LaunchMode mode) const;
  std::string description() const;  // for the status line; from any thread

 private:
  struct Candidate {
    std::vector<double> seconds;
    bool is_left_out = false;
    std::string error;  // why
    bool is_measured() const { return seconds.size() >= kTokens; }
  };
  const Candidate& of(LaunchMode mode) const { return candidates_[static_cast<size_t>(mode)]; }
  LaunchMode fastest_measured() const;
  bool is_complete() const;

  mutable std::mutex mutex_;
  std::array<Candidate, kLaunchModes.size()> candidates_;
};

}  // namespace warpchat
