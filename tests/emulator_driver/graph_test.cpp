// Streams captured as graphs, graphs built by hand, launches and changes, and calls that a capture forbids.
#include <thread>

#include "tests/emulator_driver/driver_test.h"

namespace ptx::cuda {
namespace {

class Graphs : public DriverTest {
 protected:
  static CUgraphExec instantiate(CUgraph graph) {
    CUgraphExec exec = nullptr;
    ok(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
  }
  // A node whose kernel appends a digit to p.
  CUDA_KERNEL_NODE_PARAMS appends(void** arguments) {
    CUDA_KERNEL_NODE_PARAMS params{};
    params.func = kernel("append");
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = arguments;
    return params;
  }
  CUgraphNode add_append(CUgraph graph, CUdeviceptr p, uint32_t digit, const std::vector<CUgraphNode>& after) {
    void* arguments[] = {&p, &digit};
    const CUDA_KERNEL_NODE_PARAMS params = appends(arguments);
    CUgraphNode node = nullptr;
    ok(cuGraphAddKernelNode_v2(&node, graph, after.data(), after.size(), &params));
    return node;
  }
  static CUstreamCaptureStatus status_of(CUstream s) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    ok(cuStreamIsCapturing(s, &status));
    return status;
  }
};

TEST_F(Graphs, ACaptureRunsOnlyWhenItIsLaunched) {
  CUstream s = stream();
  const CUdeviceptr p = upload<uint32_t>({0});
  std::vector<uint32_t> host(1);
  EXPECT_EQ(status_of(s), CU_STREAM_CAPTURE_STATUS_NONE);
  ok(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_EQ(status_of(s), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  ok(cuMemsetD32Async(p, 4, 1, s));
  ok(launch(kernel("append"), 1, 1, s, p, 2u));
  ok(cuMemcpyDtoHAsync_v2(host.data(), p, 4, s));
  CUgraph graph = nullptr;
  ok(cuStreamEndCapture(s, &graph));
  EXPECT_EQ(status_of(s), CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_EQ(word(p), 0u);

  size_t count = 0;
  ok(cuGraphGetNodes(graph, nullptr, &count));
  ASSERT_EQ(count, 3u);
  std::vector<CUgraphNode> nodes(3);
  ok(cuGraphGetNodes(graph, nodes.data(), &count));
  const CUgraphNodeType types[] = {CU_GRAPH_NODE_TYPE_MEMSET, CU_GRAPH_NODE_TYPE_KERNEL, CU_GRAPH_NODE_TYPE_MEMCPY};
  for (size_t i = 0; i < 3; ++i) {
    CUgraphNodeType type;
    ok(cuGraphNodeGetType(nodes[i], &type));
    EXPECT_EQ(type, types[i]) << i;
  }
  ok(cuGraphGetEdges_v2(graph, nullptr, nullptr, nullptr, &count));
  EXPECT_EQ(count, 2u);
  ok(cuGraphGetRootNodes(graph, nullptr, &count));
  EXPECT_EQ(count, 1u);

  CUgraphExec exec = instantiate(graph);
  ok(cuGraphDestroy(graph));  // the executable lives on
  for (int i = 0; i < 3; ++i) ok(cuGraphLaunch(exec, s));
  ok(cuStreamSynchronize(s));
  EXPECT_EQ(host[0], 42u);
  ok(cuGraphExecDestroy(exec));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(exec, s));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(graph));
}

TEST_F(Graphs, ACaptureForksAndJoinsByEvents) {
  CUstream origin = stream(), branch = stream();
  CUevent fork = event(), join = event();
  const CUdeviceptr p = upload<uint32_t>({0}), q = upload<uint32_t>({0});
  ok(cuStreamBeginCapture_v2(origin, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  ok(launch(kernel("append"), 1, 1, origin, p, 1u));
  ok(cuEventRecord(fork, origin));
  ok(cuStreamWaitEvent(branch, fork, 0));
  EXPECT_EQ(status_of(branch), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  ok(launch(kernel("append"), 1, 1, branch, q, 5u));
  ok(launch(kernel("append"), 1, 1, origin, p, 2u));
  ok(cuEventRecord(join, branch));
  ok(cuStreamWaitEvent(origin, join, 0));
  ok(launch(kernel("append"), 1, 1, origin, p, 3u));
  CUgraph graph = nullptr;
  ok(cuStreamEndCapture(origin, &graph));
  EXPECT_EQ(status_of(branch), CU_STREAM_CAPTURE_STATUS_NONE);
  size_t edges = 0;
  ok(cuGraphGetEdges_v2(graph, nullptr, nullptr, nullptr, &edges));
  EXPECT_EQ(edges, 4u);  // 1-5, 1-2, 2-3, 5-3
  ok(cuGraphLaunch(instantiate(graph), origin));
  ok(cuStreamSynchronize(origin));
  EXPECT_EQ(word(p), 123u);
  EXPECT_EQ(word(q), 5u);
  EXPECT_RESULT(CUDA_ERROR_CAPTURED_EVENT, cuEventQuery(join));
  EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, cuStreamWaitEvent(branch, join, 0));  // that capture has ended
}

TEST_F(Graphs, CapturesThatGoWrong) {
  CUstream s = stream(), other = stream();
  CUevent outside = event(), inside = event();
  CUgraph graph = nullptr;
  const CUdeviceptr p = upload<uint32_t>({0});
  ok(cuEventRecord(outside, other));
  EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamBeginCapture_v2(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(s, &graph));
  const std::pair<const char*, std::pair<CUresult, CUresult>> expected[] = {
      // call, its result, the result of ending the capture
      {"synchronise", {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED}},
      {"query", {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED}},
      {"context", {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED}},
      {"allocate", {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED}},
      {"copy", {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED}},
      {"isolation", {CUDA_ERROR_STREAM_CAPTURE_ISOLATION, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED}},
      {"captured event", {CUDA_ERROR_CAPTURED_EVENT, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED}},
      {"unjoined", {CUDA_SUCCESS, CUDA_ERROR_STREAM_CAPTURE_UNJOINED}},
      {"twice", {CUDA_ERROR_ILLEGAL_STATE, CUDA_SUCCESS}},
  };
  for (const auto& [what, results] : expected) {
    ok(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ok(launch(kernel("append"), 1, 1, s, p, 1u));
    const std::string call = what;
    CUresult result = CUDA_SUCCESS;
    CUdeviceptr q = 0;
    uint32_t host = 0;
    if (call == "synchronise") result = cuStreamSynchronize(s);
    if (call == "query") result = cuStreamQuery(s);
    if (call == "context") result = cuCtxSynchronize();
    if (call == "allocate") result = cuMemAlloc_v2(&q, 4);
    if (call == "copy") result = cuMemcpyDtoH_v2(&host, p, 4);
    if (call == "isolation") result = cuStreamWaitEvent(s, outside, 0);
    if (call == "captured event") ok(cuEventRecord(inside, s)), result = cuEventSynchronize(inside);
    if (call == "twice") result = cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL);
    if (call == "unjoined") {
      ok(cuEventRecord(inside, s));
      ok(cuStreamWaitEvent(other, inside, 0));
      ok(launch(kernel("append"), 1, 1, other, p, 1u));
    }
    EXPECT_EQ(name_of(result), name_of(results.first)) << what;
    if (results.second == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED) {
      EXPECT_EQ(status_of(s), CU_STREAM_CAPTURE_STATUS_INVALIDATED) << what;
      EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, launch(kernel("append"), 1, 1, s, p, 1u)) << what;
    }
    EXPECT_EQ(name_of(cuStreamEndCapture(s, &graph)), name_of(results.second)) << what;
    EXPECT_EQ(graph == nullptr, results.second != CUDA_SUCCESS) << what;
    EXPECT_RESULT(CUDA_SUCCESS, cuStreamSynchronize(s)) << what;
  }
  EXPECT_EQ(word(p), 0u);  // none of this has run
}

TEST_F(Graphs, TheLegacyStreamAndBlockingStreams) {
  const CUdeviceptr p = upload<uint32_t>({0});
  CUgraph graph = nullptr;
  CUstreamCaptureStatus status;
  CUstream blocking = stream(CU_STREAM_DEFAULT), apart = stream();
  ok(cuStreamBeginCapture_v2(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cuStreamIsCapturing(nullptr, &status));
  EXPECT_EQ(status_of(blocking), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, launch(kernel("append"), 1, 1, nullptr, p, 1u));
  EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(blocking, &graph));
  // A non-blocking stream is not affected.
  ok(cuStreamBeginCapture_v2(apart, CU_STREAM_CAPTURE_MODE_RELAXED));
  ok(launch(kernel("append"), 1, 1, nullptr, p, 1u));
  ok(cuStreamSynchronize(nullptr));
  EXPECT_EQ(word(p), 1u);  // a relaxed capture allows the copy, too
  ok(cuStreamEndCapture(apart, &graph));
}

TEST_F(Graphs, ModesAndThreads) {
  CUstream s = stream();
  CUgraph graph = nullptr;
  const auto allocate_elsewhere = [&](CUstreamCaptureMode mode) {
    CUresult result = CUDA_ERROR_UNKNOWN;
    std::thread([&] {
      CUdeviceptr p = 0;
      cuCtxSetCurrent(context);
      cuThreadExchangeStreamCaptureMode(&mode);
      result = cuMemAlloc_v2(&p, 4);
    }).join();
    return result;
  };
  ok(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  EXPECT_RESULT(CUDA_SUCCESS, allocate_elsewhere(CU_STREAM_CAPTURE_MODE_GLOBAL));
  ok(cuStreamEndCapture(s, &graph));
  ok(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_RESULT(CUDA_SUCCESS, allocate_elsewhere(CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_RESULT(CUDA_SUCCESS, allocate_elsewhere(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, allocate_elsewhere(CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(s, &graph));
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;  // this thread accepts the risk
  ok(cuThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
  ok(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  upload<uint32_t>({1});
  CUresult elsewhere = CUDA_SUCCESS;
  std::thread([&] {
    cuCtxSetCurrent(context);
    CUgraph other = nullptr;
    elsewhere = cuStreamEndCapture(s, &other);
  }).join();
  EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, elsewhere);
  ok(cuStreamEndCapture(s, &graph));
  ok(cuThreadExchangeStreamCaptureMode(&mode));
}

TEST_F(Graphs, BuiltByHand) {
  const CUdeviceptr p = upload<uint32_t>({7, 7}), q = upload<uint32_t>({0, 0});
  std::vector<uint32_t> host(2);
  CUgraph graph = nullptr;
  ok(cuGraphCreate(&graph, 0));
  CUDA_MEMSET_NODE_PARAMS set{};
  set.dst = p, set.elementSize = 4, set.width = 1, set.height = 1, set.value = 0;
  CUgraphNode clear = nullptr, copy = nullptr, down = nullptr, call = nullptr, nothing = nullptr;
  ok(cuGraphAddMemsetNode(&clear, graph, nullptr, 0, &set, context));
  const CUgraphNode first = add_append(graph, p, 1, {clear});
  const CUgraphNode second = add_append(graph, p, 2, {first});
  ok(cuGraphAddEmptyNode(&nothing, graph, &second, 1));
  CUDA_MEMCPY3D box{};
  box.srcMemoryType = box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  box.srcDevice = p, box.dstDevice = q, box.WidthInBytes = 8, box.Height = box.Depth = 1;
  ok(cuGraphAddMemcpyNode(&copy, graph, &nothing, 1, &box, context));
  box.srcDevice = q, box.dstMemoryType = CU_MEMORYTYPE_HOST, box.dstHost = host.data();
  ok(cuGraphAddMemcpyNode(&down, graph, &copy, 1, &box, context));
  uint32_t seen = 0;
  struct Look {
    const uint32_t* from;
    uint32_t* to;
  } look{host.data(), &seen};
  const CUDA_HOST_NODE_PARAMS called{
      [](void* data) { *static_cast<Look*>(data)->to = *static_cast<Look*>(data)->from; }, &look};
  ok(cuGraphAddHostNode(&call, graph, &down, 1, &called));

  CUstream s = stream();
  CUgraphExec exec = instantiate(graph);
  ok(cuGraphUpload(exec, s));
  for (int i = 0; i < 2; ++i) ok(cuGraphLaunch(exec, s));
  ok(cuStreamSynchronize(s));
  EXPECT_EQ(host, (std::vector<uint32_t>{12, 7}));
  EXPECT_EQ(seen, 12u);

  // Other parameters for one node of the executable; the graph is unchanged.
  uint32_t digit = 9;
  CUdeviceptr target = p;
  void* arguments[] = {&target, &digit};
  const CUDA_KERNEL_NODE_PARAMS nine = appends(arguments);
  ok(cuGraphExecKernelNodeSetParams_v2(exec, second, &nine));
  ok(cuGraphLaunch(exec, s));
  ok(cuStreamSynchronize(s));
  EXPECT_EQ(host[0], 19u);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphExecKernelNodeSetParams_v2(exec, copy, &nine));
  CUgraphExec fresh = instantiate(graph);
  ok(cuGraphLaunch(fresh, s));
  ok(cuStreamSynchronize(s));
  EXPECT_EQ(host[0], 12u);
  // Updates the whole executable from a graph of the same shape; another shape is refused.
  CUgraphExecUpdateResultInfo info{};
  ok(cuGraphKernelNodeSetParams_v2(second, &nine));
  ok(cuGraphExecUpdate_v2(fresh, graph, &info));
  EXPECT_EQ(info.result, 0u);
  ok(cuGraphLaunch(fresh, s));
  ok(cuStreamSynchronize(s));
  EXPECT_EQ(host[0], 19u);
  ok(cuGraphDestroyNode(call));
  EXPECT_RESULT(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate_v2(fresh, graph, &info));
  EXPECT_NE(info.result, 0u);
}

TEST_F(Graphs, ClonesChildrenAndEvents) {
  const CUdeviceptr p = upload<uint32_t>({0});
  CUgraph inner = nullptr, outer = nullptr, twin = nullptr;
  CUgraphNode child = nullptr, record = nullptr, wait = nullptr;
  CUevent e = event();
  ok(cuGraphCreate(&inner, 0));
  add_append(inner, p, 3, {});
  ok(cuGraphClone(&twin, inner));
  ok(cuGraphCreate(&outer, 0));
  const CUgraphNode before = add_append(outer, p, 2, {});
  ok(cuGraphAddChildGraphNode(&child, outer, &before, 1, inner));
  add_append(inner, p, 9, {});  // the child is a copy
  ok(cuGraphAddEventRecordNode(&record, outer, &child, 1, e));
  ok(cuGraphAddEventWaitNode(&wait, outer, &record, 1, e));
  add_append(outer, p, 4, {wait});
  CUstream s = stream();
  ok(cuGraphLaunch(instantiate(outer), s));
  ok(cuStreamSynchronize(s));
  EXPECT_EQ(word(p), 234u);
  EXPECT_RESULT(CUDA_SUCCESS, cuEventQuery(e));
  ok(cuGraphLaunch(instantiate(twin), s));
  ok(cuStreamSynchronize(s));
  EXPECT_EQ(word(p), 2343u);
}

TEST_F(Graphs, ParametersOfNodes) {
  const CUdeviceptr p = upload<uint32_t>({0, 0, 0, 0});
  CUgraph graph = nullptr, twin = nullptr, inner = nullptr, child_graph = nullptr;
  CUgraphNode clear = nullptr, copy = nullptr, child = nullptr, record = nullptr, found = nullptr;
  ok(cuGraphCreate(&graph, 0));
  CUDA_MEMSET_NODE_PARAMS set{}, asked{};
  set.dst = p, set.elementSize = 4, set.width = set.height = 1, set.value = 5;
  ok(cuGraphAddMemsetNode(&clear, graph, nullptr, 0, &set, context));
  const CUgraphNode append = add_append(graph, p, 1, {clear});
  CUDA_MEMCPY3D box{}, asked_box{};
  box.srcMemoryType = box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  box.srcDevice = p, box.dstDevice = p + 4, box.WidthInBytes = 4, box.Height = box.Depth = 1;
  ok(cuGraphAddMemcpyNode(&copy, graph, &append, 1, &box, context));

  ok(cuGraphMemsetNodeGetParams(clear, &asked));
  EXPECT_EQ(asked.value, 5u);
  asked.value = 6;
  ok(cuGraphMemsetNodeSetParams(clear, &asked));
  ok(cuGraphMemcpyNodeGetParams(copy, &asked_box));
  EXPECT_EQ(asked_box.dstDevice, p + 4);
  asked_box.dstDevice = p + 8;
  ok(cuGraphMemcpyNodeSetParams(copy, &asked_box));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphMemcpyNodeSetParams(clear, &asked_box));
  CUDA_KERNEL_NODE_PARAMS params{};
  ok(cuGraphKernelNodeGetParams_v2(append, &params));
  EXPECT_EQ(params.func, kernel("append"));
  EXPECT_EQ(*static_cast<CUdeviceptr*>(params.kernelParams[0]), p);
  EXPECT_EQ(*static_cast<uint32_t*>(params.kernelParams[1]), 1u);
  uint32_t two = 2;
  void* arguments[] = {params.kernelParams[0], &two};
  params.kernelParams = arguments;
  ok(cuGraphKernelNodeSetParams_v2(append, &params));
  CUstream s = stream();
  CUgraphExec exec = instantiate(graph);
  ok(cuGraphLaunch(exec, s));
  ok(cuStreamSynchronize(s));
  EXPECT_EQ(download<uint32_t>(p, 3), (std::vector<uint32_t>{62, 0, 62}));

  // Nodes of an executable can be disabled and enabled.
  unsigned enabled = 9;
  ok(cuGraphNodeSetEnabled(exec, clear, 0));
  ok(cuGraphNodeGetEnabled(exec, clear, &enabled));
  EXPECT_EQ(enabled, 0u);
  ok(cuGraphLaunch(exec, s));
  ok(cuStreamSynchronize(s));
  EXPECT_EQ(word(p), 622u);
  ok(cuGraphNodeSetEnabled(exec, clear, 1));
  ok(cuGraphLaunch(exec, s));
  ok(cuStreamSynchronize(s));
  EXPECT_EQ(word(p), 62u);

  // Nodes of a clone are found through the originals, those of a child through its graph.
  ok(cuGraphClone(&twin, graph));
  ok(cuGraphNodeFindInClone(&found, append, twin));
  EXPECT_NE(found, append);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphNodeFindInClone(&found, found, twin));
  ok(cuGraphCreate(&inner, 0));
  add_append(inner, p, 3, {});
  ok(cuGraphAddChildGraphNode(&child, twin, &found, 1, inner));
  ok(cuGraphChildGraphNodeGetGraph(child, &child_graph));
  size_t count = 0;
  ok(cuGraphGetNodes(child_graph, nullptr, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(child_graph));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphChildGraphNodeGetGraph(append, &child_graph));
  CUevent first = event(), second = event(), now = nullptr;
  ok(cuGraphAddEventRecordNode(&record, twin, &child, 1, first));
  ok(cuGraphEventRecordNodeSetEvent(record, second));
  ok(cuGraphEventRecordNodeGetEvent(record, &now));
  EXPECT_EQ(now, second);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphEventWaitNodeGetEvent(record, &now));
}

TEST_F(Graphs, DependenciesMustNotRunInCircles) {
  const CUdeviceptr p = upload<uint32_t>({0});
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  ok(cuGraphCreate(&graph, 0));
  const CUgraphNode a = add_append(graph, p, 1, {}), b = add_append(graph, p, 2, {a});
  ok(cuGraphAddDependencies_v2(graph, &b, &a, nullptr, 1));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithFlags(&exec, graph, 0));
  ok(cuGraphRemoveDependencies_v2(graph, &a, &b, nullptr, 1));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphRemoveDependencies_v2(graph, &a, &b, nullptr, 1));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphAddDependencies_v2(graph, &a, &a, nullptr, 1));
  size_t count = 0;
  ok(cuGraphNodeGetDependencies_v2(a, nullptr, nullptr, &count));
  EXPECT_EQ(count, 1u);
  ok(cuGraphNodeGetDependentNodes_v2(a, nullptr, nullptr, &count));
  EXPECT_EQ(count, 0u);
  CUstream s = stream();
  ok(cuGraphLaunch(instantiate(graph), s));  // now b before a
  ok(cuStreamSynchronize(s));
  EXPECT_EQ(word(p), 21u);
}

}  // namespace
}  // namespace ptx::cuda
