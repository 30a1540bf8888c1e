// Shared by tests of libcuda_emulator.so: results by name, a context per test, a module of kernels. The tests call the
// library as any program calls libcuda, without knowledge of the emulator behind it.
#pragma once

#include <gtest/gtest.h>

#include <source_location>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ptx/driver_api.h"

namespace ptx::cuda {

inline std::string name_of(CUresult result) {
  const char* name = nullptr;
  return cuGetErrorName(result, &name) == CUDA_SUCCESS ? name : "result " + std::to_string(result);
}

#define EXPECT_RESULT(expected, call) EXPECT_EQ(name_of(expected), name_of(call)) << #call

// For calls that a test only depends on: throws if they fail.
inline void ok(CUresult result, std::source_location at = std::source_location::current()) {
  if (result != CUDA_SUCCESS)
    throw std::runtime_error(std::string(at.file_name()) + ":" + std::to_string(at.line()) + ": " + name_of(result));
}

// Kernels of every test, compute_75:
//   scale(f32* p, f32 by, u32 n)                 p[i] *= by
//   add(u32* p, u32 value)                       p[i] += value for every thread of the grid
//   append(u32* p, u32 value)                    p[0] = 10 * p[0] + value, one thread: shows the order of launches
//   wait_for(u32* flag, u32 value, u32* done)    spins until *flag == value, then *done = value
//   meet(u32* arrived, u32 n, u32* met)          a grid barrier of n blocks: needs all of them resident
//   mixed(u8 a, u64 b, f32 c, u16 d, u32* to)    parameters of many sizes
//   shared(u32* to, u32 n)                       the sum of n words of dynamic shared memory that it wrote
//   bounded(u32* to)                             .maxntid 64
//   fixed_shared(u32* to)                        1024 bytes of static shared memory
//   store(u64 address, u32 value), trap()        for faults
// and .global u32 counter = 5, .global f32 table[4], .const u32 limit.
extern const char kKernels[];

// Gives each test its own current context, without the sticky error of another test.
class DriverTest : public testing::Test {
 protected:
  void SetUp() override {
    ok(cuInit(0));
    ok(cuCtxCreate_v4(&context, nullptr, 0, 0));
  }
  void TearDown() override {
    if (context != nullptr) {
      EXPECT_EQ(name_of(cuCtxDestroy_v2(context)), "CUDA_SUCCESS");
    }
  }

  CUfunction kernel(const char* name) {
    if (module == nullptr) ok(cuModuleLoadData(&module, kKernels));
    CUfunction function = nullptr;
    ok(cuModuleGetFunction(&function, module, name));
    return function;
  }
  template <class T>
  CUdeviceptr upload(const std::vector<T>& values) {
    CUdeviceptr p = 0;
    ok(cuMemAlloc_v2(&p, values.size() * sizeof(T)));
    ok(cuMemcpyHtoD_v2(p, values.data(), values.size() * sizeof(T)));
    return p;
  }
  template <class T>
  std::vector<T> download(CUdeviceptr p, size_t count) {
    std::vector<T> values(count);
    ok(cuMemcpyDtoH_v2(values.data(), p, count * sizeof(T)));
    return values;
  }
  uint32_t word(CUdeviceptr p) { return download<uint32_t>(p, 1)[0]; }
  // Zeroed memory that host and device share.
  volatile uint32_t* mapped_words(size_t count) {
    void* p = nullptr;
    ok(cuMemHostAlloc(&p, count * sizeof(uint32_t), CU_MEMHOSTALLOC_DEVICEMAP));
    for (size_t i = 0; i < count; ++i) static_cast<uint32_t*>(p)[i] = 0;
    return static_cast<uint32_t*>(p);
  }
  static CUdeviceptr address_of(const volatile void* p) { return reinterpret_cast<CUdeviceptr>(p); }
  CUstream stream(unsigned flags = CU_STREAM_NON_BLOCKING) {
    CUstream s = nullptr;
    ok(cuStreamCreate(&s, flags));
    return s;
  }
  CUevent event(unsigned flags = CU_EVENT_DEFAULT) {
    CUevent e = nullptr;
    ok(cuEventCreate(&e, flags));
    return e;
  }

  template <class... Arguments>
  CUresult launch(CUfunction f, unsigned blocks, unsigned threads, CUstream s, Arguments... arguments) {
    void* params[] = {&arguments..., nullptr};
    return cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, 0, s, params, nullptr);
  }
  // A stream that executes nothing more until open() is called.
  struct Gate {
    volatile uint32_t* flag;
    void open() { *flag = 1; }
  };
  Gate close(CUstream s) {
    volatile uint32_t* words = mapped_words(2);
    ok(launch(kernel("wait_for"), 1, 1, s, address_of(words), 1u, address_of(words + 1)));
    return {words};
  }

  CUcontext context = nullptr;
  CUmodule module = nullptr;
};

}  // namespace ptx::cuda
