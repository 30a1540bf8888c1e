// cuGetProcAddress: from a function's name and the version of CUDA a program was built for to the entry point that has
// that version's signature. Versions are those of NVIDIA's cudaTypedefs.h.
#include <cstring>

#include "ptx/driver_api.h"

namespace ptx::cuda {

namespace {

struct EntryPoint {
  const char* name;
  int since;  // 1000 * major + 10 * minor
  void (*function)();
};

template <class Function>
void (*entry(Function* function))() {
  return reinterpret_cast<void (*)()>(function);
}

const EntryPoint kEntryPoints[] = {
    // of one name: oldest first
    {"cuCtxCreate", 3020, entry(&cuCtxCreate_v2)},
    {"cuCtxCreate", 12050, entry(&cuCtxCreate_v4)},
    {"cuCtxDestroy", 4000, entry(&cuCtxDestroy_v2)},
    {"cuCtxGetApiVersion", 3020, entry(&cuCtxGetApiVersion)},
    {"cuCtxGetCacheConfig", 3020, entry(&cuCtxGetCacheConfig)},
    {"cuCtxGetCurrent", 4000, entry(&cuCtxGetCurrent)},
    {"cuCtxGetDevice", 2000, entry(&cuCtxGetDevice)},
    {"cuCtxGetDevice", 13000, entry(&cuCtxGetDevice_v2)},
    {"cuCtxGetFlags", 7000, entry(&cuCtxGetFlags)},
    {"cuCtxGetId", 12000, entry(&cuCtxGetId)},
    {"cuCtxGetLimit", 3010, entry(&cuCtxGetLimit)},
    {"cuCtxGetStreamPriorityRange", 5050, entry(&cuCtxGetStreamPriorityRange)},
    {"cuCtxPopCurrent", 4000, entry(&cuCtxPopCurrent_v2)},
    {"cuCtxPushCurrent", 4000, entry(&cuCtxPushCurrent_v2)},
    {"cuCtxSetCacheConfig", 3020, entry(&cuCtxSetCacheConfig)},
    {"cuCtxSetCurrent", 4000, entry(&cuCtxSetCurrent)},
    {"cuCtxSetFlags", 12010, entry(&cuCtxSetFlags)},
    {"cuCtxSetLimit", 3010, entry(&cuCtxSetLimit)},
    {"cuCtxSynchronize", 2000, entry(&cuCtxSynchronize)},
    {"cuCtxSynchronize", 13000, entry(&cuCtxSynchronize_v2)},
    {"cuDeviceGet", 2000, entry(&cuDeviceGet)},
    {"cuDeviceGetAttribute", 2000, entry(&cuDeviceGetAttribute)},
    {"cuDeviceGetByPCIBusId", 4010, entry(&cuDeviceGetByPCIBusId)},
    {"cuDeviceGetCount", 2000, entry(&cuDeviceGetCount)},
    {"cuDeviceGetName", 2000, entry(&cuDeviceGetName)},
    {"cuDeviceGetPCIBusId", 4010, entry(&cuDeviceGetPCIBusId)},
    {"cuDeviceGetUuid", 11040, entry(&cuDeviceGetUuid_v2)},
    {"cuDevicePrimaryCtxGetState", 7000, entry(&cuDevicePrimaryCtxGetState)},
    {"cuDevicePrimaryCtxRelease", 11000, entry(&cuDevicePrimaryCtxRelease_v2)},
    {"cuDevicePrimaryCtxReset", 11000, entry(&cuDevicePrimaryCtxReset_v2)},
    {"cuDevicePrimaryCtxRetain", 7000, entry(&cuDevicePrimaryCtxRetain)},
    {"cuDevicePrimaryCtxSetFlags", 11000, entry(&cuDevicePrimaryCtxSetFlags_v2)},
    {"cuDeviceTotalMem", 3020, entry(&cuDeviceTotalMem_v2)},
    {"cuDriverGetVersion", 2020, entry(&cuDriverGetVersion)},
    {"cuEventCreate", 2000, entry(&cuEventCreate)},
    {"cuEventDestroy", 4000, entry(&cuEventDestroy_v2)},
    {"cuEventElapsedTime", 2000, entry(&cuEventElapsedTime)},
    {"cuEventElapsedTime", 12080, entry(&cuEventElapsedTime_v2)},
    {"cuEventQuery", 2000, entry(&cuEventQuery)},
    {"cuEventRecord", 2000, entry(&cuEventRecord)},
    {"cuEventRecordWithFlags", 11010, entry(&cuEventRecordWithFlags)},
    {"cuEventSynchronize", 2000, entry(&cuEventSynchronize)},
    {"cuFuncGetAttribute", 2020, entry(&cuFuncGetAttribute)},
    {"cuFuncGetModule", 11000, entry(&cuFuncGetModule)},
    {"cuFuncGetName", 12030, entry(&cuFuncGetName)},
    {"cuFuncGetParamInfo", 12040, entry(&cuFuncGetParamInfo)},
    {"cuFuncIsLoaded", 12040, entry(&cuFuncIsLoaded)},
    {"cuFuncLoad", 12040, entry(&cuFuncLoad)},
    {"cuFuncSetAttribute", 9000, entry(&cuFuncSetAttribute)},
    {"cuFuncSetCacheConfig", 3000, entry(&cuFuncSetCacheConfig)},
    {"cuGetErrorName", 6000, entry(&cuGetErrorName)},
    {"cuGetErrorString", 6000, entry(&cuGetErrorString)},
    {"cuGetExportTable", 3000, entry(&cuGetExportTable)},
    {"cuGetProcAddress", 12000, entry(&cuGetProcAddress_v2)},
    {"cuGraphAddChildGraphNode", 10000, entry(&cuGraphAddChildGraphNode)},
    {"cuGraphAddDependencies", 12030, entry(&cuGraphAddDependencies_v2)},
    {"cuGraphAddEmptyNode", 10000, entry(&cuGraphAddEmptyNode)},
    {"cuGraphAddEventRecordNode", 11010, entry(&cuGraphAddEventRecordNode)},
    {"cuGraphAddEventWaitNode", 11010, entry(&cuGraphAddEventWaitNode)},
    {"cuGraphAddHostNode", 10000, entry(&cuGraphAddHostNode)},
    {"cuGraphAddKernelNode", 12000, entry(&cuGraphAddKernelNode_v2)},
    {"cuGraphAddMemcpyNode", 10000, entry(&cuGraphAddMemcpyNode)},
    {"cuGraphAddMemsetNode", 10000, entry(&cuGraphAddMemsetNode)},
    {"cuGraphChildGraphNodeGetGraph", 10000, entry(&cuGraphChildGraphNodeGetGraph)},
    {"cuGraphClone", 10000, entry(&cuGraphClone)},
    {"cuGraphCreate", 10000, entry(&cuGraphCreate)},
    {"cuGraphDestroy", 10000, entry(&cuGraphDestroy)},
    {"cuGraphDestroyNode", 10000, entry(&cuGraphDestroyNode)},
    {"cuGraphEventRecordNodeGetEvent", 11010, entry(&cuGraphEventRecordNodeGetEvent)},
    {"cuGraphEventRecordNodeSetEvent", 11010, entry(&cuGraphEventRecordNodeSetEvent)},
    {"cuGraphEventWaitNodeGetEvent", 11010, entry(&cuGraphEventWaitNodeGetEvent)},
    {"cuGraphEventWaitNodeSetEvent", 11010, entry(&cuGraphEventWaitNodeSetEvent)},
    {"cuGraphExecDestroy", 10000, entry(&cuGraphExecDestroy)},
    {"cuGraphExecGetFlags", 12000, entry(&cuGraphExecGetFlags)},
    {"cuGraphExecHostNodeSetParams", 10020, entry(&cuGraphExecHostNodeSetParams)},
    {"cuGraphExecKernelNodeSetParams", 12000, entry(&cuGraphExecKernelNodeSetParams_v2)},
    {"cuGraphExecMemcpyNodeSetParams", 10020, entry(&cuGraphExecMemcpyNodeSetParams)},
    {"cuGraphExecMemsetNodeSetParams", 10020, entry(&cuGraphExecMemsetNodeSetParams)},
    {"cuGraphExecUpdate", 12000, entry(&cuGraphExecUpdate_v2)},
    {"cuGraphGetEdges", 12030, entry(&cuGraphGetEdges_v2)},
    {"cuGraphGetNodes", 10000, entry(&cuGraphGetNodes)},
    {"cuGraphGetRootNodes", 10000, entry(&cuGraphGetRootNodes)},
    {"cuGraphHostNodeGetParams", 10000, entry(&cuGraphHostNodeGetParams)},
    {"cuGraphHostNodeSetParams", 10000, entry(&cuGraphHostNodeSetParams)},
    {"cuGraphInstantiate", 12000, entry(&cuGraphInstantiateWithFlags)},
    {"cuGraphInstantiateWithFlags", 11040, entry(&cuGraphInstantiateWithFlags)},
    {"cuGraphInstantiateWithParams", 12000, entry(&cuGraphInstantiateWithParams)},
    {"cuGraphKernelNodeGetParams", 12000, entry(&cuGraphKernelNodeGetParams_v2)},
    {"cuGraphKernelNodeSetParams", 12000, entry(&cuGraphKernelNodeSetParams_v2)},
    {"cuGraphLaunch", 10000, entry(&cuGraphLaunch)},
    {"cuGraphMemcpyNodeGetParams", 10000, entry(&cuGraphMemcpyNodeGetParams)},
    {"cuGraphMemcpyNodeSetParams", 10000, entry(&cuGraphMemcpyNodeSetParams)},
    {"cuGraphMemsetNodeGetParams", 10000, entry(&cuGraphMemsetNodeGetParams)},
    {"cuGraphMemsetNodeSetParams", 10000, entry(&cuGraphMemsetNodeSetParams)},
    {"cuGraphNodeFindInClone", 10000, entry(&cuGraphNodeFindInClone)},
    {"cuGraphNodeGetDependencies", 12030, entry(&cuGraphNodeGetDependencies_v2)},
    {"cuGraphNodeGetDependentNodes", 12030, entry(&cuGraphNodeGetDependentNodes_v2)},
    {"cuGraphNodeGetEnabled", 11060, entry(&cuGraphNodeGetEnabled)},
    {"cuGraphNodeGetType", 10000, entry(&cuGraphNodeGetType)},
    {"cuGraphNodeSetEnabled", 11060, entry(&cuGraphNodeSetEnabled)},
    {"cuGraphRemoveDependencies", 12030, entry(&cuGraphRemoveDependencies_v2)},
    {"cuGraphUpload", 11010, entry(&cuGraphUpload)},
    {"cuInit", 2000, entry(&cuInit)},
    {"cuKernelGetAttribute", 12000, entry(&cuKernelGetAttribute)},
    {"cuKernelGetFunction", 12000, entry(&cuKernelGetFunction)},
    {"cuKernelGetLibrary", 12050, entry(&cuKernelGetLibrary)},
    {"cuKernelGetName", 12030, entry(&cuKernelGetName)},
    {"cuKernelGetParamInfo", 12040, entry(&cuKernelGetParamInfo)},
    {"cuKernelSetAttribute", 12000, entry(&cuKernelSetAttribute)},
    {"cuKernelSetCacheConfig", 12000, entry(&cuKernelSetCacheConfig)},
    {"cuLaunchCooperativeKernel", 9000, entry(&cuLaunchCooperativeKernel)},
    {"cuLaunchHostFunc", 10000, entry(&cuLaunchHostFunc)},
    {"cuLaunchKernel", 4000, entry(&cuLaunchKernel)},
    {"cuLaunchKernelEx", 11060, entry(&cuLaunchKernelEx)},
    {"cuLibraryEnumerateKernels", 12040, entry(&cuLibraryEnumerateKernels)},
    {"cuLibraryGetGlobal", 12000, entry(&cuLibraryGetGlobal)},
    {"cuLibraryGetKernel", 12000, entry(&cuLibraryGetKernel)},
    {"cuLibraryGetKernelCount", 12040, entry(&cuLibraryGetKernelCount)},
    {"cuLibraryGetModule", 12000, entry(&cuLibraryGetModule)},
    {"cuLibraryLoadData", 12000, entry(&cuLibraryLoadData)},
    {"cuLibraryLoadFromFile", 12000, entry(&cuLibraryLoadFromFile)},
    {"cuLibraryUnload", 12000, entry(&cuLibraryUnload)},
    {"cuMemAlloc", 3020, entry(&cuMemAlloc_v2)},
    {"cuMemAllocAsync", 11020, entry(&cuMemAllocAsync)},
    {"cuMemAllocHost", 3020, entry(&cuMemAllocHost_v2)},
    {"cuMemAllocManaged", 6000, entry(&cuMemAllocManaged)},
    {"cuMemAllocPitch", 3020, entry(&cuMemAllocPitch_v2)},
    {"cuMemFree", 3020, entry(&cuMemFree_v2)},
    {"cuMemFreeAsync", 11020, entry(&cuMemFreeAsync)},
    {"cuMemFreeHost", 2000, entry(&cuMemFreeHost)},
    {"cuMemGetAddressRange", 3020, entry(&cuMemGetAddressRange_v2)},
    {"cuMemGetInfo", 3020, entry(&cuMemGetInfo_v2)},
    {"cuMemHostAlloc", 2020, entry(&cuMemHostAlloc)},
    {"cuMemHostGetDevicePointer", 3020, entry(&cuMemHostGetDevicePointer_v2)},
    {"cuMemHostGetFlags", 2030, entry(&cuMemHostGetFlags)},
    {"cuMemHostRegister", 6050, entry(&cuMemHostRegister_v2)},
    {"cuMemHostUnregister", 4000, entry(&cuMemHostUnregister)},
    {"cuMemcpy", 4000, entry(&cuMemcpy)},
    {"cuMemcpy2D", 3020, entry(&cuMemcpy2D_v2)},
    {"cuMemcpy2DAsync", 3020, entry(&cuMemcpy2DAsync_v2)},
    {"cuMemcpy2DUnaligned", 3020, entry(&cuMemcpy2DUnaligned_v2)},
    {"cuMemcpy3D", 3020, entry(&cuMemcpy3D_v2)},
    {"cuMemcpy3DAsync", 3020, entry(&cuMemcpy3DAsync_v2)},
    {"cuMemcpyAsync", 4000, entry(&cuMemcpyAsync)},
    {"cuMemcpyDtoD", 3020, entry(&cuMemcpyDtoD_v2)},
    {"cuMemcpyDtoDAsync", 3020, entry(&cuMemcpyDtoDAsync_v2)},
    {"cuMemcpyDtoH", 3020, entry(&cuMemcpyDtoH_v2)},
    {"cuMemcpyDtoHAsync", 3020, entry(&cuMemcpyDtoHAsync_v2)},
    {"cuMemcpyHtoD", 3020, entry(&cuMemcpyHtoD_v2)},
    {"cuMemcpyHtoDAsync", 3020, entry(&cuMemcpyHtoDAsync_v2)},
    {"cuMemsetD16", 3020, entry(&cuMemsetD16_v2)},
    {"cuMemsetD16Async", 3020, entry(&cuMemsetD16Async)},
    {"cuMemsetD2D16", 3020, entry(&cuMemsetD2D16_v2)},
    {"cuMemsetD2D16Async", 3020, entry(&cuMemsetD2D16Async)},
    {"cuMemsetD2D32", 3020, entry(&cuMemsetD2D32_v2)},
    {"cuMemsetD2D32Async", 3020, entry(&cuMemsetD2D32Async)},
    {"cuMemsetD2D8", 3020, entry(&cuMemsetD2D8_v2)},
    {"cuMemsetD2D8Async", 3020, entry(&cuMemsetD2D8Async)},
    {"cuMemsetD32", 3020, entry(&cuMemsetD32_v2)},
    {"cuMemsetD32Async", 3020, entry(&cuMemsetD32Async)},
    {"cuMemsetD8", 3020, entry(&cuMemsetD8_v2)},
    {"cuMemsetD8Async", 3020, entry(&cuMemsetD8Async)},
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
    {"cuStreamAddCallback", 5000, entry(&cuStreamAddCallback)},
    {"cuStreamBeginCapture", 10010, entry(&cuStreamBeginCapture_v2)},
    {"cuStreamBeginCaptureToGraph", 12030, entry(&cuStreamBeginCaptureToGraph)},
    {"cuStreamCreate", 2000, entry(&cuStreamCreate)},
    {"cuStreamCreateWithPriority", 5050, entry(&cuStreamCreateWithPriority)},
    {"cuStreamDestroy", 4000, entry(&cuStreamDestroy_v2)},
    {"cuStreamEndCapture", 10000, entry(&cuStreamEndCapture)},
    {"cuStreamGetCaptureInfo", 12030, entry(&cuStreamGetCaptureInfo_v3)},
    {"cuStreamGetCtx", 9020, entry(&cuStreamGetCtx)},
    {"cuStreamGetCtx", 12050, entry(&cuStreamGetCtx_v2)},
    {"cuStreamGetDevice", 12080, entry(&cuStreamGetDevice)},
    {"cuStreamGetFlags", 5050, entry(&cuStreamGetFlags)},
    {"cuStreamGetId", 12000, entry(&cuStreamGetId)},
    {"cuStreamGetPriority", 5050, entry(&cuStreamGetPriority)},
    {"cuStreamIsCapturing", 10000, entry(&cuStreamIsCapturing)},
    {"cuStreamQuery", 2000, entry(&cuStreamQuery)},
    {"cuStreamSynchronize", 2000, entry(&cuStreamSynchronize)},
    {"cuStreamUpdateCaptureDependencies", 12030, entry(&cuStreamUpdateCaptureDependencies_v2)},
    {"cuStreamWaitEvent", 3020, entry(&cuStreamWaitEvent)},
    {"cuThreadExchangeStreamCaptureMode", 10010, entry(&cuThreadExchangeStreamCaptureMode)},
};

constexpr CUdriverProcAddressQueryResult kFound = 0, kNotFound = 1, kVersionTooOld = 2;

}  // namespace

extern "C" {

// flags choose between default-stream flavours; this driver has one default stream, which serves both.
CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, uint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  if (symbol == nullptr || function == nullptr || flags > 2) return CUDA_ERROR_INVALID_VALUE;
  *function = nullptr;
  CUdriverProcAddressQueryResult result = kNotFound;
  for (const EntryPoint& row : kEntryPoints) {
    if (std::strcmp(row.name, symbol) != 0) continue;
    if (row.since <= version) {
      *function = reinterpret_cast<void*>(row.function);
      result = kFound;
    } else if (result == kNotFound) {
      result = kVersionTooOld;
    }
  }
  if (status != nullptr) *status = result;
  return result == kFound || status != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char* symbol, void** function, int version, uint64_t flags) {
  return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}

// Private tables of NVIDIA's own runtime; there are none here.
CUresult cuGetExportTable(const void** table, const CUuuid*) {
  if (table != nullptr) *table = nullptr;
  return CUDA_ERROR_NOT_FOUND;
}

}  // extern "C"
}  // namespace ptx::cuda
