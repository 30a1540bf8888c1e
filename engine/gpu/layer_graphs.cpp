#include "engine/gpu/layer_graphs.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace warpchat {

LayerGraphs::Graphs::Graphs(const ContextPointer& context, uint32_t n, bool of_run)
    : columns(n),
      is_run(of_run),
      plain(context),
      timed{LaunchGraph(context, LaunchGraph::Times::kOn), LaunchGraph(context, LaunchGraph::Times::kOn)} {}

LayerGraphs::Graphs& LayerGraphs::graphs_of(uint32_t columns, bool is_run) {
  const auto known = std::ranges::find_if(
      graphs_, [&](const Graphs& graphs) { return graphs.columns == columns && graphs.is_run == is_run; });
  if (known != graphs_.end()) {
    graphs_.splice(graphs_.begin(), graphs_, known);
  } else {
    if (graphs_.size() == kMax) drop_oldest();
    graphs_.emplace_front(stream_.context(), columns, is_run);
  }
  return graphs_.front();
}

// Waits until neither the device nor the timer uses the graph.
void LayerGraphs::drop_oldest() {
  stream_.wait();
  for (const LaunchGraph& graph : graphs_.back().timed) timer_.await_times(graph.times());
  graphs_.pop_back();
}

void LayerGraphs::begin(uint32_t columns, bool is_run) {
  assert(!is_open());
  Graphs& graphs = graphs_of(columns, is_run);
  LaunchGraph& graph = timer_.is_timing() ? graphs.timed[graphs.n_timed++ % 2] : graphs.plain;
  parts_.clear();
  is_replaying_ = graph.is_recorded();
  if (!is_replaying_) graph.begin(stream_);
  graph_ = &graph;
}

void LayerGraphs::add(LaunchTimer::Part part, const std::function<void()>& enqueue) {
  parts_.push_back(part);
  if (is_replaying_) return;
  enqueue();
  graph_->launched(stream_);
}

void LayerGraphs::end() {
  if (!is_replaying_) graph_->end(stream_);
  timer_.await_times(graph_->times());
  graph_->launch(stream_);
  timer_.launched(graph_->times(), std::exchange(parts_, {}));
  graph_ = nullptr;
}

void LayerGraphs::forget() {
  if (graph_ != nullptr && graph_->is_recording()) graph_->abandon(stream_);
  graph_ = nullptr;
}

}  // namespace warpchat
