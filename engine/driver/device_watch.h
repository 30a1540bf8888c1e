// Bounds on what a device may take: every call to a driver is watched from its beginning to its end. A device that
// exceeds a bound is lost: it is asked for nothing more, for a driver that hangs once hangs again.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "engine/way_out.h"

namespace warpchat {

enum class DeviceBound { kPass, kLoad };

// Seconds in which this process was awake: a machine that slept, or a program that was stopped, does not count.
struct DeviceBounds {
  double pass = 10;   // a chunk of a prompt, a token
  double load = 120;  // a module, an allocation, a copy of weights
  double of(DeviceBound bound) const { return bound == DeviceBound::kPass ? pass : load; }
  // Longer on the emulator. $WARPCHAT_DEVICE_TIMEOUT: seconds of a pass, a twelfth of a load's.
  static DeviceBounds of_device(bool is_emulated);
};

class DeviceLost : public ErrorWithWayOut {
 public:
  explicit DeviceLost(const std::string& sentence) : ErrorWithWayOut(sentence, WayOut::Kind::kUseCpu) {}
};

class DeviceWatch : public std::enable_shared_from_this<DeviceWatch> {
 public:
  static std::shared_ptr<DeviceWatch> make(DeviceBounds bounds);
  ~DeviceWatch();

  const DeviceBounds& bounds() const { return bounds_; }
  std::string loss() const;    // why the device is lost, a sentence; empty: it is not. From any thread, as all of these
  void require_alive() const;  // DeviceLost
  // The first one counts, and calls the listeners.
  void lose(DeviceBound bound);
  // Called once, on the thread that finds out. Returns a number for remove_listener, which waits for calls under way.
  uint64_t add_listener(std::function<void(const std::string& loss)> listener);
  void remove_listener(uint64_t number);

 private:
  explicit DeviceWatch(DeviceBounds bounds);
  const DeviceBounds bounds_;
  mutable std::mutex mutex_;
  std::string loss_;
  std::atomic<bool> is_lost_ = false;  // looked at before every call
  uint64_t n_listeners_ = 0;
  struct Listener {
    uint64_t number;
    std::function<void(const std::string&)> call;
  };
  std::mutex listening_;  // held during their calls
  std::vector<Listener> listeners_;
};

// One call, or several in a row. DeviceLost instead of a call to a lost device. Takes no memory.
class WatchedCall {
 public:
  WatchedCall(const std::shared_ptr<DeviceWatch>& watch, DeviceBound bound);  // watch: outlives this
  ~WatchedCall();
  WatchedCall(const WatchedCall&) = delete;

 private:
  struct CallSlot* slot_;  // null: too many at once, and this one is not watched
};

// From now on others go on without this thread if its device is lost: it does not return from a call that was under way
// then, for what it worked on may be gone.
void make_this_thread_replaceable();

// What to do if a thread hangs in a driver that nobody can replace: it must not return. By default the loss is printed
// and the process ends with 1, without calling the driver.
void on_hanging_thread(void (*handler)(const std::string& loss));

bool is_any_device_lost();  // then the process must end by _exit: the driver's own exit handlers would hang

// Measures time awake by being asked often: a longer pause counts as kMaxStep.
class AwakeTimer {
 public:
  static constexpr double kMaxStep = 0.25;  // seconds
  AwakeTimer();
  double seconds();  // since it was made or restarted
  void restart();

 private:
  double last_, sum_ = 0;
};

}  // namespace warpchat
