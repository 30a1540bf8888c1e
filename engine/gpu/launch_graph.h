// A stretch of launches, recorded once as a CUDA graph and replayed with one call.
#pragma once
#include "engine/driver/context.h"

namespace warpchat {

class LaunchGraph {
 public:
  explicit LaunchGraph(ContextPointer context) : context_(std::move(context)) {}
  LaunchGraph(const LaunchGraph&) = delete;
  ~LaunchGraph();

  // Between begin and end the stream records instead of running.
  void begin(const Stream& stream);
  void end(const Stream& stream);      // DriverError if something in between cannot be recorded
  void abandon(const Stream& stream);  // in place of end: what was recorded is dropped
  void launch(const Stream& stream) const;

  bool is_recording() const { return is_recording_; }
  bool is_recorded() const { return exec_ != nullptr; }

 private:
  ContextPointer context_;
  bool is_recording_ = false;
  ptx::cuda::CUgraphExec exec_ = nullptr;
};

}  // namespace warpchat
