// Stream capture: records a stream's work as a graph. Streams join a capture by waiting for an event recorded in it.
#include <algorithm>
#include <unordered_set>

#include "ptx/emulator/driver/driver.h"

namespace ptx::emulator::driver {

namespace {

thread_local CUstreamCaptureMode interaction_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

CUgraphNodeType type_of(const Work& work) {
  struct Visitor {
    CUgraphNodeType operator()(const EmptyWork&) { return CU_GRAPH_NODE_TYPE_EMPTY; }
    CUgraphNodeType operator()(const KernelWork&) { return CU_GRAPH_NODE_TYPE_KERNEL; }
    CUgraphNodeType operator()(const CopyWork&) { return CU_GRAPH_NODE_TYPE_MEMCPY; }
    CUgraphNodeType operator()(const SetWork&) { return CU_GRAPH_NODE_TYPE_MEMSET; }
    CUgraphNodeType operator()(const HostWork&) { return CU_GRAPH_NODE_TYPE_HOST; }
    CUgraphNodeType operator()(const RecordWork&) { return CU_GRAPH_NODE_TYPE_EVENT_RECORD; }
    CUgraphNodeType operator()(const WaitWork&) { return CU_GRAPH_NODE_TYPE_WAIT_EVENT; }
    CUgraphNodeType operator()(const GraphWork&) { return CU_GRAPH_NODE_TYPE_GRAPH; }
    CUgraphNodeType operator()(const FreeWork&) { return CU_GRAPH_NODE_TYPE_EMPTY; }
    CUgraphNodeType operator()(const MemoryWork&) { return CU_GRAPH_NODE_TYPE_BATCH_MEM_OP; }
  };
  return std::visit(Visitor{}, work);
}

void leave(Stream& stream) {
  stream.capture.reset();
  stream.is_capture_origin = false;
  stream.frontier.clear();
}

// Whether every node added by joined streams is an ancestor of the origin's newest nodes.
bool all_joined(const Context& context, const Stream& origin) {
  std::unordered_set<const Node*> reached;
  std::vector<const Node*> open(origin.frontier.begin(), origin.frontier.end());
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (reached.insert(node).second) open.insert(open.end(), node->dependencies.begin(), node->dependencies.end());
  }
  for (const auto& stream : context.streams)
    if (stream->capture == origin.capture)
      for (const Node* node : stream->frontier)
        if (!reached.contains(node)) return false;
  return true;
}

CUresult begin(CUstream handle, CUgraph given, std::vector<Node*> frontier, CUstreamCaptureMode mode) {
  return in_context([&](Driver& d, Context& context, auto&) -> CUresult {
    std::shared_ptr<Stream> stream = find_stream(context, handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (stream->is_legacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (stream->capture) return CUDA_ERROR_ILLEGAL_STATE;
    if (mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
    auto capture = std::make_shared<Capture>();
    capture->owns_graph = given == nullptr;
    capture->graph = given == nullptr ? d.graphs.add(std::make_unique<Graph>()) : d.graphs.find(given);
    if (capture->graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
    capture->mode = mode;
    capture->id = d.next_id++;
    capture->thread = std::this_thread::get_id();
    stream->capture = capture;
    stream->is_capture_origin = true;
    stream->frontier = std::move(frontier);
    d.captures.push_back(std::move(capture));
    return CUDA_SUCCESS;
  });
}

bool captures_blocking_stream(const Context& context) {
  return std::any_of(context.streams.begin(), context.streams.end(),
                     [](const auto& stream) { return stream->capture && !(stream->flags & CU_STREAM_NON_BLOCKING); });
}

// Ends the capture for all its streams. Returns the result of the origin's cuStreamEndCapture.
CUresult end(Driver& d, Context& context, Stream& origin, CUgraph* out) {
  const std::shared_ptr<Capture> capture = origin.capture;
  CUresult result = CUDA_SUCCESS;
  if (!origin.is_capture_origin) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != std::this_thread::get_id())
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  if (capture->status == CU_STREAM_CAPTURE_STATUS_INVALIDATED)
    result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  else if (!all_joined(context, origin))
    result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  for (const auto& stream : context.streams)
    if (stream->capture == capture) leave(*stream);
  std::erase(d.captures, capture);
  if (result != CUDA_SUCCESS && capture->owns_graph) d.graphs.extract(capture->graph);
  *out = result == CUDA_SUCCESS ? reinterpret_cast<CUgraph>(capture->graph) : nullptr;
  return result;
}

}  // namespace

Node* add_node(Graph& graph, CUgraphNodeType type, Work work, std::vector<Node*> dependencies) {
  auto node = std::make_unique<Node>();
  node->graph = &graph;
  node->type = type;
  node->work = std::move(work);
  node->dependencies = std::move(dependencies);
  graph.nodes.push_back(std::move(node));
  return graph.nodes.back().get();
}

CUresult record_node(Stream& stream, Work work) {
  if (stream.capture->status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  const CUgraphNodeType type = type_of(work);
  stream.frontier = {add_node(*stream.capture->graph, type, std::move(work), stream.frontier)};
  return CUDA_SUCCESS;
}

CUresult refuse_while_capturing(Driver& d) {
  if (interaction_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
  for (const auto& capture : d.captures) {
    const bool forbids =
        capture->thread == std::this_thread::get_id()
            ? capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED
            : capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL && interaction_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (!forbids) continue;
    capture->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return CUDA_SUCCESS;
}

CUresult refuse_implicit_dependency(Context& context) {
  CUresult result = CUDA_SUCCESS;
  for (const auto& stream : context.streams) {
    if (!stream->capture || (stream->flags & CU_STREAM_NON_BLOCKING)) continue;
    stream->capture->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  return result;
}

}  // namespace ptx::emulator::driver

namespace ptx::cuda {
using namespace ptx::emulator::driver;
extern "C" {

CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode) { return begin(handle, nullptr, {}, mode); }

CUresult cuStreamBeginCaptureToGraph(CUstream handle, CUgraph graph, const CUgraphNode* dependencies,
                                     const CUgraphEdgeData*, size_t num_dependencies, CUstreamCaptureMode mode) {
  if (graph == nullptr || (num_dependencies > 0 && dependencies == nullptr)) return CUDA_ERROR_INVALID_VALUE;
  std::vector<Node*> frontier;
  for (size_t i = 0; i < num_dependencies; ++i) frontier.push_back(reinterpret_cast<Node*>(dependencies[i]));
  return begin(handle, graph, std::move(frontier), mode);
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph* graph) {
  return in_context([&](Driver& d, Context& context, auto&) -> CUresult {
    std::shared_ptr<Stream> stream = find_stream(context, handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!stream->capture) return CUDA_ERROR_ILLEGAL_STATE;
    return end(d, context, *stream, graph);
  });
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  return in_context([&](Driver&, Context& context, auto&) -> CUresult {
    std::shared_ptr<Stream> stream = find_stream(context, handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (stream->is_legacy && captures_blocking_stream(context)) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    *status = stream->capture ? stream->capture->status : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus* status, uint64_t* id, CUgraph* graph,
                                   const CUgraphNode** dependencies, const CUgraphEdgeData** edges,
                                   size_t* num_dependencies) {
  return in_context([&](Driver&, Context& context, auto&) -> CUresult {
    std::shared_ptr<Stream> stream = find_stream(context, handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *status = stream->capture ? stream->capture->status : CU_STREAM_CAPTURE_STATUS_NONE;
    if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
    if (id != nullptr) *id = stream->capture->id;
    if (graph != nullptr) *graph = reinterpret_cast<CUgraph>(stream->capture->graph);
    if (dependencies != nullptr) *dependencies = reinterpret_cast<const CUgraphNode*>(stream->frontier.data());
    if (edges != nullptr) *edges = nullptr;
    if (num_dependencies != nullptr) *num_dependencies = stream->frontier.size();
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream handle, CUgraphNode* dependencies, const CUgraphEdgeData*,
                                              size_t num_dependencies, unsigned flags) {
  return in_context([&](Driver&, Context& context, auto&) -> CUresult {
    std::shared_ptr<Stream> stream = find_stream(context, handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (!stream->capture) return CUDA_ERROR_ILLEGAL_STATE;
    if (flags > 1 || (num_dependencies > 0 && dependencies == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    if (flags == 1) stream->frontier.clear();  // 0 adds, 1 replaces
    for (size_t i = 0; i < num_dependencies; ++i) stream->frontier.push_back(reinterpret_cast<Node*>(dependencies[i]));
    return CUDA_SUCCESS;
  });
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  if (mode == nullptr || *mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
  std::swap(interaction_mode, *mode);
  return CUDA_SUCCESS;
}

}  // extern "C"
}  // namespace ptx::cuda
