// A stretch of launches, recorded once as a CUDA graph and replayed with one call.
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

  // Between begin and end the stream records instead of running.
  void begin(const Stream& stream);
  void launched(const Stream& stream);  // after each launch: with times a node more, which records an event
  void end(const Stream& stream);       // DriverError if something in between cannot be recorded
  void abandon(const Stream& stream);   // in place of end: what was recorded is dropped
  void launch(const Stream& stream) const;

  bool is_recording() const { return is_recording_; }
  bool is_recorded() const { return exec_ != nullptr; }
  std::span<const GpuEvent> times() const { return times_; }  // one a launch, of the last run; none without times

 private:
  ContextPointer context_;
  bool is_timed_, is_recording_ = false;
  std::vector<GpuEvent> times_;
  ptx::cuda::CUgraphExec exec_ = nullptr;
};

}  // namespace warpchat
