// Driver API entry points whose null stream is the calling thread's own. Programs built with
// CUDA_API_PER_THREAD_DEFAULT_STREAM call these. Both libcuda.so.1 and the emulator export them.
#pragma once
#include "ptx/driver_api.h"

namespace ptx::cuda {
extern "C" {

decltype(cuMemAllocAsync) cuMemAllocAsync_ptsz;
decltype(cuMemFreeAsync) cuMemFreeAsync_ptsz;
decltype(cuMemAllocFromPoolAsync) cuMemAllocFromPoolAsync_ptsz;
decltype(cuMemcpy) cuMemcpy_ptds;
decltype(cuMemcpyHtoD_v2) cuMemcpyHtoD_v2_ptds;
decltype(cuMemcpyDtoH_v2) cuMemcpyDtoH_v2_ptds;
decltype(cuMemcpyDtoD_v2) cuMemcpyDtoD_v2_ptds;
decltype(cuMemcpy2D_v2) cuMemcpy2D_v2_ptds;
decltype(cuMemcpy2DUnaligned_v2) cuMemcpy2DUnaligned_v2_ptds;
decltype(cuMemcpy3D_v2) cuMemcpy3D_v2_ptds;
decltype(cuMemcpyAsync) cuMemcpyAsync_ptsz;
decltype(cuMemcpyHtoDAsync_v2) cuMemcpyHtoDAsync_v2_ptsz;
decltype(cuMemcpyDtoHAsync_v2) cuMemcpyDtoHAsync_v2_ptsz;
decltype(cuMemcpyDtoDAsync_v2) cuMemcpyDtoDAsync_v2_ptsz;
decltype(cuMemcpy2DAsync_v2) cuMemcpy2DAsync_v2_ptsz;
decltype(cuMemcpy3DAsync_v2) cuMemcpy3DAsync_v2_ptsz;
decltype(cuMemsetD8_v2) cuMemsetD8_v2_ptds;
decltype(cuMemsetD16_v2) cuMemsetD16_v2_ptds;
decltype(cuMemsetD32_v2) cuMemsetD32_v2_ptds;
decltype(cuMemsetD2D8_v2) cuMemsetD2D8_v2_ptds;
decltype(cuMemsetD2D16_v2) cuMemsetD2D16_v2_ptds;
decltype(cuMemsetD2D32_v2) cuMemsetD2D32_v2_ptds;
decltype(cuMemsetD8Async) cuMemsetD8Async_ptsz;
decltype(cuMemsetD16Async) cuMemsetD16Async_ptsz;
decltype(cuMemsetD32Async) cuMemsetD32Async_ptsz;
decltype(cuMemsetD2D8Async) cuMemsetD2D8Async_ptsz;
decltype(cuMemsetD2D16Async) cuMemsetD2D16Async_ptsz;
decltype(cuMemsetD2D32Async) cuMemsetD2D32Async_ptsz;
decltype(cuStreamGetPriority) cuStreamGetPriority_ptsz;
decltype(cuStreamGetDevice) cuStreamGetDevice_ptsz;
decltype(cuStreamGetFlags) cuStreamGetFlags_ptsz;
decltype(cuStreamGetId) cuStreamGetId_ptsz;
decltype(cuStreamGetCtx) cuStreamGetCtx_ptsz;
decltype(cuStreamGetCtx_v2) cuStreamGetCtx_v2_ptsz;
decltype(cuStreamWaitEvent) cuStreamWaitEvent_ptsz;
decltype(cuStreamAddCallback) cuStreamAddCallback_ptsz;
decltype(cuStreamQuery) cuStreamQuery_ptsz;
decltype(cuStreamSynchronize) cuStreamSynchronize_ptsz;
decltype(cuStreamBeginCapture_v2) cuStreamBeginCapture_v2_ptsz;
decltype(cuStreamBeginCaptureToGraph) cuStreamBeginCaptureToGraph_ptsz;
decltype(cuStreamEndCapture) cuStreamEndCapture_ptsz;
decltype(cuStreamIsCapturing) cuStreamIsCapturing_ptsz;
decltype(cuStreamGetCaptureInfo_v3) cuStreamGetCaptureInfo_v3_ptsz;
decltype(cuStreamUpdateCaptureDependencies_v2) cuStreamUpdateCaptureDependencies_v2_ptsz;
decltype(cuStreamWaitValue32_v2) cuStreamWaitValue32_v2_ptsz;
decltype(cuStreamWaitValue64_v2) cuStreamWaitValue64_v2_ptsz;
decltype(cuStreamWriteValue32_v2) cuStreamWriteValue32_v2_ptsz;
decltype(cuStreamWriteValue64_v2) cuStreamWriteValue64_v2_ptsz;
decltype(cuStreamBatchMemOp_v2) cuStreamBatchMemOp_v2_ptsz;
decltype(cuStreamWaitValue32) cuStreamWaitValue32_ptsz;
decltype(cuStreamWaitValue64) cuStreamWaitValue64_ptsz;
decltype(cuStreamWriteValue32) cuStreamWriteValue32_ptsz;
decltype(cuStreamWriteValue64) cuStreamWriteValue64_ptsz;
decltype(cuStreamBatchMemOp) cuStreamBatchMemOp_ptsz;
decltype(cuEventRecord) cuEventRecord_ptsz;
decltype(cuEventRecordWithFlags) cuEventRecordWithFlags_ptsz;
decltype(cuLaunchKernel) cuLaunchKernel_ptsz;
decltype(cuLaunchKernelEx) cuLaunchKernelEx_ptsz;
decltype(cuLaunchCooperativeKernel) cuLaunchCooperativeKernel_ptsz;
decltype(cuLaunchHostFunc) cuLaunchHostFunc_ptsz;
decltype(cuGraphInstantiateWithParams) cuGraphInstantiateWithParams_ptsz;
decltype(cuGraphUpload) cuGraphUpload_ptsz;
decltype(cuGraphLaunch) cuGraphLaunch_ptsz;

}  // extern "C"
}  // namespace ptx::cuda
