// A sequence of launches, recorded once as a CUDA graph and replayed with one call.
#pragma once
#include <span>
#include <vector>

#include "engine/driver/context.h"

namespace warpchat {

class LaunchGraph {
 public:
  enum class Times : bool { kOff, kOn };
  explicit LaunchGraph(ContextPointer context, Times times = Times::kOff)
      : context_(std::move(context)), is_timed_(times == Times::kOn) {}
  LaunchGraph(const LaunchGraph&) = delete;
  ~LaunchGraph();

  // Between begin() and end() the stream records instead of executing.
  void begin(const Stream& stream);
  void launched(const Stream& stream);  // call after each launch; with times adds a node that records an event
  void end(const Stream& stream);       // DriverError if a recorded call cannot be captured
  void abandon(const Stream& stream);   // replaces end(): drops the recording
  void launch(const Stream& stream) const;

  bool is_recording() const { return is_recording_; }
  bool is_recorded() const { return exec_ != nullptr; }
  std::span<const GpuEvent> times() const { return times_; }  // one per launch, for the latest run; empty without times

 private:
  ContextPointer context_;
  bool is_timed_, is_recording_ = false;
  std::vector<GpuEvent> times_;
  ptx::cuda::CUgraphExec exec_ = nullptr;
};

}  // namespace warpchat
