#include "engine/driver/device_gate.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/driver/driver_error.h"

namespace warpchat {

// Polls a thousand times a second, since a device writes its words without notification.
void DeviceGate::await_change(std::unique_lock<std::mutex>& lock, AwakeTimer& waited, DeviceBound bound) {
  changed_.wait_for(lock, std::chrono::milliseconds(1));
  if (waited.seconds() > watch_->bounds().of(bound)) watch_->lose(bound);
  watch_->require_alive();
}

DeviceGate::Load::Load(DeviceGate& gate) : gate_(gate) {
  std::unique_lock lock(gate_.mutex_);
  ++gate_.n_loads_;
  try {
    for (LongLaunch* launch : gate_.launches_) {
      require(launch->thread_ != std::this_thread::get_id(), "load on the thread that runs a long launch");
      launch->end_();
    }
    AwakeTimer waited;
    while (!std::ranges::all_of(gate_.launches_, [](const LongLaunch* launch) { return launch->has_ended_(); }))
      gate_.await_change(lock, waited, DeviceBound::kPass);
  } catch (...) {
    --gate_.n_loads_;
    gate_.changed_.notify_all();
    throw;
  }
}

DeviceGate::Load::~Load() {
  const std::lock_guard lock(gate_.mutex_);
  --gate_.n_loads_;
  gate_.changed_.notify_all();
}

DeviceGate::LongLaunch::LongLaunch(DeviceGate& gate, std::function<void()> end, std::function<bool()> has_ended)
    : gate_(gate), end_(std::move(end)), has_ended_(std::move(has_ended)) {
  std::unique_lock lock(gate_.mutex_);
  AwakeTimer waited;
  while (gate_.n_loads_ > 0) gate_.await_change(lock, waited, DeviceBound::kLoad);
  place_ = gate_.launches_.insert(gate_.launches_.end(), this);
}

DeviceGate::LongLaunch::~LongLaunch() {
  const std::lock_guard lock(gate_.mutex_);
  gate_.launches_.erase(place_);
  gate_.changed_.notify_all();
}

bool DeviceGate::has_long_launch() const {
  const std::lock_guard lock(mutex_);
  return !launches_.empty();
}

}  // namespace warpchat
