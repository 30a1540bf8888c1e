#include "engine/gpu/launch_graph.h"

#include <cassert>

namespace warpchat {

using namespace ptx::cuda;

namespace {

constexpr unsigned kExternal = 1;  // CU_EVENT_RECORD_EXTERNAL: the node records the event whenever the graph runs

}  // namespace

LaunchGraph::~LaunchGraph() {
  if (exec_ != nullptr) context_->release(DeviceBound::kLoad, &DriverTable::cuGraphExecDestroy, exec_);
}

void LaunchGraph::begin(const Stream& stream) {
  assert(!is_recording_ && exec_ == nullptr);
  context_->check(context_->call()->cuStreamBeginCapture(stream.handle(), CU_STREAM_CAPTURE_MODE_RELAXED),
                  "cuStreamBeginCapture", "recording a token");
  is_recording_ = true;
}

void LaunchGraph::launched(const Stream& stream) {
  assert(is_recording_);
  if (!is_timed_) return;
  times_.emplace_back(context_, GpuEvent::Timing::kOn);
  context_->check(context_->call()->cuEventRecordWithFlags(times_.back().handle(), stream.handle(), kExternal),
                  "cuEventRecordWithFlags", "recording a token");
}

void LaunchGraph::end(const Stream& stream) {
  CUgraph graph = nullptr;
  is_recording_ = false;
  context_->check(context_->call()->cuStreamEndCapture(stream.handle(), &graph), "cuStreamEndCapture",
                  "recording a token");
  const CUresult code = context_->load_call()->cuGraphInstantiate(&exec_, graph, 0);
  context_->release(DeviceBound::kPass, &DriverTable::cuGraphDestroy, graph);
  context_->check(code, "cuGraphInstantiate", "recording a token");
}

void LaunchGraph::abandon(const Stream& stream) {
  CUgraph graph = nullptr;
  is_recording_ = false;
  times_.clear();
  if (context_->call()->cuStreamEndCapture(stream.handle(), &graph) == CUDA_SUCCESS && graph != nullptr)
    context_->release(DeviceBound::kPass, &DriverTable::cuGraphDestroy, graph);
}

void LaunchGraph::launch(const Stream& stream) const {
  context_->check(context_->call()->cuGraphLaunch(exec_, stream.handle()), "cuGraphLaunch", "computing a token");
}

}  // namespace warpchat
