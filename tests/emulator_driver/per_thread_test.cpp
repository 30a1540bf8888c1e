// The per-thread default stream: through names that end in _ptsz and _ptds, and through cuGetProcAddress.
#include <dlfcn.h>

#include <set>
#include <string>
#include <thread>

#include "ptx/driver_api_per_thread.h"
#include "tests/emulator_driver/driver_test.h"

namespace ptx::cuda {
namespace {

class PerThread : public DriverTest {};

TEST_F(PerThread, TheNullStreamIsTheThreadsOwn) {
  const CUdeviceptr p = upload<uint32_t>({0});
  const Gate gate = close(CU_STREAM_PER_THREAD);
  void* arguments[] = {const_cast<CUdeviceptr*>(&p), nullptr};
  uint32_t digit = 5;
  arguments[1] = &digit;
  ok(cuLaunchKernel_ptsz(kernel("append"), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuStreamQuery_ptsz(nullptr));  // behind the gate
  EXPECT_RESULT(CUDA_SUCCESS, cuStreamQuery(nullptr));               // the legacy stream is idle
  std::thread([&] {
    ok(cuCtxSetCurrent(context));
    EXPECT_RESULT(CUDA_SUCCESS, cuStreamQuery_ptsz(nullptr));  // another thread, another stream
    uint32_t now = 7;
    ok(cuMemcpyDtoH_v2_ptds(&now, p, 4));
    EXPECT_EQ(now, 0u);
  }).join();
  Gate(gate).open();
  uint32_t now = 0;
  ok(cuMemcpyDtoH_v2_ptds(&now, p, 4));
  EXPECT_EQ(now, 5u);
  unsigned long long own = 0, legacy = 0, named = 0;
  ok(cuStreamGetId_ptsz(nullptr, &own));
  ok(cuStreamGetId(nullptr, &legacy));
  ok(cuStreamGetId(CU_STREAM_PER_THREAD, &named));
  EXPECT_EQ(own, named);
  EXPECT_NE(own, legacy);
  EXPECT_RESULT(CUDA_SUCCESS, cuStreamSynchronize_ptsz(CU_STREAM_LEGACY));  // an explicit stream stays itself
}

TEST_F(PerThread, FoundByFlag) {
  const struct {
    const char* symbol;
    int version;
    uint64_t flags;
    const void* expected;
  } rows[] = {
      {"cuStreamQuery", 13000, CU_GET_PROC_ADDRESS_DEFAULT, reinterpret_cast<void*>(&cuStreamQuery)},
      {"cuStreamQuery", 13000, CU_GET_PROC_ADDRESS_LEGACY_STREAM, reinterpret_cast<void*>(&cuStreamQuery)},
      {"cuStreamQuery", 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
       reinterpret_cast<void*>(&cuStreamQuery_ptsz)},
      {"cuStreamQuery", 6000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, nullptr},  // older than per-thread streams
      {"cuMemcpyHtoD", 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
       reinterpret_cast<void*>(&cuMemcpyHtoD_v2_ptds)},
      {"cuStreamWaitValue32", 9000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
       reinterpret_cast<void*>(&cuStreamWaitValue32_ptsz)},
      {"cuMemAlloc", 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, reinterpret_cast<void*>(&cuMemAlloc_v2)},
  };
  for (const auto& row : rows) {
    void* function = nullptr;
    CUdriverProcAddressQueryResult status = 9;
    ok(cuGetProcAddress_v2(row.symbol, &function, row.version, row.flags, &status));
    EXPECT_EQ(function, row.expected) << row.symbol << " of " << row.version << ", flags " << row.flags;
  }
}

}  // namespace
}  // namespace ptx::cuda
