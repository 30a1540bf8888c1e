// A pass's layers as one CUDA graph: recorded in the first pass of each shape, replayed in later ones. A shape is a
// number of columns and whether they form one run. All else that differs between passes is in device memory.
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
  static constexpr size_t kMax = 32;  // number of shapes kept; the least recently used is dropped first

  LayerGraphs(const Stream& stream, LaunchTimer& timer) : stream_(stream), timer_(timer) {}

  // Starts recording or skipping launches until end(). All methods throw DriverError if the device fails.
  void begin(uint32_t columns, bool is_run);
  bool is_open() const { return graph_ != nullptr; }
  // Adds a launch. Calls enqueue only when recording.
  void add(LaunchTimer::Part part, const std::function<void()>& enqueue);
  void end();     // runs the graph
  void forget();  // replaces end() for an interrupted pass; may be called at any time

  size_t size() const { return graphs_.size(); }  // number of shapes with graphs

 private:
  struct Graphs {  // for one shape
    Graphs(const ContextPointer& context, uint32_t n, bool of_run);
    uint32_t columns;
    bool is_run;
    uint32_t n_timed = 0;
    LaunchGraph plain, timed[2];  // timed ones alternate, since two passes may be pending
  };
  Graphs& graphs_of(uint32_t columns, bool is_run);
  void drop_oldest();

  const Stream& stream_;
  LaunchTimer& timer_;
  std::list<Graphs> graphs_;  // most recently used first
  LaunchGraph* graph_ = nullptr;
  bool is_replaying_ = false;
  std::vector<LaunchTimer::Part> parts_;
};

}  // namespace warpchat
