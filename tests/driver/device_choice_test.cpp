// Names of devices: forms, and what happens where the device is not there.
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

TEST(DeviceChoice, AProcessEmulatesOneProfile) {
  const int sm = choose_device("emulator").gpu.target().sm;
  const std::string other = sm == 75 ? "emulator:sm_80" : "emulator:sm_75";
  EXPECT_THROW(
      try { choose_device(other); } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("already emulates sm_" + std::to_string(sm)));
        throw;
      },
      Error);
}

TEST(DeviceChoice, TheDefaultIsAGpuOrSaysWhyNot) {
  const DeviceChoice choice = choose_device("");
  EXPECT_EQ(choice.table == nullptr, !choice.reason.empty());
}

TEST(DeviceChoice, UnknownNamesListTheKnownForms) {
  try {
    choose_device("gpu");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "unknown device 'gpu'; use cpu, cuda, cuda:N or emulator[:sm_XX]; --list-devices lists them");
  }
}

// A driver that is older than what the program needs, one without devices, and one with a GPU from before Turing: the
// emulator's table with single functions exchanged.
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
