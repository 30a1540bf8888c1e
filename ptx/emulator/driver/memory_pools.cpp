// Memory pools: accounting on top of device allocations. Freed memory returns to the device at once, so a pool reserves
// exactly what is in use, its release threshold has no effect, and trimming does nothing.
#include <algorithm>
#include <cstring>

#include "ptx/emulator/driver/driver.h"

namespace ptx::emulator::driver {

void MemoryPool::reserve(uint64_t bytes) {
  used += bytes;
  used_high = std::max(used_high, used);
  reserved_high = std::max(reserved_high, used);
}

namespace {

CUmemoryPool handle_of(const std::shared_ptr<MemoryPool>& pool) { return reinterpret_cast<CUmemoryPool>(pool.get()); }

template <class Body>
CUresult with_pool(CUmemoryPool handle, Body body) {
  return api([&](Driver& d, auto&) -> CUresult {
    const std::shared_ptr<MemoryPool> pool = find_pool(d, handle);
    return pool ? body(d, *pool) : CUDA_ERROR_INVALID_VALUE;
  });
}

uint64_t* number_of(MemoryPool& pool, CUmemPool_attribute attribute) {
  switch (attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      return &pool.release_threshold;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
      return &pool.used;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      return &pool.reserved_high;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      return &pool.used_high;
    default:
      return nullptr;
  }
}

bool is_reuse_switch(CUmemPool_attribute attribute) {
  return attribute >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
         attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

CUresult set_number(MemoryPool& pool, CUmemPool_attribute attribute, uint64_t value) {
  uint64_t* const number = number_of(pool, attribute);
  if (number == nullptr || number == &pool.used) return CUDA_ERROR_INVALID_VALUE;  // bytes in use cannot be set
  const bool is_threshold = number == &pool.release_threshold;
  if (!is_threshold && value != 0) return CUDA_ERROR_INVALID_VALUE;  // a watermark can only be reset
  *number = is_threshold ? value : pool.used;
  return CUDA_SUCCESS;
}

CUresult check_properties(const CUmemPoolProps& p) {
  if (p.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED) return CUDA_ERROR_NOT_SUPPORTED;
  const bool is_clean = std::ranges::all_of(p.reserved, [](unsigned char byte) { return byte == 0; });
  if (p.allocType != CU_MEM_ALLOCATION_TYPE_PINNED || !is_clean || p.win32SecurityAttributes != nullptr)
    return CUDA_ERROR_INVALID_VALUE;
  if (p.location.type == CU_MEM_LOCATION_TYPE_HOST || p.location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA)
    return CUDA_ERROR_NOT_SUPPORTED;
  if (p.location.type != CU_MEM_LOCATION_TYPE_DEVICE || p.location.id != driver().ordinal)
    return CUDA_ERROR_INVALID_VALUE;
  // Sharing and decompression are not supported.
  return p.handleTypes == 0 && p.usage == 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

bool is_this_device(const CUmemLocation& location) {
  return location.type == CU_MEM_LOCATION_TYPE_DEVICE && location.id == driver().ordinal;
}

CUresult pool_handle(CUmemoryPool* out, CUdevice device, std::shared_ptr<MemoryPool> Driver::*pool) {
  return api_of(device, [&](Driver& d, auto&) -> CUresult {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *out = handle_of(d.*pool);
    return CUDA_SUCCESS;
  });
}

// CUDA 13 calls with a location and an allocation type: only one combination has pools.
template <class Call>
CUresult on_device(const CUmemLocation* location, CUmemAllocationType type, Call call) {
  if (location == nullptr || type == CU_MEM_ALLOCATION_TYPE_INVALID || type > CU_MEM_ALLOCATION_TYPE_MANAGED ||
      location->type > CU_MEM_LOCATION_TYPE_HOST_NUMA)
    return CUDA_ERROR_INVALID_VALUE;
  if (type == CU_MEM_ALLOCATION_TYPE_MANAGED) return CUDA_ERROR_NOT_SUPPORTED;
  if (location->type == CU_MEM_LOCATION_TYPE_INVALID) return CUDA_ERROR_INVALID_VALUE;
  if (location->type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
  return call(location->id);
}

}  // namespace

std::shared_ptr<MemoryPool> find_pool(Driver& d, const void* handle) {
  if (handle == d.default_pool.get()) return d.default_pool;
  for (const auto& pool : d.pools)
    if (pool.get() == handle) return pool;
  return nullptr;
}

}  // namespace ptx::emulator::driver

namespace ptx::cuda {
using namespace ptx::emulator::driver;
extern "C" {

CUresult cuMemPoolCreate(CUmemoryPool* out, const CUmemPoolProps* properties) {
  return api([&](Driver& d, auto&) -> CUresult {
    if (out == nullptr || properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult result = check_properties(*properties); result != CUDA_SUCCESS) return result;
    auto pool = std::make_shared<MemoryPool>();
    if (properties->maxSize > 0) pool->max_bytes = properties->maxSize;
    *out = handle_of(pool);
    d.pools.push_back(std::move(pool));
    return CUDA_SUCCESS;
  });
}

// The accounting lives as long as the pool's allocations; the handle becomes invalid now.
CUresult cuMemPoolDestroy(CUmemoryPool handle) {
  return api([&](Driver& d, auto&) -> CUresult {
    const std::shared_ptr<MemoryPool> pool = find_pool(d, handle);
    if (!pool || pool == d.default_pool) return CUDA_ERROR_INVALID_VALUE;
    if (d.current_pool == pool) d.current_pool = d.default_pool;
    std::erase(d.pools, pool);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  return with_pool(handle, [&](Driver&, MemoryPool& pool) -> CUresult {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (is_reuse_switch(attribute)) {
      std::memcpy(&pool.reuse[attribute - 1], value, sizeof(int));
      return CUDA_SUCCESS;
    }
    uint64_t number;
    std::memcpy(&number, value, sizeof number);
    return set_number(pool, attribute, number);
  });
}

CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  return with_pool(handle, [&](Driver&, MemoryPool& pool) -> CUresult {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const uint64_t* const number = number_of(pool, attribute);
    if (is_reuse_switch(attribute))
      std::memcpy(value, &pool.reuse[attribute - 1], sizeof(int));
    else if (number != nullptr)
      std::memcpy(value, number, sizeof *number);
    else
      return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
  });
}

// The only device always has access to its own memory.
CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc* map, size_t count) {
  return with_pool(handle, [&](Driver&, MemoryPool&) -> CUresult {
    if (map == nullptr && count > 0) return CUDA_ERROR_INVALID_VALUE;
    const bool good = std::all_of(map, map + count, [](const CUmemAccessDesc& access) {
      return is_this_device(access.location) && access.flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    });
    return good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool handle, CUmemLocation* location) {
  return with_pool(handle, [&](Driver&, MemoryPool&) -> CUresult {
    if (flags == nullptr || location == nullptr || !is_this_device(*location)) return CUDA_ERROR_INVALID_VALUE;
    *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t) {
  return with_pool(handle, [](Driver&, MemoryPool&) { return CUDA_SUCCESS; });
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* out, CUdevice device) {
  return pool_handle(out, device, &Driver::default_pool);
}
CUresult cuDeviceGetMemPool(CUmemoryPool* out, CUdevice device) {
  return pool_handle(out, device, &Driver::current_pool);
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool handle) {
  return api_of(device, [&](Driver& d, auto&) -> CUresult {
    const std::shared_ptr<MemoryPool> pool = find_pool(d, handle);
    if (!pool) return CUDA_ERROR_INVALID_VALUE;
    d.current_pool = pool;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool* out, CUmemLocation* location, CUmemAllocationType type) {
  return on_device(location, type, [&](CUdevice device) { return cuDeviceGetDefaultMemPool(out, device); });
}
CUresult cuMemGetMemPool(CUmemoryPool* out, CUmemLocation* location, CUmemAllocationType type) {
  return on_device(location, type, [&](CUdevice device) { return cuDeviceGetMemPool(out, device); });
}
CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  return on_device(location, type, [&](CUdevice device) { return cuDeviceSetMemPool(device, pool); });
}

}  // extern "C"
}  // namespace ptx::cuda
