// Mutual exclusion of loads and long launches, and a driver whose launch waits for its host.
#include "engine/driver/device_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "engine/driver/module.h"
#include "ptx/builder.h"
#include "tests/support/error_of.h"
#include "tests/support/test_device.h"

namespace warpchat {
namespace {

using namespace ptx::cuda;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

struct Gate : testing::Test {
  std::shared_ptr<DeviceWatch> watch = DeviceWatch::make({.pass = 5, .load = 5});
  DeviceGate gate{watch};
};

TEST_F(Gate, ALoadEndsTheLaunchAndTheNextLaunchWaitsForIt) {
  std::atomic<bool> asked = false, ended = false, loaded = false;
  std::optional<DeviceGate::LongLaunch> launch;
  launch.emplace(
      gate, [&] { asked = true; }, [&] { return ended.load(); });
  EXPECT_TRUE(gate.has_long_launch());
  std::optional<DeviceGate::Load> load;
  std::thread loader([&] {
    load.emplace(gate);
    loaded = true;
  });
  while (!asked) std::this_thread::yield();
  EXPECT_FALSE(loaded);
  ended = true;  // as the device reports; the launch's owner may not know yet
  loader.join();
  launch.reset();
  std::atomic<bool> launched = false;
  std::thread launcher([&] {
    const DeviceGate::LongLaunch next(
        gate, [] {}, [] { return true; });
    launched = true;
  });
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(launched);
  load.reset();
  launcher.join();
  EXPECT_FALSE(gate.has_long_launch());
}

TEST_F(Gate, LoadsGoSideBySide) {
  const DeviceGate::Load first(gate);
  std::thread([&] { const DeviceGate::Load second(gate); }).join();
}

TEST_F(Gate, AThreadCannotWaitForItself) {
  const DeviceGate::LongLaunch launch(
      gate, [] {}, [] { return false; });
  EXPECT_THAT(error_of([&] { DeviceGate::Load load(gate); }), HasSubstr("which is a fault of warpchat"));
  std::thread([&] { EXPECT_TRUE(gate.has_long_launch()); }).join();
}

TEST(GateBound, ALaunchThatDoesNotEndLosesTheDevice) {
  DeviceGate gate(DeviceWatch::make({.pass = 0.1, .load = 5}));
  const DeviceGate::LongLaunch launch(
      gate, [] {}, [] { return false; });
  std::thread([&] {
    EXPECT_THAT(error_of([&] { DeviceGate::Load load(gate); }), HasSubstr("not finished computing within 0.1 s"));
  }).join();
}

// Writes numbers into a ring. Each waits in its slot until the host has read the one before.
ptx::Kernel fills_ring(uint32_t n_slots, uint32_t n_numbers) {
  using ptx::u64;
  ptx::Builder b("fills_ring", ptx::sm_75);
  ptx::Global<u64> ring = b.global<u64>("ring", n_slots), n_taken = b.global<u64>("n_taken", 1);
  b.if_(b.thread() == 0, [&] {
    b.for_("number", 0, n_numbers, 1, [&](ptx::Reg<ptx::u32> i) {
      b.while_([&] { return n_taken.load_acquire(ptx::Scope::kSystem) + uint64_t{n_slots} <= ptx::wide(i); },
               [&] { b.nanosleep(1000); });
      (ring + i % n_slots).store_release(ptx::wide(i + 1), ptx::Scope::kSystem);
    });
  });
  return b.finish(ptx::Launch{1, 32});
}

// Reads a ring's numbers, asks the driver now and then whether the kernel is alive, and loads a module meanwhile.
// Without a gate, loads and the kernel may wait for each other.
void take_numbers_during_a_load(uint32_t n_slots) {
  constexpr uint32_t kNumbers = 200;
  const ContextPointer context = Context::open(emulator_table(), list_gpus(emulator_table()).at(0));
  const Module module(context, {fills_ring(n_slots, kNumbers)});
  const Stream stream(context);
  const GpuEvent done(context);
  const HostMemory ring(context, n_slots * 8, "a ring"), n_taken(context, 8, "a count");
  std::ranges::fill(ring.bytes(), std::byte{0});
  std::ranges::fill(n_taken.bytes(), std::byte{0});
  const std::string text = ptx::module_text(std::vector{fills_ring(1, 1)});
  module.kernel(0).launch(stream,
                          {Argument::address(ring.device_address()), Argument::address(n_taken.device_address())});
  stream.record(done);
  std::atomic<bool> loads = false;
  std::thread loader([&] {
    context->make_current();
    loads = true;
    CUmodule loaded;
    emulator_table().cuModuleLoadDataEx(&loaded, text.c_str(), 0, nullptr, nullptr);
  });
  while (!loads) std::this_thread::yield();
  std::this_thread::sleep_for(20ms);
  for (uint64_t number = 1; number <= kNumbers; ++number) {
    while (std::atomic_ref(ring.as<uint64_t>()[(number - 1) % n_slots]).load() != number) (void)done.has_come();
    (void)done.has_come();
    std::atomic_ref(n_taken.as<uint64_t>()[0]).store(number);
  }
  loader.join();
}

// In a child process with a time limit of seconds.
void end_within_seconds(uint32_t n_slots, const char* loads_wait_for_idle) {
  setenv("CUDA_EMULATOR_LOADS_DRAIN", loads_wait_for_idle, 1);
  std::signal(SIGALRM, SIG_DFL);
  alarm(4);
  take_numbers_during_a_load(n_slots);
  _exit(0);
}

TEST(LoadsDrainDeathTest, ALaunchThatWaitsForItsHostHangsAndOneThatDoesNotEnds) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(end_within_seconds(64, "1"), testing::KilledBySignal(SIGALRM), "");
  EXPECT_EXIT(end_within_seconds(200, "1"), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(end_within_seconds(64, "0"), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace warpchat
