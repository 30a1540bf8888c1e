// Kernels that fault: the documented error comes at the next synchronisation and in every later call of the context.
// The process lives on.
#include "tests/emulator_driver/driver_test.h"

namespace ptx::cuda {
namespace {

class Faults : public DriverTest {
 protected:
  void expect_sticky(CUresult fault) {
    EXPECT_RESULT(fault, cuCtxSynchronize());
    CUdeviceptr p = 0;
    CUstream s = nullptr;
    CUevent e = nullptr;
    EXPECT_RESULT(fault, cuMemAlloc_v2(&p, 4));
    EXPECT_RESULT(fault, cuStreamCreate(&s, 0));
    EXPECT_RESULT(fault, cuEventCreate(&e, 0));
    EXPECT_RESULT(fault, cuStreamQuery(nullptr));
    EXPECT_RESULT(fault, cuModuleLoadData(&module, kKernels));
    EXPECT_RESULT(fault, cuCtxSynchronize());
  }
  void expect_a_new_context_works() {
    ok(cuCtxDestroy_v2(context));
    module = nullptr;
    ok(cuCtxCreate_v4(&context, nullptr, 0, 0));
    const CUdeviceptr p = upload<uint32_t>({0});
    ok(launch(kernel("append"), 1, 1, nullptr, p, 4u));
    EXPECT_EQ(word(p), 4u);
  }
};

TEST_F(Faults, OfEveryKind) {
  const CUdeviceptr freed = upload(std::vector<uint32_t>(64));
  ok(cuMemFree_v2(freed));
  const struct {
    const char* what;
    CUdeviceptr address;
    CUresult fault;
  } rows[] = {
      {"null", 0, CUDA_ERROR_ILLEGAL_ADDRESS},
      {"never mapped", 0xdead0000, CUDA_ERROR_ILLEGAL_ADDRESS},
      {"beyond 48 bits", 0xffff'0000'0000'0000, CUDA_ERROR_ILLEGAL_ADDRESS},
      {"misaligned", 1, CUDA_ERROR_MISALIGNED_ADDRESS},  // added to real memory below
  };
  for (const auto& row : rows) {
    CUdeviceptr address = row.address;
    if (row.fault == CUDA_ERROR_MISALIGNED_ADDRESS) address += upload<uint32_t>({0, 0});
    EXPECT_RESULT(CUDA_SUCCESS, launch(kernel("store"), 1, 1, nullptr, address, 1u)) << row.what;
    SCOPED_TRACE(row.what);
    expect_sticky(row.fault);
    expect_a_new_context_works();
  }
  ok(launch(kernel("store_shared"), 1, 1, nullptr, 1u << 20));
  expect_sticky(CUDA_ERROR_ILLEGAL_ADDRESS);
  expect_a_new_context_works();
  ok(cuLaunchKernel(kernel("trap"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  expect_sticky(CUDA_ERROR_LAUNCH_FAILED);
  expect_a_new_context_works();
}

TEST_F(Faults, AreReportedByWhateverWaits) {
  const auto fault_in = [&](CUstream s) { ok(launch(kernel("store"), 1, 1, s, CUdeviceptr{0}, 1u)); };
  CUstream s = stream();
  fault_in(s);
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(s));
  expect_a_new_context_works();
  CUevent e = event();
  Gate gate = close(nullptr);
  fault_in(nullptr);
  ok(cuEventRecord(e, nullptr));  // before the fault
  gate.open();
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, cuEventSynchronize(e));
  expect_a_new_context_works();
  uint32_t host = 0;
  const CUdeviceptr p = upload<uint32_t>({3});
  fault_in(nullptr);
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemcpyDtoH_v2(&host, p, 4));
  EXPECT_EQ(host, 0u);  // nothing runs after a fault
  expect_a_new_context_works();
}

TEST_F(Faults, EndWhatOtherStreamsRun) {
  CUstream s = stream();
  Gate gate = close(s);  // never opened
  ok(launch(kernel("store"), 1, 1, stream(), CUdeviceptr{0}, 1u));
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
  EXPECT_EQ(*gate.flag, 0u);
  expect_a_new_context_works();
}

TEST_F(Faults, LeaveOtherContextsAlone) {
  CUcontext other = nullptr;
  ok(cuCtxCreate_v4(&other, nullptr, 0, 0));
  CUmodule own = nullptr;
  CUfunction f = nullptr;
  ok(cuModuleLoadData(&own, kKernels));
  ok(cuModuleGetFunction(&f, own, "store"));
  ok(launch(f, 1, 1, nullptr, CUdeviceptr{8}, 1u));
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
  ok(cuCtxPopCurrent_v2(&other));
  const CUdeviceptr p = upload<uint32_t>({0});
  ok(launch(kernel("append"), 1, 1, nullptr, p, 7u));
  EXPECT_EQ(word(p), 7u);
  ok(cuCtxDestroy_v2(other));
}

TEST_F(Faults, ResetOfThePrimaryContextHeals) {
  CUcontext primary = nullptr;
  ok(cuDevicePrimaryCtxRetain(&primary, 0));
  ok(cuCtxPushCurrent_v2(primary));
  CUmodule own = nullptr;
  CUfunction f = nullptr;
  ok(cuModuleLoadData(&own, kKernels));
  ok(cuModuleGetFunction(&f, own, "store"));
  ok(launch(f, 1, 1, nullptr, CUdeviceptr{8}, 1u));
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
  ok(cuDevicePrimaryCtxReset_v2(0));
  ok(cuDevicePrimaryCtxRetain(&primary, 0));
  EXPECT_RESULT(CUDA_SUCCESS, cuCtxSynchronize());
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(own));  // unloaded with the old one
  ok(cuDevicePrimaryCtxRelease_v2(0));
  ok(cuCtxPopCurrent_v2(nullptr));
}

TEST_F(Faults, InAGraph) {
  CUstream s = stream();
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  const CUdeviceptr p = upload<uint32_t>({0});
  ok(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED));
  ok(launch(kernel("append"), 1, 1, s, p, 1u));
  ok(launch(kernel("store"), 1, 1, s, CUdeviceptr{0}, 1u));
  ok(cuStreamEndCapture(s, &graph));
  ok(cuGraphInstantiateWithFlags(&exec, graph, 0));
  EXPECT_RESULT(CUDA_SUCCESS, cuGraphLaunch(exec, s));
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(s));
}

}  // namespace
}  // namespace ptx::cuda
