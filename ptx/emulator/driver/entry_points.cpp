// cuGetProcAddress: finds the entry point for a function's name with the signature of the CUDA version a program was
// built for. Versions are those of NVIDIA's cudaTypedefs.h.
#include <algorithm>
#include <cstring>

#include "ptx/driver_api_others.h"
#include "ptx/driver_api_per_thread.h"
#include "ptx/emulator/driver/not_emulated.h"

namespace ptx::cuda {

namespace {

struct EntryPoint {
  const char* name;
  int since;  // 1000 * major + 10 * minor
  void (*function)();
  void (*per_thread)() = nullptr;  // variant for per-thread default streams, if that matters
};

template <class Function>
void (*entry(Function* function))() {
  return reinterpret_cast<void (*)()>(function);
}

const EntryPoint kEntryPoints[] = {
    // Oldest version first for each name.
    {"cuCtxCreate", 2000, entry(&cuCtxCreate_v2)},
    {"cuCtxCreate", 11040, entry(&cuCtxCreate_v3)},
    {"cuCtxCreate", 12050, entry(&cuCtxCreate_v4)},
    {"cuCtxDestroy", 2000, entry(&cuCtxDestroy_v2)},
    {"cuCtxGetApiVersion", 3020, entry(&cuCtxGetApiVersion)},
    {"cuCtxGetCacheConfig", 3020, entry(&cuCtxGetCacheConfig)},
    {"cuCtxGetCurrent", 4000, entry(&cuCtxGetCurrent)},
    {"cuCtxGetDevice", 2000, entry(&cuCtxGetDevice)},
    {"cuCtxGetDevice", 13000, entry(&cuCtxGetDevice_v2)},
    {"cuCtxGetFlags", 7000, entry(&cuCtxGetFlags)},
    {"cuCtxGetId", 12000, entry(&cuCtxGetId)},
    {"cuCtxGetLimit", 3010, entry(&cuCtxGetLimit)},
    {"cuCtxGetSharedMemConfig", 4020, entry(&cuCtxGetSharedMemConfig)},
    {"cuCtxGetStreamPriorityRange", 5050, entry(&cuCtxGetStreamPriorityRange)},
    {"cuCtxPopCurrent", 2000, entry(&cuCtxPopCurrent_v2)},
    {"cuCtxPushCurrent", 2000, entry(&cuCtxPushCurrent_v2)},
    {"cuCtxSetCacheConfig", 3020, entry(&cuCtxSetCacheConfig)},
    {"cuCtxSetCurrent", 4000, entry(&cuCtxSetCurrent)},
    {"cuCtxSetFlags", 12010, entry(&cuCtxSetFlags)},
    {"cuCtxSetLimit", 3010, entry(&cuCtxSetLimit)},
    {"cuCtxSetSharedMemConfig", 4020, entry(&cuCtxSetSharedMemConfig)},
    {"cuCtxSynchronize", 2000, entry(&cuCtxSynchronize)},
    {"cuCtxSynchronize", 13000, entry(&cuCtxSynchronize_v2)},
    {"cuDeviceCanAccessPeer", 4000, entry(&cuDeviceCanAccessPeer)},
    {"cuDeviceComputeCapability", 2000, entry(&cuDeviceComputeCapability)},
    {"cuDeviceGet", 2000, entry(&cuDeviceGet)},
    {"cuDeviceGetAttribute", 2000, entry(&cuDeviceGetAttribute)},
    {"cuDeviceGetByPCIBusId", 4010, entry(&cuDeviceGetByPCIBusId)},
    {"cuDeviceGetCount", 2000, entry(&cuDeviceGetCount)},
    {"cuDeviceGetDefaultMemPool", 11020, entry(&cuDeviceGetDefaultMemPool)},
    {"cuDeviceGetMemPool", 11020, entry(&cuDeviceGetMemPool)},
    {"cuDeviceGetName", 2000, entry(&cuDeviceGetName)},
    {"cuDeviceGetPCIBusId", 4010, entry(&cuDeviceGetPCIBusId)},
    {"cuDeviceGetUuid", 9020, entry(&cuDeviceGetUuid_v2)},
    {"cuDevicePrimaryCtxGetState", 7000, entry(&cuDevicePrimaryCtxGetState)},
    {"cuDevicePrimaryCtxRelease", 7000, entry(&cuDevicePrimaryCtxRelease_v2)},
    {"cuDevicePrimaryCtxReset", 7000, entry(&cuDevicePrimaryCtxReset_v2)},
    {"cuDevicePrimaryCtxRetain", 7000, entry(&cuDevicePrimaryCtxRetain)},
    {"cuDevicePrimaryCtxSetFlags", 7000, entry(&cuDevicePrimaryCtxSetFlags_v2)},
    {"cuDeviceSetMemPool", 11020, entry(&cuDeviceSetMemPool)},
    {"cuDeviceTotalMem", 3020, entry(&cuDeviceTotalMem_v2)},
    {"cuDriverGetVersion", 2020, entry(&cuDriverGetVersion)},
    {"cuEventCreate", 2000, entry(&cuEventCreate)},
    {"cuEventDestroy", 2000, entry(&cuEventDestroy_v2)},
    {"cuEventElapsedTime", 2000, entry(&cuEventElapsedTime)},
    {"cuEventElapsedTime", 12080, entry(&cuEventElapsedTime_v2)},
    {"cuEventQuery", 2000, entry(&cuEventQuery)},
    {"cuEventRecord", 2000, entry(&cuEventRecord), entry(&cuEventRecord_ptsz)},
    {"cuEventRecordWithFlags", 11010, entry(&cuEventRecordWithFlags), entry(&cuEventRecordWithFlags_ptsz)},
    {"cuEventSynchronize", 2000, entry(&cuEventSynchronize)},
    {"cuFuncGetAttribute", 2020, entry(&cuFuncGetAttribute)},
    {"cuFuncGetModule", 11000, entry(&cuFuncGetModule)},
    {"cuFuncGetName", 12030, entry(&cuFuncGetName)},
    {"cuFuncGetParamInfo", 12040, entry(&cuFuncGetParamInfo)},
    {"cuFuncIsLoaded", 12040, entry(&cuFuncIsLoaded)},
    {"cuFuncLoad", 12040, entry(&cuFuncLoad)},
    {"cuFuncSetAttribute", 9000, entry(&cuFuncSetAttribute)},
    {"cuFuncSetCacheConfig", 3000, entry(&cuFuncSetCacheConfig)},
    {"cuFuncSetSharedMemConfig", 4020, entry(&cuFuncSetSharedMemConfig)},
    {"cuGetErrorName", 6000, entry(&cuGetErrorName)},
    {"cuGetErrorString", 6000, entry(&cuGetErrorString)},
    {"cuGetExportTable", 3000, entry(&cuGetExportTable)},
    {"cuGetProcAddress", 11030, entry(&cuGetProcAddress)},
    {"cuGetProcAddress", 12000, entry(&cuGetProcAddress_v2)},
    {"cuGraphAddBatchMemOpNode", 11070, entry(&cuGraphAddBatchMemOpNode)},
    {"cuGraphAddChildGraphNode", 10000, entry(&cuGraphAddChildGraphNode)},
    {"cuGraphAddDependencies", 10000, entry(&cuGraphAddDependencies)},
    {"cuGraphAddDependencies", 12030, entry(&cuGraphAddDependencies_v2)},
    {"cuGraphAddEmptyNode", 10000, entry(&cuGraphAddEmptyNode)},
    {"cuGraphAddEventRecordNode", 11010, entry(&cuGraphAddEventRecordNode)},
    {"cuGraphAddEventWaitNode", 11010, entry(&cuGraphAddEventWaitNode)},
    {"cuGraphAddHostNode", 10000, entry(&cuGraphAddHostNode)},
    {"cuGraphAddKernelNode", 10000, entry(&cuGraphAddKernelNode)},
    {"cuGraphAddKernelNode", 12000, entry(&cuGraphAddKernelNode_v2)},
    {"cuGraphAddMemcpyNode", 10000, entry(&cuGraphAddMemcpyNode)},
    {"cuGraphAddMemsetNode", 10000, entry(&cuGraphAddMemsetNode)},
    {"cuGraphAddNode", 12020, entry(&cuGraphAddNode)},
    {"cuGraphAddNode", 12030, entry(&cuGraphAddNode_v2)},
    {"cuGraphBatchMemOpNodeGetParams", 11070, entry(&cuGraphBatchMemOpNodeGetParams)},
    {"cuGraphBatchMemOpNodeSetParams", 11070, entry(&cuGraphBatchMemOpNodeSetParams)},
    {"cuGraphChildGraphNodeGetGraph", 10000, entry(&cuGraphChildGraphNodeGetGraph)},
    {"cuGraphClone", 10000, entry(&cuGraphClone)},
    {"cuGraphCreate", 10000, entry(&cuGraphCreate)},
    {"cuGraphDestroy", 10000, entry(&cuGraphDestroy)},
    {"cuGraphDestroyNode", 10000, entry(&cuGraphDestroyNode)},
    {"cuGraphEventRecordNodeGetEvent", 11010, entry(&cuGraphEventRecordNodeGetEvent)},
    {"cuGraphEventRecordNodeSetEvent", 11010, entry(&cuGraphEventRecordNodeSetEvent)},
    {"cuGraphEventWaitNodeGetEvent", 11010, entry(&cuGraphEventWaitNodeGetEvent)},
    {"cuGraphEventWaitNodeSetEvent", 11010, entry(&cuGraphEventWaitNodeSetEvent)},
    {"cuGraphExecBatchMemOpNodeSetParams", 11070, entry(&cuGraphExecBatchMemOpNodeSetParams)},
    {"cuGraphExecChildGraphNodeSetParams", 11010, entry(&cuGraphExecChildGraphNodeSetParams)},
    {"cuGraphExecDestroy", 10000, entry(&cuGraphExecDestroy)},
    {"cuGraphExecEventRecordNodeSetEvent", 11010, entry(&cuGraphExecEventRecordNodeSetEvent)},
    {"cuGraphExecEventWaitNodeSetEvent", 11010, entry(&cuGraphExecEventWaitNodeSetEvent)},
    {"cuGraphExecGetFlags", 12000, entry(&cuGraphExecGetFlags)},
    {"cuGraphExecHostNodeSetParams", 10020, entry(&cuGraphExecHostNodeSetParams)},
    {"cuGraphExecKernelNodeSetParams", 10010, entry(&cuGraphExecKernelNodeSetParams)},
    {"cuGraphExecKernelNodeSetParams", 12000, entry(&cuGraphExecKernelNodeSetParams_v2)},
    {"cuGraphExecMemcpyNodeSetParams", 10020, entry(&cuGraphExecMemcpyNodeSetParams)},
    {"cuGraphExecMemsetNodeSetParams", 10020, entry(&cuGraphExecMemsetNodeSetParams)},
    {"cuGraphExecNodeSetParams", 12020, entry(&cuGraphExecNodeSetParams)},
    {"cuGraphExecUpdate", 10020, entry(&cuGraphExecUpdate)},
    {"cuGraphExecUpdate", 12000, entry(&cuGraphExecUpdate_v2)},
    {"cuGraphGetEdges", 10000, entry(&cuGraphGetEdges)},
    {"cuGraphGetEdges", 12030, entry(&cuGraphGetEdges_v2)},
    {"cuGraphGetNodes", 10000, entry(&cuGraphGetNodes)},
    {"cuGraphGetRootNodes", 10000, entry(&cuGraphGetRootNodes)},
    {"cuGraphHostNodeGetParams", 10000, entry(&cuGraphHostNodeGetParams)},
    {"cuGraphHostNodeSetParams", 10000, entry(&cuGraphHostNodeSetParams)},
    {"cuGraphInstantiate", 10000, entry(&cuGraphInstantiate)},
    {"cuGraphInstantiate", 11000, entry(&cuGraphInstantiate_v2)},
    {"cuGraphInstantiate", 12000, entry(&cuGraphInstantiateWithFlags)},
    {"cuGraphInstantiateWithFlags", 11040, entry(&cuGraphInstantiateWithFlags)},
    {"cuGraphInstantiateWithParams", 12000, entry(&cuGraphInstantiateWithParams),
     entry(&cuGraphInstantiateWithParams_ptsz)},
    {"cuGraphKernelNodeCopyAttributes", 11000, entry(&cuGraphKernelNodeCopyAttributes)},
    {"cuGraphKernelNodeGetAttribute", 11000, entry(&cuGraphKernelNodeGetAttribute)},
    {"cuGraphKernelNodeGetParams", 10000, entry(&cuGraphKernelNodeGetParams)},
    {"cuGraphKernelNodeGetParams", 12000, entry(&cuGraphKernelNodeGetParams_v2)},
    {"cuGraphKernelNodeSetAttribute", 11000, entry(&cuGraphKernelNodeSetAttribute)},
    {"cuGraphKernelNodeSetParams", 10000, entry(&cuGraphKernelNodeSetParams)},
    {"cuGraphKernelNodeSetParams", 12000, entry(&cuGraphKernelNodeSetParams_v2)},
    {"cuGraphLaunch", 10000, entry(&cuGraphLaunch), entry(&cuGraphLaunch_ptsz)},
    {"cuGraphMemcpyNodeGetParams", 10000, entry(&cuGraphMemcpyNodeGetParams)},
    {"cuGraphMemcpyNodeSetParams", 10000, entry(&cuGraphMemcpyNodeSetParams)},
    {"cuGraphMemsetNodeGetParams", 10000, entry(&cuGraphMemsetNodeGetParams)},
    {"cuGraphMemsetNodeSetParams", 10000, entry(&cuGraphMemsetNodeSetParams)},
    {"cuGraphNodeFindInClone", 10000, entry(&cuGraphNodeFindInClone)},
    {"cuGraphNodeGetDependencies", 10000, entry(&cuGraphNodeGetDependencies)},
    {"cuGraphNodeGetDependencies", 12030, entry(&cuGraphNodeGetDependencies_v2)},
    {"cuGraphNodeGetDependentNodes", 10000, entry(&cuGraphNodeGetDependentNodes)},
    {"cuGraphNodeGetDependentNodes", 12030, entry(&cuGraphNodeGetDependentNodes_v2)},
    {"cuGraphNodeGetEnabled", 11060, entry(&cuGraphNodeGetEnabled)},
    {"cuGraphNodeGetType", 10000, entry(&cuGraphNodeGetType)},
    {"cuGraphNodeSetEnabled", 11060, entry(&cuGraphNodeSetEnabled)},
    {"cuGraphNodeSetParams", 12020, entry(&cuGraphNodeSetParams)},
    {"cuGraphReleaseUserObject", 11030, entry(&cuGraphReleaseUserObject)},
    {"cuGraphRemoveDependencies", 10000, entry(&cuGraphRemoveDependencies)},
    {"cuGraphRemoveDependencies", 12030, entry(&cuGraphRemoveDependencies_v2)},
    {"cuGraphRetainUserObject", 11030, entry(&cuGraphRetainUserObject)},
    {"cuGraphUpload", 11010, entry(&cuGraphUpload), entry(&cuGraphUpload_ptsz)},
    {"cuInit", 2000, entry(&cuInit)},
    {"cuKernelGetAttribute", 12000, entry(&cuKernelGetAttribute)},
    {"cuKernelGetFunction", 12000, entry(&cuKernelGetFunction)},
    {"cuKernelGetLibrary", 12050, entry(&cuKernelGetLibrary)},
    {"cuKernelGetName", 12030, entry(&cuKernelGetName)},
    {"cuKernelGetParamInfo", 12040, entry(&cuKernelGetParamInfo)},
    {"cuKernelSetAttribute", 12000, entry(&cuKernelSetAttribute)},
    {"cuKernelSetCacheConfig", 12000, entry(&cuKernelSetCacheConfig)},
    {"cuLaunchCooperativeKernel", 9000, entry(&cuLaunchCooperativeKernel), entry(&cuLaunchCooperativeKernel_ptsz)},
    {"cuLaunchHostFunc", 10000, entry(&cuLaunchHostFunc), entry(&cuLaunchHostFunc_ptsz)},
    {"cuLaunchKernel", 4000, entry(&cuLaunchKernel), entry(&cuLaunchKernel_ptsz)},
    {"cuLaunchKernelEx", 11060, entry(&cuLaunchKernelEx), entry(&cuLaunchKernelEx_ptsz)},
    {"cuLibraryEnumerateKernels", 12040, entry(&cuLibraryEnumerateKernels)},
    {"cuLibraryGetGlobal", 12000, entry(&cuLibraryGetGlobal)},
    {"cuLibraryGetKernel", 12000, entry(&cuLibraryGetKernel)},
    {"cuLibraryGetKernelCount", 12040, entry(&cuLibraryGetKernelCount)},
    {"cuLibraryGetModule", 12000, entry(&cuLibraryGetModule)},
    {"cuLibraryLoadData", 12000, entry(&cuLibraryLoadData)},
    {"cuLibraryLoadFromFile", 12000, entry(&cuLibraryLoadFromFile)},
    {"cuLibraryUnload", 12000, entry(&cuLibraryUnload)},
    {"cuLinkAddData", 5050, entry(&cuLinkAddData_v2)},
    {"cuLinkAddFile", 5050, entry(&cuLinkAddFile_v2)},
    {"cuLinkComplete", 5050, entry(&cuLinkComplete)},
    {"cuLinkCreate", 5050, entry(&cuLinkCreate_v2)},
    {"cuLinkDestroy", 5050, entry(&cuLinkDestroy)},
    {"cuMemAdvise", 8000, entry(&cuMemAdvise)},
    {"cuMemAdvise", 12020, entry(&cuMemAdvise_v2)},
    {"cuMemAlloc", 3020, entry(&cuMemAlloc_v2)},
    {"cuMemAllocAsync", 11020, entry(&cuMemAllocAsync), entry(&cuMemAllocAsync_ptsz)},
    {"cuMemAllocFromPoolAsync", 11020, entry(&cuMemAllocFromPoolAsync), entry(&cuMemAllocFromPoolAsync_ptsz)},
    {"cuMemAllocHost", 3020, entry(&cuMemAllocHost_v2)},
    {"cuMemAllocManaged", 6000, entry(&cuMemAllocManaged)},
    {"cuMemAllocPitch", 3020, entry(&cuMemAllocPitch_v2)},
    {"cuMemFree", 3020, entry(&cuMemFree_v2)},
    {"cuMemFreeAsync", 11020, entry(&cuMemFreeAsync), entry(&cuMemFreeAsync_ptsz)},
    {"cuMemFreeHost", 2000, entry(&cuMemFreeHost)},
    {"cuMemGetAddressRange", 3020, entry(&cuMemGetAddressRange_v2)},
    {"cuMemGetDefaultMemPool", 13000, entry(&cuMemGetDefaultMemPool)},
    {"cuMemGetInfo", 3020, entry(&cuMemGetInfo_v2)},
    {"cuMemGetMemPool", 13000, entry(&cuMemGetMemPool)},
    {"cuMemHostAlloc", 2020, entry(&cuMemHostAlloc)},
    {"cuMemHostGetDevicePointer", 3020, entry(&cuMemHostGetDevicePointer_v2)},
    {"cuMemHostGetFlags", 2030, entry(&cuMemHostGetFlags)},
    {"cuMemHostRegister", 4000, entry(&cuMemHostRegister_v2)},
    {"cuMemHostUnregister", 4000, entry(&cuMemHostUnregister)},
    {"cuMemPoolCreate", 11020, entry(&cuMemPoolCreate)},
    {"cuMemPoolDestroy", 11020, entry(&cuMemPoolDestroy)},
    {"cuMemPoolGetAccess", 11020, entry(&cuMemPoolGetAccess)},
    {"cuMemPoolGetAttribute", 11020, entry(&cuMemPoolGetAttribute)},
    {"cuMemPoolSetAccess", 11020, entry(&cuMemPoolSetAccess)},
    {"cuMemPoolSetAttribute", 11020, entry(&cuMemPoolSetAttribute)},
    {"cuMemPoolTrimTo", 11020, entry(&cuMemPoolTrimTo)},
    {"cuMemPrefetchAsync", 8000, entry(&cuMemPrefetchAsync), entry(&cuMemPrefetchAsync_ptsz)},
    {"cuMemPrefetchAsync", 12020, entry(&cuMemPrefetchAsync_v2), entry(&cuMemPrefetchAsync_v2_ptsz)},
    {"cuMemSetMemPool", 13000, entry(&cuMemSetMemPool)},
    {"cuMemcpy", 4000, entry(&cuMemcpy), entry(&cuMemcpy_ptds)},
    {"cuMemcpy2D", 3020, entry(&cuMemcpy2D_v2), entry(&cuMemcpy2D_v2_ptds)},
    {"cuMemcpy2DAsync", 3020, entry(&cuMemcpy2DAsync_v2), entry(&cuMemcpy2DAsync_v2_ptsz)},
    {"cuMemcpy2DUnaligned", 3020, entry(&cuMemcpy2DUnaligned_v2), entry(&cuMemcpy2DUnaligned_v2_ptds)},
    {"cuMemcpy3D", 3020, entry(&cuMemcpy3D_v2), entry(&cuMemcpy3D_v2_ptds)},
    {"cuMemcpy3DAsync", 3020, entry(&cuMemcpy3DAsync_v2), entry(&cuMemcpy3DAsync_v2_ptsz)},
    {"cuMemcpyAsync", 4000, entry(&cuMemcpyAsync), entry(&cuMemcpyAsync_ptsz)},
    {"cuMemcpyDtoD", 3020, entry(&cuMemcpyDtoD_v2), entry(&cuMemcpyDtoD_v2_ptds)},
    {"cuMemcpyDtoDAsync", 3020, entry(&cuMemcpyDtoDAsync_v2), entry(&cuMemcpyDtoDAsync_v2_ptsz)},
    {"cuMemcpyDtoH", 3020, entry(&cuMemcpyDtoH_v2), entry(&cuMemcpyDtoH_v2_ptds)},
    {"cuMemcpyDtoHAsync", 3020, entry(&cuMemcpyDtoHAsync_v2), entry(&cuMemcpyDtoHAsync_v2_ptsz)},
    {"cuMemcpyHtoD", 3020, entry(&cuMemcpyHtoD_v2), entry(&cuMemcpyHtoD_v2_ptds)},
    {"cuMemcpyHtoDAsync", 3020, entry(&cuMemcpyHtoDAsync_v2), entry(&cuMemcpyHtoDAsync_v2_ptsz)},
    {"cuMemsetD16", 3020, entry(&cuMemsetD16_v2), entry(&cuMemsetD16_v2_ptds)},
    {"cuMemsetD16Async", 3020, entry(&cuMemsetD16Async), entry(&cuMemsetD16Async_ptsz)},
    {"cuMemsetD2D16", 3020, entry(&cuMemsetD2D16_v2), entry(&cuMemsetD2D16_v2_ptds)},
    {"cuMemsetD2D16Async", 3020, entry(&cuMemsetD2D16Async), entry(&cuMemsetD2D16Async_ptsz)},
    {"cuMemsetD2D32", 3020, entry(&cuMemsetD2D32_v2), entry(&cuMemsetD2D32_v2_ptds)},
    {"cuMemsetD2D32Async", 3020, entry(&cuMemsetD2D32Async), entry(&cuMemsetD2D32Async_ptsz)},
    {"cuMemsetD2D8", 3020, entry(&cuMemsetD2D8_v2), entry(&cuMemsetD2D8_v2_ptds)},
    {"cuMemsetD2D8Async", 3020, entry(&cuMemsetD2D8Async), entry(&cuMemsetD2D8Async_ptsz)},
    {"cuMemsetD32", 3020, entry(&cuMemsetD32_v2), entry(&cuMemsetD32_v2_ptds)},
    {"cuMemsetD32Async", 3020, entry(&cuMemsetD32Async), entry(&cuMemsetD32Async_ptsz)},
    {"cuMemsetD8", 3020, entry(&cuMemsetD8_v2), entry(&cuMemsetD8_v2_ptds)},
    {"cuMemsetD8Async", 3020, entry(&cuMemsetD8Async), entry(&cuMemsetD8Async_ptsz)},
    {"cuModuleEnumerateFunctions", 12040, entry(&cuModuleEnumerateFunctions)},
    {"cuModuleGetFunction", 2000, entry(&cuModuleGetFunction)},
    {"cuModuleGetFunctionCount", 12040, entry(&cuModuleGetFunctionCount)},
    {"cuModuleGetGlobal", 3020, entry(&cuModuleGetGlobal_v2)},
    {"cuModuleGetLoadingMode", 11070, entry(&cuModuleGetLoadingMode)},
    {"cuModuleLoad", 2000, entry(&cuModuleLoad)},
    {"cuModuleLoadData", 2000, entry(&cuModuleLoadData)},
    {"cuModuleLoadDataEx", 2010, entry(&cuModuleLoadDataEx)},
    {"cuModuleLoadFatBinary", 2000, entry(&cuModuleLoadFatBinary)},
    {"cuModuleUnload", 2000, entry(&cuModuleUnload)},
    {"cuOccupancyAvailableDynamicSMemPerBlock", 10020, entry(&cuOccupancyAvailableDynamicSMemPerBlock)},
    {"cuOccupancyMaxActiveBlocksPerMultiprocessor", 6050, entry(&cuOccupancyMaxActiveBlocksPerMultiprocessor)},
    {"cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", 7000,
     entry(&cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)},
    {"cuOccupancyMaxPotentialBlockSize", 6050, entry(&cuOccupancyMaxPotentialBlockSize)},
    {"cuOccupancyMaxPotentialBlockSizeWithFlags", 7000, entry(&cuOccupancyMaxPotentialBlockSizeWithFlags)},
    {"cuPointerGetAttribute", 4000, entry(&cuPointerGetAttribute)},
    {"cuPointerGetAttributes", 7000, entry(&cuPointerGetAttributes)},
    {"cuProfilerStart", 4000, entry(&cuProfilerStart)},
    {"cuProfilerStop", 4000, entry(&cuProfilerStop)},
    {"cuStreamAddCallback", 5000, entry(&cuStreamAddCallback), entry(&cuStreamAddCallback_ptsz)},
    {"cuStreamAttachMemAsync", 6000, entry(&cuStreamAttachMemAsync), entry(&cuStreamAttachMemAsync_ptsz)},
    {"cuStreamBatchMemOp", 8000, entry(&cuStreamBatchMemOp), entry(&cuStreamBatchMemOp_ptsz)},
    {"cuStreamBatchMemOp", 11070, entry(&cuStreamBatchMemOp_v2), entry(&cuStreamBatchMemOp_v2_ptsz)},
    {"cuStreamBeginCapture", 10000, entry(&cuStreamBeginCapture), entry(&cuStreamBeginCapture_ptsz)},
    {"cuStreamBeginCapture", 10010, entry(&cuStreamBeginCapture_v2), entry(&cuStreamBeginCapture_v2_ptsz)},
    {"cuStreamBeginCaptureToGraph", 12030, entry(&cuStreamBeginCaptureToGraph),
     entry(&cuStreamBeginCaptureToGraph_ptsz)},
    {"cuStreamCreate", 2000, entry(&cuStreamCreate)},
    {"cuStreamCreateWithPriority", 5050, entry(&cuStreamCreateWithPriority)},
    {"cuStreamDestroy", 2000, entry(&cuStreamDestroy_v2)},
    {"cuStreamEndCapture", 10000, entry(&cuStreamEndCapture), entry(&cuStreamEndCapture_ptsz)},
    {"cuStreamGetCaptureInfo", 10010, entry(&cuStreamGetCaptureInfo), entry(&cuStreamGetCaptureInfo_ptsz)},
    {"cuStreamGetCaptureInfo", 11030, entry(&cuStreamGetCaptureInfo_v2), entry(&cuStreamGetCaptureInfo_v2_ptsz)},
    {"cuStreamGetCaptureInfo", 12030, entry(&cuStreamGetCaptureInfo_v3), entry(&cuStreamGetCaptureInfo_v3_ptsz)},
    {"cuStreamGetCtx", 9020, entry(&cuStreamGetCtx), entry(&cuStreamGetCtx_ptsz)},
    {"cuStreamGetCtx", 12050, entry(&cuStreamGetCtx_v2), entry(&cuStreamGetCtx_v2_ptsz)},
    {"cuStreamGetDevice", 12080, entry(&cuStreamGetDevice), entry(&cuStreamGetDevice_ptsz)},
    {"cuStreamGetFlags", 5050, entry(&cuStreamGetFlags), entry(&cuStreamGetFlags_ptsz)},
    {"cuStreamGetId", 12000, entry(&cuStreamGetId), entry(&cuStreamGetId_ptsz)},
    {"cuStreamGetPriority", 5050, entry(&cuStreamGetPriority), entry(&cuStreamGetPriority_ptsz)},
    {"cuStreamIsCapturing", 10000, entry(&cuStreamIsCapturing), entry(&cuStreamIsCapturing_ptsz)},
    {"cuStreamQuery", 2000, entry(&cuStreamQuery), entry(&cuStreamQuery_ptsz)},
    {"cuStreamSynchronize", 2000, entry(&cuStreamSynchronize), entry(&cuStreamSynchronize_ptsz)},
    {"cuStreamUpdateCaptureDependencies", 11030, entry(&cuStreamUpdateCaptureDependencies),
     entry(&cuStreamUpdateCaptureDependencies_ptsz)},
    {"cuStreamUpdateCaptureDependencies", 12030, entry(&cuStreamUpdateCaptureDependencies_v2),
     entry(&cuStreamUpdateCaptureDependencies_v2_ptsz)},
    {"cuStreamWaitEvent", 3020, entry(&cuStreamWaitEvent), entry(&cuStreamWaitEvent_ptsz)},
    {"cuStreamWaitValue32", 8000, entry(&cuStreamWaitValue32), entry(&cuStreamWaitValue32_ptsz)},
    {"cuStreamWaitValue32", 11070, entry(&cuStreamWaitValue32_v2), entry(&cuStreamWaitValue32_v2_ptsz)},
    {"cuStreamWaitValue64", 9000, entry(&cuStreamWaitValue64), entry(&cuStreamWaitValue64_ptsz)},
    {"cuStreamWaitValue64", 11070, entry(&cuStreamWaitValue64_v2), entry(&cuStreamWaitValue64_v2_ptsz)},
    {"cuStreamWriteValue32", 8000, entry(&cuStreamWriteValue32), entry(&cuStreamWriteValue32_ptsz)},
    {"cuStreamWriteValue32", 11070, entry(&cuStreamWriteValue32_v2), entry(&cuStreamWriteValue32_v2_ptsz)},
    {"cuStreamWriteValue64", 9000, entry(&cuStreamWriteValue64), entry(&cuStreamWriteValue64_ptsz)},
    {"cuStreamWriteValue64", 11070, entry(&cuStreamWriteValue64_v2), entry(&cuStreamWriteValue64_v2_ptsz)},
    {"cuThreadExchangeStreamCaptureMode", 10010, entry(&cuThreadExchangeStreamCaptureMode)},
    {"cuUserObjectCreate", 11030, entry(&cuUserObjectCreate)},
    {"cuUserObjectRelease", 11030, entry(&cuUserObjectRelease)},
    {"cuUserObjectRetain", 11030, entry(&cuUserObjectRetain)},
};

constexpr int kPerThreadSince = 7000;  // no name ending in _ptsz or _ptds is older
constexpr CUdriverProcAddressQueryResult kFound = 0, kNotFound = 1, kVersionTooOld = 2;

}  // namespace

extern "C" {

// flags select the null stream: the legacy default stream, or the calling thread's own.
CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, uint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  if (symbol == nullptr || function == nullptr || flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
    return CUDA_ERROR_INVALID_VALUE;
  *function = nullptr;
  CUdriverProcAddressQueryResult result = kNotFound;
  for (const EntryPoint& row : kEntryPoints) {
    if (std::strcmp(row.name, symbol) != 0) continue;
    const bool is_own = flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM && row.per_thread != nullptr;
    if ((is_own ? std::max(row.since, kPerThreadSince) : row.since) <= version) {
      *function = reinterpret_cast<void*>(is_own ? row.per_thread : row.function);
      result = kFound;
    } else if (result == kNotFound) {
      result = kVersionTooOld;
    }
  }
  if (result == kNotFound) {
    *function = reinterpret_cast<void*>(emulator::driver::find_not_emulated(symbol));
    if (*function != nullptr) result = kFound;
  }
  if (status != nullptr) *status = result;
  return result == kFound || status != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char* symbol, void** function, int version, uint64_t flags) {
  return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}

// Private tables of NVIDIA's runtime, which do not exist here.
CUresult cuGetExportTable(const void** table, const CUuuid*) {
  if (table != nullptr) *table = nullptr;
  return CUDA_ERROR_NOT_FOUND;
}

}  // extern "C"
}  // namespace ptx::cuda
