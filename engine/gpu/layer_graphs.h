// The layers of a pass as one launch: recorded with the first pass of so many columns, replayed with each that follows.
// What differs between passes lies in device memory, but for the number of columns and whether they are one run's, of
// which each has its own graph.
#pragma once
#include <cstdint>
#include <functional>
#include <list>
#include <vector>

#include "engine/gpu/launch_graph.h"
#include "engine/gpu/launch_timer.h"

namespace warpchat {

class LayerGraphs {
 public:
  static constexpr size_t kMost = 32;  // numbers of columns that are kept; the one unused for longest goes first

  LayerGraphs(const Stream& stream, LaunchTimer& timer) : stream_(stream), timer_(timer) {}

  // From here to end() launches are recorded, or have been. DriverError if the device fails, as with all of these.
  void begin(uint32_t columns, bool is_run);
  bool is_open() const { return graph_ != nullptr; }
  // One of the launches. enqueue: called if it must be recorded.
  void add(LaunchTimer::Part part, const std::function<void()>& enqueue);
  void end();     // runs them
  void forget();  // in place of end, for a pass that was stopped; at any time

  size_t size() const { return graphs_.size(); }  // numbers of columns with a graph

 private:
  struct Graphs {  // of so many columns
    Graphs(const ContextPointer& context, uint32_t n, bool of_run);
    uint32_t columns;
    bool is_run;
    uint32_t n_timed = 0;
    LaunchGraph plain, timed[2];  // those with times in turn: two passes may be under way
  };
  Graphs& graphs_of(uint32_t columns, bool is_run);
  void drop_oldest();

  const Stream& stream_;
  LaunchTimer& timer_;
  std::list<Graphs> graphs_;  // used last comes first
  LaunchGraph* graph_ = nullptr;
  bool is_replaying_ = false;
  std::vector<LaunchTimer::Part> parts_;
};

}  // namespace warpchat
