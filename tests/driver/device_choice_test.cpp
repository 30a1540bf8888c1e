// Device names: their forms, and errors for missing devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/driver/device_choice.h"
#include "engine/driver/driver_error.h"

namespace warpchat {
namespace {

using ::testing::HasSubstr;

TEST(DeviceNames, HaveThreeForms) {
  for (const char* name :
       {"", "cpu", "cuda", "cuda:0", "cuda:12", "emulator", "emulator:sm_75", "emulator:sm_90,sms=2"})
    EXPECT_TRUE(is_device_name(name)) << name;
  for (const char* name : {"gpu", "cuda:", "cuda:-1", "cuda:x", "cuda0", "cpu:0", "emulator:", "emulator:90", "CUDA"})
    EXPECT_FALSE(is_device_name(name)) << name;
}

TEST(DeviceChoice, TheCpuNeedsNoDriver) { EXPECT_EQ(choose_device("cpu").table, nullptr); }

TEST(DeviceChoice, TheEmulatorIsADeviceWithATarget) {
  const DeviceChoice choice = choose_device("emulator");
  EXPECT_EQ(choice.table, &emulator_table());
  EXPECT_TRUE(choice.gpu.is_emulated);
  EXPECT_GE(choice.gpu.target().sm, 75);
}

TEST(DeviceChoice, AProcessEmulatesSeveralTargets) {
  const DeviceChoice turing = choose_device("emulator:sm_75,sms=2"), ada = choose_device("emulator:sm_89");
  EXPECT_EQ(turing.gpu.target().sm, 75);
  EXPECT_EQ(turing.gpu.n_sms, 2u);
  EXPECT_EQ(ada.gpu.target().sm, 89);
  EXPECT_NE(turing.gpu.index, ada.gpu.index);
  EXPECT_EQ(choose_device("emulator:sm_89").gpu.index, ada.gpu.index) << "the same device again";
  EXPECT_EQ(choose_device("emulator").gpu.index, 0) << "the one that the environment describes is the first";
  EXPECT_THROW(
      try { choose_device("emulator:sm_89,sms=0"); } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "emulator:sm_89,sms=0: profile sm_89,sms=0 has no processor");
        throw;
      },
      Error);
}

TEST(DeviceChoice, TheDefaultIsAGpuOrSaysWhyNot) {
  const DeviceChoice choice = choose_device("");
  EXPECT_EQ(choice.table == nullptr, !choice.reason.empty());
}

// Two GPUs, both emulated, with free memory and compute capability set by the test.
struct TwoGpus {
  using CUdevice = ptx::cuda::CUdevice;
  TwoGpus() {
    using namespace ptx::cuda;
    table.cuDeviceGetCount = [](int* n) { return *n = 2, CUDA_SUCCESS; };
    table.cuDeviceGet = [](CUdevice* device, int ordinal) { return *device = ordinal, CUDA_SUCCESS; };
    table.cuDeviceGetName = [](char* name, int n, CUdevice) { return emulator_table().cuDeviceGetName(name, n, 0); };
    table.cuDeviceTotalMem = [](size_t* bytes, CUdevice) { return emulator_table().cuDeviceTotalMem(bytes, 0); };
    table.cuDeviceGetAttribute = [](int* value, CUdevice_attribute attribute, CUdevice device) {
      const auto result = emulator_table().cuDeviceGetAttribute(value, attribute, 0);
      if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR && is_old[device]) *value = 6;
      return result;
    };
    table.cuDevicePrimaryCtxRetain = [](CUcontext* context, CUdevice device) {
      if (is_taken[device]) return CUDA_ERROR_DEVICE_UNAVAILABLE;
      opened = device, ++n_open;
      return emulator_table().cuDevicePrimaryCtxRetain(context, 0);
    };
    table.cuDevicePrimaryCtxRelease = [](CUdevice) {
      --n_open;
      return emulator_table().cuDevicePrimaryCtxRelease(0);
    };
    table.cuMemGetInfo = [](size_t* free, size_t* total) { return *free = *total = free_bytes[opened], CUDA_SUCCESS; };
    n_open = 0;
  }
  DriverTable table = emulator_table();
  static inline bool is_old[2], is_taken[2];
  static inline size_t free_bytes[2];
  static inline CUdevice opened;
  static inline int n_open;
};

TEST(DeviceChoice, TheDefaultIsTheFirstGpuWithRoomForTheModel) {
  TwoGpus gpus;
  const struct {
    const char* why;
    bool is_old[2], is_taken[2];
    size_t free_bytes[2];
    uint64_t needed;
    int index;  // -1: the CPU
    const char* reason;
    bool lacks_memory;
  } rows[] = {
      {"both have room", {}, {}, {5000, 9000}, 5000, 0, "", false},
      {"the second has", {}, {}, {4999, 9000}, 5000, 1, "cuda:0 has 4,999 bytes free, the model needs 5,000", false},
      {"neither has",
       {},
       {},
       {1000, 2000},
       5000,
       -1,
       "cuda:0 has 1,000 bytes free, the model needs 5,000; cuda:1 has 2,000 bytes free, the model needs 5,000",
       true},
      {"the first is too old",
       {true, false},
       {},
       {9000, 9000},
       5000,
       1,
       "GPU 0 (PTX emulator sm_90) has compute capability 6.0",
       false},
      {"the first is another program's",
       {},
       {true, false},
       {9000, 9000},
       5000,
       1,
       "cuda:0: another program has the GPU for itself",
       false},
      {"both are",
       {},
       {true, true},
       {9000, 9000},
       5000,
       -1,
       "cuda:0: another program has the GPU for itself; cuda:1: another program has the GPU for itself",
       false},
      {"nothing is needed", {}, {}, {0, 0}, 0, 0, "", false},
  };
  for (const auto& row : rows) {
    for (int i = 0; i < 2; ++i) {
      TwoGpus::is_old[i] = row.is_old[i], TwoGpus::is_taken[i] = row.is_taken[i];
      TwoGpus::free_bytes[i] = row.free_bytes[i];
    }
    {
      const DeviceChoice choice = choose_default(gpus.table, row.needed);
      EXPECT_EQ(choice.table == nullptr ? -1 : choice.gpu.index, row.index) << row.why;
      EXPECT_EQ(choice.reason.find(row.reason), 0u) << row.why << ": " << choice.reason;
      EXPECT_EQ(choice.reason.empty(), std::string_view(row.reason).empty()) << row.why;
      EXPECT_EQ(choice.lacks_memory, row.lacks_memory) << row.why;
      EXPECT_EQ(TwoGpus::n_open, row.index >= 0 && row.needed > 0 ? 1 : 0) << row.why;
    }
    EXPECT_EQ(TwoGpus::n_open, 0) << row.why;
  }
}

TEST(DeviceChoice, AGpuThatCannotBeAskedDoesNotHideTheOthers) {
  using namespace ptx::cuda;
  TwoGpus gpus;
  for (int i = 0; i < 2; ++i) TwoGpus::is_old[i] = TwoGpus::is_taken[i] = false;
  gpus.table.cuDeviceTotalMem = [](size_t* bytes, CUdevice device) {
    return device == 0 ? CUDA_ERROR_INVALID_DEVICE : emulator_table().cuDeviceTotalMem(bytes, 0);
  };
  const std::vector<GpuDevice> listed = list_gpus(gpus.table);
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_THAT(listed[0].fault, HasSubstr("cuDeviceTotalMem failed with CUDA_ERROR_INVALID_DEVICE"));
  EXPECT_THROW(listed[0].target(), Error);
  EXPECT_EQ(listed[1].fault, "");
  const DeviceChoice choice = choose_default(gpus.table, 0);
  EXPECT_EQ(choice.gpu.index, 1);
  EXPECT_THAT(choice.reason, HasSubstr("GPU 0"));
}

TEST(DeviceChoice, UnknownNamesListTheKnownForms) {
  try {
    choose_device("gpu");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "unknown device 'gpu'; use cpu, cuda, cuda:N or emulator[:sm_XX]");
  }
}

// A driver that is too old, one without devices, and one with a pre-Turing GPU: the emulator's table with replaced
// functions.
TEST(Gpus, UnusableDriversSayWhy) {
  using namespace ptx::cuda;
  DriverTable old_driver = emulator_table();
  old_driver.cuDriverGetVersion = [](int* version) { return *version = 11040, CUDA_SUCCESS; };
  DriverTable none = emulator_table();
  none.cuInit = [](unsigned) { return CUDA_ERROR_NO_DEVICE; };
  const struct {
    const DriverTable& table;
    const char* says;
  } kRows[] = {{old_driver, "it has CUDA 11.4, needed is 12.0"}, {none, "no NVIDIA GPU is visible"}};
  for (const auto& row : kRows) {
    try {
      list_gpus(row.table);
      FAIL() << row.says;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(row.says));
    }
  }
  GpuDevice pascal;
  pascal.name = "GTX 1080";
  pascal.major = 6, pascal.minor = 1;
  try {
    pascal.target();
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("compute capability 6.1"));
  }
}

}  // namespace
}  // namespace warpchat
