// Memory: device allocations, pinned and registered host memory, and pointer attributes.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "ptx/emulator/driver/driver.h"

namespace ptx::emulator::driver {

bool is_device_range(Driver& d, uint64_t address, uint64_t bytes) {
  const Device::Range range = d.device->find(address);
  return range.bytes > 0 && address - range.start <= range.bytes && bytes <= range.bytes - (address - range.start);
}

void release_memory(Driver& d, Context& context, uint64_t address) {
  const auto allocation = context.allocations.extract(address);
  if (allocation.empty()) return;
  if (allocation.mapped().pool) allocation.mapped().pool->used -= allocation.mapped().bytes;
  d.device->release(address);
}

namespace {

CUresult allocate(Driver& d, Context& context, CUdeviceptr* out, size_t bytes,
                  std::shared_ptr<MemoryPool> pool = nullptr) {
  if (out == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (bytes > d.device->free_bytes()) return CUDA_ERROR_OUT_OF_MEMORY;
  if (pool && bytes > pool->max_bytes - std::min(pool->used, pool->max_bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  const uint64_t address = d.device->allocate(bytes);
  if (address == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  if (pool) pool->reserve(bytes);
  context.allocations.emplace(address, Allocation{bytes, std::move(pool)});
  *out = address;
  return CUDA_SUCCESS;
}

CUresult host_allocate(void** out, size_t bytes, unsigned flags) {
  return in_drained_context([&](Driver& d, Context& context, auto&) -> CUresult {
    if (out == nullptr || bytes == 0 || flags > 7) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult refused = refuse_while_capturing(d); refused != CUDA_SUCCESS) return refused;
    void* pointer = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (pointer == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
    d.device->map_host(pointer, bytes);  // unified addressing: kernels may access pinned memory at its host address
    context.pinned.emplace(pointer, flags | CU_MEMHOSTALLOC_DEVICEMAP);
    *out = pointer;
    return CUDA_SUCCESS;
  });
}

// Finds the pool with the lock held; null if the handle is invalid. Memory is available at once, earlier than the
// stream's order requires.
template <class FindPool>
CUresult allocate_in_stream(CUdeviceptr* out, size_t bytes, CUstream stream, FindPool pool_of) {
  return in_context([&](Driver& d, Context& context, auto&) -> CUresult {
    std::shared_ptr<Stream> found = find_stream(context, stream);
    if (!found) return CUDA_ERROR_INVALID_HANDLE;
    std::shared_ptr<MemoryPool> pool = pool_of(d);
    if (!pool) return CUDA_ERROR_INVALID_VALUE;
    if (found->capture) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return allocate(d, context, out, bytes, std::move(pool));
  });
}

CUmemoryPool pool_of(Context& context, uint64_t start) {
  const auto found = context.allocations.find(start);
  return found == context.allocations.end() ? nullptr : reinterpret_cast<CUmemoryPool>(found->second.pool.get());
}

CUresult query(Driver& d, void* data, CUpointer_attribute attribute, CUdeviceptr pointer) {
  const Device::Range range = d.device->find(pointer);
  if (data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (range.bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  const bool managed = is_managed(*current_context(), range.start);
  auto store = [&](auto value) {
    std::memcpy(data, &value, sizeof value);
    return CUDA_SUCCESS;
  };
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return store(current_context());
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return store(range.is_host && !managed ? CUmemorytype{CU_MEMORYTYPE_HOST} : CUmemorytype{CU_MEMORYTYPE_DEVICE});
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return store(pointer);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      return range.is_host ? store(pointer) : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return store(managed);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return store(driver().ordinal);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return store(range.start);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return store(static_cast<size_t>(range.bytes));
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return store(pool_of(*current_context(), range.start));
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace
}  // namespace ptx::emulator::driver

namespace ptx::cuda {
using namespace ptx::emulator::driver;
extern "C" {

CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  return in_drained_context([&](Driver& d, Context&, auto&) -> CUresult {
    if (free == nullptr || total == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *free = d.device->free_bytes();
    *total = d.device->profile().memory_bytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAlloc_v2(CUdeviceptr* out, size_t bytes) {
  return in_drained_context([&](Driver& d, Context& context, auto&) -> CUresult {
    if (CUresult refused = refuse_while_capturing(d); refused != CUDA_SUCCESS) return refused;
    return allocate(d, context, out, bytes);
  });
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* out, size_t* pitch, size_t width, size_t height, unsigned element) {
  return in_drained_context([&](Driver& d, Context& context, auto&) -> CUresult {
    if (pitch == nullptr || (element != 4 && element != 8 && element != 16)) return CUDA_ERROR_INVALID_VALUE;
    constexpr size_t kAlignment = 512;
    if (width > d.device->profile().memory_bytes) return CUDA_ERROR_INVALID_VALUE;
    *pitch = (width + kAlignment - 1) / kAlignment * kAlignment;
    if (height > 0 && *pitch > SIZE_MAX / height) return CUDA_ERROR_OUT_OF_MEMORY;
    return allocate(d, context, out, *pitch * height);
  });
}

CUresult cuMemAllocAsync(CUdeviceptr* out, size_t bytes, CUstream stream) {
  return allocate_in_stream(out, bytes, stream, [](Driver& d) { return d.current_pool; });
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* out, size_t bytes, CUmemoryPool pool, CUstream stream) {
  return allocate_in_stream(out, bytes, stream, [&](Driver& d) { return find_pool(d, pool); });
}

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
  return in_context([&](Driver& d, Context& context, auto&) -> CUresult {
    std::shared_ptr<Stream> found = find_stream(context, stream);
    if (!found) return CUDA_ERROR_INVALID_HANDLE;
    if (!context.allocations.contains(pointer)) return CUDA_ERROR_INVALID_VALUE;
    if (found->capture) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return submit(d, *found, FreeWork{pointer});
  });
}

CUresult cuMemFree_v2(CUdeviceptr pointer) {
  return in_drained_context([&](Driver& d, Context& context, std::unique_lock<std::mutex>& lock) -> CUresult {
    if (pointer == 0) return CUDA_SUCCESS;
    const auto is_known = [&] { return context.allocations.contains(pointer) || is_managed(context, pointer); };
    if (!is_known()) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult refused = refuse_while_capturing(d); refused != CUDA_SUCCESS) return refused;
    const CUresult result = synchronise(d, lock, context);  // like a hardware driver: nothing may still use it
    if (!is_known()) return CUDA_ERROR_INVALID_VALUE;
    if (is_managed(context, pointer))
      release_managed(d, context, reinterpret_cast<void*>(pointer));
    else
      release_memory(d, context, pointer);
    return result;
  });
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* bytes, CUdeviceptr pointer) {
  return in_context([&](Driver& d, Context&, auto&) -> CUresult {
    const Device::Range range = d.device->find(pointer);
    if (range.bytes == 0) return CUDA_ERROR_NOT_FOUND;
    if (base != nullptr) *base = range.start;
    if (bytes != nullptr) *bytes = range.bytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAllocHost_v2(void** out, size_t bytes) { return host_allocate(out, bytes, 0); }
CUresult cuMemHostAlloc(void** out, size_t bytes, unsigned flags) { return host_allocate(out, bytes, flags); }

CUresult cuMemFreeHost(void* pointer) {
  return in_drained_context([&](Driver& d, Context& context, std::unique_lock<std::mutex>& lock) -> CUresult {
    if (!context.pinned.contains(pointer)) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult refused = refuse_while_capturing(d); refused != CUDA_SUCCESS) return refused;
    const CUresult result = synchronise(d, lock, context);
    if (context.pinned.erase(pointer) == 0) return CUDA_ERROR_INVALID_VALUE;
    d.device->unmap_host(pointer);
    std::free(pointer);
    return result;
  });
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* out, void* pointer, unsigned flags) {
  return in_context([&](Driver& d, Context&, auto&) -> CUresult {
    if (out == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    const Device::Range range = d.device->find(reinterpret_cast<uint64_t>(pointer));
    if (range.bytes == 0 || !range.is_host) return CUDA_ERROR_INVALID_VALUE;
    *out = reinterpret_cast<uint64_t>(pointer);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemHostGetFlags(unsigned* flags, void* pointer) {
  return in_context([&](Driver&, Context& context, auto&) -> CUresult {
    if (flags == nullptr || !context.pinned.contains(pointer)) return CUDA_ERROR_INVALID_VALUE;
    *flags = context.pinned.at(pointer);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemHostRegister_v2(void* pointer, size_t bytes, unsigned flags) {
  return in_drained_context([&](Driver& d, Context& context, auto&) -> CUresult {
    if (pointer == nullptr || bytes == 0 || flags > 15) return CUDA_ERROR_INVALID_VALUE;
    if (d.device->find(reinterpret_cast<uint64_t>(pointer)).bytes > 0) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    d.device->map_host(pointer, bytes);
    context.registered.insert(pointer);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemHostUnregister(void* pointer) {
  return in_drained_context([&](Driver& d, Context& context, std::unique_lock<std::mutex>& lock) -> CUresult {
    if (!context.registered.contains(pointer)) return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    const CUresult result = synchronise(d, lock, context);
    context.registered.erase(pointer);
    d.device->unmap_host(pointer);
    return result;
  });
}

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr pointer) {
  return in_context([&](Driver& d, Context&, auto&) -> CUresult { return query(d, data, attribute, pointer); });
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** data, CUdeviceptr pointer) {
  return in_context([&](Driver& d, Context&, auto&) -> CUresult {
    if (attributes == nullptr || data == nullptr) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; ++i)  // unknown pointers leave their values unchanged, as documented
      query(d, data[i], attributes[i], pointer);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
}  // namespace ptx::cuda
