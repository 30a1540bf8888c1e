// Driver functions that are not emulated. Each can be looked up; when called it says so once on stderr and returns
// CUDA_ERROR_NOT_SUPPORTED. Many programs look up every name at start and call few of them.
#include "ptx/emulator/driver/not_emulated.h"

#include <atomic>
#include <cstdio>
#include <cstring>

#include "ptx/driver_types.h"

// Names only, filling each line.
// clang-format off
// 32-bit device addresses: signatures from before CUDA 3.2.
#define ADDRESSES_OF_32_BITS(X) \
  X(cuDeviceTotalMem) X(cuMemAlloc) X(cuMemAllocHost) X(cuMemAllocPitch) X(cuMemFree) X(cuMemGetAddressRange) \
  X(cuMemGetInfo) X(cuMemHostGetDevicePointer) X(cuMemcpy2D) X(cuMemcpy2DAsync) X(cuMemcpy2DUnaligned) \
  X(cuMemcpy3D) X(cuMemcpy3DAsync) X(cuMemcpyDtoD) X(cuMemcpyDtoDAsync) X(cuMemcpyDtoH) X(cuMemcpyDtoHAsync) \
  X(cuMemcpyHtoD) X(cuMemcpyHtoDAsync) X(cuMemsetD16) X(cuMemsetD2D16) X(cuMemsetD2D32) X(cuMemsetD2D8) \
  X(cuMemsetD32) X(cuMemsetD8) X(cuModuleGetGlobal)
// Arrays, textures, surfaces, tensor maps, graphics.
#define ARRAYS_AND_TEXTURES(X) \
  X(cuArray3DCreate) X(cuArray3DCreate_v2) X(cuArray3DGetDescriptor) X(cuArray3DGetDescriptor_v2) X(cuArrayCreate) \
  X(cuArrayCreate_v2) X(cuArrayDestroy) X(cuArrayGetDescriptor) X(cuArrayGetDescriptor_v2) \
  X(cuArrayGetMemoryRequirements) X(cuArrayGetPlane) X(cuArrayGetSparseProperties) \
  X(cuDeviceGetTexture1DLinearMaxWidth) X(cuGraphicsMapResources) X(cuGraphicsMapResources_ptsz) \
  X(cuGraphicsResourceGetMappedMipmappedArray) X(cuGraphicsResourceGetMappedPointer) \
  X(cuGraphicsResourceGetMappedPointer_v2) X(cuGraphicsResourceSetMapFlags) X(cuGraphicsResourceSetMapFlags_v2) \
  X(cuGraphicsSubResourceGetMappedArray) X(cuGraphicsUnmapResources) X(cuGraphicsUnmapResources_ptsz) \
  X(cuGraphicsUnregisterResource) X(cuMemcpyAtoA) X(cuMemcpyAtoA_v2) X(cuMemcpyAtoA_v2_ptds) X(cuMemcpyAtoD) \
  X(cuMemcpyAtoD_v2) X(cuMemcpyAtoD_v2_ptds) X(cuMemcpyAtoH) X(cuMemcpyAtoHAsync) X(cuMemcpyAtoHAsync_v2) \
  X(cuMemcpyAtoHAsync_v2_ptsz) X(cuMemcpyAtoH_v2) X(cuMemcpyAtoH_v2_ptds) X(cuMemcpyDtoA) X(cuMemcpyDtoA_v2) \
  X(cuMemcpyDtoA_v2_ptds) X(cuMemcpyHtoA) X(cuMemcpyHtoAAsync) X(cuMemcpyHtoAAsync_v2) \
  X(cuMemcpyHtoAAsync_v2_ptsz) X(cuMemcpyHtoA_v2) X(cuMemcpyHtoA_v2_ptds) X(cuMipmappedArrayCreate) \
  X(cuMipmappedArrayDestroy) X(cuMipmappedArrayGetLevel) X(cuMipmappedArrayGetMemoryRequirements) \
  X(cuMipmappedArrayGetSparseProperties) X(cuModuleGetSurfRef) X(cuModuleGetTexRef) X(cuParamSetTexRef) \
  X(cuSurfObjectCreate) X(cuSurfObjectDestroy) X(cuSurfObjectGetResourceDesc) X(cuSurfRefGetArray) \
  X(cuSurfRefSetArray) X(cuTensorMapEncodeIm2col) X(cuTensorMapEncodeIm2colWide) X(cuTensorMapEncodeTiled) \
  X(cuTensorMapReplaceAddress) X(cuTexObjectCreate) X(cuTexObjectDestroy) X(cuTexObjectGetResourceDesc) \
  X(cuTexObjectGetResourceViewDesc) X(cuTexObjectGetTextureDesc) X(cuTexRefCreate) X(cuTexRefDestroy) \
  X(cuTexRefGetAddress) X(cuTexRefGetAddressMode) X(cuTexRefGetAddress_v2) X(cuTexRefGetArray) \
  X(cuTexRefGetBorderColor) X(cuTexRefGetFilterMode) X(cuTexRefGetFlags) X(cuTexRefGetFormat) \
  X(cuTexRefGetMaxAnisotropy) X(cuTexRefGetMipmapFilterMode) X(cuTexRefGetMipmapLevelBias) \
  X(cuTexRefGetMipmapLevelClamp) X(cuTexRefGetMipmappedArray) X(cuTexRefSetAddress) X(cuTexRefSetAddress2D) \
  X(cuTexRefSetAddress2D_v2) X(cuTexRefSetAddress2D_v3) X(cuTexRefSetAddressMode) X(cuTexRefSetAddress_v2) \
  X(cuTexRefSetArray) X(cuTexRefSetBorderColor) X(cuTexRefSetFilterMode) X(cuTexRefSetFlags) X(cuTexRefSetFormat) \
  X(cuTexRefSetMaxAnisotropy) X(cuTexRefSetMipmapFilterMode) X(cuTexRefSetMipmapLevelBias) \
  X(cuTexRefSetMipmapLevelClamp) X(cuTexRefSetMipmappedArray)
// OpenGL, EGL and VDPAU.
#define OTHER_GRAPHICS(X) \
  X(cuEGLStreamConsumerAcquireFrame) X(cuEGLStreamConsumerConnect) X(cuEGLStreamConsumerConnectWithFlags) \
  X(cuEGLStreamConsumerDisconnect) X(cuEGLStreamConsumerReleaseFrame) X(cuEGLStreamProducerConnect) \
  X(cuEGLStreamProducerDisconnect) X(cuEGLStreamProducerPresentFrame) X(cuEGLStreamProducerReturnFrame) \
  X(cuEventCreateFromEGLSync) X(cuGLCtxCreate) X(cuGLCtxCreate_v2) X(cuGLGetDevices) X(cuGLGetDevices_v2) \
  X(cuGLInit) X(cuGLMapBufferObject) X(cuGLMapBufferObjectAsync) X(cuGLMapBufferObjectAsync_v2) \
  X(cuGLMapBufferObjectAsync_v2_ptsz) X(cuGLMapBufferObject_v2) X(cuGLMapBufferObject_v2_ptds) \
  X(cuGLRegisterBufferObject) X(cuGLSetBufferObjectMapFlags) X(cuGLUnmapBufferObject) \
  X(cuGLUnmapBufferObjectAsync) X(cuGLUnregisterBufferObject) X(cuGraphicsEGLRegisterImage) \
  X(cuGraphicsGLRegisterBuffer) X(cuGraphicsGLRegisterImage) X(cuGraphicsResourceGetMappedEglFrame) \
  X(cuGraphicsVDPAURegisterOutputSurface) X(cuGraphicsVDPAURegisterVideoSurface) X(cuVDPAUCtxCreate) \
  X(cuVDPAUCtxCreate_v2) X(cuVDPAUGetDevice)
// Launches from before CUDA 4, multi-device launches, attached contexts.
#define LAUNCHES_BEFORE_CUDA_4(X) \
  X(cuCtxAttach) X(cuCtxDetach) X(cuDeviceGetProperties) X(cuFuncSetBlockShape) X(cuFuncSetSharedSize) X(cuLaunch) \
  X(cuLaunchCooperativeKernelMultiDevice) X(cuLaunchGrid) X(cuLaunchGridAsync) X(cuParamSetSize) X(cuParamSetf) \
  X(cuParamSeti) X(cuParamSetv) X(cuProfilerInitialize)
// Virtual memory management, batches, attributes of managed memory.
#define MAPPED_MEMORY(X) \
  X(cuLibraryGetManaged) X(cuMemAddressFree) X(cuMemAddressReserve) \
  X(cuMemBatchDecompressAsync) X(cuMemBatchDecompressAsync_ptsz) X(cuMemCreate) \
  X(cuMemDiscardAndPrefetchBatchAsync) X(cuMemDiscardAndPrefetchBatchAsync_ptsz) X(cuMemDiscardBatchAsync) \
  X(cuMemDiscardBatchAsync_ptsz) X(cuMemExportToShareableHandle) X(cuMemGetAccess) \
  X(cuMemGetAllocationGranularity) X(cuMemGetAllocationPropertiesFromHandle) X(cuMemGetHandleForAddressRange) \
  X(cuMemImportFromShareableHandle) X(cuMemMap) X(cuMemMapArrayAsync) X(cuMemMapArrayAsync_ptsz) \
  \
  X(cuMemPrefetchBatchAsync) X(cuMemPrefetchBatchAsync_ptsz) X(cuMemRangeGetAttribute) X(cuMemRangeGetAttributes) \
  X(cuMemRelease) X(cuMemRetainAllocationHandle) X(cuMemSetAccess) X(cuMemUnmap) X(cuMemcpy3DBatchAsync) \
  X(cuMemcpy3DBatchAsync_ptsz) X(cuMemcpy3DBatchAsync_v2) X(cuMemcpy3DBatchAsync_v2_ptsz) X(cuMemcpyBatchAsync) \
  X(cuMemcpyBatchAsync_ptsz) X(cuMemcpyBatchAsync_v2) X(cuMemcpyBatchAsync_v2_ptsz) \
 
// Memory nodes, external semaphores and conditional nodes of graphs.
#define GRAPHS(X) \
  X(cuDeviceGetGraphMemAttribute) X(cuDeviceGraphMemTrim) X(cuDeviceSetGraphMemAttribute) \
  X(cuGraphAddExternalSemaphoresSignalNode) X(cuGraphAddExternalSemaphoresWaitNode) X(cuGraphAddMemAllocNode) \
  X(cuGraphAddMemFreeNode) X(cuGraphConditionalHandleCreate) X(cuGraphDebugDotPrint) \
  X(cuGraphExecExternalSemaphoresSignalNodeSetParams) X(cuGraphExecExternalSemaphoresWaitNodeSetParams) \
  X(cuGraphExternalSemaphoresSignalNodeGetParams) X(cuGraphExternalSemaphoresSignalNodeSetParams) \
  X(cuGraphExternalSemaphoresWaitNodeGetParams) X(cuGraphExternalSemaphoresWaitNodeSetParams) \
  X(cuGraphMemAllocNodeGetParams) X(cuGraphMemFreeNodeGetParams)
// Peers, other processes and APIs, green contexts, stream attributes, logs and checkpoints.
#define OTHERS(X) \
  X(cuCheckpointProcessCheckpoint) X(cuCheckpointProcessGetRestoreThreadId) X(cuCheckpointProcessGetState) \
  X(cuCheckpointProcessLock) X(cuCheckpointProcessRestore) X(cuCheckpointProcessUnlock) X(cuCoredumpGetAttribute) \
  X(cuCoredumpGetAttributeGlobal) X(cuCoredumpSetAttribute) X(cuCoredumpSetAttributeGlobal) \
  X(cuCtxDisablePeerAccess) X(cuCtxEnablePeerAccess) X(cuCtxFromGreenCtx) X(cuCtxGetDevResource) \
  X(cuCtxGetExecAffinity) X(cuCtxRecordEvent) X(cuCtxResetPersistingL2Cache) X(cuCtxWaitEvent) \
  X(cuDestroyExternalMemory) X(cuDestroyExternalSemaphore) X(cuDevResourceGenerateDesc) \
  X(cuDevSmResourceSplitByCount) X(cuDeviceGetDevResource) X(cuDeviceGetExecAffinitySupport) \
  X(cuDeviceGetHostAtomicCapabilities) X(cuDeviceGetLuid) X(cuDeviceGetNvSciSyncAttributes) \
  X(cuDeviceGetP2PAtomicCapabilities) X(cuDeviceGetP2PAttribute) X(cuDeviceRegisterAsyncNotification) \
  X(cuDeviceUnregisterAsyncNotification) X(cuExternalMemoryGetMappedBuffer) \
  X(cuExternalMemoryGetMappedMipmappedArray) X(cuFlushGPUDirectRDMAWrites) X(cuGreenCtxCreate) \
  X(cuGreenCtxDestroy) X(cuGreenCtxGetDevResource) X(cuGreenCtxGetId) X(cuGreenCtxRecordEvent) \
  X(cuGreenCtxStreamCreate) X(cuGreenCtxWaitEvent) X(cuImportExternalMemory) X(cuImportExternalSemaphore) \
  X(cuIpcCloseMemHandle) X(cuIpcGetEventHandle) X(cuIpcGetMemHandle) X(cuIpcOpenEventHandle) X(cuIpcOpenMemHandle) \
  X(cuIpcOpenMemHandle_v2) X(cuLibraryGetUnifiedFunction) X(cuLogsCurrent) X(cuLogsDumpToFile) \
  X(cuLogsDumpToMemory) X(cuLogsRegisterCallback) X(cuLogsUnregisterCallback) X(cuMemPoolExportPointer) \
  X(cuMemPoolExportToShareableHandle) X(cuMemPoolImportFromShareableHandle) X(cuMemPoolImportPointer) \
  X(cuMemcpy3DPeer) X(cuMemcpy3DPeerAsync) X(cuMemcpy3DPeerAsync_ptsz) X(cuMemcpy3DPeer_ptds) X(cuMemcpyPeer) \
  X(cuMemcpyPeerAsync) X(cuMemcpyPeerAsync_ptsz) X(cuMemcpyPeer_ptds) X(cuMulticastAddDevice) \
  X(cuMulticastBindAddr) X(cuMulticastBindMem) X(cuMulticastCreate) X(cuMulticastGetGranularity) \
  X(cuMulticastUnbind) X(cuOccupancyMaxActiveClusters) X(cuOccupancyMaxPotentialClusterSize) \
  X(cuPointerSetAttribute) X(cuSignalExternalSemaphoresAsync) X(cuSignalExternalSemaphoresAsync_ptsz) \
  X(cuStreamCopyAttributes) X(cuStreamCopyAttributes_ptsz) X(cuStreamGetAttribute) X(cuStreamGetAttribute_ptsz) \
  X(cuStreamGetGreenCtx) X(cuStreamSetAttribute) X(cuStreamSetAttribute_ptsz) X(cuWaitExternalSemaphoresAsync) \
  X(cuWaitExternalSemaphoresAsync_ptsz)
#define NAMES(X) ADDRESSES_OF_32_BITS(X) ARRAYS_AND_TEXTURES(X) LAUNCHES_BEFORE_CUDA_4(X) MAPPED_MEMORY(X) \
  GRAPHS(X) OTHERS(X) OTHER_GRAPHICS(X)
// clang-format on

namespace ptx::cuda {
namespace {

CUresult refuse(const char* name, std::atomic<bool>& is_told) {
  if (!is_told.exchange(true)) std::fprintf(stderr, "emulator: %s is not emulated\n", name);
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace

// The functions ignore their arguments, which C calling conventions allow.
extern "C" {
#define REFUSE(name)                  \
  CUresult name();                    \
  CUresult name() {                   \
    static std::atomic<bool> is_told; \
    return refuse(#name, is_told);    \
  }
NAMES(REFUSE)
}
}  // namespace ptx::cuda

namespace ptx::emulator::driver {

EntryFunction find_not_emulated(const char* name) {
  static constexpr struct {
    const char* name;
    cuda::CUresult (*function)();
  } kNames[] = {
#define ROW(name) {#name, &cuda::name},
      NAMES(ROW)};
  for (const auto& row : kNames)
    if (std::strcmp(row.name, name) == 0) return reinterpret_cast<EntryFunction>(row.function);
  return nullptr;
}

}  // namespace ptx::emulator::driver
