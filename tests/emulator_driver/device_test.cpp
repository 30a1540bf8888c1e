// Initialisation, devices and their properties, names of errors, look-up of entry points.
#include <cstring>

#include "tests/emulator_driver/driver_test.h"

namespace ptx::cuda {
namespace {

TEST(Init, AgainAndWithFlags) {
  EXPECT_RESULT(CUDA_SUCCESS, cuInit(0));
  EXPECT_RESULT(CUDA_SUCCESS, cuInit(0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuInit(1));
  int version = 0;
  EXPECT_RESULT(CUDA_SUCCESS, cuDriverGetVersion(&version));
  EXPECT_GE(version, 13000);
}

TEST(Devices, OneOfComputeCapability90) {
  ok(cuInit(0));
  int count = 0;
  CUdevice device = -1;
  EXPECT_RESULT(CUDA_SUCCESS, cuDeviceGetCount(&count));
  EXPECT_EQ(count, 1);
  EXPECT_RESULT(CUDA_SUCCESS, cuDeviceGet(&device, 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, 64));
  EXPECT_RESULT(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, -1));
  char name[100] = {};
  EXPECT_RESULT(CUDA_SUCCESS, cuDeviceGetName(name, sizeof name, 0));
  EXPECT_STREQ(name, "PTX emulator sm_90");
  char room[4];
  EXPECT_RESULT(CUDA_SUCCESS, cuDeviceGetName(room, sizeof room, 0));
  EXPECT_STREQ(room, "PTX");  // cut, but terminated
  size_t bytes = 0;
  EXPECT_RESULT(CUDA_SUCCESS, cuDeviceTotalMem_v2(&bytes, 0));
  EXPECT_GE(bytes, size_t{1} << 30);
  CUuuid first, second;
  ok(cuDeviceGetUuid_v2(&first, 0));
  ok(cuDeviceGetUuid_v2(&second, 0));
  EXPECT_EQ(std::memcmp(&first, &second, sizeof first), 0);
  char bus[32];
  ok(cuDeviceGetPCIBusId(bus, sizeof bus, 0));
  EXPECT_RESULT(CUDA_SUCCESS, cuDeviceGetByPCIBusId(&device, bus));
  EXPECT_EQ(device, 0);
}

TEST(Devices, Attributes) {
  ok(cuInit(0));
  constexpr struct {
    CUdevice_attribute attribute;
    int value;
  } kRows[] = {
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
      {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 0x7fffffff},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 48 << 10},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 227 << 10},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 228 << 10},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
      {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
      {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
      {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
      {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
  };
  for (const auto& row : kRows) {
    int value = -1;
    EXPECT_RESULT(CUDA_SUCCESS, cuDeviceGetAttribute(&value, row.attribute, 0));
    EXPECT_EQ(value, row.value) << "attribute " << row.attribute;
  }
  int value = -1;
  ok(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  EXPECT_GE(value, 1);
  for (CUdevice_attribute a = 1; a <= 140; ++a) EXPECT_RESULT(CUDA_SUCCESS, cuDeviceGetAttribute(&value, a, 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(&value, 0, 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(&value, 100000, 0));
}

TEST(Errors, NamesAndSentences) {
  const char* text = nullptr;
  ok(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
  EXPECT_STREQ(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  ok(cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
  EXPECT_GT(std::strlen(text), 10u);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGetErrorName(static_cast<CUresult>(12345), &text));
  EXPECT_EQ(text, nullptr);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGetErrorName(CUDA_SUCCESS, nullptr));
}

TEST(EntryPoints, ByNameAndVersion) {
  struct Row {
    const char* symbol;
    int version;
    uint64_t flags;
    CUresult result;
    unsigned status;
    void* function;
  };
  const auto as_pointer = [](auto* f) { return reinterpret_cast<void*>(f); };
  const Row rows[] = {
      {"cuMemAlloc", 13000, 0, CUDA_SUCCESS, 0, as_pointer(&cuMemAlloc_v2)},
      {"cuInit", 2000, 0, CUDA_SUCCESS, 0, as_pointer(&cuInit)},
      {"cuCtxCreate", 13000, 0, CUDA_SUCCESS, 0, as_pointer(&cuCtxCreate_v4)},
      {"cuCtxCreate", 11000, 0, CUDA_SUCCESS, 0, as_pointer(&cuCtxCreate_v2)},  // the signature of CUDA 11
      {"cuEventElapsedTime", 12000, 0, CUDA_SUCCESS, 0, as_pointer(&cuEventElapsedTime)},
      {"cuEventElapsedTime", 13000, 0, CUDA_SUCCESS, 0, as_pointer(&cuEventElapsedTime_v2)},
      {"cuLaunchKernel", 13000, 1, CUDA_SUCCESS, 0, as_pointer(&cuLaunchKernel)},  // legacy default stream
      {"cuGetProcAddress", 13000, 0, CUDA_SUCCESS, 0, as_pointer(&cuGetProcAddress_v2)},
      {"cuMemAlloc", 1000, 0, CUDA_SUCCESS, 2, nullptr},     // newer than that
      {"cuNoSuchCall", 13000, 0, CUDA_SUCCESS, 1, nullptr},  // does not exist
      {"cuInit", 13000, 64, CUDA_ERROR_INVALID_VALUE, 9, nullptr},
      {nullptr, 13000, 0, CUDA_ERROR_INVALID_VALUE, 9, nullptr},
  };
  for (const Row& row : rows) {
    void* function = nullptr;
    CUdriverProcAddressQueryResult status = 9;
    EXPECT_RESULT(row.result, cuGetProcAddress_v2(row.symbol, &function, row.version, row.flags, &status));
    EXPECT_EQ(status, row.status) << (row.symbol ? row.symbol : "null") << " of " << row.version;
    EXPECT_EQ(function, row.function) << (row.symbol ? row.symbol : "null") << " of " << row.version;
  }
}

}  // namespace
}  // namespace ptx::cuda
