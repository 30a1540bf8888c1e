// Managed memory: host memory at its own address, which host and kernels may access at any time, since both run on this
// machine. Location hints change nothing. It counts as initialised.
#include <cstdlib>

#include "ptx/driver_api_others.h"
#include "ptx/emulator/driver/driver.h"

namespace ptx::emulator::driver {

bool is_managed(const Context& context, uint64_t start) {
  return context.managed.contains(reinterpret_cast<void*>(start));
}

void release_managed(Driver& d, Context& context, void* start) {
  context.managed.erase(start);
  d.device->unmap_host(start);
  std::free(start);
}

namespace {

bool is_managed_range(Driver& d, const Context& context, uint64_t address, uint64_t bytes) {
  return bytes > 0 && is_device_range(d, address, bytes) && is_managed(context, d.device->find(address).start);
}

// The host is -1 as a device, and any host type as a location.
bool is_place(CUdevice device) { return device == 0 || device == -1; }
bool is_place(const CUmemLocation& location) {
  return location.type == CU_MEM_LOCATION_TYPE_DEVICE
             ? location.id == 0
             : location.type > CU_MEM_LOCATION_TYPE_DEVICE && location.type <= CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

template <class Place>
CUresult prefetch(CUdeviceptr address, size_t bytes, const Place& place, CUstream handle) {
  return in_context([&](Driver& d, Context& context, auto&) -> CUresult {
    if (!find_stream(context, handle)) return CUDA_ERROR_INVALID_HANDLE;
    if (!is_place(place)) return CUDA_ERROR_INVALID_DEVICE;
    return is_managed_range(d, context, address, bytes) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

// Ignores the location if the advice applies to all.
template <class Place>
CUresult advise(CUdeviceptr address, size_t bytes, CUmem_advise advice, const Place& place) {
  constexpr CUmem_advise kUnsetReadMostly = 2, kUnsetPreferredLocation = 4, kLast = 6;
  return in_context([&](Driver& d, Context& context, auto&) -> CUresult {
    if (advice == 0 || advice > kLast || !is_managed_range(d, context, address, bytes)) return CUDA_ERROR_INVALID_VALUE;
    const bool is_for_all = advice <= kUnsetReadMostly || advice == kUnsetPreferredLocation;
    return is_for_all || is_place(place) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
  });
}

}  // namespace
}  // namespace ptx::emulator::driver

namespace ptx::cuda {
using namespace ptx::emulator::driver;
extern "C" {

CUresult cuMemAllocManaged(CUdeviceptr* out, size_t bytes, unsigned flags) {
  constexpr unsigned kGlobal = 1, kHost = 2;  // streams that may use it initially; here all may
  return in_drained_context([&](Driver& d, Context& context, auto&) -> CUresult {
    if (out == nullptr || bytes == 0 || (flags != kGlobal && flags != kHost)) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult refused = refuse_while_capturing(d); refused != CUDA_SUCCESS) return refused;
    if (bytes > SIZE_MAX / 2) return CUDA_ERROR_OUT_OF_MEMORY;
    void* start = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (start == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
    d.device->map_host(start, bytes);
    context.managed.insert(start);
    *out = reinterpret_cast<uint64_t>(start);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream) {
  return prefetch(address, bytes, device, stream);
}
CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned flags,
                               CUstream stream) {
  return flags == 0 ? prefetch(address, bytes, location, stream) : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device) {
  return advise(address, bytes, advice, device);
}
CUresult cuMemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUmemLocation location) {
  return advise(address, bytes, advice, location);
}

CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, size_t, unsigned flags) {
  return in_context([&](Driver& d, Context& context, auto&) -> CUresult {
    if (!find_stream(context, stream)) return CUDA_ERROR_INVALID_HANDLE;
    if (flags != 1 && flags != 2 && flags != 4) return CUDA_ERROR_INVALID_VALUE;
    return is_managed_range(d, context, address, 1) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream) {
  const OwnDefaultStream null_is_own;
  return cuMemPrefetchAsync(address, bytes, device, stream);
}
CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned flags,
                                    CUstream stream) {
  const OwnDefaultStream null_is_own;
  return cuMemPrefetchAsync_v2(address, bytes, location, flags, stream);
}
CUresult cuStreamAttachMemAsync_ptsz(CUstream stream, CUdeviceptr address, size_t bytes, unsigned flags) {
  const OwnDefaultStream null_is_own;
  return cuStreamAttachMemAsync(stream, address, bytes, flags);
}

}  // extern "C"
}  // namespace ptx::cuda
