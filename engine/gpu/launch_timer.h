// Times kernels with events: one before the first launch of a pass, one after each launch. The times reach the profile
// once the host has waited for the stream, so that nothing waits for them. A graph is timed as a whole; while a trace
// is kept, kernel by kernel, with a node more for each, which takes as long as a small kernel: the trace shows where
// time goes, and the whole is slower for it.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "engine/driver/context.h"
#include "engine/profile.h"

namespace warpchat {

class LaunchTimer {
 public:
  LaunchTimer(const Stream& stream, Profile& profile) : stream_(stream), profile_(profile) {}

  // Waits for the stream if very many launches have not been collected yet. Nothing is timed while the profile is off.
  void begin_pass();
  void launched(uint32_t operation, uint64_t bytes);  // the work just enqueued
  struct Part {
    uint32_t operation;
    uint64_t bytes;
  };
  // The same for a graph of `parts`, one behind the other. times: the graph's, an event at the end of each part, or
  // none. Waits for the graph's run before, if that has not been collected: call it before the graph runs again.
  void await_times(std::span<const GpuEvent> times);
  void launched(uint32_t operation, uint64_t bytes, std::span<const GpuEvent> times, std::vector<Part> parts);
  bool wants_parts() const { return profile_.is_enabled() && profile_.keeps_trace(); }
  void collect();  // what has ended since the last call

 private:
  struct Mark {  // an event and what ended with it
    static constexpr uint32_t kNothing = UINT32_MAX;
    uint32_t operation = kNothing;
    uint64_t bytes = 0;
    std::span<const GpuEvent> times;  // with parts
    std::vector<Part> parts;
  };
  void mark(Mark mark);
  void record(size_t i) const;

  const Stream& stream_;
  Profile& profile_;
  std::vector<GpuEvent> events_;  // made as they are needed, used again after collect
  std::vector<Mark> marks_;       // of the events in use
  size_t collected_ = 0;          // of them
  double began_ = 0;              // the first mark's time by the profile's clock
};

}  // namespace warpchat
