// The CUDA Driver API's entry points, under the symbols to which CUDA 13.0's cuda.h maps them. Both libcuda.so.1 and
// the emulator export them; engine/driver fills its table from either. Semantics and errors: CUDA Driver API reference.
#pragma once
#include "ptx/driver_types.h"

namespace ptx::cuda {
extern "C" {

// Errors, start, look-up
CUresult cuGetErrorString(CUresult error, const char** str);
CUresult cuGetErrorName(CUresult error, const char** str);
CUresult cuInit(unsigned flags);
CUresult cuDriverGetVersion(int* driver_version);
CUresult cuGetProcAddress_v2(const char* symbol, void** pfn, int cuda_version, uint64_t flags,
                             CUdriverProcAddressQueryResult* symbol_status);
CUresult cuGetExportTable(const void** pp_export_table, const CUuuid* export_table_id);

// Devices and primary contexts
CUresult cuDeviceGet(CUdevice* device, int ordinal);
CUresult cuDeviceGetCount(int* count);
CUresult cuDeviceGetName(char* name, int len, CUdevice dev);
CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice dev);
CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice dev);
CUresult cuDeviceGetAttribute(int* pi, CUdevice_attribute attrib, CUdevice dev);
CUresult cuDeviceGetByPCIBusId(CUdevice* dev, const char* pci_bus_id);
CUresult cuDeviceGetPCIBusId(char* pci_bus_id, int len, CUdevice dev);
CUresult cuDevicePrimaryCtxRetain(CUcontext* pctx, CUdevice dev);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev);
CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned flags);
CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned* flags, int* active);
CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev);

// Contexts
CUresult cuCtxCreate_v4(CUcontext* pctx, CUctxCreateParams* ctx_create_params, unsigned flags, CUdevice dev);
CUresult cuCtxDestroy_v2(CUcontext ctx);
CUresult cuCtxPushCurrent_v2(CUcontext ctx);
CUresult cuCtxPopCurrent_v2(CUcontext* pctx);
CUresult cuCtxSetCurrent(CUcontext ctx);
CUresult cuCtxGetCurrent(CUcontext* pctx);
CUresult cuCtxGetDevice(CUdevice* device);
CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext ctx);
CUresult cuCtxGetFlags(unsigned* flags);
CUresult cuCtxSetFlags(unsigned flags);
CUresult cuCtxGetId(CUcontext ctx, unsigned long long* ctx_id);
CUresult cuCtxSynchronize();
CUresult cuCtxSynchronize_v2(CUcontext ctx);
CUresult cuCtxCreate_v2(CUcontext* pctx, unsigned flags, CUdevice dev);
CUresult cuCtxSetLimit(CUlimit limit, size_t value);
CUresult cuCtxGetLimit(size_t* pvalue, CUlimit limit);
CUresult cuCtxGetCacheConfig(CUfunc_cache* pconfig);
CUresult cuCtxSetCacheConfig(CUfunc_cache config);
CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned* version);
CUresult cuCtxGetStreamPriorityRange(int* min_priority, int* greatest_priority);

// Modules
CUresult cuModuleLoad(CUmodule* module, const char* fname);
CUresult cuModuleLoadData(CUmodule* module, const void* image);
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned num_options, CUjit_option* options,
                            void** option_values);
CUresult cuModuleLoadFatBinary(CUmodule* module, const void* fat_cubin);
CUresult cuModuleUnload(CUmodule hmod);
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode);
CUresult cuModuleGetFunction(CUfunction* hfunc, CUmodule hmod, const char* name);
CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule mod);
CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned num_functions, CUmodule mod);
CUresult cuModuleGetGlobal_v2(CUdeviceptr* dptr, size_t* bytes, CUmodule hmod, const char* name);

// Linking: from PTX to an image for cuModuleLoadData. The link state owns the image until it is destroyed.
CUresult cuLinkCreate_v2(unsigned num_options, CUjit_option* options, void** option_values, CUlinkState* state_out);
CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t size, const char* name,
                          unsigned num_options, CUjit_option* options, void** option_values);
CUresult cuLinkComplete(CUlinkState state, void** cubin_out, size_t* size_out);
CUresult cuLinkDestroy(CUlinkState state);

// Libraries
CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* jit_options, void** jit_options_values,
                           unsigned num_jit_options, CUlibraryOption* library_options, void** library_option_values,
                           unsigned num_library_options);
CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* file_name, CUjit_option* jit_options,
                               void** jit_options_values, unsigned num_jit_options, CUlibraryOption* library_options,
                               void** library_option_values, unsigned num_library_options);
CUresult cuLibraryUnload(CUlibrary library);
CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name);
CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary lib);
CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned num_kernels, CUlibrary lib);
CUresult cuLibraryGetModule(CUmodule* mod, CUlibrary library);
CUresult cuLibraryGetGlobal(CUdeviceptr* dptr, size_t* bytes, CUlibrary library, const char* name);
CUresult cuKernelGetFunction(CUfunction* func, CUkernel kernel);
CUresult cuKernelGetParamInfo(CUkernel kernel, size_t param_index, size_t* param_offset, size_t* param_size);
CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev);
CUresult cuKernelGetName(const char** name, CUkernel hfunc);
CUresult cuKernelGetLibrary(CUlibrary* lib, CUkernel kernel);
CUresult cuKernelGetAttribute(int* pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev);
CUresult cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev);

// Memory
CUresult cuMemGetInfo_v2(size_t* free, size_t* total);
CUresult cuMemAlloc_v2(CUdeviceptr* dptr, size_t bytes);
CUresult cuMemAllocPitch_v2(CUdeviceptr* dptr, size_t* pitch, size_t width_in_bytes, size_t height,
                            unsigned element_size_bytes);
CUresult cuMemFree_v2(CUdeviceptr dptr);
CUresult cuMemGetAddressRange_v2(CUdeviceptr* pbase, size_t* psize, CUdeviceptr dptr);
CUresult cuMemAllocHost_v2(void** pp, size_t bytes);
CUresult cuMemFreeHost(void* p);
CUresult cuMemHostAlloc(void** pp, size_t bytes, unsigned flags);
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* pdptr, void* p, unsigned flags);
CUresult cuMemHostGetFlags(unsigned* flags, void* p);
CUresult cuMemAllocManaged(CUdeviceptr* dptr, size_t bytes, unsigned flags);
CUresult cuMemHostRegister_v2(void* p, size_t bytes, unsigned flags);
CUresult cuMemHostUnregister(void* p);
CUresult cuMemAllocAsync(CUdeviceptr* dptr, size_t bytes, CUstream stream);
CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream stream);
CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr ptr);
CUresult cuPointerGetAttributes(unsigned num_attributes, CUpointer_attribute* attributes, void** data, CUdeviceptr ptr);

// Memory pools
CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* pool_props);
CUresult cuMemPoolDestroy(CUmemoryPool pool);
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void* value);
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void* value);
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* map, size_t count);
CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* location);
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t min_bytes_to_keep);
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice dev);
CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice dev);
CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool);
CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type);
CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type);
CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* dptr, size_t bytes, CUmemoryPool pool, CUstream stream);

// Copies and sets
CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t byte_count);
CUresult cuMemcpyHtoD_v2(CUdeviceptr dst_device, const void* src_host, size_t byte_count);
CUresult cuMemcpyDtoH_v2(void* dst_host, CUdeviceptr src_device, size_t byte_count);
CUresult cuMemcpyDtoD_v2(CUdeviceptr dst_device, CUdeviceptr src_device, size_t byte_count);
CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* copy);
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* copy);
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* copy);
CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t byte_count, CUstream stream);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst_device, const void* src_host, size_t byte_count, CUstream stream);
CUresult cuMemcpyDtoHAsync_v2(void* dst_host, CUdeviceptr src_device, size_t byte_count, CUstream stream);
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst_device, CUdeviceptr src_device, size_t byte_count, CUstream stream);
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* copy, CUstream stream);
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* copy, CUstream stream);
CUresult cuMemsetD8_v2(CUdeviceptr dst_device, unsigned char uc, size_t n);
CUresult cuMemsetD16_v2(CUdeviceptr dst_device, unsigned short us, size_t n);
CUresult cuMemsetD32_v2(CUdeviceptr dst_device, unsigned ui, size_t n);
CUresult cuMemsetD2D8_v2(CUdeviceptr dst_device, size_t dst_pitch, unsigned char uc, size_t width, size_t height);
CUresult cuMemsetD2D16_v2(CUdeviceptr dst_device, size_t dst_pitch, unsigned short us, size_t width, size_t height);
CUresult cuMemsetD2D32_v2(CUdeviceptr dst_device, size_t dst_pitch, unsigned ui, size_t width, size_t height);
CUresult cuMemsetD8Async(CUdeviceptr dst_device, unsigned char uc, size_t n, CUstream stream);
CUresult cuMemsetD16Async(CUdeviceptr dst_device, unsigned short us, size_t n, CUstream stream);
CUresult cuMemsetD32Async(CUdeviceptr dst_device, unsigned ui, size_t n, CUstream stream);
CUresult cuMemsetD2D8Async(CUdeviceptr dst_device, size_t dst_pitch, unsigned char uc, size_t width, size_t height,
                           CUstream stream);
CUresult cuMemsetD2D16Async(CUdeviceptr dst_device, size_t dst_pitch, unsigned short us, size_t width, size_t height,
                            CUstream stream);
CUresult cuMemsetD2D32Async(CUdeviceptr dst_device, size_t dst_pitch, unsigned ui, size_t width, size_t height,
                            CUstream stream);

// Streams and capture
CUresult cuStreamCreate(CUstream* stream, unsigned flags);
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority);
CUresult cuStreamGetPriority(CUstream stream, int* priority);
CUresult cuStreamGetDevice(CUstream stream, CUdevice* device);
CUresult cuStreamGetFlags(CUstream stream, unsigned* flags);
CUresult cuStreamGetId(CUstream stream, unsigned long long* stream_id);
CUresult cuStreamGetCtx(CUstream stream, CUcontext* pctx);
CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext* pctx, void** green_ctx);
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags);
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* user_data, unsigned flags);
CUresult cuStreamQuery(CUstream stream);
CUresult cuStreamSynchronize(CUstream stream);
CUresult cuStreamDestroy_v2(CUstream stream);
CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode);
CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode* dependencies,
                                     const CUgraphEdgeData* dependency_data, size_t num_dependencies,
                                     CUstreamCaptureMode mode);
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph);
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* capture_status);
CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus* capture_status_out, uint64_t* id_out,
                                   CUgraph* graph_out, const CUgraphNode** dependencies_out,
                                   const CUgraphEdgeData** edge_data_out, size_t* num_dependencies_out);
CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode* dependencies,
                                              const CUgraphEdgeData* dependency_data, size_t num_dependencies,
                                              unsigned flags);
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode);

// Words in memory that streams wait for and write
CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr addr, uint32_t value, unsigned flags);
CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr addr, uint64_t value, unsigned flags);
CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr addr, uint32_t value, unsigned flags);
CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr addr, uint64_t value, unsigned flags);
CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count, CUstreamBatchMemOpParams* params, unsigned flags);
CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr addr, uint32_t value, unsigned flags);
CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr addr, uint64_t value, unsigned flags);
CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr addr, uint32_t value, unsigned flags);
CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr addr, uint64_t value, unsigned flags);
CUresult cuStreamBatchMemOp(CUstream stream, unsigned count, CUstreamBatchMemOpParams* params, unsigned flags);

// Events
CUresult cuEventCreate(CUevent* event, unsigned flags);
CUresult cuEventRecord(CUevent event, CUstream stream);
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags);
CUresult cuEventQuery(CUevent event);
CUresult cuEventSynchronize(CUevent event);
CUresult cuEventDestroy_v2(CUevent event);
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end);
CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end);

// Functions and launches
CUresult cuFuncGetAttribute(int* pi, CUfunction_attribute attrib, CUfunction hfunc);
CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value);
CUresult cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config);
CUresult cuFuncGetModule(CUmodule* hmod, CUfunction hfunc);
CUresult cuFuncGetName(const char** name, CUfunction hfunc);
CUresult cuFuncGetParamInfo(CUfunction func, size_t param_index, size_t* param_offset, size_t* param_size);
CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function);
CUresult cuFuncLoad(CUfunction function);
CUresult cuLaunchKernel(CUfunction f, unsigned grid_dim_x, unsigned grid_dim_y, unsigned grid_dim_z,
                        unsigned block_dim_x, unsigned block_dim_y, unsigned block_dim_z, unsigned shared_mem_bytes,
                        CUstream stream, void** kernel_params, void** extra);
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** kernel_params, void** extra);
CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned grid_dim_x, unsigned grid_dim_y, unsigned grid_dim_z,
                                   unsigned block_dim_x, unsigned block_dim_y, unsigned block_dim_z,
                                   unsigned shared_mem_bytes, CUstream stream, void** kernel_params);
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn fn, void* user_data);

// Occupancy
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* num_blocks, CUfunction func, int block_size,
                                                     size_t dynamic_smem_size);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* num_blocks, CUfunction func, int block_size,
                                                              size_t dynamic_smem_size, unsigned flags);
CUresult cuOccupancyMaxPotentialBlockSize(int* min_grid_size, int* block_size, CUfunction func,
                                          CUoccupancyB2DSize block_size_to_dynamic_smem_size, size_t dynamic_smem_size,
                                          int block_size_limit);
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* min_grid_size, int* block_size, CUfunction func,
                                                   CUoccupancyB2DSize block_size_to_dynamic_smem_size,
                                                   size_t dynamic_smem_size, int block_size_limit, unsigned flags);
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* dynamic_smem_size, CUfunction func, int num_blocks,
                                                 int block_size);

// Graphs
CUresult cuGraphCreate(CUgraph* graph, unsigned flags);
CUresult cuGraphDestroy(CUgraph graph);
CUresult cuGraphClone(CUgraph* graph_clone, CUgraph original_graph);
CUresult cuGraphAddNode(CUgraphNode* graph_node, CUgraph graph, const CUgraphNode* dependencies,
                        size_t num_dependencies, CUgraphNodeParams* node_params);
CUresult cuGraphAddNode_v2(CUgraphNode* graph_node, CUgraph graph, const CUgraphNode* dependencies,
                           const CUgraphEdgeData* dependency_data, size_t num_dependencies,
                           CUgraphNodeParams* node_params);
CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* node_params);
CUresult cuGraphExecNodeSetParams(CUgraphExec graph_exec, CUgraphNode node, CUgraphNodeParams* node_params);
CUresult cuGraphAddKernelNode_v2(CUgraphNode* graph_node, CUgraph graph, const CUgraphNode* dependencies,
                                 size_t num_dependencies, const CUDA_KERNEL_NODE_PARAMS* node_params);
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* node_params);
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* node_params);
CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUlaunchAttributeID attr, CUlaunchAttributeValue* value);
CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUlaunchAttributeID attr, const CUlaunchAttributeValue* value);
CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src);
CUresult cuGraphAddBatchMemOpNode(CUgraphNode* graph_node, CUgraph graph, const CUgraphNode* dependencies,
                                  size_t num_dependencies, const CUDA_BATCH_MEM_OP_NODE_PARAMS* node_params);
CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode node, CUDA_BATCH_MEM_OP_NODE_PARAMS* node_params);
CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS* node_params);
CUresult cuGraphAddMemcpyNode(CUgraphNode* graph_node, CUgraph graph, const CUgraphNode* dependencies,
                              size_t num_dependencies, const CUDA_MEMCPY3D* copy_params, CUcontext ctx);
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* node_params);
CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* node_params);
CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* node_params);
CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* event);
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event);
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* event);
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event);
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph* graph);
CUresult cuGraphNodeFindInClone(CUgraphNode* node, CUgraphNode original_node, CUgraph cloned_graph);
CUresult cuGraphNodeSetEnabled(CUgraphExec graph_exec, CUgraphNode node, unsigned is_enabled);
CUresult cuGraphNodeGetEnabled(CUgraphExec graph_exec, CUgraphNode node, unsigned* is_enabled);
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* node_params);
CUresult cuGraphAddMemsetNode(CUgraphNode* graph_node, CUgraph graph, const CUgraphNode* dependencies,
                              size_t num_dependencies, const CUDA_MEMSET_NODE_PARAMS* memset_params, CUcontext ctx);
CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* node_params);
CUresult cuGraphAddHostNode(CUgraphNode* graph_node, CUgraph graph, const CUgraphNode* dependencies,
                            size_t num_dependencies, const CUDA_HOST_NODE_PARAMS* node_params);
CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS* node_params);
CUresult cuGraphAddChildGraphNode(CUgraphNode* graph_node, CUgraph graph, const CUgraphNode* dependencies,
                                  size_t num_dependencies, CUgraph child_graph);
CUresult cuGraphAddEmptyNode(CUgraphNode* graph_node, CUgraph graph, const CUgraphNode* dependencies,
                             size_t num_dependencies);
CUresult cuGraphAddEventRecordNode(CUgraphNode* graph_node, CUgraph graph, const CUgraphNode* dependencies,
                                   size_t num_dependencies, CUevent event);
CUresult cuGraphAddEventWaitNode(CUgraphNode* graph_node, CUgraph graph, const CUgraphNode* dependencies,
                                 size_t num_dependencies, CUevent event);
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* num_nodes);
CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* root_nodes, size_t* num_root_nodes);
CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* edge_data,
                            size_t* num_edges);
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode* dependencies, CUgraphEdgeData* edge_data,
                                       size_t* num_dependencies);
CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode* dependent_nodes, CUgraphEdgeData* edge_data,
                                         size_t* num_dependent_nodes);
CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* edge_data, size_t num_dependencies);
CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData* edge_data, size_t num_dependencies);
CUresult cuGraphDestroyNode(CUgraphNode node);
CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type);
CUresult cuGraphInstantiateWithFlags(CUgraphExec* graph_exec, CUgraph graph, unsigned long long flags);
CUresult cuGraphInstantiateWithParams(CUgraphExec* graph_exec, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* instantiate_params);
CUresult cuGraphExecGetFlags(CUgraphExec graph_exec, uint64_t* flags);
CUresult cuGraphUpload(CUgraphExec graph_exec, CUstream stream);
CUresult cuGraphLaunch(CUgraphExec graph_exec, CUstream stream);
CUresult cuGraphExecDestroy(CUgraphExec graph_exec);
CUresult cuGraphExecUpdate_v2(CUgraphExec graph_exec, CUgraph graph, CUgraphExecUpdateResultInfo* result_info);
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec graph_exec, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS* node_params);
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec graph_exec, CUgraphNode node, const CUDA_MEMCPY3D* copy_params,
                                        CUcontext ctx);
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec graph_exec, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS* memset_params, CUcontext ctx);
CUresult cuGraphExecHostNodeSetParams(CUgraphExec graph_exec, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS* node_params);
CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec graph_exec, CUgraphNode node,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS* node_params);
CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec graph_exec, CUgraphNode node, CUevent event);
CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec graph_exec, CUgraphNode node, CUevent event);
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec graph_exec, CUgraphNode node, CUgraph child_graph);
}  // extern "C"
}  // namespace ptx::cuda
