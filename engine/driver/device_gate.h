// Loads and long launches of a device take turns. A driver may hold a load (module, allocation, memory query) until the
// device is idle, and block all other calls on the context meanwhile. A launch as long as an answer would then block
// everything. So a long launch starts only without pending loads, and a load ends running ones, which takes at most one
// token.
#pragma once
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include "engine/driver/device_watch.h"

namespace warpchat {

class DeviceGate {
 public:
  explicit DeviceGate(std::shared_ptr<DeviceWatch> watch) : watch_(std::move(watch)) {}

  // Blocks long launches during its lifetime. Not for a thread that runs a long launch.
  class Load {
   public:
    explicit Load(DeviceGate& gate);  // DeviceLost, also if a launch does not end
    ~Load();
    Load(const Load&) = delete;

   private:
    DeviceGate& gate_;
  };

  class LongLaunch {
   public:
    // end: asks the launch to end. has_ended: whether the device has reported the end. Other threads call both, but not
    // after destruction.
    LongLaunch(DeviceGate& gate, std::function<void()> end, std::function<bool()> has_ended);
    ~LongLaunch();
    LongLaunch(const LongLaunch&) = delete;

   private:
    friend class DeviceGate;
    DeviceGate& gate_;
    std::function<void()> end_;
    std::function<bool()> has_ended_;
    std::thread::id thread_ = std::this_thread::get_id();
    std::list<LongLaunch*>::iterator place_;
  };

  bool has_long_launch() const;

 private:
  void await_change(std::unique_lock<std::mutex>& lock, AwakeTimer& waited, DeviceBound bound);

  const std::shared_ptr<DeviceWatch> watch_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  uint32_t n_loads_ = 0;  // running, or waiting for launches to end
  std::list<LongLaunch*> launches_;
};

}  // namespace warpchat
