// Driver API entry points that only foreign programs call: signatures of older CUDA versions, and functions that this
// project does not use. Both libcuda.so.1 and the emulator export them.
#pragma once
#include "ptx/driver_api.h"

namespace ptx::cuda {

using CUuserObject = struct CUuserObject_st*;
using CUsharedconfig = unsigned;
using CUmem_advise = unsigned;

// A kernel node before CUDA 12: has no library kernel and no context.
struct CUDA_KERNEL_NODE_PARAMS_v1 {
  CUfunction func;
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  void** kernelParams;
  void** extra;
};

extern "C" {

// Older versions: symbols without a number in their name, unless stated otherwise.
CUresult cuGetProcAddress(const char* symbol, void** pfn, int cuda_version, uint64_t flags);
decltype(cuCtxCreate_v2) cuCtxCreate;
CUresult cuCtxCreate_v3(CUcontext* pctx, void* params_array, int num_params, unsigned flags, CUdevice dev);
decltype(cuCtxDestroy_v2) cuCtxDestroy;
decltype(cuCtxPushCurrent_v2) cuCtxPushCurrent;
decltype(cuCtxPopCurrent_v2) cuCtxPopCurrent;
decltype(cuDeviceGetUuid_v2) cuDeviceGetUuid;
decltype(cuDevicePrimaryCtxRelease_v2) cuDevicePrimaryCtxRelease;
decltype(cuDevicePrimaryCtxReset_v2) cuDevicePrimaryCtxReset;
decltype(cuDevicePrimaryCtxSetFlags_v2) cuDevicePrimaryCtxSetFlags;
decltype(cuEventDestroy_v2) cuEventDestroy;
decltype(cuStreamDestroy_v2) cuStreamDestroy;
decltype(cuMemHostRegister_v2) cuMemHostRegister;
decltype(cuLinkCreate_v2) cuLinkCreate;
decltype(cuLinkAddData_v2) cuLinkAddData;
CUresult cuStreamBeginCapture(CUstream stream);
CUresult cuStreamBeginCapture_ptsz(CUstream stream);
CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* capture_status_out, uint64_t* id_out);
CUresult cuStreamGetCaptureInfo_ptsz(CUstream stream, CUstreamCaptureStatus* capture_status_out, uint64_t* id_out);
CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* capture_status_out, uint64_t* id_out,
                                   CUgraph* graph_out, const CUgraphNode** dependencies_out,
                                   size_t* num_dependencies_out);
decltype(cuStreamGetCaptureInfo_v2) cuStreamGetCaptureInfo_v2_ptsz;
CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* dependencies, size_t num_dependencies,
                                           unsigned flags);
decltype(cuStreamUpdateCaptureDependencies) cuStreamUpdateCaptureDependencies_ptsz;
CUresult cuGraphAddKernelNode(CUgraphNode* graph_node, CUgraph graph, const CUgraphNode* dependencies,
                              size_t num_dependencies, const CUDA_KERNEL_NODE_PARAMS_v1* node_params);
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* node_params);
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* node_params);
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec graph_exec, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS_v1* node_params);
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* num_edges);
CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* dependencies, size_t* num_dependencies);
CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* dependent_nodes, size_t* num_dependent_nodes);
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, size_t num_dependencies);
CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   size_t num_dependencies);
CUresult cuGraphInstantiate(CUgraphExec* graph_exec, CUgraph graph, CUgraphNode* error_node, char* log_buffer,
                            size_t buffer_size);
decltype(cuGraphInstantiate) cuGraphInstantiate_v2;
CUresult cuGraphExecUpdate(CUgraphExec graph_exec, CUgraph graph, CUgraphNode* error_node_out,
                           CUgraphExecUpdateResult* update_result_out);

// Devices and contexts
CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice dev);
CUresult cuDeviceCanAccessPeer(int* can_access_peer, CUdevice dev, CUdevice peer_dev);
CUresult cuCtxGetSharedMemConfig(CUsharedconfig* config);  // always 0, the default: banks of 8 bytes no longer exist
CUresult cuCtxSetSharedMemConfig(CUsharedconfig config);
CUresult cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig config);

// No profiler is attached, so these do nothing.
CUresult cuProfilerStart();
CUresult cuProfilerStop();

// Hints about managed memory; cuMemAllocManaged is among the others
CUresult cuMemPrefetchAsync(CUdeviceptr dptr, size_t count, CUdevice dst_device, CUstream stream);
CUresult cuMemPrefetchAsync_v2(CUdeviceptr dptr, size_t count, CUmemLocation location, unsigned flags, CUstream stream);
decltype(cuMemPrefetchAsync) cuMemPrefetchAsync_ptsz;
decltype(cuMemPrefetchAsync_v2) cuMemPrefetchAsync_v2_ptsz;
CUresult cuMemAdvise(CUdeviceptr dptr, size_t count, CUmem_advise advice, CUdevice device);
CUresult cuMemAdvise_v2(CUdeviceptr dptr, size_t count, CUmem_advise advice, CUmemLocation location);
CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr dptr, size_t length, unsigned flags);
decltype(cuStreamAttachMemAsync) cuStreamAttachMemAsync_ptsz;

// Linking from files
CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path, unsigned num_options,
                          CUjit_option* options, void** option_values);
decltype(cuLinkAddFile_v2) cuLinkAddFile;

// User objects, which graphs keep alive. Releasing the last reference calls destroy(ptr) on a separate thread.
CUresult cuUserObjectCreate(CUuserObject* object_out, void* ptr, CUhostFn destroy, unsigned initial_refcount,
                            unsigned flags);
CUresult cuUserObjectRetain(CUuserObject object, unsigned count);
CUresult cuUserObjectRelease(CUuserObject object, unsigned count);
CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count, unsigned flags);
CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned count);

}  // extern "C"
}  // namespace ptx::cuda
