// Calls with arguments that CUDA's reference forbids, with the documented results.
#include "tests/emulator_driver/driver_test.h"

namespace ptx::cuda {
namespace {

class WrongCalls : public DriverTest {};

// A row is a call that must fail, and its result. Handles are null or point at something else.
TEST_F(WrongCalls, ReturnTheDocumentedResult) {
  int number = 0;
  size_t bytes = 0;
  unsigned flags = 0;
  float ms = 0;
  CUdeviceptr p = 0;
  CUdevice device = 0;
  CUcontext other = nullptr;
  CUstream s = nullptr;
  CUevent e = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  CUgraphNode node = nullptr;
  CUlinkState link = nullptr;
  CUstreamCaptureStatus status;
  CUgraphNodeType type;
  char text[8];
  const auto nonsense = [&](auto handle) { return reinterpret_cast<decltype(handle)>(&number); };
  const CUstream no_stream = nonsense(s);
  const CUevent no_event = nonsense(e);
  const CUcontext no_context = nonsense(other);
  const CUgraph no_graph = nonsense(graph);
  const CUgraphExec no_exec = nonsense(exec);
  const CUgraphNode no_node = nonsense(node);
  const CUfunction no_function = nonsense(CUfunction{});
  const CUlinkState no_link = nonsense(link);
  const CUmodule no_module = nonsense(CUmodule{});
  const CUresult kValue = CUDA_ERROR_INVALID_VALUE, kHandle = CUDA_ERROR_INVALID_HANDLE;
#define ROW(expected, call) \
  { #call, expected, call }
  const struct {
    const char* call;
    CUresult expected, result;
  } rows[] = {
      ROW(kValue, cuDriverGetVersion(nullptr)),
      ROW(kValue, cuDeviceGetCount(nullptr)),
      ROW(kValue, cuDeviceGet(nullptr, 0)),
      ROW(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, 7)),
      ROW(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetAttribute(&number, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 7)),
      ROW(kValue, cuDeviceGetAttribute(nullptr, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0)),
      ROW(kValue, cuDeviceGetName(nullptr, 8, 0)),
      ROW(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetName(text, 8, 7)),
      ROW(CUDA_ERROR_INVALID_DEVICE, cuDeviceTotalMem_v2(&bytes, -1)),
      ROW(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetByPCIBusId(&device, "ffff:ff:ff.f")),
      ROW(CUDA_ERROR_INVALID_DEVICE, cuDevicePrimaryCtxRetain(&other, 7)),
      ROW(kValue, cuDevicePrimaryCtxRetain(nullptr, 0)),
      ROW(CUDA_ERROR_INVALID_DEVICE, cuCtxCreate_v4(&other, nullptr, 0, 7)),
      ROW(kValue, cuCtxCreate_v4(nullptr, nullptr, 0, 0)),
      ROW(kValue, cuCtxCreate_v4(&other, nullptr, 1u << 20, 0)),
      ROW(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy_v2(nullptr)),
      ROW(CUDA_ERROR_INVALID_CONTEXT, cuCtxPushCurrent_v2(no_context)),
      ROW(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent(no_context)),
      ROW(kValue, cuCtxGetCurrent(nullptr)),
      ROW(kValue, cuCtxGetLimit(nullptr, CU_LIMIT_STACK_SIZE)),
      ROW(kValue, cuMemGetInfo_v2(nullptr, &bytes)),
      ROW(kValue, cuMemFree_v2(12345)),
      ROW(kValue, cuMemFreeHost(nullptr)),
      ROW(kValue, cuMemFreeHost(text)),
      ROW(kValue, cuMemHostGetDevicePointer_v2(&p, text, 0)),
      ROW(kValue, cuMemHostGetFlags(&flags, text)),
      ROW(kValue, cuMemHostRegister_v2(nullptr, 8, 0)),
      ROW(kValue, cuMemHostRegister_v2(text, 0, 0)),
      ROW(kValue, cuPointerGetAttribute(&number, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0)),
      ROW(kValue, cuPointerGetAttribute(nullptr, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0)),
      ROW(kValue, cuMemcpyDtoD_v2(1, 2, 8)),
      ROW(kHandle, cuMemAllocAsync(&p, 8, no_stream)),
      ROW(kValue, cuStreamCreate(nullptr, 0)),
      ROW(kValue, cuStreamCreate(&s, 4)),
      ROW(kHandle, cuStreamSynchronize(no_stream)),
      ROW(kHandle, cuStreamQuery(no_stream)),
      ROW(kHandle, cuStreamDestroy_v2(no_stream)),
      ROW(kHandle, cuStreamWaitEvent(nullptr, no_event, 0)),
      ROW(kHandle, cuStreamIsCapturing(no_stream, &status)),
      ROW(kHandle, cuStreamBeginCapture_v2(no_stream, CU_STREAM_CAPTURE_MODE_GLOBAL)),
      ROW(kValue, cuLaunchHostFunc(nullptr, nullptr, nullptr)),
      ROW(kValue, cuEventCreate(nullptr, 0)),
      ROW(kValue, cuEventCreate(&e, 64)),
      ROW(kHandle, cuEventRecord(no_event, nullptr)),
      ROW(kHandle, cuEventQuery(nullptr)),
      ROW(kHandle, cuEventSynchronize(no_event)),
      ROW(kHandle, cuEventDestroy_v2(no_event)),
      ROW(kHandle, cuEventElapsedTime_v2(&ms, no_event, no_event)),
      ROW(kHandle, cuModuleUnload(no_module)),
      ROW(kHandle, cuModuleUnload(nullptr)),
      ROW(kHandle, cuModuleGetGlobal_v2(&p, &bytes, nullptr, "x")),
      ROW(kValue, cuLinkCreate_v2(0, nullptr, nullptr, nullptr)),
      ROW(kValue, cuLinkCreate_v2(1, nullptr, nullptr, &link)),
      ROW(kHandle, cuLinkAddData_v2(no_link, CU_JIT_INPUT_PTX, text, 8, "", 0, nullptr, nullptr)),
      ROW(kHandle, cuLinkComplete(no_link, nullptr, nullptr)),
      ROW(kHandle, cuLinkDestroy(nullptr)),
      ROW(kHandle, cuFuncGetAttribute(&number, 0, no_function)),
      ROW(kHandle, cuFuncSetAttribute(no_function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 0)),
      ROW(kHandle, cuLaunchKernel(no_function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr)),
      ROW(kHandle, cuOccupancyMaxActiveBlocksPerMultiprocessor(&number, no_function, 32, 0)),
      ROW(kValue, cuGraphCreate(nullptr, 0)),
      ROW(kValue, cuGraphCreate(&graph, 1)),
      ROW(kValue, cuGraphDestroy(no_graph)),
      ROW(kValue, cuGraphDestroy(nullptr)),
      ROW(kValue, cuGraphInstantiateWithFlags(&exec, no_graph, 0)),
      ROW(kValue, cuGraphLaunch(no_exec, nullptr)),
      ROW(kValue, cuGraphExecDestroy(nullptr)),
      ROW(kValue, cuGraphNodeGetType(no_node, &type)),
      ROW(kValue, cuGraphDestroyNode(nullptr)),
      ROW(kValue, cuGraphAddEmptyNode(&node, no_graph, nullptr, 0)),
  };
  for (const auto& row : rows) EXPECT_EQ(name_of(row.result), name_of(row.expected)) << row.call;
  EXPECT_RESULT(CUDA_SUCCESS, cuCtxSynchronize());  // they did no harm
  CUcontext now = nullptr;
  ok(cuCtxGetCurrent(&now));
  EXPECT_EQ(now, context);
}

}  // namespace
}  // namespace ptx::cuda
