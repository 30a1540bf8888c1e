// Calls whose null stream is the calling thread's own: each calls its namesake in that mode.
#include "ptx/driver_api_per_thread.h"
#include "ptx/emulator/driver/driver.h"

namespace ptx::cuda {
extern "C" {

#define PER_THREAD(name, suffix, parameters, arguments)        \
  CUresult name##suffix parameters {                           \
    const ptx::emulator::driver::OwnDefaultStream null_is_own; \
    return name arguments;                                     \
  }

PER_THREAD(cuMemAllocAsync, _ptsz, (CUdeviceptr * dptr, size_t bytes, CUstream stream), (dptr, bytes, stream))
PER_THREAD(cuMemFreeAsync, _ptsz, (CUdeviceptr dptr, CUstream stream), (dptr, stream))
PER_THREAD(cuMemAllocFromPoolAsync, _ptsz, (CUdeviceptr * dptr, size_t bytes, CUmemoryPool pool, CUstream stream),
           (dptr, bytes, pool, stream))
PER_THREAD(cuMemcpy, _ptds, (CUdeviceptr dst, CUdeviceptr src, size_t byte_count), (dst, src, byte_count))
PER_THREAD(cuMemcpyHtoD_v2, _ptds, (CUdeviceptr dst_device, const void* src_host, size_t byte_count),
           (dst_device, src_host, byte_count))
PER_THREAD(cuMemcpyDtoH_v2, _ptds, (void* dst_host, CUdeviceptr src_device, size_t byte_count),
           (dst_host, src_device, byte_count))
PER_THREAD(cuMemcpyDtoD_v2, _ptds, (CUdeviceptr dst_device, CUdeviceptr src_device, size_t byte_count),
           (dst_device, src_device, byte_count))
PER_THREAD(cuMemcpy2D_v2, _ptds, (const CUDA_MEMCPY2D* copy), (copy))
PER_THREAD(cuMemcpy2DUnaligned_v2, _ptds, (const CUDA_MEMCPY2D* copy), (copy))
PER_THREAD(cuMemcpy3D_v2, _ptds, (const CUDA_MEMCPY3D* copy), (copy))
PER_THREAD(cuMemcpyAsync, _ptsz, (CUdeviceptr dst, CUdeviceptr src, size_t byte_count, CUstream stream),
           (dst, src, byte_count, stream))
PER_THREAD(cuMemcpyHtoDAsync_v2, _ptsz,
           (CUdeviceptr dst_device, const void* src_host, size_t byte_count, CUstream stream),
           (dst_device, src_host, byte_count, stream))
PER_THREAD(cuMemcpyDtoHAsync_v2, _ptsz, (void* dst_host, CUdeviceptr src_device, size_t byte_count, CUstream stream),
           (dst_host, src_device, byte_count, stream))
PER_THREAD(cuMemcpyDtoDAsync_v2, _ptsz,
           (CUdeviceptr dst_device, CUdeviceptr src_device, size_t byte_count, CUstream stream),
           (dst_device, src_device, byte_count, stream))
PER_THREAD(cuMemcpy2DAsync_v2, _ptsz, (const CUDA_MEMCPY2D* copy, CUstream stream), (copy, stream))
PER_THREAD(cuMemcpy3DAsync_v2, _ptsz, (const CUDA_MEMCPY3D* copy, CUstream stream), (copy, stream))
PER_THREAD(cuMemsetD8_v2, _ptds, (CUdeviceptr dst_device, unsigned char uc, size_t n), (dst_device, uc, n))
PER_THREAD(cuMemsetD16_v2, _ptds, (CUdeviceptr dst_device, unsigned short us, size_t n), (dst_device, us, n))
PER_THREAD(cuMemsetD32_v2, _ptds, (CUdeviceptr dst_device, unsigned ui, size_t n), (dst_device, ui, n))
PER_THREAD(cuMemsetD2D8_v2, _ptds,
           (CUdeviceptr dst_device, size_t dst_pitch, unsigned char uc, size_t width, size_t height),
           (dst_device, dst_pitch, uc, width, height))
PER_THREAD(cuMemsetD2D16_v2, _ptds,
           (CUdeviceptr dst_device, size_t dst_pitch, unsigned short us, size_t width, size_t height),
           (dst_device, dst_pitch, us, width, height))
PER_THREAD(cuMemsetD2D32_v2, _ptds,
           (CUdeviceptr dst_device, size_t dst_pitch, unsigned ui, size_t width, size_t height),
           (dst_device, dst_pitch, ui, width, height))
PER_THREAD(cuMemsetD8Async, _ptsz, (CUdeviceptr dst_device, unsigned char uc, size_t n, CUstream stream),
           (dst_device, uc, n, stream))
PER_THREAD(cuMemsetD16Async, _ptsz, (CUdeviceptr dst_device, unsigned short us, size_t n, CUstream stream),
           (dst_device, us, n, stream))
PER_THREAD(cuMemsetD32Async, _ptsz, (CUdeviceptr dst_device, unsigned ui, size_t n, CUstream stream),
           (dst_device, ui, n, stream))
PER_THREAD(cuMemsetD2D8Async, _ptsz,
           (CUdeviceptr dst_device, size_t dst_pitch, unsigned char uc, size_t width, size_t height, CUstream stream),
           (dst_device, dst_pitch, uc, width, height, stream))
PER_THREAD(cuMemsetD2D16Async, _ptsz,
           (CUdeviceptr dst_device, size_t dst_pitch, unsigned short us, size_t width, size_t height, CUstream stream),
           (dst_device, dst_pitch, us, width, height, stream))
PER_THREAD(cuMemsetD2D32Async, _ptsz,
           (CUdeviceptr dst_device, size_t dst_pitch, unsigned ui, size_t width, size_t height, CUstream stream),
           (dst_device, dst_pitch, ui, width, height, stream))
PER_THREAD(cuStreamGetPriority, _ptsz, (CUstream stream, int* priority), (stream, priority))
PER_THREAD(cuStreamGetDevice, _ptsz, (CUstream stream, CUdevice* device), (stream, device))
PER_THREAD(cuStreamGetFlags, _ptsz, (CUstream stream, unsigned* flags), (stream, flags))
PER_THREAD(cuStreamGetId, _ptsz, (CUstream stream, unsigned long long* stream_id), (stream, stream_id))
PER_THREAD(cuStreamGetCtx, _ptsz, (CUstream stream, CUcontext* pctx), (stream, pctx))
PER_THREAD(cuStreamGetCtx_v2, _ptsz, (CUstream stream, CUcontext* pctx, void** green_ctx), (stream, pctx, green_ctx))
PER_THREAD(cuStreamWaitEvent, _ptsz, (CUstream stream, CUevent event, unsigned flags), (stream, event, flags))
PER_THREAD(cuStreamAddCallback, _ptsz, (CUstream stream, CUstreamCallback callback, void* user_data, unsigned flags),
           (stream, callback, user_data, flags))
PER_THREAD(cuStreamQuery, _ptsz, (CUstream stream), (stream))
PER_THREAD(cuStreamSynchronize, _ptsz, (CUstream stream), (stream))
PER_THREAD(cuStreamBeginCapture_v2, _ptsz, (CUstream stream, CUstreamCaptureMode mode), (stream, mode))
PER_THREAD(cuStreamBeginCaptureToGraph, _ptsz,
           (CUstream stream, CUgraph graph, const CUgraphNode* dependencies, const CUgraphEdgeData* dependency_data,
            size_t num_dependencies, CUstreamCaptureMode mode),
           (stream, graph, dependencies, dependency_data, num_dependencies, mode))
PER_THREAD(cuStreamEndCapture, _ptsz, (CUstream stream, CUgraph* graph), (stream, graph))
PER_THREAD(cuStreamIsCapturing, _ptsz, (CUstream stream, CUstreamCaptureStatus* capture_status),
           (stream, capture_status))
PER_THREAD(cuStreamGetCaptureInfo_v3, _ptsz,
           (CUstream stream, CUstreamCaptureStatus* capture_status_out, uint64_t* id_out, CUgraph* graph_out,
            const CUgraphNode** dependencies_out, const CUgraphEdgeData** edge_data_out, size_t* num_dependencies_out),
           (stream, capture_status_out, id_out, graph_out, dependencies_out, edge_data_out, num_dependencies_out))
PER_THREAD(cuStreamUpdateCaptureDependencies_v2, _ptsz,
           (CUstream stream, CUgraphNode* dependencies, const CUgraphEdgeData* dependency_data, size_t num_dependencies,
            unsigned flags),
           (stream, dependencies, dependency_data, num_dependencies, flags))
PER_THREAD(cuStreamWaitValue32_v2, _ptsz, (CUstream stream, CUdeviceptr addr, uint32_t value, unsigned flags),
           (stream, addr, value, flags))
PER_THREAD(cuStreamWaitValue64_v2, _ptsz, (CUstream stream, CUdeviceptr addr, uint64_t value, unsigned flags),
           (stream, addr, value, flags))
PER_THREAD(cuStreamWriteValue32_v2, _ptsz, (CUstream stream, CUdeviceptr addr, uint32_t value, unsigned flags),
           (stream, addr, value, flags))
PER_THREAD(cuStreamWriteValue64_v2, _ptsz, (CUstream stream, CUdeviceptr addr, uint64_t value, unsigned flags),
           (stream, addr, value, flags))
PER_THREAD(cuStreamBatchMemOp_v2, _ptsz,
           (CUstream stream, unsigned count, CUstreamBatchMemOpParams* params, unsigned flags),
           (stream, count, params, flags))
PER_THREAD(cuStreamWaitValue32, _ptsz, (CUstream stream, CUdeviceptr addr, uint32_t value, unsigned flags),
           (stream, addr, value, flags))
PER_THREAD(cuStreamWaitValue64, _ptsz, (CUstream stream, CUdeviceptr addr, uint64_t value, unsigned flags),
           (stream, addr, value, flags))
PER_THREAD(cuStreamWriteValue32, _ptsz, (CUstream stream, CUdeviceptr addr, uint32_t value, unsigned flags),
           (stream, addr, value, flags))
PER_THREAD(cuStreamWriteValue64, _ptsz, (CUstream stream, CUdeviceptr addr, uint64_t value, unsigned flags),
           (stream, addr, value, flags))
PER_THREAD(cuStreamBatchMemOp, _ptsz,
           (CUstream stream, unsigned count, CUstreamBatchMemOpParams* params, unsigned flags),
           (stream, count, params, flags))
PER_THREAD(cuEventRecord, _ptsz, (CUevent event, CUstream stream), (event, stream))
PER_THREAD(cuEventRecordWithFlags, _ptsz, (CUevent event, CUstream stream, unsigned flags), (event, stream, flags))
PER_THREAD(cuLaunchKernel, _ptsz,
           (CUfunction f, unsigned grid_dim_x, unsigned grid_dim_y, unsigned grid_dim_z, unsigned block_dim_x,
            unsigned block_dim_y, unsigned block_dim_z, unsigned shared_mem_bytes, CUstream stream,
            void** kernel_params, void** extra),
           (f, grid_dim_x, grid_dim_y, grid_dim_z, block_dim_x, block_dim_y, block_dim_z, shared_mem_bytes, stream,
            kernel_params, extra))
PER_THREAD(cuLaunchKernelEx, _ptsz, (const CUlaunchConfig* config, CUfunction f, void** kernel_params, void** extra),
           (config, f, kernel_params, extra))
PER_THREAD(cuLaunchCooperativeKernel, _ptsz,
           (CUfunction f, unsigned grid_dim_x, unsigned grid_dim_y, unsigned grid_dim_z, unsigned block_dim_x,
            unsigned block_dim_y, unsigned block_dim_z, unsigned shared_mem_bytes, CUstream stream,
            void** kernel_params),
           (f, grid_dim_x, grid_dim_y, grid_dim_z, block_dim_x, block_dim_y, block_dim_z, shared_mem_bytes, stream,
            kernel_params))
PER_THREAD(cuLaunchHostFunc, _ptsz, (CUstream stream, CUhostFn fn, void* user_data), (stream, fn, user_data))
PER_THREAD(cuGraphInstantiateWithParams, _ptsz,
           (CUgraphExec * graph_exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* instantiate_params),
           (graph_exec, graph, instantiate_params))
PER_THREAD(cuGraphUpload, _ptsz, (CUgraphExec graph_exec, CUstream stream), (graph_exec, stream))
PER_THREAD(cuGraphLaunch, _ptsz, (CUgraphExec graph_exec, CUstream stream), (graph_exec, stream))

#undef PER_THREAD

}  // extern "C"
}  // namespace ptx::cuda
