// One run of a flow of the program in a process of its own, in which some allocations fail.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "tests/memory/failing_allocations.h"

namespace warpchat {

struct FailureRange {
  uint64_t first, last;  // of the flow's allocations, from 1
};
constexpr FailureRange kNoFailure{UINT64_MAX, UINT64_MAX};

// What a flow tells its parent, in memory that both share.
struct TrialReport {
  uint64_t n_allocations;  // during the failures
  bool has_ended;          // the flow has returned or thrown, and its process ends by itself
  char sentence[1024];     // what the flow said went wrong; empty: nothing
  int64_t conversation;    // in the store
  uint64_t n_stored;       // messages that the flow was told are stored
};

class Trial {
 public:
  Trial(std::string folder, FailureRange range, TrialReport& report)
      : folder_(std::move(folder)), range_(range), report_(report) {}

  // A flow prepares what is no part of it, then lets allocations fail.
  void begin() { failures_ = std::make_unique<FailingAllocations>(range_.first, range_.last); }
  void end();

  void say(const char* sentence);  // the first one counts; allocates nothing
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  const std::string& folder() const { return folder_; }
  TrialReport& report() { return report_; }

 private:
  std::string folder_;
  FailureRange range_;
  TrialReport& report_;
  std::unique_ptr<FailingAllocations> failures_;
};

using Flow = std::function<void(Trial&)>;

struct TrialResult {
  TrialReport report;
  std::string fault;  // how the process ended instead of by itself; empty: it did
  std::string output, errors;
};

std::string text_of(const std::string& path);  // all of a file; empty if there is none

// Forks; the child runs the flow with XDG folders in `folder`, which exists, and writes its output to files there.
TrialResult run_trial(const Flow& flow, const std::string& folder, FailureRange range);

}  // namespace warpchat
