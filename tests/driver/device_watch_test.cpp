// Calls that last too long: the message, its listeners, and the threads that continue.
#include "engine/driver/device_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "engine/driver/device_task.h"
#include "tests/support/error_of.h"

namespace warpchat {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr DeviceBounds kShort{.pass = 0.1, .load = 0.2};

// A thread that hangs in a driver call and never returns.
void hang(const std::shared_ptr<DeviceWatch>& watch, DeviceBound bound, std::atomic<bool>* returned = nullptr) {
  std::thread([watch, bound, returned] {
    make_this_thread_replaceable();
    {
      const WatchedCall call(watch, bound);
      while (watch->loss().empty()) std::this_thread::sleep_for(1ms);
    }
    if (returned != nullptr) *returned = true;
  }).detach();
}

void await_loss(const DeviceWatch& watch) {
  while (watch.loss().empty()) std::this_thread::sleep_for(1ms);
}

TEST(DeviceWatch, LosesADeviceWhoseCallLastsTooLong) {
  const struct {
    DeviceBound bound;
    const char* says;
  } rows[] = {{DeviceBound::kPass, "the GPU has not finished computing within 0.1 s and is not used any more"},
              {DeviceBound::kLoad, "the GPU has not finished loading kernels or memory within 0.2 s"}};
  for (const auto& row : rows) {
    const std::shared_ptr<DeviceWatch> watch = DeviceWatch::make(kShort);
    std::atomic<int> n_told = 0;
    watch->add_listener([&](const std::string&) { ++n_told; });
    static std::atomic<bool> returned = false;
    hang(watch, row.bound, &returned);
    await_loss(*watch);
    EXPECT_THAT(watch->loss(), HasSubstr(row.says));
    EXPECT_THAT(error_of([&] { WatchedCall(watch, DeviceBound::kPass); }), HasSubstr(row.says));
    watch->lose(DeviceBound::kLoad);  // the first one counts
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(n_told, 1);
    EXPECT_FALSE(returned);
    EXPECT_TRUE(is_any_device_lost());
  }
}

TEST(DeviceWatch, CallsInTimeAreNoLossHoweverMany) {
  // Together they exceed the bound, but each stays far below it, even on a busy machine.
  const std::shared_ptr<DeviceWatch> watch = DeviceWatch::make({.pass = 4, .load = 4});
  for (int i = 0; i < 45; ++i) {
    const WatchedCall call(watch, DeviceBound::kPass);
    const WatchedCall inner(watch, DeviceBound::kLoad);
    std::this_thread::sleep_for(100ms);
  }
  EXPECT_EQ(watch->loss(), "");
}

TEST(DeviceWatch, AListenerThatLeftHearsNothing) {
  const std::shared_ptr<DeviceWatch> watch = DeviceWatch::make(kShort);
  bool is_told = false;
  watch->remove_listener(watch->add_listener([&](const std::string&) { is_told = true; }));
  watch->lose(DeviceBound::kPass);
  EXPECT_FALSE(is_told);
}

TEST(DeviceWatchDeathTest, AThreadWithoutAReplacementEndsTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto hangs = [] {
    const std::shared_ptr<DeviceWatch> watch = DeviceWatch::make(kShort);
    const WatchedCall call(watch, DeviceBound::kPass);
    for (;;) std::this_thread::sleep_for(1s);
  };
  EXPECT_EXIT(hangs(), testing::ExitedWithCode(1), "not finished computing within 0.1 s");
}

TEST(DeviceWatch, AnEnvironmentVariableSetsTheBounds) {
  EXPECT_EQ(DeviceBounds::of_device(false).pass, 10);
  EXPECT_EQ(DeviceBounds::of_device(true).pass, 600);
  setenv("WARPCHAT_DEVICE_TIMEOUT", "2.5", 1);
  EXPECT_EQ(DeviceBounds::of_device(true).pass, 2.5);
  EXPECT_EQ(DeviceBounds::of_device(false).load, 30);
  setenv("WARPCHAT_DEVICE_TIMEOUT", "soon", 1);
  EXPECT_EQ(error_of([] { DeviceBounds::of_device(false); }),
            "WARPCHAT_DEVICE_TIMEOUT is soon, expected the seconds that a pass may take");
  unsetenv("WARPCHAT_DEVICE_TIMEOUT");
}

TEST(AwakeTimer, ALongPauseCountsAsAStep) {
  AwakeTimer timer;
  std::this_thread::sleep_for(std::chrono::duration<double>(2 * AwakeTimer::kMaxStep));
  EXPECT_EQ(timer.seconds(), AwakeTimer::kMaxStep);
  timer.restart();
  EXPECT_LT(timer.seconds(), AwakeTimer::kMaxStep);
}

TEST(DeviceTask, GivesItsResultOrItsErrorEveryTime) {
  const std::shared_ptr<DeviceWatch> watch = DeviceWatch::make({.pass = 5, .load = 5});
  const DeviceTask<int> works(watch, [] { return 7; });
  const DeviceTask<int> fails(watch, []() -> int { throw Error("no"); });
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(works.get(), 7);
    EXPECT_EQ(error_of([&] { fails.get(); }), "no");
  }
  EXPECT_TRUE(works.is_ready());
  EXPECT_FALSE(DeviceTask<int>().is_valid());
}

TEST(DeviceTask, IsLeftBehindWhereItHangs) {
  const std::shared_ptr<DeviceWatch> watch = DeviceWatch::make(kShort);
  const DeviceTask<int> hangs(watch, [watch] {
    const WatchedCall call(watch, DeviceBound::kPass);
    await_loss(*watch);
    return 7;
  });
  EXPECT_FALSE(hangs.is_ready());
  EXPECT_THAT(error_of([&] { hangs.get(); }), HasSubstr("not finished computing"));
}

}  // namespace
}  // namespace warpchat
