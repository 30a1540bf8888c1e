// Reading and changing the parameters of existing nodes, in graphs and in executables.
#include <algorithm>

#include "ptx/emulator/driver/driver.h"

namespace ptx::emulator::driver {

namespace {

template <class Body>
CUresult with_node(CUgraphNode handle, CUgraphNodeType type, Body body) {
  return api([&](Driver& d, auto&) -> CUresult {
    Node* node = find_node(d, handle);
    if (node == nullptr || node->type != type) return CUDA_ERROR_INVALID_VALUE;
    return body(d, *node);
  });
}

template <class EventWork>
CUresult get_event(CUgraphNode handle, CUgraphNodeType type, CUevent* out) {
  return with_node(handle, type, [&](Driver&, Node& node) -> CUresult {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *out = std::get<EventWork>(node.work).event;
    return CUDA_SUCCESS;
  });
}

template <class EventWork>
CUresult set_event(CUgraphNode handle, CUgraphNodeType type, CUevent event) {
  return with_node(handle, type, [&](Driver& d, Node& node) -> CUresult {
    if (d.events.find(event) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    std::get<EventWork>(node.work).event = event;
    return CUDA_SUCCESS;
  });
}

// Index of a source graph's node in an executable's program; the program's size if it is not there.
size_t index_of(const GraphExec& exec, CUgraphNode node) {
  const auto found = std::find(exec.sources.begin(), exec.sources.end(), reinterpret_cast<const Node*>(node));
  return static_cast<size_t>(found - exec.sources.begin());
}

bool can_be_disabled(CUgraphNodeType type) {
  return type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMSET || type == CU_GRAPH_NODE_TYPE_MEMCPY;
}

}  // namespace
}  // namespace ptx::emulator::driver

namespace ptx::cuda {
using namespace ptx::emulator::driver;
extern "C" {

// kernelParams point into the node and stay valid until its parameters change.
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS* out) {
  return with_node(handle, CU_GRAPH_NODE_TYPE_KERNEL, [&](Driver&, Node& node) -> CUresult {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    KernelWork& work = std::get<KernelWork>(node.work);
    const LaunchShape& s = work.shape;
    node.argument_list.clear();
    for (const FunctionTraits::Parameter& p : work.function->traits().parameters)
      node.argument_list.push_back(work.parameters.data() + p.offset);
    *out = {work.handle, s.grid[0],  s.grid[1],  s.grid[2],
            s.block[0],  s.block[1], s.block[2], static_cast<unsigned>(s.dynamic_shared_bytes),
            nullptr,     nullptr,    nullptr,    nullptr};
    if (!node.argument_list.empty()) out->kernelParams = node.argument_list.data();
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode handle, const CUDA_KERNEL_NODE_PARAMS* params) {
  return with_node(handle, CU_GRAPH_NODE_TYPE_KERNEL, [&](Driver& d, Node& node) -> CUresult {
    if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
    KernelWork work;
    const KernelWork& old = std::get<KernelWork>(node.work);
    if (CUresult result = make_kernel(d, *params, old.shape.is_cooperative, &work); result != CUDA_SUCCESS)
      return result;
    work.priority = old.priority;
    node.work = std::move(work);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode handle, const CUDA_MEMCPY3D* params) {
  return with_node(handle, CU_GRAPH_NODE_TYPE_MEMCPY, [&](Driver& d, Node& node) -> CUresult {
    CopyWork work;
    if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = make_copy(d, *params, &work);
    if (result == CUDA_SUCCESS) node.work = std::move(work);
    return result;
  });
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode handle, const CUDA_MEMSET_NODE_PARAMS* params) {
  return with_node(handle, CU_GRAPH_NODE_TYPE_MEMSET, [&](Driver& d, Node& node) -> CUresult {
    if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = check_set(d, *params);
    if (result == CUDA_SUCCESS) node.work = SetWork{*params};
    return result;
  });
}

CUresult cuGraphHostNodeSetParams(CUgraphNode handle, const CUDA_HOST_NODE_PARAMS* params) {
  return with_node(handle, CU_GRAPH_NODE_TYPE_HOST, [&](Driver&, Node& node) -> CUresult {
    if (params == nullptr || params->fn == nullptr) return CUDA_ERROR_INVALID_VALUE;
    node.work = HostWork{params->fn, params->userData};
    return CUDA_SUCCESS;
  });
}

// paramArray points into the node, like kernelParams.
CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode handle, CUDA_BATCH_MEM_OP_NODE_PARAMS* out) {
  return with_node(handle, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, [&](Driver&, Node& node) -> CUresult {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::vector<CUstreamBatchMemOpParams>& operations = std::get<MemoryWork>(node.work).operations;
    *out = {nullptr, static_cast<unsigned>(operations.size()), operations.data(), 0};
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode handle, const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  return with_node(handle, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, [&](Driver& d, Node& node) -> CUresult {
    MemoryWork work;
    if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = make_memory_work(d, *params, &work);
    if (result == CUDA_SUCCESS) node.work = std::move(work);
    return result;
  });
}

CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* params) {
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return cuGraphKernelNodeSetParams_v2(node, &params->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return cuGraphMemcpyNodeSetParams(node, &params->memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return cuGraphMemsetNodeSetParams(node, &params->memset.set);
    case CU_GRAPH_NODE_TYPE_HOST:
      return cuGraphHostNodeSetParams(node, &params->host);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return cuGraphEventWaitNodeSetEvent(node, params->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return cuGraphEventRecordNodeSetEvent(node, params->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return cuGraphBatchMemOpNodeSetParams(node, &params->memOp);
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode handle, CUlaunchAttributeID id, CUlaunchAttributeValue* out) {
  return with_node(handle, CU_GRAPH_NODE_TYPE_KERNEL, [&](Driver&, Node& node) -> CUresult {
    const KernelWork& work = std::get<KernelWork>(node.work);
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *out = {};
    if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
      out->cooperative = work.shape.is_cooperative;
    else if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY)
      out->priority = work.priority;
    else if (id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      out->clusterDim = {1, 1, 1};
    else
      return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode handle, CUlaunchAttributeID id,
                                       const CUlaunchAttributeValue* value) {
  return with_node(handle, CU_GRAPH_NODE_TYPE_KERNEL, [&](Driver&, Node& node) -> CUresult {
    KernelWork& work = std::get<KernelWork>(node.work);
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
      work.shape.is_cooperative = value->cooperative != 0;
    else if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY)
      work.priority = value->priority;
    else if (id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      return CUDA_ERROR_INVALID_VALUE;
    else if (value->clusterDim.x * value->clusterDim.y * value->clusterDim.z > 1)
      return CUDA_ERROR_NOT_SUPPORTED;
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  return with_node(from, CU_GRAPH_NODE_TYPE_KERNEL, [&](Driver& d, Node& source) -> CUresult {
    Node* target = find_node(d, to);
    if (target == nullptr || target->type != CU_GRAPH_NODE_TYPE_KERNEL) return CUDA_ERROR_INVALID_VALUE;
    const KernelWork& given = std::get<KernelWork>(source.work);
    KernelWork& work = std::get<KernelWork>(target->work);
    work.shape.is_cooperative = given.shape.is_cooperative;
    work.priority = given.priority;
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* event) {
  return get_event<RecordWork>(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
}
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  return set_event<RecordWork>(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* event) {
  return get_event<WaitWork>(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
}
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  return set_event<WaitWork>(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph* graph) {
  return with_node(handle, CU_GRAPH_NODE_TYPE_GRAPH, [&](Driver&, Node& node) -> CUresult {
    if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *graph = reinterpret_cast<CUgraph>(node.child);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphNodeFindInClone(CUgraphNode* out, CUgraphNode original, CUgraph clone) {
  return api([&](Driver& d, auto&) -> CUresult {
    const Graph* graph = find_graph(d, clone);
    if (out == nullptr || graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
    for (const auto& node : graph->nodes)
      if (original != nullptr && node->original == reinterpret_cast<const Node*>(original)) {
        *out = reinterpret_cast<CUgraphNode>(node.get());
        return CUDA_SUCCESS;
      }
    return CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuGraphNodeSetEnabled(CUgraphExec exec_handle, CUgraphNode node, unsigned is_enabled) {
  return api([&](Driver& d, auto&) -> CUresult {
    GraphExec* exec = d.graph_execs.find(exec_handle);
    if (exec == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const size_t index = index_of(*exec, node);
    if (index == exec->sources.size() || !can_be_disabled(exec->types[index])) return CUDA_ERROR_INVALID_VALUE;
    const bool was_enabled = !exec->disabled.contains(index);
    if (was_enabled == (is_enabled != 0)) return CUDA_SUCCESS;
    exec->program = std::make_shared<GraphProgram>(*exec->program);  // current launches keep the old one
    Work& work = exec->program->works[index];
    if (was_enabled) {
      exec->disabled[index] = std::move(work);
      work = EmptyWork{};
    } else {
      work = std::move(exec->disabled.extract(index).mapped());
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphNodeGetEnabled(CUgraphExec exec_handle, CUgraphNode node, unsigned* is_enabled) {
  return api([&](Driver& d, auto&) -> CUresult {
    const GraphExec* exec = d.graph_execs.find(exec_handle);
    if (exec == nullptr || is_enabled == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const size_t index = index_of(*exec, node);
    if (index == exec->sources.size() || !can_be_disabled(exec->types[index])) return CUDA_ERROR_INVALID_VALUE;
    *is_enabled = !exec->disabled.contains(index);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
}  // namespace ptx::cuda
