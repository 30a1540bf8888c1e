// Times kernels with events: one before the first launch of a pass, one after each launch. The times reach the profile
// once the host has waited for the stream, so that nothing waits for them. A graph is timed kernel by kernel, too, with
// a node more for each, which takes as long as a small kernel: the profile shows where time goes, and the whole is
// slower for it.
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

  // What is launched next begins now: of a pass, or behind something that is not to be timed. Waits for the stream if
  // very many launches have not been collected yet. Nothing is timed while the profile is off.
  void begin();
  void launched(uint32_t operation, uint64_t bytes);  // the work just enqueued
  struct Part {
    uint32_t operation;
    uint64_t bytes;
  };
  // The same for a graph of `parts`, one behind the other. times: the graph's, an event at the end of each part.
  void launched(std::span<const GpuEvent> times, std::vector<Part> parts);
  // Waits for the run before of a graph with these times, if that has not been collected: before the graph runs again.
  void await_times(std::span<const GpuEvent> times);
  bool is_timing() const { return !marks_.empty(); }
  void collect();  // what has ended since the last call; not between a begin and what it is for

 private:
  struct Mark {                       // an event and what ended with it
    std::vector<Part> parts;          // one behind the other; none: nothing that is timed
    std::span<const GpuEvent> times;  // of a graph, at the end of each part
  };
  void mark(Mark mark);
  void record(size_t i) const;
  void record_ended();

  const Stream& stream_;
  Profile& profile_;
  std::vector<GpuEvent> events_;  // made as they are needed, used again after collect
  std::vector<Mark> marks_;       // of the events in use
  size_t collected_ = 0;          // of them
  double began_ = 0;              // the first mark's time by the profile's clock
};

}  // namespace warpchat
