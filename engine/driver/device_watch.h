// Time limits for a device: every driver call is watched. A device that exceeds a limit is lost and is not called
// again, because a driver that hangs once hangs again.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "engine/remedy.h"

namespace warpchat {

enum class DeviceBound { kPass, kLoad };

// Seconds while the process was awake: time in standby or while stopped does not count.
struct DeviceBounds {
  double pass = 10;   // a prompt chunk or a token
  double load = 120;  // a module, an allocation, a copy of weights
  double of(DeviceBound bound) const { return bound == DeviceBound::kPass ? pass : load; }
  // Longer for the emulator. $WARPCHAT_DEVICE_TIMEOUT: seconds per pass; a load gets twelve times that.
  static DeviceBounds of_device(bool is_emulated);
};

class DeviceLost : public ErrorWithRemedy {
 public:
  explicit DeviceLost(const std::string& sentence) : ErrorWithRemedy(sentence, Remedy::Kind::kUseCpu) {}
};

class DeviceWatch : public std::enable_shared_from_this<DeviceWatch> {
 public:
  static std::shared_ptr<DeviceWatch> make(DeviceBounds bounds);
  ~DeviceWatch();

  const DeviceBounds& bounds() const { return bounds_; }
  std::string loss() const;    // why the device is lost; empty while it works. All methods are thread-safe
  void require_alive() const;  // throws DeviceLost
  // Marks the device lost and calls the listeners. Later calls have no effect.
  void lose(DeviceBound bound);
  // Listeners are called once, on the thread that detects the loss. Returns a number for remove_listener, which waits
  // for running listeners.
  uint64_t add_listener(std::function<void(const std::string& loss)> listener);
  void remove_listener(uint64_t number);

 private:
  explicit DeviceWatch(DeviceBounds bounds);
  const DeviceBounds bounds_;
  mutable std::mutex mutex_;
  std::string loss_;
  std::atomic<bool> is_lost_ = false;  // checked before every call
  uint64_t n_listeners_ = 0;
  struct Listener {
    uint64_t number;
    std::function<void(const std::string&)> call;
  };
  std::mutex listening_;  // held while listeners run
  std::vector<Listener> listeners_;
};

// Guards one or more consecutive calls. Throws DeviceLost for a lost device. Allocates nothing.
class WatchedCall {
 public:
  WatchedCall(const std::shared_ptr<DeviceWatch>& watch, DeviceBound bound);  // watch: must outlive this
  ~WatchedCall();
  WatchedCall(const WatchedCall&) = delete;

 private:
  struct CallSlot* slot_;  // null: all slots are used, so the call is not watched
};

// Declares that others can continue without this thread. If its device is lost during a call, the call never returns,
// because its data may be gone.
void make_this_thread_replaceable();

// Handler for an irreplaceable thread that hangs in a driver; must not return. The default prints the loss and exits
// with 1, without calling the driver.
void on_hanging_thread(void (*handler)(const std::string& loss));

bool is_any_device_lost();  // the process must then use _exit, since the driver's exit handlers would hang

// Measures awake time by frequent polling: a longer pause counts as kMaxStep.
class AwakeTimer {
 public:
  static constexpr double kMaxStep = 0.25;  // seconds
  AwakeTimer();
  double seconds();  // since construction or restart
  void restart();

 private:
  double last_, sum_ = 0;
};

}  // namespace warpchat
