// The library's exports besides the Driver API: the interface's version, options, devices and counters.
#include "ptx/emulator/driver/emulator_interface.h"

#include <gmock/gmock.h>

#include "tests/emulator_driver/driver_test.h"

namespace ptx::cuda {
namespace {

struct KernelSums {
  std::string kernel;
  CudaEmulatorCounters counters;
};

std::vector<KernelSums> drain() {
  std::vector<KernelSums> taken;
  cuda_emulator_take_counters(
      [](void* data, const CudaEmulatorCounters* counters) {
        static_cast<std::vector<KernelSums>*>(data)->push_back({counters->kernel, *counters});
      },
      &taken);
  return taken;
}

class EmulatorInterface : public DriverTest {
 protected:
  // Adds a number to each of 128 words.
  void launch(unsigned blocks) {
    CUdeviceptr words = upload(std::vector<uint32_t>(128));
    uint32_t value = 1;
    void* arguments[] = {&words, &value};
    ok(cuLaunchKernel(kernel("add"), blocks, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
    ok(cuCtxSynchronize());
    ok(cuMemFree_v2(words));
  }
};

TEST_F(EmulatorInterface, HasAVersion) { EXPECT_NE(cuda_emulator_interface(), 0u); }

TEST_F(EmulatorInterface, CountsWhatIsLaunchedWhileItIsAskedTo) {
  launch(1);
  EXPECT_TRUE(drain().empty());
  cuda_emulator_count_launches(1);
  launch(1);
  launch(3);
  cuda_emulator_count_launches(0);
  launch(4);
  const std::vector<KernelSums> taken = drain();
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].kernel, "add");
  EXPECT_EQ(taken[0].counters.launches, 2u);
  EXPECT_EQ(taken[0].counters.sectors, 4u * (4 + 4));  // a warp reads and writes 128 bytes
  EXPECT_EQ(taken[0].counters.lane_instructions, 32 * taken[0].counters.instructions);
  EXPECT_EQ(taken[0].counters.bank_replays, 0u);
  EXPECT_TRUE(drain().empty());
}

TEST_F(EmulatorInterface, MakesADeviceOfAProfileOnce) {
  char error[200] = "";
  const int first = cuda_emulator_device("sm_80,sms=3", error, sizeof error);
  EXPECT_GT(first, 0) << error;
  EXPECT_EQ(cuda_emulator_device("sm_80,sms=3", error, sizeof error), first);
  int value = 0;
  ok(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, first));
  EXPECT_EQ(value, 3);
  EXPECT_EQ(cuda_emulator_device("sm_abacus", error, sizeof error), -1);
  EXPECT_THAT(error, testing::HasSubstr("sm_abacus"));
}

TEST_F(EmulatorInterface, AnOptionCountsForDevicesThatStartLater) {
  char error[200] = "";
  ASSERT_EQ(cuda_emulator_set_option("CHECKS", "bounds", error, sizeof error), 0) << error;
  const int checked = cuda_emulator_device("sm_80,sms=2", error, sizeof error);
  ASSERT_EQ(cuda_emulator_set_option("CHECKS", "", error, sizeof error), 0) << error;
  const int unchecked = cuda_emulator_device("sm_80,sms=1", error, sizeof error);
  for (const int device : {checked, unchecked}) {
    CUcontext own = nullptr;
    ok(cuCtxCreate_v4(&own, nullptr, 0, device));
    CUmodule loaded = nullptr;
    ok(cuModuleLoadData(&loaded, kKernels));
    CUfunction function = nullptr;
    ok(cuModuleGetFunction(&function, loaded, "add"));
    CUdeviceptr words = 0;
    ok(cuMemAlloc_v2(&words, 64));  // a warp writes 128 bytes
    uint32_t value = 1;
    void* arguments[] = {&words, &value};
    ok(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
    EXPECT_EQ(cuCtxSynchronize() == CUDA_SUCCESS, device == unchecked);
    cuCtxDestroy_v2(own);
  }
}

TEST_F(EmulatorInterface, AnOptionThatIsNoneIsRefused) {
  char error[200] = "";
  EXPECT_EQ(cuda_emulator_set_option("SPEED", "1", error, sizeof error), -1);
  EXPECT_STREQ(error, "the emulator has no option SPEED; it has CHECKS, SEED and LOADS_DRAIN");
  EXPECT_EQ(cuda_emulator_set_option("SEED", "0", error, sizeof error), -1);
  EXPECT_STREQ(error, "CUDA_EMULATOR_SEED is 0, expected a number from 1");
  EXPECT_EQ(cuda_emulator_set_option("SEED", "x", error, 5), -1);
  EXPECT_STREQ(error, "CUDA");  // cut
  EXPECT_EQ(cuda_emulator_set_option("SEED", "x", nullptr, 0), -1);
}

}  // namespace
}  // namespace ptx::cuda
