// A list of marks in the stream, and their distances.
#include "engine/gpu/launch_timer.h"

#include <cassert>
#include <utility>

namespace warpchat {

namespace {

constexpr size_t kMostMarks = 1 << 13;

}  // namespace

void LaunchTimer::mark(Mark mark) {
  if (events_.size() == marks_.size()) events_.emplace_back(stream_.context(), GpuEvent::Timing::kOn);
  stream_.record(events_[marks_.size()]);
  marks_.push_back(std::move(mark));
}

void LaunchTimer::begin_pass() {
  if (!profile_.is_enabled()) return;
  if (marks_.size() >= kMostMarks) {
    stream_.wait();
    collect();
  }
  if (marks_.empty()) began_ = profile_.now();
  mark({});
}

void LaunchTimer::launched(uint32_t operation, uint64_t bytes) {
  if (!marks_.empty()) mark({operation, bytes});
}

void LaunchTimer::await_times(std::span<const GpuEvent> times) {
  if (times.empty()) return;
  for (size_t i = collected_; i < marks_.size(); ++i) {
    if (marks_[i].times.data() != times.data()) continue;
    events_[i].wait();
    return collect();
  }
}

void LaunchTimer::launched(uint32_t operation, uint64_t bytes, std::span<const GpuEvent> times,
                           std::vector<Part> parts) {
  if (times.empty()) return launched(operation, bytes);
  assert(times.size() == parts.size());
  if (!marks_.empty()) mark({operation, bytes, times, std::move(parts)});
}

// What lies between event i and the one before it.
void LaunchTimer::record(size_t i) const {
  const Mark& mark = marks_[i];
  const auto add = [&](uint32_t operation, const GpuEvent& start, const GpuEvent& end, uint64_t bytes) {
    profile_.record(operation, began_ + start.seconds_since(events_[0]), end.seconds_since(start), bytes);
  };
  if (mark.parts.empty()) return add(mark.operation, events_[i - 1], events_[i], mark.bytes);
  for (size_t k = 0; k < mark.parts.size(); ++k)
    add(mark.parts[k].operation, k == 0 ? events_[i - 1] : mark.times[k - 1], mark.times[k], mark.parts[k].bytes);
}

void LaunchTimer::collect() {
  for (; collected_ < marks_.size(); ++collected_) {
    const size_t i = collected_;
    if (!events_[i].has_come()) return;
    if (marks_[i].operation != Mark::kNothing) record(i);
  }
  marks_.clear();
  collected_ = 0;
}

}  // namespace warpchat
