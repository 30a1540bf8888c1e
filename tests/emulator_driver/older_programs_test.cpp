// Programs built for other versions of CUDA or other parts of the driver: older signatures by name and version, objects
// that graphs retain, and names that only have to exist.
#include <dlfcn.h>

#include <condition_variable>
#include <mutex>

#include "ptx/driver_api_others.h"
#include "tests/emulator_driver/driver_test.h"

namespace ptx::cuda {
namespace {

class OlderPrograms : public DriverTest {
 protected:
  // The function that a program built for this CUDA version gets for the name.
  template <class Function>
  static Function* of(int version, const char* name, uint64_t flags = 0) {
    void* found = nullptr;
    EXPECT_RESULT(CUDA_SUCCESS, cuGetProcAddress(name, &found, version, flags)) << name;
    return reinterpret_cast<Function*>(found);
  }
};

TEST_F(OlderPrograms, GraphOfCuda11) {
  const CUdeviceptr p = upload<uint32_t>({0});
  uint32_t value = 3;
  void* arguments[] = {const_cast<CUdeviceptr*>(&p), &value};
  const CUDA_KERNEL_NODE_PARAMS_v1 params = {kernel("append"), 1, 1, 1, 1, 1, 1, 0, arguments, nullptr};
  CUgraph graph = nullptr;
  CUgraphNode first = nullptr, second = nullptr, from = nullptr, to = nullptr;
  ok(cuGraphCreate(&graph, 0));
  const auto add = of<decltype(cuGraphAddKernelNode)>(11030, "cuGraphAddKernelNode");
  ok(add(&first, graph, nullptr, 0, &params));
  value = 4;
  ok(add(&second, graph, nullptr, 0, &params));
  ok(of<decltype(cuGraphAddDependencies)>(11030, "cuGraphAddDependencies")(graph, &second, &first, 1));
  size_t n = 1;
  ok(of<decltype(cuGraphGetEdges)>(12000, "cuGraphGetEdges")(graph, &from, &to, &n));
  EXPECT_EQ(std::make_tuple(from, to, n), std::make_tuple(second, first, size_t{1}));
  ok(of<decltype(cuGraphNodeGetDependencies)>(10000, "cuGraphNodeGetDependencies")(first, &from, &n));
  ok(of<decltype(cuGraphNodeGetDependentNodes)>(10000, "cuGraphNodeGetDependentNodes")(second, &to, &n));
  EXPECT_EQ(std::make_pair(from, to), std::make_pair(second, first));
  CUDA_KERNEL_NODE_PARAMS_v1 told = {};
  ok(of<decltype(cuGraphKernelNodeGetParams)>(11000, "cuGraphKernelNodeGetParams")(first, &told));
  EXPECT_EQ(told.func, params.func);
  CUgraphNode wrong = first;
  char log[8] = "unset";
  CUgraphExec exec = nullptr;
  ok(of<decltype(cuGraphInstantiate)>(11030, "cuGraphInstantiate")(&exec, graph, &wrong, log, sizeof log));
  EXPECT_EQ(wrong, nullptr);
  EXPECT_STREQ(log, "");
  ok(cuGraphLaunch(exec, nullptr));
  EXPECT_EQ(word(p), 43u);
  value = 5;
  ok(of<decltype(cuGraphExecKernelNodeSetParams)>(11030, "cuGraphExecKernelNodeSetParams")(exec, second, &params));
  ok(cuGraphLaunch(exec, nullptr));
  EXPECT_EQ(word(p), 4353u);
  CUgraphExecUpdateResult outcome = 9;
  ok(of<decltype(cuGraphExecUpdate)>(11030, "cuGraphExecUpdate")(exec, graph, &wrong, &outcome));
  EXPECT_EQ(outcome, 0u);
}

TEST_F(OlderPrograms, CaptureOfCuda10And11And12) {
  const CUstream s = stream();
  const CUdeviceptr p = upload<uint32_t>({0});
  for (const uint64_t flags : {CU_GET_PROC_ADDRESS_LEGACY_STREAM, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM}) {
    ok(of<decltype(cuStreamBeginCapture)>(10000, "cuStreamBeginCapture", flags)(s));
    ok(launch(kernel("append"), 1, 1, s, p, 1u));
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    uint64_t id = 0, same = 1;
    size_t n = 0;
    const CUgraphNode* nodes = nullptr;
    CUgraph graph = nullptr;
    ok(of<decltype(cuStreamGetCaptureInfo)>(10010, "cuStreamGetCaptureInfo", flags)(s, &status, &id));
    EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    const auto info = of<decltype(cuStreamGetCaptureInfo_v2)>(12020, "cuStreamGetCaptureInfo", flags);
    ok(info(s, &status, &same, &graph, &nodes, &n));
    EXPECT_EQ(id, same);
    EXPECT_EQ(n, 1u);
    CUgraphNode last = nodes[0];
    const auto update =
        of<decltype(cuStreamUpdateCaptureDependencies)>(11030, "cuStreamUpdateCaptureDependencies", flags);
    ok(update(s, &last, 0, 1));
    ok(info(s, &status, nullptr, nullptr, nullptr, &n));
    EXPECT_EQ(n, 0u);
    ok(update(s, &last, 1, 1));
    ok(cuStreamEndCapture(s, &graph));
  }
}

TEST_F(OlderPrograms, DevicesAndContexts) {
  int major = 0, minor = 1, can = 1;
  ok(cuDeviceComputeCapability(&major, &minor, 0));
  EXPECT_EQ(std::make_pair(major, minor), std::make_pair(9, 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_DEVICE, cuDeviceComputeCapability(&major, &minor, 64));
  ok(cuDeviceCanAccessPeer(&can, 0, 0));
  EXPECT_EQ(can, 0);
  EXPECT_RESULT(CUDA_ERROR_INVALID_DEVICE, cuDeviceCanAccessPeer(&can, 0, 1));
  CUuuid older = {}, now = {};
  ok(of<decltype(cuDeviceGetUuid)>(11030, "cuDeviceGetUuid")(&older, 0));
  ok(cuDeviceGetUuid_v2(&now, 0));
  EXPECT_EQ(std::string(older.bytes, 16), std::string(now.bytes, 16));
  CUcontext third = nullptr, popped = nullptr;
  ok(of<decltype(cuCtxCreate_v3)>(12000, "cuCtxCreate")(&third, nullptr, 0, 0, 0));
  EXPECT_RESULT(CUDA_SUCCESS, cuProfilerStart());
  EXPECT_RESULT(CUDA_SUCCESS, cuProfilerStop());
  CUsharedconfig banks = 9;
  EXPECT_RESULT(CUDA_SUCCESS, cuCtxGetSharedMemConfig(&banks));
  EXPECT_EQ(banks, 0u);
  EXPECT_RESULT(CUDA_SUCCESS, cuCtxSetSharedMemConfig(2));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuCtxSetSharedMemConfig(3));
  ok(cuCtxPopCurrent(&popped));
  EXPECT_EQ(popped, third);
  ok(cuCtxDestroy(third));
}

// Arguments of the destructor calls, in order.
struct Destroyed {
  void wait(int expected) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return count >= expected; });
    EXPECT_EQ(count, expected);
  }
  int now() {
    std::lock_guard lock(mutex);
    return count;
  }
  static void one_more(void* self) {
    auto* destroyed = static_cast<Destroyed*>(self);
    std::lock_guard lock(destroyed->mutex);
    ++destroyed->count;
    destroyed->changed.notify_all();
  }
  std::mutex mutex;
  std::condition_variable changed;
  int count = 0;
};

TEST_F(OlderPrograms, UserObjectsLiveAsLongAsTheirGraphs) {
  static Destroyed destroyed;  // a driver thread still notifies it
  CUuserObject object = nullptr;
  CUgraph graph = nullptr, clone = nullptr;
  CUgraphExec exec = nullptr;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuUserObjectCreate(&object, &destroyed, &Destroyed::one_more, 1, 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuUserObjectCreate(&object, &destroyed, &Destroyed::one_more, 0, 1));
  ok(cuUserObjectCreate(&object, &destroyed, &Destroyed::one_more, 1, 1));
  ok(cuUserObjectRetain(object, 2));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuUserObjectRelease(object, 4));
  ok(cuUserObjectRelease(object, 1));
  ok(cuGraphCreate(&graph, 0));
  ok(cuGraphRetainUserObject(graph, object, 1, 0));
  ok(cuGraphRetainUserObject(graph, object, 2, 1));  // moved: the program's two references
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuUserObjectRelease(object, 1));
  ok(cuGraphClone(&clone, graph));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphReleaseUserObject(graph, object, 4));
  ok(cuGraphReleaseUserObject(graph, object, 3));
  ok(cuGraphInstantiateWithFlags(&exec, clone, 0));
  ok(cuGraphDestroy(graph));
  ok(cuGraphDestroy(clone));
  EXPECT_EQ(destroyed.now(), 0);
  ok(cuGraphExecDestroy(exec));
  destroyed.wait(1);
}

// Every name of CUDA 13.0's driver exists. What is not emulated reports so, for any arguments.
TEST_F(OlderPrograms, NamesThatAreNotEmulated) {
  for (const char* name :
       {"cuTexObjectCreate", "cuMemAddressReserve", "cuMemcpyPeerAsync_ptsz", "cuMemAlloc", "cuGreenCtxCreate",
        "cuGraphicsGLRegisterBuffer", "cuIpcGetMemHandle", "cuArrayCreate_v2", "cuGraphAddMemAllocNode"}) {
    void* function = dlsym(RTLD_DEFAULT, name);
    ASSERT_NE(function, nullptr) << name;
    const auto call = reinterpret_cast<CUresult (*)(void*, int, size_t)>(function);
    testing::internal::CaptureStderr();
    EXPECT_RESULT(CUDA_ERROR_NOT_SUPPORTED, call(nullptr, 1, 2)) << name;
    EXPECT_RESULT(CUDA_ERROR_NOT_SUPPORTED, call(nullptr, 1, 2)) << name;
    EXPECT_EQ(testing::internal::GetCapturedStderr(), std::string("emulator: ") + name + " is not emulated\n");
  }
  void* found = nullptr;
  EXPECT_RESULT(CUDA_SUCCESS, cuGetProcAddress("cuTexObjectCreate", &found, 13000, 0));
  EXPECT_EQ(found, dlsym(RTLD_DEFAULT, "cuTexObjectCreate"));
  EXPECT_RESULT(CUDA_ERROR_NOT_FOUND, cuGetProcAddress("cuNoSuchCall", &found, 13000, 0));
}

}  // namespace
}  // namespace ptx::cuda
