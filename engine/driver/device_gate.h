// Loads and long launches of a device take turns. A driver may hold a load (of a module, an allocation, a question for
// free memory) until the device is idle, and every other call on the context with it; a launch that lasts as long as an
// answer would make all of them wait. So a long launch begins when no load is under way, and a load ends those that
// run, which they do within a token.
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

  // While it lives, no long launch begins. Not on a thread that has a long launch.
  class Load {
   public:
    explicit Load(DeviceGate& gate);  // DeviceLost, also where a launch does not end
    ~Load();
    Load(const Load&) = delete;

   private:
    DeviceGate& gate_;
  };

  class LongLaunch {
   public:
    // end: asks the launch to end. has_ended: whether the device has written that it does. Both are called by other
    // threads, and never again once this is destroyed.
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
  uint32_t n_loads_ = 0;  // under way, or waiting for launches to end
  std::list<LongLaunch*> launches_;
};

}  // namespace warpchat
