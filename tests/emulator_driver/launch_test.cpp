// Launches: arguments by pointers and as one packed buffer, cooperative ones, function attributes, occupancy.
#include <cstring>

#include "tests/emulator_driver/driver_test.h"

namespace ptx::cuda {
namespace {

class Launches : public DriverTest {};

TEST_F(Launches, GridsOfThreads) {
  std::vector<float> x(1000);
  for (int i = 0; i < 1000; ++i) x[i] = static_cast<float>(i);
  const CUdeviceptr p = upload(x);
  ok(launch(kernel("scale"), 8, 128, nullptr, p, 0.5f, 1000u));
  const auto y = download<float>(p, 1000);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(y[i], 0.5f * static_cast<float>(i));
}

struct Mixed {  // the kernel's output
  uint32_t a, d;
  uint64_t b;
  float c;
};

TEST_F(Launches, ArgumentsOfManySizes) {
  const CUdeviceptr to = upload(std::vector<uint8_t>(24));
  ok(launch(kernel("mixed"), 1, 1, nullptr, uint8_t{250}, uint64_t{1} << 40, 1.5f, uint16_t{60000}, to));
  const Mixed got = download<Mixed>(to, 1)[0];
  EXPECT_EQ(got.a, 250u);
  EXPECT_EQ(got.d, 60000u);
  EXPECT_EQ(got.b, uint64_t{1} << 40);
  EXPECT_EQ(got.c, 1.5f);
}

TEST_F(Launches, ArgumentsAsOneBuffer) {
  const CUdeviceptr to = upload(std::vector<uint8_t>(24));
  struct {  // the ABI's layout of the parameters
    uint8_t a;
    alignas(8) uint64_t b;
    float c;
    uint16_t d;
    alignas(8) CUdeviceptr to;
  } packed{3, 4, 5.5f, 6, to};
  size_t bytes = sizeof packed;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  const CUfunction f = kernel("mixed");
  ok(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  const Mixed got = download<Mixed>(to, 1)[0];
  EXPECT_EQ(got.a, 3u);
  EXPECT_EQ(got.b, 4u);
  EXPECT_EQ(got.c, 5.5f);
  EXPECT_EQ(got.d, 6u);
  void* params[] = {&packed};
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, params, extra));  // both
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  bytes = 8;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
}

TEST_F(Launches, Shapes) {
  const CUfunction f = kernel("trap");  // none of these may run
  const struct {
    unsigned grid[3], block[3], shared;
    CUresult result;
  } rows[] = {
      {{0, 1, 1}, {1, 1, 1}, 0, CUDA_ERROR_INVALID_VALUE},
      {{1, 0, 1}, {1, 1, 1}, 0, CUDA_ERROR_INVALID_VALUE},
      {{1, 1, 1}, {1, 1, 0}, 0, CUDA_ERROR_INVALID_VALUE},
      {{1, 65536, 1}, {1, 1, 1}, 0, CUDA_ERROR_INVALID_VALUE},
      {{1, 1, 65536}, {1, 1, 1}, 0, CUDA_ERROR_INVALID_VALUE},
      {{0x80000000u, 1, 1}, {1, 1, 1}, 0, CUDA_ERROR_INVALID_VALUE},
      {{1, 1, 1}, {1025, 1, 1}, 0, CUDA_ERROR_INVALID_VALUE},
      {{1, 1, 1}, {1, 1, 65}, 0, CUDA_ERROR_INVALID_VALUE},
      {{1, 1, 1}, {32, 32, 2}, 0, CUDA_ERROR_INVALID_VALUE},
      {{1, 1, 1}, {1, 1, 1}, (48 << 10) + 1, CUDA_ERROR_INVALID_VALUE},  // more needs the attribute
  };
  for (const auto& r : rows) {
    EXPECT_RESULT(r.result, cuLaunchKernel(f, r.grid[0], r.grid[1], r.grid[2], r.block[0], r.block[1], r.block[2],
                                           r.shared, nullptr, nullptr, nullptr));
  }
  const CUdeviceptr to = upload<uint32_t>({0});
  EXPECT_RESULT(CUDA_SUCCESS, launch(kernel("bounded"), 1, 64, nullptr, to));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, launch(kernel("bounded"), 1, 65, nullptr, to));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, launch(nullptr, 1, 1, nullptr, to));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, launch(kernel("bounded"), 1, 1, reinterpret_cast<CUstream>(context), to));
  EXPECT_EQ(word(to), 64u);
}

TEST_F(Launches, DynamicSharedMemory) {
  const CUfunction f = kernel("shared");
  CUdeviceptr to = upload<uint32_t>({0});
  uint32_t n = 20000;  // words, 80000 bytes
  void* params[] = {&to, &n};
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 4 * n, nullptr, params, nullptr));
  int value = 0;
  ok(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f));
  EXPECT_EQ(value, 48 << 10);
  ok(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 80000));
  ok(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 4 * n, nullptr, params, nullptr));
  EXPECT_EQ(word(to), n * (n - 1) / 2);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (227 << 10) + 1));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NUM_REGS, 32));
}

TEST_F(Launches, AttributesOfFunctions) {
  const struct {
    const char* kernel;
    CUfunction_attribute attribute;
    int value;
  } rows[] = {
      {"scale", CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
      {"bounded", CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 64},
      {"scale", CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 0},
      {"fixed_shared", CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1024},
      {"scale", CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 0},
      {"scale", CU_FUNC_ATTRIBUTE_PTX_VERSION, 75},  // the text's target
      {"scale", CU_FUNC_ATTRIBUTE_BINARY_VERSION, 90},
      {"scale", CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, 0},
      {"scale", CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, -1},
  };
  for (const auto& row : rows) {
    int value = -7;
    EXPECT_RESULT(CUDA_SUCCESS, cuFuncGetAttribute(&value, row.attribute, kernel(row.kernel)));
    EXPECT_EQ(value, row.value) << row.kernel << " " << row.attribute;
  }
  int value = 0;
  ok(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel("scale")));
  EXPECT_GT(value, 0);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuFuncGetAttribute(&value, 1000, kernel("scale")));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuFuncGetAttribute(nullptr, 0, kernel("scale")));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, cuFuncGetAttribute(&value, 0, nullptr));
  ok(cuFuncSetAttribute(kernel("scale"), CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50));
  EXPECT_RESULT(CUDA_SUCCESS, cuFuncSetCacheConfig(kernel("scale"), 2));
}

// Bounds from the kernel's directives and the loader's options are reported and enforced.
TEST_F(Launches, BoundsOfTheText) {
  std::string text = ".version 8.0\n.target sm_75\n.address_size 64\n.const .align 4 .b32 words[5];\n.const .b8 one;\n";
  const auto add = [&](const char* name, const char* directives, int registers) {
    text += std::string(".visible .entry ") + name + "() " + directives + " { .reg .b32 %r<" +
            std::to_string(registers) + ">; ret; }\n";
  };
  add("small", "", 8);
  add("large", "", 2000);
  add("capped", ".maxnreg 40", 2000);
  add("wide", ".maxntid 1024, 1, 1", 2000);
  add("shaped", ".reqntid 8, 2, 1", 8);
  CUmodule free = nullptr, limited = nullptr;
  ok(cuModuleLoadData(&free, text.c_str()));
  CUjit_option option = CU_JIT_MAX_REGISTERS;
  void* max = reinterpret_cast<void*>(uintptr_t{32});
  ok(cuModuleLoadDataEx(&limited, text.c_str(), 1, &option, &max));
  const auto told = [](CUmodule m, const char* name, CUfunction_attribute attribute) {
    CUfunction f = nullptr;
    int value = -1;
    ok(cuModuleGetFunction(&f, m, name));
    ok(cuFuncGetAttribute(&value, attribute, f));
    return value;
  };
  EXPECT_EQ(told(free, "small", CU_FUNC_ATTRIBUTE_NUM_REGS), 16);
  EXPECT_EQ(told(free, "large", CU_FUNC_ATTRIBUTE_NUM_REGS), 255);
  EXPECT_EQ(told(limited, "large", CU_FUNC_ATTRIBUTE_NUM_REGS), 32);
  EXPECT_EQ(told(limited, "small", CU_FUNC_ATTRIBUTE_NUM_REGS), 16);
  EXPECT_EQ(told(free, "capped", CU_FUNC_ATTRIBUTE_NUM_REGS), 40);
  EXPECT_EQ(told(free, "wide", CU_FUNC_ATTRIBUTE_NUM_REGS), 64);  // 1,024 threads share 65,536 registers
  EXPECT_EQ(told(free, "small", CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES), 21);
  EXPECT_EQ(told(free, "shaped", CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 16);
  CUfunction shaped = nullptr;
  ok(cuModuleGetFunction(&shaped, free, "shaped"));
  EXPECT_RESULT(CUDA_SUCCESS, cuLaunchKernel(shaped, 1, 1, 1, 8, 2, 1, 0, nullptr, nullptr, nullptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(shaped, 1, 1, 1, 16, 1, 1, 0, nullptr, nullptr, nullptr));
  EXPECT_RESULT(CUDA_SUCCESS, cuCtxSynchronize());
}

// As many blocks as are resident at once meet; one more is refused.
TEST_F(Launches, CooperativeGridsAreResident) {
  const CUfunction f = kernel("meet");
  int per_processor = 0, processors = 0;
  ok(cuOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, f, 64, 0));
  ok(cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  uint32_t blocks = static_cast<uint32_t>(per_processor * processors), n = 64 * blocks;
  CUdeviceptr words = upload<uint32_t>({0, 0}), met = words + 4;
  void* params[] = {&words, &n, &met};
  ok(cuLaunchCooperativeKernel(f, blocks, 1, 1, 64, 1, 1, 0, nullptr, params));
  EXPECT_EQ(word(met), n);
  EXPECT_RESULT(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                cuLaunchCooperativeKernel(f, blocks + 1, 1, 1, 64, 1, 1, 0, nullptr, params));
  // The same by an attribute of cuLaunchKernelEx.
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  CUlaunchConfig config{blocks + 1, 1, 1, 64, 1, 1, 0, nullptr, &attribute, 1};
  EXPECT_RESULT(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, cuLaunchKernelEx(&config, f, params, nullptr));
  config.gridDimX = blocks;
  ok(cuMemsetD32_v2(words, 0, 2));
  ok(cuLaunchKernelEx(&config, f, params, nullptr));
  EXPECT_EQ(word(met), n);
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {2, 1, 1};
  EXPECT_RESULT(CUDA_ERROR_NOT_SUPPORTED, cuLaunchKernelEx(&config, f, params, nullptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuLaunchKernelEx(nullptr, f, params, nullptr));
}

TEST_F(Launches, ExWithoutAttributes) {
  CUdeviceptr p = upload<uint32_t>({0});
  uint32_t digit = 6;
  void* params[] = {&p, &digit};
  const CUlaunchConfig config{1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, 0};
  ok(cuLaunchKernelEx(&config, kernel("append"), params, nullptr));
  EXPECT_EQ(word(p), 6u);
}

TEST_F(Launches, Occupancy) {
  const CUfunction f = kernel("scale");
  int blocks = 0;
  ok(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 1024, 0));
  EXPECT_EQ(blocks, 2);  // 2048 threads
  ok(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 32, 0));
  EXPECT_EQ(blocks, 32);  // the maximum of blocks
  ok(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 32, 100 << 10));
  EXPECT_EQ(blocks, 2);  // 228 KB of shared memory; the system takes 1 KB per block
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 0, 0));
  int grid = 0, block = 0;
  ok(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, nullptr, 0, 0));
  EXPECT_EQ(block, 1024);
  ok(cuOccupancyMaxPotentialBlockSize(&grid, &block, kernel("bounded"), nullptr, 0, 0));
  EXPECT_LE(block, 64);
  ok(cuOccupancyMaxPotentialBlockSize(
      &grid, &block, f, [](int threads) -> size_t { return threads > 256 ? 1 << 20 : 0; }, 0, 0));
  EXPECT_EQ(block, 256);
  size_t bytes = 0;
  ok(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, f, 2, 128));
  EXPECT_EQ(bytes, 113u << 10);
}

}  // namespace
}  // namespace ptx::cuda
