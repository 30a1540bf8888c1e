// Graph nodes through generic calls: adding, changing in graphs and in executables; kernel attributes.
#include "tests/emulator_driver/driver_test.h"

namespace ptx::cuda {
namespace {

class AnyNode : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    p = upload<uint32_t>({0, 0});
    ok(cuGraphCreate(&graph, 0));
  }
  void TearDown() override {
    ok(cuGraphDestroy(graph));
    DriverTest::TearDown();
  }
  static CUgraphNodeParams of(CUgraphNodeType type) {
    CUgraphNodeParams params{};
    params.type = type;
    return params;
  }
  CUgraphNodeParams appends(uint32_t& digit) {
    CUgraphNodeParams params = of(CU_GRAPH_NODE_TYPE_KERNEL);
    arguments[0] = &p;
    arguments[1] = &digit;
    params.kernel = {kernel("append"), 1, 1, 1, 1, 1, 1, 0, arguments, nullptr, nullptr, nullptr};
    return params;
  }
  CUgraphNodeParams sets(uint32_t value) {
    CUgraphNodeParams params = of(CU_GRAPH_NODE_TYPE_MEMSET);
    params.memset.set = {p, 0, value, 4, 1, 1};
    return params;
  }
  CUgraphNodeParams copies(CUdeviceptr to) {
    CUgraphNodeParams params = of(CU_GRAPH_NODE_TYPE_MEMCPY);
    CUDA_MEMCPY3D& box = params.memcpy.copyParams;
    box.srcMemoryType = box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    box.srcDevice = p, box.dstDevice = to, box.WidthInBytes = 4, box.Height = box.Depth = 1;
    return params;
  }
  CUgraphNode add(CUgraphNodeParams params) {
    CUgraphNode node = nullptr;
    ok(cuGraphAddNode_v2(&node, graph, last == nullptr ? nullptr : &last, nullptr, last == nullptr ? 0 : 1, &params));
    return last = node;
  }
  uint32_t run(CUgraphExec exec) {
    ok(cuGraphLaunch(exec, nullptr));
    ok(cuCtxSynchronize());
    return word(p);
  }

  CUdeviceptr p = 0;
  CUgraph graph = nullptr;
  CUgraphNode last = nullptr;  // each node depends on its predecessor
  void* arguments[2] = {};
};

TEST_F(AnyNode, EveryKindIsAddedAndChanged) {
  static int calls;
  calls = 0;
  uint32_t digit = 2;
  CUevent first = event(), second = event();
  CUgraphNodeParams host = of(CU_GRAPH_NODE_TYPE_HOST), record = of(CU_GRAPH_NODE_TYPE_EVENT_RECORD),
                    wait = of(CU_GRAPH_NODE_TYPE_WAIT_EVENT), write = of(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
  host.host = {[](void* by) { calls += *static_cast<int*>(by); }, &calls};
  int by = 1;
  host.host.userData = &by;
  record.eventRecord.event = first;
  wait.eventWait.event = first;
  CUstreamBatchMemOpParams operation{};
  operation.writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, p + 4, 9, 0, 0};
  write.memOp = {nullptr, 1, &operation, 0};

  const CUgraphNode set = add(sets(1));
  const CUgraphNode append = add(appends(digit));
  const CUgraphNode called = add(host);
  const CUgraphNode recorded = add(record);
  const CUgraphNode waited = add(wait);
  add(of(CU_GRAPH_NODE_TYPE_EMPTY));
  const CUgraphNode wrote = add(write);
  CUgraphExec exec = nullptr;
  ok(cuGraphInstantiateWithFlags(&exec, graph, 0));
  EXPECT_EQ(run(exec), 12u);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(word(p + 4), 9u);

  // Changes only the executable.
  CUgraphNodeParams changed = sets(3);
  ok(cuGraphExecNodeSetParams(exec, set, &changed));
  uint32_t four = 4;
  changed = appends(four);
  ok(cuGraphExecNodeSetParams(exec, append, &changed));
  host.host.userData = &four;
  ok(cuGraphExecNodeSetParams(exec, called, &host));
  record.eventRecord.event = wait.eventWait.event = second;
  ok(cuGraphExecNodeSetParams(exec, recorded, &record));
  ok(cuGraphExecEventWaitNodeSetEvent(exec, waited, second));
  operation.writeValue.value64 = 8;
  ok(cuGraphExecNodeSetParams(exec, wrote, &write));
  EXPECT_EQ(run(exec), 34u);
  EXPECT_EQ(calls, 5);
  EXPECT_EQ(word(p + 4), 8u);
  EXPECT_RESULT(CUDA_SUCCESS, cuEventQuery(second));

  // Changes the graph: the next executable has it.
  changed = sets(5);
  ok(cuGraphNodeSetParams(set, &changed));
  changed = appends(four);
  ok(cuGraphNodeSetParams(append, &changed));
  ok(cuGraphNodeSetParams(called, &host));
  ok(cuGraphNodeSetParams(recorded, &record));
  ok(cuGraphNodeSetParams(waited, &wait));
  ok(cuGraphNodeSetParams(wrote, &write));
  CUevent now = nullptr;
  ok(cuGraphEventWaitNodeGetEvent(waited, &now));
  EXPECT_EQ(now, second);
  EXPECT_EQ(run(exec), 34u);
  CUgraphExec next = nullptr;
  ok(cuGraphInstantiateWithFlags(&next, graph, 0));
  EXPECT_EQ(run(next), 54u);
  ok(cuGraphExecDestroy(exec));
  ok(cuGraphExecDestroy(next));
}

TEST_F(AnyNode, ChildrenAreClonedOrMoved) {
  uint32_t three = 3, four = 4;
  CUgraph cloned = nullptr, moved = nullptr, other = nullptr, shorter = nullptr;
  CUgraphNode unused = nullptr;
  CUgraphNodeParams params = appends(three);
  for (CUgraph* child : {&cloned, &moved, &other}) {
    if (child == &other) params = appends(four);
    ok(cuGraphCreate(child, 0));
    ok(cuGraphAddNode(&unused, *child, nullptr, 0, &params));
  }
  ok(cuGraphCreate(&shorter, 0));
  params = of(CU_GRAPH_NODE_TYPE_GRAPH);
  params.graph = {cloned, 0};
  const CUgraphNode first = add(params);
  params.graph = {moved, 1};
  add(params);
  CUgraphExec exec = nullptr;
  ok(cuGraphInstantiateWithFlags(&exec, graph, 0));
  EXPECT_EQ(run(exec), 33u);
  ok(cuGraphDestroy(cloned));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(moved));  // its node owns it
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithFlags(&exec, moved, 0));
  params.graph = {graph, 0};
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&unused, graph, nullptr, 0, &params));  // contains itself
  params.graph = {other, 7};
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&unused, graph, nullptr, 0, &params));
  ok(cuGraphExecChildGraphNodeSetParams(exec, first, other));
  EXPECT_EQ(run(exec), 3343u);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphExecChildGraphNodeSetParams(exec, first, shorter));
  for (CUgraph child : {other, shorter}) ok(cuGraphDestroy(child));
  ok(cuGraphExecDestroy(exec));
}

TEST_F(AnyNode, KernelAttributes) {
  uint32_t digit = 1;
  const CUgraphNode a = add(appends(digit)), b = add(appends(digit)), copy = add(copies(p + 4));
  CUlaunchAttributeValue value{};
  value.priority = -2;
  ok(cuGraphKernelNodeSetAttribute(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  value = {};
  value.cooperative = 1;
  ok(cuGraphKernelNodeSetAttribute(a, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
  ok(cuGraphKernelNodeCopyAttributes(b, a));
  ok(cuGraphKernelNodeGetAttribute(b, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  EXPECT_EQ(value.priority, -2);
  ok(cuGraphKernelNodeGetAttribute(b, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
  EXPECT_EQ(value.cooperative, 1);
  value = {};
  value.clusterDim = {2, 1, 1};
  EXPECT_RESULT(CUDA_ERROR_NOT_SUPPORTED,
                cuGraphKernelNodeSetAttribute(a, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphKernelNodeGetAttribute(a, 99, &value));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphKernelNodeGetAttribute(copy, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphKernelNodeCopyAttributes(copy, a));
}

TEST_F(AnyNode, WrongOnes) {
  uint32_t digit = 1;
  CUgraphNode node = nullptr;
  CUgraphNodeParams kernel_params = appends(digit), set = sets(1), semaphore = of(static_cast<CUgraphNodeType>(8)),
                    past_the_end = copies(p + 8);
  const CUgraphNode append = add(kernel_params);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&node, graph, nullptr, 0, nullptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(nullptr, graph, nullptr, 0, &set));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&node, nullptr, nullptr, 0, &set));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&node, graph, nullptr, 1, &set));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&node, graph, nullptr, 0, &past_the_end));
  EXPECT_RESULT(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddNode(&node, graph, nullptr, 0, &semaphore));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphNodeSetParams(append, &set));  // a node keeps its kind
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphNodeSetParams(append, nullptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphNodeSetParams(nullptr, &set));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphExecNodeSetParams(nullptr, append, &set));
}

}  // namespace
}  // namespace ptx::cuda
