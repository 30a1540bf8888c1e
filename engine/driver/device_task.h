// Computes a result on a separate thread that calls the driver. If the device is lost, waiting threads continue, and
// the computing thread is abandoned in its call.
#pragma once
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "engine/driver/device_watch.h"
#include "models/threads.h"

namespace warpchat {

template <class T>
class DeviceTask {
 public:
  DeviceTask() = default;  // no computation
  // If the system cannot start a thread, get() computes the result.
  DeviceTask(std::shared_ptr<DeviceWatch> watch, std::function<T()> compute)
      : watch_(std::move(watch)), state_(std::make_shared<State>()) {
    state_->compute = std::move(compute);
    try {
      const auto body = [state = state_] {
        make_this_thread_replaceable();
        state->run();
      };
      thread_ = start_thread("to prepare the GPU", body, ends_unnoticed);  // get() rethrows what compute threw
    } catch (const Error&) {
    }
  }
  DeviceTask(DeviceTask&& other) noexcept { swap(other); }
  DeviceTask& operator=(DeviceTask&& other) noexcept {
    swap(other);
    return *this;
  }
  // Waits. For a lost device it waits only briefly: a running thread ends, a hanging one is detached.
  ~DeviceTask() {
    if (!thread_.joinable()) return;
    await([this] { return !watch_->loss().empty(); });
    await([n = 0]() mutable { return ++n > kWaitsForTheLost; }) ? thread_.join() : thread_.detach();
  }

  bool is_valid() const { return state_ != nullptr; }
  bool is_ready() const {
    const std::lock_guard lock(state_->mutex);
    return !thread_.joinable() || state_->is_done;
  }
  // Waits. Rethrows the computation's exception at every call; DeviceLost.
  T& get() const {
    if (!thread_.joinable()) state_->run();
    await([this] {
      watch_->require_alive();
      return false;
    });
    if (state_->failure) std::rethrow_exception(state_->failure);
    return *state_->result;
  }

 private:
  struct State {
    std::mutex mutex, running;
    std::condition_variable changed;
    std::function<T()> compute;  // destroyed after running, to release its captures
    std::optional<T> result;
    std::exception_ptr failure;
    bool is_done = false;

    void run() {
      const std::lock_guard once(running);
      if (!compute) return;
      try {
        result = std::exchange(compute, nullptr)();
      } catch (...) {
        failure = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      is_done = true;
      changed.notify_all();
    }
  };

  // Waits until done, or until gives_up(), polled twenty times a second, returns true. Returns whether it is done.
  static constexpr int kWaitsForTheLost = 40;
  template <class GivesUp>
  bool await(GivesUp gives_up) const {
    std::unique_lock lock(state_->mutex);
    while (!state_->is_done) {
      if (gives_up()) return false;
      state_->changed.wait_for(lock, std::chrono::milliseconds(50));
    }
    return true;
  }
  void swap(DeviceTask& other) noexcept {
    std::swap(watch_, other.watch_);
    std::swap(state_, other.state_);
    std::swap(thread_, other.thread_);
  }

  std::shared_ptr<DeviceWatch> watch_;
  std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace warpchat
