// Device, pinned and mapped memory; copies and fills in one, two and three dimensions.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "ptx/driver_api_others.h"
#include "tests/emulator_driver/driver_test.h"

namespace ptx::cuda {
namespace {

class DriverMemory : public DriverTest {};

TEST_F(DriverMemory, AllocationsAndWhatIsSaidOfThem) {
  CUdeviceptr p = 0, base = 0;
  size_t bytes = 0, free_before = 0, free_after = 0, total = 0;
  ok(cuMemGetInfo_v2(&free_before, &total));
  ok(cuMemAlloc_v2(&p, 1000));
  EXPECT_EQ(p % 256, 0u);
  ok(cuMemGetAddressRange_v2(&base, &bytes, p + 999));
  EXPECT_EQ(base, p);
  EXPECT_EQ(bytes, 1000u);
  EXPECT_RESULT(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange_v2(&base, &bytes, 16));
  CUmemorytype type = 0;
  ok(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
  EXPECT_EQ(type, CU_MEMORYTYPE_DEVICE);
  CUcontext of = nullptr;
  ok(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, p));
  EXPECT_EQ(of, context);
  int on_stack = 0;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address_of(&on_stack)));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(p + 4));  // not the allocation's start
  EXPECT_RESULT(CUDA_SUCCESS, cuMemFree_v2(p));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(p));
  ok(cuMemGetInfo_v2(&free_after, &total));
  EXPECT_EQ(free_after, free_before);
  EXPECT_LE(free_after, total);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemAlloc_v2(&p, 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemAlloc_v2(nullptr, 4));
  EXPECT_RESULT(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&p, size_t{1} << 50));
  size_t pitch = 0;
  ok(cuMemAllocPitch_v2(&p, &pitch, 100, 7, 4));
  EXPECT_GE(pitch, 100u);
  EXPECT_EQ(pitch % 32, 0u);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemAllocPitch_v2(&p, &pitch, 100, 7, 3));
}

// Programs rely on devices' alignment; the space between allocations is still used.
TEST_F(DriverMemory, LargeAllocationsStartAtPages) {
  size_t before = 0, after = 0, total = 0;
  ok(cuMemGetInfo_v2(&before, &total));
  std::vector<CUdeviceptr> all;
  for (const size_t bytes : {4u, 4095u, 4096u, 100u, 70000u, 1u << 20, 300u}) {
    all.push_back(0);
    ok(cuMemAlloc_v2(&all.back(), bytes));
    EXPECT_EQ(all.back() % (bytes < 4096 ? 256 : 4096), 0u) << bytes;
  }
  for (const CUdeviceptr p : all) ok(cuMemFree_v2(p));
  ok(cuMemGetInfo_v2(&after, &total));
  EXPECT_EQ(after, before);
  CUdeviceptr max = 0;
  ok(cuMemAlloc_v2(&max, before - 4096));  // freed memory is one piece again
  ok(cuMemFree_v2(max));
}

// Managed memory has one address for host and device; a copy, a kernel and the host write there in turn.
TEST_F(DriverMemory, ManagedIsOfHostAndDevice) {
  CUdeviceptr p = 0;
  for (const unsigned flags : {0u, 3u, 4u}) EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemAllocManaged(&p, 8, flags));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemAllocManaged(&p, 0, 1));
  ok(cuMemAllocManaged(&p, 2 * sizeof(uint32_t), 1));
  auto* words = reinterpret_cast<volatile uint32_t*>(p);
  ok(cuMemsetD32_v2(p, 3, 2));
  words[1] = 4;
  ok(launch(kernel("add"), 1, 2, nullptr, p, 10u));
  ok(cuCtxSynchronize());
  EXPECT_EQ(std::make_pair(words[0] + 0, words[1] + 0), std::make_pair(13u, 14u));
  bool is_managed = false;
  CUmemorytype type = 0;
  CUdeviceptr base = 0;
  size_t bytes = 0;
  ok(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, p + 4));
  ok(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
  ok(cuMemGetAddressRange_v2(&base, &bytes, p + 4));
  EXPECT_TRUE(is_managed);
  EXPECT_EQ(type, CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(std::make_pair(base, bytes), std::make_pair(p, size_t{8}));
  const CUmemLocation host = {CU_MEM_LOCATION_TYPE_HOST, 0}, device = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                      none = {CU_MEM_LOCATION_TYPE_DEVICE, 1};
  EXPECT_RESULT(CUDA_SUCCESS, cuMemPrefetchAsync_v2(p, 8, host, 0, nullptr));
  EXPECT_RESULT(CUDA_SUCCESS, cuMemPrefetchAsync(p, 8, 0, nullptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_DEVICE, cuMemPrefetchAsync_v2(p, 8, none, 0, nullptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemPrefetchAsync_v2(p, 9, host, 0, nullptr));
  EXPECT_RESULT(CUDA_SUCCESS, cuMemAdvise_v2(p, 8, 3, device));
  EXPECT_RESULT(CUDA_SUCCESS, cuMemAdvise(p, 8, 1, 7));  // mostly read, on any device
  EXPECT_RESULT(CUDA_ERROR_INVALID_DEVICE, cuMemAdvise(p, 8, 5, 7));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemAdvise(p, 8, 7, 0));
  EXPECT_RESULT(CUDA_SUCCESS, cuStreamAttachMemAsync(nullptr, p, 0, 1));
  const CUdeviceptr plain = upload<uint32_t>({0});
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemAdvise(plain, 4, 1, 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(p + 4));
  EXPECT_RESULT(CUDA_SUCCESS, cuMemFree_v2(p));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(p));
  ok(cuMemAllocManaged(&p, 100, 2));  // freed with the context
}

TEST_F(DriverMemory, PinnedIsMappedUnderItsOwnAddress) {
  void* host = nullptr;
  CUdeviceptr device = 0;
  unsigned flags = 0;
  ok(cuMemHostAlloc(&host, 4 * sizeof(uint32_t), CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
  ok(cuMemHostGetDevicePointer_v2(&device, host, 0));
  EXPECT_EQ(device, address_of(host));
  ok(cuMemHostGetFlags(&flags, host));
  EXPECT_EQ(flags, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
  auto* words = static_cast<uint32_t*>(host);
  std::iota(words, words + 4, 10);
  ok(launch(kernel("add"), 1, 4, nullptr, device, 5u));
  ok(cuCtxSynchronize());
  EXPECT_EQ(words[3], 18u);
  CUmemorytype type = 0;
  ok(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device));
  EXPECT_EQ(type, CU_MEMORYTYPE_HOST);
  EXPECT_RESULT(CUDA_SUCCESS, cuMemFreeHost(host));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(host));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemHostAlloc(&host, 0, 0));
  ok(cuMemAllocHost_v2(&host, 100));
  ok(cuMemFreeHost(host));
}

TEST_F(DriverMemory, RegisteredHostMemory) {
  std::vector<uint32_t> mine(1024, 3);
  CUdeviceptr device = 0;
  EXPECT_RESULT(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(mine.data()));
  ok(cuMemHostRegister_v2(mine.data(), 4096, 2));
  EXPECT_RESULT(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister_v2(mine.data(), 4096, 2));
  ok(cuMemHostGetDevicePointer_v2(&device, mine.data(), 0));
  ok(launch(kernel("add"), 8, 128, nullptr, device, 4u));
  ok(cuCtxSynchronize());
  EXPECT_EQ(std::count(mine.begin(), mine.end(), 7u), 1024);
  ok(cuMemHostUnregister(mine.data()));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemHostGetDevicePointer_v2(&device, mine.data(), 0));
}

TEST_F(DriverMemory, CopiesInEveryDirection) {
  std::vector<uint8_t> from(100), to(100);
  std::iota(from.begin(), from.end(), uint8_t{1});
  CUdeviceptr a = upload(from), b = 0;
  ok(cuMemAlloc_v2(&b, 100));
  ok(cuMemcpyDtoD_v2(b, a, 100));
  ok(cuMemcpyDtoH_v2(to.data(), b, 100));
  EXPECT_EQ(to, from);
  ok(cuMemcpyHtoD_v2(b + 10, from.data(), 5));
  ok(cuMemcpy(address_of(to.data()), b, 100));  // unified: addresses tell the memory spaces
  EXPECT_EQ(to[10], 1);
  EXPECT_EQ(to[15], 16);
  ok(cuMemcpy(a, address_of(to.data()), 100));
  EXPECT_EQ(download<uint8_t>(a, 100), to);
  EXPECT_RESULT(CUDA_SUCCESS, cuMemcpyDtoH_v2(to.data(), a, 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH_v2(to.data(), a + 50, 51));  // one byte too far
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD_v2(64, from.data(), 4));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD_v2(a, nullptr, 4));
}

TEST_F(DriverMemory, CopiesOfBoxes) {
  // The 3 x 2 window at column 1, row 1 of a 5 x 4 matrix of words, into column 2, row 0 of a 6 x 3 one.
  std::vector<uint32_t> from(20);
  std::iota(from.begin(), from.end(), 0);
  const CUdeviceptr a = upload(from), b = upload(std::vector<uint32_t>(18, 99));
  CUDA_MEMCPY2D plane{};
  plane.srcMemoryType = plane.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  plane.srcDevice = a, plane.srcPitch = 20, plane.srcXInBytes = 4, plane.srcY = 1;
  plane.dstDevice = b, plane.dstPitch = 24, plane.dstXInBytes = 8, plane.dstY = 0;
  plane.WidthInBytes = 12, plane.Height = 2;
  ok(cuMemcpy2D_v2(&plane));
  EXPECT_EQ(download<uint32_t>(b, 12), (std::vector<uint32_t>{99, 99, 6, 7, 8, 99, 99, 99, 11, 12, 13, 99}));
  plane.Height = 4;  // beyond the source's end
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D_v2(&plane));
  plane.Height = 2, plane.dstPitch = 8;  // rows would overlap
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D_v2(&plane));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D_v2(nullptr));
  // A 2 x 2 x 2 corner of a 3 x 3 x 3 cube of bytes, to the host.
  std::vector<uint8_t> cube(27), corner(8);
  std::iota(cube.begin(), cube.end(), uint8_t{0});
  CUDA_MEMCPY3D box{};
  box.srcMemoryType = CU_MEMORYTYPE_UNIFIED, box.srcDevice = upload(cube), box.srcPitch = 3, box.srcHeight = 3;
  box.srcXInBytes = box.srcY = box.srcZ = 1;
  box.dstMemoryType = CU_MEMORYTYPE_HOST, box.dstHost = corner.data(), box.dstPitch = 2, box.dstHeight = 2;
  box.WidthInBytes = box.Height = box.Depth = 2;
  ok(cuMemcpy3D_v2(&box));
  EXPECT_EQ(corner, (std::vector<uint8_t>{13, 14, 16, 17, 22, 23, 25, 26}));
}

TEST_F(DriverMemory, Sets) {
  const CUdeviceptr p = upload(std::vector<uint8_t>(64, 0xee));
  ok(cuMemsetD8_v2(p, 1, 3));
  ok(cuMemsetD16_v2(p + 4, 0x0203, 2));
  ok(cuMemsetD32_v2(p + 8, 0x04050607, 2));
  ok(cuMemsetD2D8_v2(p + 32, 8, 9, 2, 3));
  ok(cuMemsetD2D32_v2(p + 20, 8, 0x0b0b0b0b, 1, 2));
  std::vector<uint8_t> want(64, 0xee);
  for (int i = 0; i < 3; ++i) want[i] = 1, want[32 + 8 * i] = want[33 + 8 * i] = 9;
  for (int i = 4; i < 8; i += 2) want[i] = 3, want[i + 1] = 2;
  for (int i = 8; i < 16; ++i) want[i] = static_cast<uint8_t>(7 - (i & 3));
  for (int i : {20, 28}) std::fill_n(want.begin() + i, 4, uint8_t{0x0b});
  EXPECT_EQ(download<uint8_t>(p, 64), want);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemsetD32_v2(p + 2, 0, 1));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemsetD16_v2(p + 1, 0, 1));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemsetD8_v2(p, 0, 65));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D8_v2(p, 4, 0, 8, 2));
}

// A pageable source may be changed as soon as the call returns; a pageable destination is written by then.
TEST_F(DriverMemory, AsynchronousCopiesOfPageableMemory) {
  CUstream s = stream();
  Gate gate = close(s);
  std::vector<uint32_t> from = {1, 2, 3};
  const CUdeviceptr p = upload<uint32_t>({0, 0, 0});
  ok(cuMemcpyHtoDAsync_v2(p, from.data(), 12, s));
  from = {7, 7, 7};
  EXPECT_EQ(word(p), 0u);
  gate.open();
  std::vector<uint32_t> to(3);
  ok(cuMemcpyDtoHAsync_v2(to.data(), p, 12, s));
  EXPECT_EQ(to, (std::vector<uint32_t>{1, 2, 3}));
}

TEST_F(DriverMemory, StreamOrderedAllocation) {
  CUstream s = stream();
  CUdeviceptr p = 0;
  ok(cuMemAllocAsync(&p, 64, s));
  ok(cuMemsetD32Async(p, 3, 16, s));
  ok(launch(kernel("add"), 1, 16, s, p, 4u));
  std::vector<uint32_t> to(16);
  ok(cuMemcpyDtoHAsync_v2(to.data(), p, 64, s));
  ok(cuMemFreeAsync(p, s));
  ok(cuStreamSynchronize(s));
  EXPECT_EQ(to, std::vector<uint32_t>(16, 7));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(p, s));
}

}  // namespace
}  // namespace ptx::cuda
