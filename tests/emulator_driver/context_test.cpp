// The primary context and a program's own: the current one per thread, limits, and the consequences of destroying one.
#include <thread>

#include "tests/emulator_driver/driver_test.h"

namespace ptx::cuda {
namespace {

class Contexts : public DriverTest {
 protected:
  static CUcontext current() {
    CUcontext c = nullptr;
    ok(cuCtxGetCurrent(&c));
    return c;
  }
};

TEST_F(Contexts, StackOfTheThread) {
  EXPECT_EQ(current(), context);
  CUcontext second = nullptr, popped = nullptr;
  ok(cuCtxCreate_v2(&second, CU_CTX_MAP_HOST, 0));
  EXPECT_EQ(current(), second);
  ok(cuCtxPopCurrent_v2(&popped));
  EXPECT_EQ(popped, second);
  EXPECT_EQ(current(), context);
  ok(cuCtxPushCurrent_v2(second));
  ok(cuCtxSetCurrent(context));  // replaces the top
  EXPECT_EQ(current(), context);
  ok(cuCtxPopCurrent_v2(&popped));
  EXPECT_EQ(current(), context);
  ok(cuCtxSetCurrent(nullptr));  // pops it
  EXPECT_EQ(current(), nullptr);
  EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent_v2(&popped));
  EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
  CUdeviceptr p;
  EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc_v2(&p, 4));
  ok(cuCtxDestroy_v2(second));
  EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, cuCtxPushCurrent_v2(second));
  EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy_v2(second));
}

TEST_F(Contexts, AnotherThreadHasNone) {
  CUresult without = CUDA_SUCCESS, with = CUDA_ERROR_UNKNOWN;
  std::thread([&] {
    without = cuCtxSynchronize();
    cuCtxSetCurrent(context);
    with = cuCtxSynchronize();
  }).join();
  EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, without);
  EXPECT_RESULT(CUDA_SUCCESS, with);
}

TEST_F(Contexts, DestroyedWhileCurrentElsewhere) {
  CUcontext other = nullptr;
  ok(cuCtxCreate_v4(&other, nullptr, 0, 0));
  std::thread([&] { ok(cuCtxDestroy_v2(other)); }).join();
  EXPECT_RESULT(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
  ok(cuCtxPopCurrent_v2(&other));
  EXPECT_RESULT(CUDA_SUCCESS, cuCtxSynchronize());
}

TEST_F(Contexts, WhatTheySayOfThemselves) {
  unsigned flags = 99, version = 0;
  CUdevice device = -1;
  unsigned long long id = 0, other_id = 0;
  EXPECT_RESULT(CUDA_SUCCESS, cuCtxGetFlags(&flags));
  EXPECT_EQ(flags, 0u);
  EXPECT_RESULT(CUDA_SUCCESS, cuCtxGetDevice(&device));
  EXPECT_EQ(device, 0);
  EXPECT_RESULT(CUDA_SUCCESS, cuCtxGetApiVersion(context, &version));
  EXPECT_GE(version, 3020u);
  ok(cuCtxGetId(context, &id));
  CUcontext other = nullptr;
  ok(cuCtxCreate_v4(&other, nullptr, 0, 0));
  ok(cuCtxGetId(other, &other_id));
  EXPECT_NE(id, other_id);
  ok(cuCtxDestroy_v2(other));
  int min = 9, greatest = 9;
  ok(cuCtxGetStreamPriorityRange(&min, &greatest));
  EXPECT_GE(min, greatest);  // lower numbers have priority
}

TEST_F(Contexts, Limits) {
  size_t value = 0;
  ok(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
  ok(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  EXPECT_EQ(value, 4096u);
  EXPECT_RESULT(CUDA_ERROR_UNSUPPORTED_LIMIT, cuCtxSetLimit(77, 1));
  EXPECT_RESULT(CUDA_ERROR_UNSUPPORTED_LIMIT, cuCtxGetLimit(&value, 77));
}

TEST_F(Contexts, PrimaryIsSharedAndCounted) {
  CUcontext first = nullptr, second = nullptr;
  unsigned flags = 9;
  int active = -1;
  ok(cuDevicePrimaryCtxGetState(0, &flags, &active));
  EXPECT_EQ(active, 0);
  ok(cuDevicePrimaryCtxRetain(&first, 0));
  ok(cuDevicePrimaryCtxRetain(&second, 0));
  EXPECT_EQ(first, second);
  ok(cuDevicePrimaryCtxGetState(0, &flags, &active));
  EXPECT_EQ(active, 1);
  EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy_v2(first));  // only own contexts can be destroyed
  ok(cuDevicePrimaryCtxRelease_v2(0));
  ok(cuCtxPushCurrent_v2(first));
  EXPECT_RESULT(CUDA_SUCCESS, cuCtxSynchronize());
  ok(cuDevicePrimaryCtxRelease_v2(0));
  EXPECT_RESULT(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
  EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease_v2(0));
  ok(cuDevicePrimaryCtxRetain(&second, 0));  // alive again, with the same handle
  EXPECT_EQ(first, second);
  EXPECT_RESULT(CUDA_SUCCESS, cuCtxSynchronize());
  ok(cuDevicePrimaryCtxReset_v2(0));
  EXPECT_RESULT(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
  ok(cuCtxPopCurrent_v2(nullptr));
}

TEST_F(Contexts, TakeTheirMemoryAlong) {
  size_t before = 0, during = 0, after = 0, total = 0;
  ok(cuMemGetInfo_v2(&before, &total));
  CUcontext other = nullptr;
  ok(cuCtxCreate_v4(&other, nullptr, 0, 0));
  CUdeviceptr p = 0;
  ok(cuMemAlloc_v2(&p, 64 << 20));
  ok(cuMemGetInfo_v2(&during, &total));
  EXPECT_LE(during + (64 << 20), before);
  ok(cuCtxDestroy_v2(other));
  ok(cuMemGetInfo_v2(&after, &total));
  EXPECT_EQ(after, before);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(p));
}

TEST_F(Contexts, DestroyingOneEndsItsKernels) {
  CUcontext other = nullptr;
  ok(cuCtxCreate_v4(&other, nullptr, 0, 0));
  CUmodule own = nullptr;
  CUfunction f = nullptr;
  ok(cuModuleLoadData(&own, kKernels));
  ok(cuModuleGetFunction(&f, own, "wait_for"));
  const CUdeviceptr flag = address_of(mapped_words(2));
  ok(launch(f, 1, 1, nullptr, flag, 1u, flag + 4));  // never set
  EXPECT_RESULT(CUDA_SUCCESS, cuCtxDestroy_v2(other));
  EXPECT_RESULT(CUDA_SUCCESS, cuCtxSynchronize());
}

}  // namespace
}  // namespace ptx::cuda
