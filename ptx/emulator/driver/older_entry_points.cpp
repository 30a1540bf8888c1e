// Entry points for programs built for older CUDA versions, which call the current functions with defaults; and queries
// with only one answer today.
#include <algorithm>
#include <cstring>

#include "ptx/driver_api_others.h"
#include "ptx/driver_api_per_thread.h"
#include "ptx/emulator/driver/driver.h"

namespace ptx::cuda {
using namespace ptx::emulator::driver;

namespace {

CUDA_KERNEL_NODE_PARAMS todays(const CUDA_KERNEL_NODE_PARAMS_v1& p) {
  return {p.func,      p.gridDimX,       p.gridDimY,     p.gridDimZ, p.blockDimX, p.blockDimY,
          p.blockDimZ, p.sharedMemBytes, p.kernelParams, p.extra,    nullptr,     nullptr};
}

}  // namespace

extern "C" {

#define OLDER(name, todays, parameters, arguments) \
  CUresult name parameters { return todays arguments; }

OLDER(cuCtxCreate, cuCtxCreate_v2, (CUcontext * out, unsigned flags, CUdevice dev), (out, flags, dev))
OLDER(cuCtxDestroy, cuCtxDestroy_v2, (CUcontext context), (context))
OLDER(cuCtxPushCurrent, cuCtxPushCurrent_v2, (CUcontext context), (context))
OLDER(cuCtxPopCurrent, cuCtxPopCurrent_v2, (CUcontext * out), (out))
OLDER(cuDeviceGetUuid, cuDeviceGetUuid_v2, (CUuuid * uuid, CUdevice dev), (uuid, dev))
OLDER(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice dev), (dev))
OLDER(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2, (CUdevice dev), (dev))
OLDER(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2, (CUdevice dev, unsigned flags), (dev, flags))
OLDER(cuEventDestroy, cuEventDestroy_v2, (CUevent event), (event))
OLDER(cuStreamDestroy, cuStreamDestroy_v2, (CUstream stream), (stream))
OLDER(cuMemHostRegister, cuMemHostRegister_v2, (void* p, size_t bytes, unsigned flags), (p, bytes, flags))
OLDER(cuLinkCreate, cuLinkCreate_v2, (unsigned count, CUjit_option* options, void** values, CUlinkState* state),
      (count, options, values, state))
OLDER(cuLinkAddData, cuLinkAddData_v2,
      (CUlinkState state, CUjitInputType type, void* data, size_t size, const char* name, unsigned count,
       CUjit_option* options, void** values),
      (state, type, data, size, name, count, options, values))
OLDER(cuLinkAddFile, cuLinkAddFile_v2,
      (CUlinkState state, CUjitInputType type, const char* path, unsigned count, CUjit_option* options, void** values),
      (state, type, path, count, options, values))

OLDER(cuStreamBeginCapture, cuStreamBeginCapture_v2, (CUstream stream), (stream, CU_STREAM_CAPTURE_MODE_GLOBAL))
OLDER(cuStreamBeginCapture_ptsz, cuStreamBeginCapture_v2_ptsz, (CUstream stream),
      (stream, CU_STREAM_CAPTURE_MODE_GLOBAL))
OLDER(cuStreamGetCaptureInfo, cuStreamGetCaptureInfo_v3, (CUstream stream, CUstreamCaptureStatus* status, uint64_t* id),
      (stream, status, id, nullptr, nullptr, nullptr, nullptr))
OLDER(cuStreamGetCaptureInfo_ptsz, cuStreamGetCaptureInfo_v3_ptsz,
      (CUstream stream, CUstreamCaptureStatus* status, uint64_t* id),
      (stream, status, id, nullptr, nullptr, nullptr, nullptr))
OLDER(cuStreamGetCaptureInfo_v2, cuStreamGetCaptureInfo_v3,
      (CUstream stream, CUstreamCaptureStatus* status, uint64_t* id, CUgraph* graph, const CUgraphNode** nodes,
       size_t* count),
      (stream, status, id, graph, nodes, nullptr, count))
OLDER(cuStreamGetCaptureInfo_v2_ptsz, cuStreamGetCaptureInfo_v3_ptsz,
      (CUstream stream, CUstreamCaptureStatus* status, uint64_t* id, CUgraph* graph, const CUgraphNode** nodes,
       size_t* count),
      (stream, status, id, graph, nodes, nullptr, count))
OLDER(cuStreamUpdateCaptureDependencies, cuStreamUpdateCaptureDependencies_v2,
      (CUstream stream, CUgraphNode* nodes, size_t count, unsigned flags), (stream, nodes, nullptr, count, flags))
OLDER(cuStreamUpdateCaptureDependencies_ptsz, cuStreamUpdateCaptureDependencies_v2_ptsz,
      (CUstream stream, CUgraphNode* nodes, size_t count, unsigned flags), (stream, nodes, nullptr, count, flags))

OLDER(cuGraphGetEdges, cuGraphGetEdges_v2, (CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count),
      (graph, from, to, nullptr, count))
OLDER(cuGraphNodeGetDependencies, cuGraphNodeGetDependencies_v2, (CUgraphNode node, CUgraphNode* out, size_t* count),
      (node, out, nullptr, count))
OLDER(cuGraphNodeGetDependentNodes, cuGraphNodeGetDependentNodes_v2,
      (CUgraphNode node, CUgraphNode* out, size_t* count), (node, out, nullptr, count))
OLDER(cuGraphAddDependencies, cuGraphAddDependencies_v2,
      (CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, size_t count), (graph, from, to, nullptr, count))
OLDER(cuGraphRemoveDependencies, cuGraphRemoveDependencies_v2,
      (CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, size_t count), (graph, from, to, nullptr, count))
OLDER(cuGraphInstantiate_v2, cuGraphInstantiate,
      (CUgraphExec * out, CUgraph graph, CUgraphNode* error_node, char* log, size_t log_bytes),
      (out, graph, error_node, log, log_bytes))

#undef OLDER

CUresult cuCtxCreate_v3(CUcontext* out, void*, int affinities, unsigned flags, CUdevice dev) {
  return affinities == 0 ? cuCtxCreate_v2(out, flags, dev) : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuGraphInstantiate(CUgraphExec* out, CUgraph graph, CUgraphNode* error_node, char* log, size_t log_bytes) {
  if (error_node != nullptr) *error_node = nullptr;
  if (log != nullptr && log_bytes > 0) log[0] = 0;
  return cuGraphInstantiateWithFlags(out, graph, 0);
}

CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode* error_node, CUgraphExecUpdateResult* outcome) {
  CUgraphExecUpdateResultInfo info = {};
  const CUresult result = cuGraphExecUpdate_v2(exec, graph, &info);
  if (error_node != nullptr) *error_node = info.errorNode;
  if (outcome != nullptr) *outcome = info.result;
  return result;
}

CUresult cuGraphAddKernelNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_KERNEL_NODE_PARAMS now = todays(*params);
  return cuGraphAddKernelNode_v2(out, graph, dependencies, count, &now);
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_KERNEL_NODE_PARAMS now = todays(*params);
  return cuGraphKernelNodeSetParams_v2(node, &now);
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_KERNEL_NODE_PARAMS now = todays(*params);
  return cuGraphExecKernelNodeSetParams_v2(exec, node, &now);
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* params) {
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUDA_KERNEL_NODE_PARAMS now = {};
  const CUresult result = cuGraphKernelNodeGetParams_v2(node, &now);
  if (result != CUDA_SUCCESS) return result;
  *params = {now.func,      now.gridDimX,  now.gridDimY,       now.gridDimZ,     now.blockDimX,
             now.blockDimY, now.blockDimZ, now.sharedMemBytes, now.kernelParams, now.extra};
  return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice dev) {
  if (major == nullptr || minor == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, dev);
  return result == CUDA_SUCCESS ? cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, dev)
                                : result;
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice dev, CUdevice peer) {
  return api([&](Driver&, auto&) -> CUresult {
    if (can == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (dev != 0 || peer != 0) return CUDA_ERROR_INVALID_DEVICE;
    *can = 0;  // a device is not its own peer
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig* config) {
  return in_context([&](Driver&, Context&, auto&) -> CUresult {
    if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *config = 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
  return in_context(
      [&](Driver&, Context&, auto&) -> CUresult { return config > 2 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS; });
}

CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig config) {
  return in_context([&](Driver& d, Context&, auto&) -> CUresult {
    if (find_function(d, function) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return config > 2 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  });
}

CUresult cuProfilerStart() {
  return in_context([](Driver&, Context&, auto&) { return CUDA_SUCCESS; });
}

CUresult cuProfilerStop() { return cuProfilerStart(); }

}  // extern "C"
}  // namespace ptx::cuda
