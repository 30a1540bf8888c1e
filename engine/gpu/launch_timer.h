// Times kernels with events: one before a pass's first launch, one after each launch. Times reach the profile when the
// host has waited for the stream anyway. Graphs are also timed kernel by kernel, with an extra node per kernel. Such a
// node takes as long as a small kernel, so a profiled graph is slower.
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

  // Starts timing before a pass, or after untimed work. Waits for the stream if too many launches are uncollected. No
  // effect while the profile is off.
  void begin();
  void launched(uint32_t operation, uint64_t bytes);  // for the work just enqueued
  struct Part {
    uint32_t operation;
    uint64_t bytes;
  };
  // For a graph with consecutive `parts`. times: the graph's events, one at the end of each part.
  void launched(std::span<const GpuEvent> times, std::vector<Part> parts);
  // Call before a graph with these times runs again: waits for its previous run, unless collected.
  void await_times(std::span<const GpuEvent> times);
  bool is_timing() const { return !marks_.empty(); }
  void collect();  // records work finished since the last call; not between begin() and the work

 private:
  struct Mark {                       // an event and the work that it ends
    std::vector<Part> parts;          // consecutive; empty: untimed
    std::span<const GpuEvent> times;  // a graph's events, one per part
  };
  void mark(Mark mark);
  void record(size_t i) const;
  void record_ended();

  const Stream& stream_;
  Profile& profile_;
  std::vector<GpuEvent> events_;  // created on demand, reused after collect()
  std::vector<Mark> marks_;       // for the events in use
  size_t collected_ = 0;          // marks that were collected
  double began_ = 0;              // time of the first mark on the profile's clock
};

}  // namespace warpchat
