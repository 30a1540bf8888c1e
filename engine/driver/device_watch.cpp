// One thread checks all running calls a few times a second.
#include "engine/driver/device_watch.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <thread>
#include <utility>

#include "models/error.h"
#include "models/threads.h"

namespace warpchat {

// A running call. The number of slots is fixed, so that calls allocate nothing: many of them free memory.
struct CallSlot {
  std::mutex mutex;
  std::atomic<bool> is_taken = false;
  DeviceWatch* watch = nullptr;  // null: unused
  DeviceBound bound = DeviceBound::kPass;
  double seconds = 0;        // while awake
  bool is_given_up = false;  // the device was lost during the call
  bool is_replaceable = false;
};

namespace {

constexpr double kLoadsOfAPass = 12, kSlowerOnEmulator = 60;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void print_and_exit(const std::string& loss) {
  std::fprintf(stderr, "%s\n", loss.c_str());
  _exit(1);
}

std::atomic<void (*)(const std::string&)> hanging_thread_handler = &print_and_exit;
std::atomic<bool> has_lost_device = false;

// Never destroyed: threads may hang in a driver until the process ends.
struct Slots {
  std::array<CallSlot, 256> all;
  std::mutex mutex;                                // guards the members below
  std::vector<std::shared_ptr<DeviceWatch>> lost;  // kept alive, so that they stay lost
  double shortest_bound = 1;
  bool has_watcher = false;

  static Slots& instance() {
    static Slots* slots = new Slots;
    return *slots;
  }

  void give_up_calls_on(const DeviceWatch& watch) {
    for (CallSlot& slot : all) {
      const std::lock_guard lock(slot.mutex);
      if (slot.watch == &watch) slot.is_given_up = true;
    }
  }
};

struct OverdueCall {
  std::shared_ptr<DeviceWatch> watch;  // null: within its bound
  DeviceBound bound = DeviceBound::kPass;
  bool is_replaceable = false;
};

// Adds time to a call and returns whether it exceeds its bound.
OverdueCall overdue(CallSlot& slot, double step) {
  const std::lock_guard lock(slot.mutex);
  if (slot.watch == nullptr) return {};
  slot.seconds += step;
  if (slot.seconds <= slot.watch->bounds().of(slot.bound)) return {};
  return {slot.watch->shared_from_this(), slot.bound, slot.is_replaceable};
}

void look_at_calls(Slots& slots, double step) {
  for (CallSlot& slot : slots.all) {
    const OverdueCall call = overdue(slot, step);
    if (!call.watch) continue;
    call.watch->lose(call.bound);
    if (!call.is_replaceable) hanging_thread_handler.load()(call.watch->loss());
  }
}

void watch_calls(Slots& slots) {
  for (double last = now();;) {
    double interval = 0;
    {
      const std::lock_guard lock(slots.mutex);
      interval = std::min(AwakeTimer::kMaxStep, slots.shortest_bound / 8);
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(interval));
    const double step = std::min(now() - last, 2 * interval);
    last = now();
    try {
      look_at_calls(slots, step);
    } catch (const std::exception&) {  // tries again next time
    }
  }
}

// If the system cannot start a thread, calls are unbounded until it can.
void start_watcher(Slots& slots) {
  if (slots.has_watcher) return;
  try {
    start_thread(
        "to watch the GPU", [&slots] { watch_calls(slots); }, ends_unnoticed)
        .detach();
    slots.has_watcher = true;
  } catch (const Error&) {
  }
}

// Per thread. No destructors: glibc ends the process if it cannot allocate memory to register one.
thread_local bool is_thread_replaceable = false;
thread_local size_t last_slot = SIZE_MAX;

// The thread's previous slot if free, else any; null if all are used, and the call is not watched.
CallSlot* take_slot() {
  std::array<CallSlot, 256>& all = Slots::instance().all;
  static std::atomic<size_t> n_threads = 0;
  if (last_slot == SIZE_MAX) last_slot = n_threads++ % all.size();
  for (size_t i = 0; i < all.size(); ++i) {
    const size_t at = (last_slot + i) % all.size();
    if (all[at].is_taken.exchange(true)) continue;
    last_slot = at;
    return &all[at];
  }
  return nullptr;
}

[[noreturn]] void never_return() {
  for (;;) pause();
}

std::string sentence_of(DeviceBound bound, double seconds) {
  char number[32];
  std::snprintf(number, sizeof number, "%g", seconds);
  return std::string("the GPU has not finished ") +
         (bound == DeviceBound::kPass ? "computing" : "loading kernels or memory") + " within " + number +
         " s and is not used any more; the conversation is kept: start the program again";
}

}  // namespace

DeviceBounds DeviceBounds::of_device(bool is_emulated) {
  DeviceBounds bounds;
  if (const char* text = std::getenv("WARPCHAT_DEVICE_TIMEOUT")) {
    const double seconds = std::strtod(text, nullptr);
    if (!(seconds > 0))
      throw Error(std::string("WARPCHAT_DEVICE_TIMEOUT is ") + text + ", expected the seconds that a pass may take");
    return {seconds, seconds * kLoadsOfAPass};
  }
  return is_emulated ? DeviceBounds{bounds.pass * kSlowerOnEmulator, bounds.load * kSlowerOnEmulator} : bounds;
}

DeviceWatch::DeviceWatch(DeviceBounds bounds) : bounds_(bounds) {}
DeviceWatch::~DeviceWatch() = default;

std::shared_ptr<DeviceWatch> DeviceWatch::make(DeviceBounds bounds) {
  Slots& slots = Slots::instance();
  const std::lock_guard lock(slots.mutex);
  slots.shortest_bound = std::min(slots.shortest_bound, bounds.pass);
  start_watcher(slots);
  return std::shared_ptr<DeviceWatch>(new DeviceWatch(bounds));
}

std::string DeviceWatch::loss() const {
  const std::lock_guard lock(mutex_);
  return loss_;
}

void DeviceWatch::require_alive() const {
  if (is_lost_) throw DeviceLost(loss());
}

void DeviceWatch::lose(DeviceBound bound) {
  std::string why;
  {
    const std::lock_guard lock(mutex_);
    if (!loss_.empty()) return;
    why = loss_ = sentence_of(bound, bounds_.of(bound));
    is_lost_ = true;
  }
  has_lost_device = true;
  Slots& slots = Slots::instance();
  {
    const std::lock_guard lock(slots.mutex);
    slots.lost.push_back(shared_from_this());
  }
  slots.give_up_calls_on(*this);
  const std::lock_guard lock(listening_);
  for (const Listener& listener : listeners_) listener.call(why);
}

uint64_t DeviceWatch::add_listener(std::function<void(const std::string&)> listener) {
  const std::lock_guard lock(listening_);
  listeners_.push_back({++n_listeners_, std::move(listener)});
  return n_listeners_;
}

void DeviceWatch::remove_listener(uint64_t number) {
  const std::lock_guard lock(listening_);
  std::erase_if(listeners_, [&](const Listener& listener) { return listener.number == number; });
}

WatchedCall::WatchedCall(const std::shared_ptr<DeviceWatch>& watch, DeviceBound bound) : slot_(nullptr) {
  watch->require_alive();
  slot_ = take_slot();
  if (slot_ == nullptr) return;
  const std::lock_guard lock(slot_->mutex);
  slot_->watch = watch.get();
  slot_->bound = bound;
  slot_->seconds = 0;
  slot_->is_given_up = false;
  slot_->is_replaceable = is_thread_replaceable;
}

WatchedCall::~WatchedCall() {
  if (slot_ == nullptr) return;
  bool returns = true;
  {
    const std::lock_guard lock(slot_->mutex);
    returns = !slot_->is_given_up || !slot_->is_replaceable;
    slot_->watch = nullptr;
  }
  slot_->is_taken = false;
  if (!returns) never_return();
}

void make_this_thread_replaceable() { is_thread_replaceable = true; }

void on_hanging_thread(void (*handler)(const std::string&)) { hanging_thread_handler = handler; }

bool is_any_device_lost() { return has_lost_device; }

AwakeTimer::AwakeTimer() : last_(now()) {}

double AwakeTimer::seconds() {
  const double time = now();
  sum_ += std::min(time - std::exchange(last_, time), kMaxStep);
  return sum_;
}

void AwakeTimer::restart() { last_ = now(), sum_ = 0; }

}  // namespace warpchat
