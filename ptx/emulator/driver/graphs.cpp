// Graph construction: nodes of every kind, edges, and queries.
#include <algorithm>
#include <unordered_map>

#include "ptx/emulator/driver/driver.h"

namespace ptx::emulator::driver {

Graph::~Graph() {
  for (const auto& node : nodes) delete node->child;
}

namespace {

// Searches the graphs that own nodes and child graphs.
Node* find_in(const Graph& graph, const void* handle) {
  for (const auto& node : graph.nodes) {
    if (node.get() == handle) return node.get();
    if (node->child != nullptr)
      if (Node* found = find_in(*node->child, handle)) return found;
  }
  return nullptr;
}

Graph* child_of(const Graph& graph, const void* handle) {
  for (const auto& node : graph.nodes) {
    if (node->child == nullptr) continue;
    if (node->child == handle) return node->child;
    if (Graph* found = child_of(*node->child, handle)) return found;
  }
  return nullptr;
}

}  // namespace

Node* find_node(Driver& d, const void* handle) {
  Node* found = nullptr;
  d.graphs.for_each([&](Graph& graph) {
    if (found == nullptr && handle != nullptr) found = find_in(graph, handle);
  });
  return found;
}

Graph* find_graph(Driver& d, const void* handle) {
  Graph* found = d.graphs.find(handle);
  if (found != nullptr || handle == nullptr) return found;
  d.graphs.for_each([&](Graph& graph) {
    if (found == nullptr) found = child_of(graph, handle);
  });
  return found;
}

namespace {

template <class Body>
CUresult with_graph(CUgraph handle, Body body) {
  return api([&](Driver& d, auto&) -> CUresult {
    Graph* graph = find_graph(d, handle);
    if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return body(d, *graph);
  });
}

template <class Body>
CUresult with_node(CUgraphNode handle, Body body) {
  return api([&](Driver& d, auto&) -> CUresult {
    Node* node = find_node(d, handle);
    if (node == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return body(d, *node);
  });
}

CUresult to_nodes(Graph& graph, const CUgraphNode* handles, size_t count, std::vector<Node*>* nodes) {
  if (count > 0 && handles == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) {
    Node* node = find_in(graph, handles[i]);
    if (node == nullptr || node->graph != &graph) return CUDA_ERROR_INVALID_VALUE;
    if (std::find(nodes->begin(), nodes->end(), node) != nodes->end()) return CUDA_ERROR_INVALID_VALUE;
    nodes->push_back(node);
  }
  return CUDA_SUCCESS;
}

// make(d, &work) checks the caller's parameters and fills in the work.
template <class Make>
CUresult add(CUgraphNode* out, CUgraph handle, const CUgraphNode* dependencies, size_t count, CUgraphNodeType type,
             Make make) {
  return with_graph(handle, [&](Driver& d, Graph& graph) -> CUresult {
    std::vector<Node*> nodes;
    Work work;
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult result = to_nodes(graph, dependencies, count, &nodes); result != CUDA_SUCCESS) return result;
    if (CUresult result = make(d, &work); result != CUDA_SUCCESS) return result;
    *out = reinterpret_cast<CUgraphNode>(add_node(graph, type, std::move(work), std::move(nodes)));
    return CUDA_SUCCESS;
  });
}

Graph* clone(const Graph& original) {
  auto copy = std::make_unique<Graph>();
  copy->held = original.held;
  std::unordered_map<const Node*, Node*> twin;
  for (const auto& node : original.nodes) {
    Node* added = add_node(*copy, node->type, node->work, {});
    added->original = node.get();
    if (node->child != nullptr) added->child = clone(*node->child);
    twin[node.get()] = added;
  }
  for (const auto& node : original.nodes)
    for (Node* dependency : node->dependencies) twin[node.get()]->dependencies.push_back(twin[dependency]);
  return copy.release();
}

// Returns handles as the API does: without an array only their number, else up to *count of them, padded with null.
template <class Handle>
CUresult copy_handles(const std::vector<Node*>& nodes, Handle* out, size_t* count) {
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (out != nullptr)
    for (size_t i = 0; i < *count; ++i) out[i] = i < nodes.size() ? reinterpret_cast<Handle>(nodes[i]) : nullptr;
  *count = out == nullptr ? nodes.size() : std::min(*count, nodes.size());
  return CUDA_SUCCESS;
}

std::vector<Node*> list(const Graph& graph, bool roots_only) {
  std::vector<Node*> nodes;
  for (const auto& node : graph.nodes)
    if (!roots_only || node->dependencies.empty()) nodes.push_back(node.get());
  return nodes;
}

// Clones the child, or moves it into its node, after which it cannot be destroyed separately.
CUresult add_child(CUgraphNode* out, CUgraph handle, const CUgraphNode* dependencies, size_t count,
                   CUgraph child_handle, bool moves) {
  return with_graph(handle, [&](Driver& d, Graph& graph) -> CUresult {
    Graph* child = d.graphs.find(child_handle);
    std::vector<Node*> nodes;
    if (out == nullptr || child == nullptr || child == &graph) return CUDA_ERROR_INVALID_VALUE;
    if (moves && child_of(*child, handle) != nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult result = to_nodes(graph, dependencies, count, &nodes); result != CUDA_SUCCESS) return result;
    Node* node = add_node(graph, CU_GRAPH_NODE_TYPE_GRAPH, EmptyWork{}, std::move(nodes));
    node->child = moves ? d.graphs.extract(child_handle).release() : clone(*child);
    *out = reinterpret_cast<CUgraphNode>(node);
    return CUDA_SUCCESS;
  });
}

template <class T, class Give>
CUresult get_params(CUgraphNode handle, Give give_params) {
  return with_node(handle, [&](Driver&, Node& node) -> CUresult {
    const T* work = std::get_if<T>(&node.work);
    return work != nullptr && give_params(*work) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

}  // namespace
}  // namespace ptx::emulator::driver

namespace ptx::cuda {
using namespace ptx::emulator::driver;
extern "C" {

CUresult cuGraphCreate(CUgraph* out, unsigned flags) {
  return api([&](Driver& d, auto&) -> CUresult {
    if (out == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    *out = reinterpret_cast<CUgraph>(d.graphs.add(std::make_unique<Graph>()));
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphDestroy(CUgraph handle) {
  return with_graph(handle, [&](Driver& d, Graph&) -> CUresult {
    return d.graphs.extract(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;  // a child belongs to its node
  });
}

CUresult cuGraphClone(CUgraph* out, CUgraph original) {
  return with_graph(original, [&](Driver& d, Graph& graph) -> CUresult {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *out = reinterpret_cast<CUgraph>(d.graphs.add(std::unique_ptr<Graph>(clone(graph))));
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                 const CUDA_KERNEL_NODE_PARAMS* params) {
  return add(out, graph, dependencies, count, CU_GRAPH_NODE_TYPE_KERNEL, [&](Driver& d, Work* work) -> CUresult {
    if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return make_kernel(d, *params, false, &work->emplace<KernelWork>());
  });
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                              const CUDA_MEMCPY3D* params, CUcontext) {
  return add(out, graph, dependencies, count, CU_GRAPH_NODE_TYPE_MEMCPY, [&](Driver& d, Work* work) -> CUresult {
    return params == nullptr ? CUDA_ERROR_INVALID_VALUE : make_copy(d, *params, &work->emplace<CopyWork>());
  });
}

CUresult cuGraphAddMemsetNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS* params, CUcontext) {
  return add(out, graph, dependencies, count, CU_GRAPH_NODE_TYPE_MEMSET, [&](Driver& d, Work* work) -> CUresult {
    if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
    work->emplace<SetWork>(SetWork{*params});
    return check_set(d, *params);
  });
}

CUresult cuGraphAddHostNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                            const CUDA_HOST_NODE_PARAMS* params) {
  return add(out, graph, dependencies, count, CU_GRAPH_NODE_TYPE_HOST, [&](Driver&, Work* work) -> CUresult {
    if (params == nullptr || params->fn == nullptr) return CUDA_ERROR_INVALID_VALUE;
    work->emplace<HostWork>(HostWork{params->fn, params->userData});
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphAddEmptyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count) {
  return add(out, graph, dependencies, count, CU_GRAPH_NODE_TYPE_EMPTY, [&](Driver&, Work*) { return CUDA_SUCCESS; });
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                   CUevent event) {
  return add(out, graph, dependencies, count, CU_GRAPH_NODE_TYPE_EVENT_RECORD, [&](Driver& d, Work* work) -> CUresult {
    work->emplace<RecordWork>(RecordWork{event, nullptr});
    return d.events.find(event) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUresult cuGraphAddEventWaitNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                 CUevent event) {
  return add(out, graph, dependencies, count, CU_GRAPH_NODE_TYPE_WAIT_EVENT, [&](Driver& d, Work* work) -> CUresult {
    work->emplace<WaitWork>(WaitWork{event, nullptr});
    return d.events.find(event) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* out, CUgraph handle, const CUgraphNode* dependencies, size_t count,
                                  CUgraph child_handle) {
  return add_child(out, handle, dependencies, count, child_handle, false);
}

CUresult cuGraphAddBatchMemOpNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                  const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  return add(out, graph, dependencies, count, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, [&](Driver& d, Work* work) -> CUresult {
    return params == nullptr ? CUDA_ERROR_INVALID_VALUE : make_memory_work(d, *params, &work->emplace<MemoryWork>());
  });
}

CUresult cuGraphAddNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                        CUgraphNodeParams* params) {
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return cuGraphAddKernelNode_v2(out, graph, dependencies, count, &params->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return cuGraphAddMemcpyNode(out, graph, dependencies, count, &params->memcpy.copyParams, params->memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return cuGraphAddMemsetNode(out, graph, dependencies, count, &params->memset.set, params->memset.ctx);
    case CU_GRAPH_NODE_TYPE_HOST:
      return cuGraphAddHostNode(out, graph, dependencies, count, &params->host);
    case CU_GRAPH_NODE_TYPE_GRAPH:
      if (params->graph.ownership > 1) return CUDA_ERROR_INVALID_VALUE;
      return add_child(out, graph, dependencies, count, params->graph.graph, params->graph.ownership == 1);
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return cuGraphAddEmptyNode(out, graph, dependencies, count);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return cuGraphAddEventWaitNode(out, graph, dependencies, count, params->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return cuGraphAddEventRecordNode(out, graph, dependencies, count, params->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return cuGraphAddBatchMemOpNode(out, graph, dependencies, count, &params->memOp);
  }
  return CUDA_ERROR_NOT_SUPPORTED;  // external semaphores, graph memory, conditional nodes
}

// Edge data may weaken a dependency; here every edge waits for its whole node.
CUresult cuGraphAddNode_v2(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, const CUgraphEdgeData*,
                           size_t count, CUgraphNodeParams* params) {
  return cuGraphAddNode(out, graph, dependencies, count, params);
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* out) {
  return get_params<CopyWork>(node, [&](const CopyWork& work) { return out != nullptr && (*out = work.asked, true); });
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* out) {
  return get_params<SetWork>(node, [&](const SetWork& work) { return out != nullptr && (*out = work.asked, true); });
}

CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS* out) {
  return get_params<HostWork>(node, [&](const HostWork& work) {
    return out != nullptr && (*out = {work.function, work.user_data}, true);
  });
}

CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType* type) {
  return with_node(handle, [&](Driver&, Node& node) -> CUresult {
    if (type == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *type = node.type;
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode* nodes, size_t* count) {
  return with_graph(handle, [&](Driver&, Graph& graph) { return copy_handles(list(graph, false), nodes, count); });
}

CUresult cuGraphGetRootNodes(CUgraph handle, CUgraphNode* nodes, size_t* count) {
  return with_graph(handle, [&](Driver&, Graph& graph) { return copy_handles(list(graph, true), nodes, count); });
}

CUresult cuGraphGetEdges_v2(CUgraph handle, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data, size_t* count) {
  return with_graph(handle, [&](Driver&, Graph& graph) -> CUresult {
    if (count == nullptr || (from == nullptr) != (to == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    size_t n = 0;
    for (const auto& node : graph.nodes)
      for (Node* dependency : node->dependencies) {
        if (from != nullptr && n < *count) {
          from[n] = reinterpret_cast<CUgraphNode>(dependency);
          to[n] = reinterpret_cast<CUgraphNode>(node.get());
          if (data != nullptr) data[n] = {};
        }
        ++n;
      }
    *count = from == nullptr ? n : std::min(*count, n);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode handle, CUgraphNode* out, CUgraphEdgeData*, size_t* count) {
  return with_node(handle, [&](Driver&, Node& node) { return copy_handles(node.dependencies, out, count); });
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode handle, CUgraphNode* out, CUgraphEdgeData*, size_t* count) {
  return with_node(handle, [&](Driver&, Node& node) {
    std::vector<Node*> dependents;
    for (const auto& other : node.graph->nodes)
      if (std::find(other->dependencies.begin(), other->dependencies.end(), &node) != other->dependencies.end())
        dependents.push_back(other.get());
    return copy_handles(dependents, out, count);
  });
}

CUresult cuGraphAddDependencies_v2(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData*, size_t count) {
  return with_graph(handle, [&](Driver&, Graph& graph) -> CUresult {
    for (size_t i = 0; i < count; ++i) {
      Node* before = find_in(graph, from[i]);
      Node* after = find_in(graph, to[i]);
      if (before == nullptr || after == nullptr || before == after) return CUDA_ERROR_INVALID_VALUE;
      after->dependencies.push_back(before);
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphRemoveDependencies_v2(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData*, size_t count) {
  return with_graph(handle, [&](Driver&, Graph& graph) -> CUresult {
    for (size_t i = 0; i < count; ++i) {
      Node* before = find_in(graph, from[i]);
      Node* after = find_in(graph, to[i]);
      if (before == nullptr || after == nullptr || std::erase(after->dependencies, before) == 0)
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphDestroyNode(CUgraphNode handle) {
  return with_node(handle, [&](Driver&, Node& node) -> CUresult {
    Graph& graph = *node.graph;
    for (const auto& other : graph.nodes) std::erase(other->dependencies, &node);
    delete node.child;
    std::erase_if(graph.nodes, [&](const auto& owned) { return owned.get() == &node; });
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
}  // namespace ptx::cuda
