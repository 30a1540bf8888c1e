// Linked into every program with tests of the GPU path. At its end the process must have made exactly one context. With
// WARPCHAT_TEST_SECONDS, a test that takes longer ends the process, which names it. So does a test that loses the
// device, because all later tests would fail, too. tests/gpu/run_tests.sh continues after it.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>

#include "tests/support/test_device.h"

namespace warpchat {
namespace {

constexpr int kLost = 71, kHung = 72;  // exit codes that tests/gpu/run_tests.sh knows

std::string full_name(const testing::TestInfo& test) { return std::string(test.test_suite_name()) + "." + test.name(); }

[[noreturn]] void end_process(int code, const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(nullptr);
  std::_Exit(code);  // no teardown: the device may never answer
}

// Ends the process when a deadline passes.
class Watchdog {
 public:
  explicit Watchdog(std::chrono::seconds limit) : limit_(limit), thread_([this] { watch(); }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  void begin(std::string name) { set(std::chrono::steady_clock::now() + limit_, std::move(name)); }
  void end() { set(std::nullopt, ""); }

 private:
  using Time = std::chrono::steady_clock::time_point;
  void set(std::optional<Time> deadline, std::string name) {
    {
      const std::lock_guard lock(mutex_);
      deadline_ = deadline;
      name_ = std::move(name);
    }
    changed_.notify_one();
  }
  void watch() {
    std::unique_lock lock(mutex_);
    while (!is_over_) {
      if (!deadline_) {
        changed_.wait(lock);
        continue;
      }
      const Time deadline = *deadline_;
      changed_.wait_until(lock, deadline);
      if (deadline_ == deadline && std::chrono::steady_clock::now() >= deadline)
        end_process(kHung, "[   HUNG   ] " + name_ + ": no end after " + std::to_string(limit_.count()) + " s");
    }
  }

  const std::chrono::seconds limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Time> deadline_;
  std::string name_;
  bool is_over_ = false;
  std::thread thread_;
};

class DeviceListener : public testing::EmptyTestEventListener {
 public:
  DeviceListener() {
    if (const char* seconds = std::getenv("WARPCHAT_TEST_SECONDS"))
      watchdog_.emplace(std::chrono::seconds(std::atoi(seconds)));
  }
  void OnTestStart(const testing::TestInfo& test) override {
    if (watchdog_) watchdog_->begin(full_name(test));
  }
  void OnTestEnd(const testing::TestInfo& test) override {
    if (ContextCount::made() > 0 && kept_test_device().context) check_device(test);
    if (watchdog_) watchdog_->end();
  }

 private:
  static void check_device(const testing::TestInfo& test) {
    try {
      kept_test_device().context->make_current();
      kept_test_device().context->synchronise();
    } catch (const Error& error) {
      end_process(kLost, "[   LOST   ] " + full_name(test) + ": " + error.what());
    }
  }
  std::optional<Watchdog> watchdog_;
};

class OneContext : public testing::Environment {
 public:
  void SetUp() override { testing::UnitTest::GetInstance()->listeners().Append(new DeviceListener); }
  void TearDown() override {
    if (ContextCount::made() == 0) return;  // the program never used its device
    EXPECT_EQ(ContextCount::made(), kept_test_device().n_contexts) << "contexts; a process keeps its first";
  }
};

[[maybe_unused]] const testing::Environment* const registered = testing::AddGlobalTestEnvironment(new OneContext);

}  // namespace
}  // namespace warpchat
