// Executable graphs: a topological order of works, launched as one piece of work.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "ptx/emulator/driver/driver.h"

namespace ptx::emulator::driver {

// Nodes in insertion order as far as edges allow; null if the edges form a cycle.
std::shared_ptr<GraphProgram> make_program(const Graph& graph, std::vector<const Node*>* sources) {
  auto program = std::make_shared<GraphProgram>();
  for (const HeldObject& held : graph.held) program->held.push_back(held.object);
  std::unordered_map<const Node*, bool> placed;
  size_t n_placed = 0;
  while (n_placed < graph.nodes.size()) {
    const size_t before = n_placed;
    for (const auto& node : graph.nodes) {
      const bool is_ready = std::all_of(node->dependencies.begin(), node->dependencies.end(),
                                        [&](const Node* dependency) { return placed[dependency]; });
      if (placed[node.get()] || !is_ready) continue;
      placed[node.get()] = true;
      ++n_placed;
      if (sources != nullptr) sources->push_back(node.get());
      if (node->child == nullptr) {
        program->works.push_back(node->work);
        continue;
      }
      auto child = make_program(*node->child, nullptr);
      if (!child) return nullptr;
      program->works.push_back(GraphWork{std::move(child)});
    }
    if (n_placed == before) return nullptr;
  }
  return program;
}

namespace {

CUresult instantiate(CUgraphExec* out, CUgraph handle, unsigned long long flags) {
  return api([&](Driver& d, auto&) -> CUresult {
    Graph* graph = d.graphs.find(handle);
    if (out == nullptr || graph == nullptr || flags > 15) return CUDA_ERROR_INVALID_VALUE;
    auto exec = std::make_unique<GraphExec>();
    exec->program = make_program(*graph, &exec->sources);
    if (!exec->program) return CUDA_ERROR_INVALID_VALUE;
    for (const Node* node : exec->sources) exec->types.push_back(node->type);
    exec->flags = flags;
    *out = reinterpret_cast<CUgraphExec>(d.graph_execs.add(std::move(exec)));
    return CUDA_SUCCESS;
  });
}

Work& current(GraphExec& exec, size_t index) {
  const auto disabled = exec.disabled.find(index);
  return disabled != exec.disabled.end() ? disabled->second : exec.program->works[index];
}

// Queued launches keep the program that they were launched with.
Work& editable(GraphExec& exec, size_t index) {
  if (exec.disabled.contains(index)) return current(exec, index);
  exec.program = std::make_shared<GraphProgram>(*exec.program);
  return exec.program->works[index];
}

template <class Change>
CUresult change_node(CUgraphExec handle, CUgraphNode node, CUgraphNodeType type, Change change) {
  return api([&](Driver& d, auto&) -> CUresult {
    GraphExec* exec = d.graph_execs.find(handle);
    if (exec == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto found = std::find(exec->sources.begin(), exec->sources.end(), reinterpret_cast<const Node*>(node));
    if (found == exec->sources.end()) return CUDA_ERROR_INVALID_VALUE;
    const size_t index = static_cast<size_t>(found - exec->sources.begin());
    if (exec->types[index] != type) return CUDA_ERROR_INVALID_VALUE;
    return change(d, *exec, index);
  });
}

template <class EventWork>
CUresult change_event(CUgraphExec exec_handle, CUgraphNode node, CUgraphNodeType type, CUevent event) {
  return change_node(exec_handle, node, type, [&](Driver& d, GraphExec& exec, size_t index) -> CUresult {
    if (d.events.find(event) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    editable(exec, index) = EventWork{event, nullptr};
    return CUDA_SUCCESS;
  });
}

}  // namespace
}  // namespace ptx::emulator::driver

namespace ptx::cuda {
using namespace ptx::emulator::driver;
extern "C" {

CUresult cuGraphInstantiateWithFlags(CUgraphExec* out, CUgraph graph, unsigned long long flags) {
  return instantiate(out, graph, flags);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* out, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = instantiate(out, graph, params->flags);
  params->hErrNode_out = nullptr;
  params->result_out = result == CUDA_SUCCESS ? 0 : 1;
  return result;
}

CUresult cuGraphExecGetFlags(CUgraphExec handle, uint64_t* flags) {
  return api([&](Driver& d, auto&) -> CUresult {
    GraphExec* exec = d.graph_execs.find(handle);
    if (exec == nullptr || flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = exec->flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphExecDestroy(CUgraphExec handle) {
  return api([&](Driver& d, auto&) -> CUresult {
    return d.graph_execs.extract(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuGraphLaunch(CUgraphExec handle, CUstream stream_handle) {
  return in_context([&](Driver& d, Context& context, auto&) -> CUresult {
    GraphExec* exec = d.graph_execs.find(handle);
    std::shared_ptr<Stream> stream = find_stream(context, stream_handle);
    if (exec == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    return submit(d, *stream, GraphWork{exec->program});
  });
}

CUresult cuGraphUpload(CUgraphExec handle, CUstream stream_handle) {
  return in_context([&](Driver& d, Context& context, auto&) -> CUresult {
    if (d.graph_execs.find(handle) == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return find_stream(context, stream_handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec_handle, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS* params) {
  return change_node(exec_handle, node, CU_GRAPH_NODE_TYPE_KERNEL,
                     [&](Driver& d, GraphExec& exec, size_t index) -> CUresult {
                       KernelWork work;
                       if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
                       const KernelWork& old = std::get<KernelWork>(current(exec, index));
                       const CUresult result = make_kernel(d, *params, old.shape.is_cooperative, &work);
                       work.priority = old.priority;
                       if (result == CUDA_SUCCESS) editable(exec, index) = std::move(work);
                       return result;
                     });
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec_handle, CUgraphNode node, const CUDA_MEMCPY3D* params,
                                        CUcontext) {
  return change_node(exec_handle, node, CU_GRAPH_NODE_TYPE_MEMCPY,
                     [&](Driver& d, GraphExec& exec, size_t index) -> CUresult {
                       CopyWork work;
                       if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
                       const CUresult result = make_copy(d, *params, &work);
                       if (result == CUDA_SUCCESS) editable(exec, index) = std::move(work);
                       return result;
                     });
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec_handle, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS* params, CUcontext) {
  return change_node(exec_handle, node, CU_GRAPH_NODE_TYPE_MEMSET,
                     [&](Driver& d, GraphExec& exec, size_t index) -> CUresult {
                       if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
                       const CUresult result = check_set(d, *params);
                       if (result == CUDA_SUCCESS) editable(exec, index) = SetWork{*params};
                       return result;
                     });
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec_handle, CUgraphNode node, const CUDA_HOST_NODE_PARAMS* params) {
  return change_node(exec_handle, node, CU_GRAPH_NODE_TYPE_HOST,
                     [&](Driver&, GraphExec& exec, size_t index) -> CUresult {
                       if (params == nullptr || params->fn == nullptr) return CUDA_ERROR_INVALID_VALUE;
                       editable(exec, index) = HostWork{params->fn, params->userData};
                       return CUDA_SUCCESS;
                     });
}

CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec_handle, CUgraphNode node,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  return change_node(exec_handle, node, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
                     [&](Driver& d, GraphExec& exec, size_t index) -> CUresult {
                       MemoryWork work;
                       if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
                       const CUresult result = make_memory_work(d, *params, &work);
                       if (result == CUDA_SUCCESS) editable(exec, index) = std::move(work);
                       return result;
                     });
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec_handle, CUgraphNode node, CUevent event) {
  return change_event<RecordWork>(exec_handle, node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
}
CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec_handle, CUgraphNode node, CUevent event) {
  return change_event<WaitWork>(exec_handle, node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
}

// The child must have the same nodes, in the same order, as the graph from which the node was made.
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec_handle, CUgraphNode node, CUgraph child_handle) {
  return change_node(exec_handle, node, CU_GRAPH_NODE_TYPE_GRAPH,
                     [&](Driver& d, GraphExec& exec, size_t index) -> CUresult {
                       Graph* child = d.graphs.find(child_handle);
                       if (child == nullptr) return CUDA_ERROR_INVALID_VALUE;
                       auto program = make_program(*child, nullptr);
                       const GraphProgram& old = *std::get<GraphWork>(current(exec, index)).program;
                       const auto kind = [](const Work& work) { return work.index(); };
                       if (!program || !std::ranges::equal(program->works, old.works, {}, kind, kind))
                         return CUDA_ERROR_INVALID_VALUE;
                       editable(exec, index) = GraphWork{std::move(program)};
                       return CUDA_SUCCESS;
                     });
}

CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams* params) {
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return cuGraphExecKernelNodeSetParams_v2(exec, node, &params->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return cuGraphExecMemcpyNodeSetParams(exec, node, &params->memcpy.copyParams, params->memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return cuGraphExecMemsetNodeSetParams(exec, node, &params->memset.set, params->memset.ctx);
    case CU_GRAPH_NODE_TYPE_HOST:
      return cuGraphExecHostNodeSetParams(exec, node, &params->host);
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return cuGraphExecChildGraphNodeSetParams(exec, node, params->graph.graph);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return cuGraphExecEventWaitNodeSetEvent(exec, node, params->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return cuGraphExecEventRecordNodeSetEvent(exec, node, params->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return cuGraphExecBatchMemOpNodeSetParams(exec, node, &params->memOp);
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

// Takes over parameters from a graph of the same shape: the same kinds of nodes in the same order.
CUresult cuGraphExecUpdate_v2(CUgraphExec exec_handle, CUgraph graph_handle, CUgraphExecUpdateResultInfo* info) {
  return api([&](Driver& d, auto&) -> CUresult {
    GraphExec* exec = d.graph_execs.find(exec_handle);
    Graph* graph = d.graphs.find(graph_handle);
    if (exec == nullptr || graph == nullptr || info == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::vector<const Node*> sources;
    auto program = make_program(*graph, &sources);
    std::vector<CUgraphNodeType> types;
    for (const Node* node : sources) types.push_back(node->type);
    *info = {};
    if (!program || types != exec->types) {
      info->result = 2;  // CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED
      return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
    for (auto& [index, work] : exec->disabled) work = std::exchange(program->works[index], Work{EmptyWork{}});
    exec->program = std::move(program);
    exec->sources = std::move(sources);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
}  // namespace ptx::cuda
