// Interfaces besides the Driver API: counters of finished launches, and the effects of CUDA_EMULATOR_SEED.
#include <gmock/gmock.h>

#include <cstdlib>
#include <stdexcept>

#include "ptx/emulator/driver/device.h"
#include "ptx/emulator/driver/emulator_counters.h"
#include "ptx/emulator/driver/environment.h"
#include "tests/emulator/kernel_text.h"

namespace ptx::emulator::driver {
namespace {

// Sets an environment variable for one test.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Environment() { unsetenv(name_); }

 private:
  const char* name_;
};

void launch(driver::Device& device, const LoadedModule& module, uint32_t blocks) {
  const uint64_t buffer = device.allocate(4096);
  std::vector<std::byte> parameters(16);
  std::memcpy(parameters.data(), &buffer, 8);
  std::memcpy(parameters.data() + 8, &buffer, 8);
  const std::atomic<bool> stop = false;
  EXPECT_EQ(module.functions().front()->run({{blocks, 1, 1}, {32, 1, 1}, 0, false}, parameters, stop), Fault::kNone);
  device.release(buffer);
}

TEST(DriverCounters, AreThoseOfTheLaunchesSinceTheLastCall) {
  const auto device = make_device(Profile());
  const auto module = device->load({{"kernel", kernel("mad.wide.u32 %rd1, %thread, 4, %out;\n// tag: store\n"
                                                      "st.global.b32 [%rd1], %thread;\n// end tag: store")}});
  launch(*device, *module, 1);
  EXPECT_TRUE(take_counters().empty());  // not requested
  count_launches(true);
  launch(*device, *module, 1);
  launch(*device, *module, 3);
  const std::vector<KernelCounters> taken = take_counters();
  launch(*device, *module, 2);
  count_launches(false);
  launch(*device, *module, 7);
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].kernel, "k");
  EXPECT_EQ(taken[0].launches, 2u);
  EXPECT_EQ(taken[0].counters.stores.requests, 4u);
  EXPECT_EQ(taken[0].counters.stores.sectors, 4u * 4);
  ASSERT_NE(taken[0].counters.of_tag("store"), nullptr);
  EXPECT_EQ(taken[0].counters.of_tag("store")->instructions, 4u);
  const std::vector<KernelCounters> later = take_counters();
  ASSERT_EQ(later.size(), 1u);
  EXPECT_EQ(later[0].counters.stores.requests, 2u);
  EXPECT_TRUE(take_counters().empty());
}

TEST(DriverEnvironment, SeedSwitchesScheduleWeakMemoryAndJitterOn) {
  EXPECT_EQ(options_from_environment().seed, 0u);
  EXPECT_FALSE(options_from_environment().weak_memory);
  const Environment seed("CUDA_EMULATOR_SEED", "12");
  const LaunchOptions options = options_from_environment();
  EXPECT_EQ(options.seed, 12u);
  EXPECT_TRUE(options.weak_memory);
  EXPECT_TRUE(options.jitter);
  EXPECT_FALSE(options.checks.any());
}

TEST(DriverEnvironment, SeedAndChecksGoTogether) {
  const Environment seed("CUDA_EMULATOR_SEED", "1"), checks("CUDA_EMULATOR_CHECKS", "bounds");
  EXPECT_TRUE(options_from_environment().checks.bounds);
  EXPECT_EQ(options_from_environment().seed, 1u);
  const auto device = make_device(Profile());
  launch(*device, *device->load({{"kernel", kernel("st.global.b32 [%out], 1;")}}), 4);
}

TEST(DriverEnvironment, WhatIsNoSeedIsRefused) {
  for (const char* text : {"0", "-1", "1x", "seven", "99999999999999999999"}) {
    const Environment seed("CUDA_EMULATOR_SEED", text);
    try {
      options_from_environment();
      ADD_FAILURE() << text;
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(std::string(error.what()), std::string("CUDA_EMULATOR_SEED is ") + text + ", expected a number from 1");
    }
  }
}

}  // namespace
}  // namespace ptx::emulator::driver
