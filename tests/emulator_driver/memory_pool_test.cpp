// Memory pools: their properties, allocations, and end.
#include "tests/emulator_driver/driver_test.h"

namespace ptx::cuda {
namespace {

constexpr CUmemLocation kDevice = {CU_MEM_LOCATION_TYPE_DEVICE, 0};

class MemoryPools : public DriverTest {
 protected:
  static CUmemPoolProps properties(size_t max_bytes = 0) {
    CUmemPoolProps p{};
    p.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location = kDevice;
    p.maxSize = max_bytes;
    return p;
  }
  static CUmemoryPool create(size_t max_bytes = 0) {
    const CUmemPoolProps p = properties(max_bytes);
    CUmemoryPool pool = nullptr;
    ok(cuMemPoolCreate(&pool, &p));
    return pool;
  }
  static uint64_t number(CUmemoryPool pool, CUmemPool_attribute attribute) {
    uint64_t value = ~0ull;
    ok(cuMemPoolGetAttribute(pool, attribute, &value));
    return value;
  }
};

TEST_F(MemoryPools, GiveMemoryInAStreamsOrder) {
  const CUstream s = stream();
  const CUmemoryPool pool = create();
  CUdeviceptr p = 0, q = 0;
  ok(cuMemAllocFromPoolAsync(&p, 400, pool, s));
  ok(cuMemAllocFromPoolAsync(&q, 600, pool, s));
  EXPECT_EQ(number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 1000u);
  EXPECT_GE(number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 1000u);
  ok(cuMemsetD32Async(p, 5, 100, s));
  ok(launch(kernel("add"), 1, 100, s, p, 2u));
  const Gate gate = close(s);
  ok(cuMemFreeAsync(q, s));
  EXPECT_EQ(number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 1000u);  // the free takes effect in stream order
  Gate(gate).open();
  ok(cuStreamSynchronize(s));
  EXPECT_EQ(number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 400u);
  EXPECT_EQ(number(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 1000u);
  EXPECT_EQ(download<uint32_t>(p, 100)[99], 7u);
  CUmemoryPool of = nullptr;
  ok(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p));
  EXPECT_EQ(of, pool);
  ok(cuMemFree_v2(p));
  EXPECT_EQ(number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0u);
  ok(cuMemPoolDestroy(pool));
}

TEST_F(MemoryPools, AttributesAreKept) {
  const CUmemoryPool pool = create();
  int off = 0, is_on = 7;
  for (CUmemPool_attribute attribute = CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES;
       attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES; ++attribute) {
    ok(cuMemPoolGetAttribute(pool, attribute, &is_on));
    EXPECT_EQ(is_on, 1) << attribute;
    ok(cuMemPoolSetAttribute(pool, attribute, &off));
    ok(cuMemPoolGetAttribute(pool, attribute, &is_on));
    EXPECT_EQ(is_on, 0) << attribute;
  }
  uint64_t threshold = 1 << 20, zero = 0;
  EXPECT_EQ(number(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD), 0u);
  ok(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  EXPECT_EQ(number(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD), threshold);
  CUdeviceptr p = 0;
  ok(cuMemAllocFromPoolAsync(&p, 100, pool, nullptr));
  ok(cuMemFree_v2(p));
  EXPECT_EQ(number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH), 100u);
  ok(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &zero));
  EXPECT_EQ(number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH), 0u);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &threshold));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &zero));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemPoolGetAttribute(pool, 99, &zero));
  ok(cuMemPoolTrimTo(pool, 0));
  CUmemAccess_flags access = 0;
  CUmemLocation location = kDevice;
  ok(cuMemPoolGetAccess(&access, pool, &location));
  EXPECT_EQ(access, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  const CUmemAccessDesc given = {kDevice, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  EXPECT_RESULT(CUDA_SUCCESS, cuMemPoolSetAccess(pool, &given, 1));
  const CUmemAccessDesc elsewhere = {{CU_MEM_LOCATION_TYPE_DEVICE, 3}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemPoolSetAccess(pool, &elsewhere, 1));
  ok(cuMemPoolDestroy(pool));
}

TEST_F(MemoryPools, TheDevicesOwnAndTheCurrentOne) {
  int supported = 0;
  ok(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 0));
  EXPECT_EQ(supported, 1);
  CUmemoryPool of_device = nullptr, now = nullptr;
  CUmemLocation location = kDevice;
  ok(cuDeviceGetDefaultMemPool(&of_device, 0));
  ok(cuDeviceGetMemPool(&now, 0));
  EXPECT_EQ(now, of_device);
  ok(cuMemGetDefaultMemPool(&now, &location, CU_MEM_ALLOCATION_TYPE_PINNED));
  EXPECT_EQ(now, of_device);
  const CUmemoryPool own = create();
  ok(cuDeviceSetMemPool(0, own));
  CUdeviceptr p = 0;
  ok(cuMemAllocAsync(&p, 64, nullptr));
  EXPECT_EQ(number(own, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 64u);
  ok(cuMemPoolDestroy(own));  // p outlives its pool
  ok(cuDeviceGetMemPool(&now, 0));
  EXPECT_EQ(now, of_device);
  ok(cuMemsetD8_v2(p, 1, 64));
  ok(cuMemFree_v2(p));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(own));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(of_device));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuDeviceSetMemPool(0, own));
  EXPECT_RESULT(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetMemPool(&now, 7));
}

// A pool never exceeds its properties. A context that ends returns its memory.
TEST_F(MemoryPools, Limits) {
  const CUmemoryPool pool = create(1000);
  CUdeviceptr p = 0, q = 0;
  ok(cuMemAllocFromPoolAsync(&p, 800, pool, nullptr));
  EXPECT_RESULT(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocFromPoolAsync(&q, 201, pool, nullptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemAllocFromPoolAsync(&q, 0, pool, nullptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemAllocFromPoolAsync(&q, 8, nullptr, nullptr));
  ok(cuCtxDestroy_v2(context));
  context = nullptr;
  EXPECT_EQ(number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0u);
  ok(cuMemPoolDestroy(pool));
}

TEST_F(MemoryPools, PropertiesThatCannotBe) {
  const struct {
    const char* why;
    void (*change)(CUmemPoolProps& p);
    CUresult expected;
  } rows[] = {
      {"no kind of memory", [](CUmemPoolProps& p) { p.allocType = 0; }, CUDA_ERROR_INVALID_VALUE},
      {"no managed memory here", [](CUmemPoolProps& p) { p.allocType = 2; }, CUDA_ERROR_NOT_SUPPORTED},
      {"no place", [](CUmemPoolProps& p) { p.location.type = 0; }, CUDA_ERROR_INVALID_VALUE},
      {"one device", [](CUmemPoolProps& p) { p.location.id = 1; }, CUDA_ERROR_INVALID_VALUE},
      {"host pools", [](CUmemPoolProps& p) { p.location.type = CU_MEM_LOCATION_TYPE_HOST; }, CUDA_ERROR_NOT_SUPPORTED},
      {"the current node is none", [](CUmemPoolProps& p) { p.location.type = 4; }, CUDA_ERROR_INVALID_VALUE},
      {"shared with other processes", [](CUmemPoolProps& p) { p.handleTypes = 1; }, CUDA_ERROR_NOT_SUPPORTED},
      {"reserved bytes", [](CUmemPoolProps& p) { p.reserved[53] = 1; }, CUDA_ERROR_INVALID_VALUE},
  };
  for (const auto& row : rows) {
    CUmemPoolProps p = properties();
    row.change(p);
    CUmemoryPool pool = nullptr;
    EXPECT_EQ(name_of(cuMemPoolCreate(&pool, &p)), name_of(row.expected)) << row.why;
  }
  CUmemoryPool pool = nullptr;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemPoolCreate(&pool, nullptr));
}

}  // namespace
}  // namespace ptx::cuda
