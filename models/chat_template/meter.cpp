#include "models/chat_template/meter.h"

#include <algorithm>
#include <string>

#include "models/chat_template/value.h"

namespace warpchat::jinja {

namespace {

constexpr uint64_t kCheckEvery = 1'000'000;  // less than a millisecond

thread_local Meter* current = nullptr;

}  // namespace

Meter::Meter(const Limits& limits)
    : limits_(limits),
      outer_(current),
      end_(std::chrono::steady_clock::now() + limits.time),
      next_check_(std::min(kCheckEvery, limits.work)) {
  current = this;
}

Meter::~Meter() { current = outer_; }

void Meter::charge(uint64_t work) {
  if (current == nullptr) return;
  current->work_ += work;
  if (current->work_ > current->next_check_) current->check();
}

void Meter::check() {
  if (work_ > limits_.work) throw Fault("the template does too much work; is it broken?");
  if (limits_.is_stopped && limits_.is_stopped()) throw Fault("stopped");
  if (std::chrono::steady_clock::now() > end_)
    throw Fault("the template takes longer than " + std::to_string(limits_.time.count() / 1000) + " seconds");
  next_check_ = std::min(work_ + kCheckEvery, limits_.work);
}

}  // namespace warpchat::jinja
