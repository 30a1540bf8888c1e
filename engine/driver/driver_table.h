// Table of the Driver API entry points that the engine calls, filled at run time from libcuda.so.1 or from the
// emulator. Code above cannot tell which.
#pragma once
#include <string>

#include "ptx/driver_api.h"

// name: as in NVIDIA's documentation; symbol: as exported by libraries
#define WARPCHAT_DRIVER_FUNCTIONS(F)                                                          \
  F(cuInit, cuInit)                                                                           \
  F(cuDriverGetVersion, cuDriverGetVersion)                                                   \
  F(cuGetErrorName, cuGetErrorName)                                                           \
  F(cuGetErrorString, cuGetErrorString)                                                       \
  F(cuDeviceGetCount, cuDeviceGetCount)                                                       \
  F(cuDeviceGet, cuDeviceGet)                                                                 \
  F(cuDeviceGetName, cuDeviceGetName)                                                         \
  F(cuDeviceTotalMem, cuDeviceTotalMem_v2)                                                    \
  F(cuDeviceGetAttribute, cuDeviceGetAttribute)                                               \
  F(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain)                                       \
  F(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2)                                  \
  F(cuCtxSetCurrent, cuCtxSetCurrent)                                                         \
  F(cuCtxGetCurrent, cuCtxGetCurrent)                                                         \
  F(cuCtxSynchronize, cuCtxSynchronize)                                                       \
  F(cuModuleLoadDataEx, cuModuleLoadDataEx)                                                   \
  F(cuModuleUnload, cuModuleUnload)                                                           \
  F(cuModuleGetFunction, cuModuleGetFunction)                                                 \
  F(cuModuleGetGlobal, cuModuleGetGlobal_v2)                                                  \
  F(cuMemGetInfo, cuMemGetInfo_v2)                                                            \
  F(cuMemAlloc, cuMemAlloc_v2)                                                                \
  F(cuMemFree, cuMemFree_v2)                                                                  \
  F(cuMemHostAlloc, cuMemHostAlloc)                                                           \
  F(cuMemFreeHost, cuMemFreeHost)                                                             \
  F(cuMemHostGetDevicePointer, cuMemHostGetDevicePointer_v2)                                  \
  F(cuMemcpyHtoD, cuMemcpyHtoD_v2)                                                            \
  F(cuMemcpyDtoH, cuMemcpyDtoH_v2)                                                            \
  F(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2)                                                  \
  F(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2)                                                  \
  F(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2)                                                  \
  F(cuMemsetD8Async, cuMemsetD8Async)                                                         \
  F(cuMemsetD32Async, cuMemsetD32Async)                                                       \
  F(cuStreamCreate, cuStreamCreate)                                                           \
  F(cuStreamDestroy, cuStreamDestroy_v2)                                                      \
  F(cuStreamSynchronize, cuStreamSynchronize)                                                 \
  F(cuStreamQuery, cuStreamQuery)                                                             \
  F(cuStreamWaitEvent, cuStreamWaitEvent)                                                     \
  F(cuStreamBeginCapture, cuStreamBeginCapture_v2)                                            \
  F(cuStreamEndCapture, cuStreamEndCapture)                                                   \
  F(cuEventCreate, cuEventCreate)                                                             \
  F(cuEventDestroy, cuEventDestroy_v2)                                                        \
  F(cuEventRecord, cuEventRecord)                                                             \
  F(cuEventRecordWithFlags, cuEventRecordWithFlags)                                           \
  F(cuEventSynchronize, cuEventSynchronize)                                                   \
  F(cuEventQuery, cuEventQuery)                                                               \
  F(cuFuncGetAttribute, cuFuncGetAttribute)                                                   \
  F(cuFuncSetAttribute, cuFuncSetAttribute)                                                   \
  F(cuLaunchKernel, cuLaunchKernel)                                                           \
  F(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel)                                     \
  F(cuOccupancyMaxActiveBlocksPerMultiprocessor, cuOccupancyMaxActiveBlocksPerMultiprocessor) \
  F(cuGraphInstantiate, cuGraphInstantiateWithFlags)                                          \
  F(cuGraphLaunch, cuGraphLaunch)                                                             \
  F(cuGraphExecDestroy, cuGraphExecDestroy)                                                   \
  F(cuGraphDestroy, cuGraphDestroy)

namespace warpchat {

struct DriverTable {
#define WARPCHAT_DRIVER_FIELD(name, symbol) decltype(&ptx::cuda::symbol) name = nullptr;
  WARPCHAT_DRIVER_FUNCTIONS(WARPCHAT_DRIVER_FIELD)
#undef WARPCHAT_DRIVER_FIELD
  // CUDA 12.8 changed the symbol of cuEventElapsedTime, but not its signature; either works.
  decltype(&ptx::cuda::cuEventElapsedTime_v2) cuEventElapsedTime = nullptr;
};

// From libcuda.so.1, opened once and never closed. Error if the library or an entry point is missing, with advice.
const DriverTable& libcuda_table();

// From the emulator's library, opened once and never closed; emulator_library.h documents its location. Error if it is
// missing or has another version.
const DriverTable& emulator_table();

}  // namespace warpchat
