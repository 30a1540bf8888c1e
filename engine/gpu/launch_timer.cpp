// Marks are events in the stream. Times are the distances between them.
#include "engine/gpu/launch_timer.h"

#include <cassert>
#include <utility>

namespace warpchat {

namespace {

constexpr size_t kMaxMarks = 1 << 13;

}  // namespace

void LaunchTimer::mark(Mark mark) {
  if (events_.size() == marks_.size()) events_.emplace_back(stream_.context(), GpuEvent::Timing::kOn);
  stream_.record(events_[marks_.size()]);
  marks_.push_back(std::move(mark));
}

void LaunchTimer::begin() {
  if (!profile_.is_enabled()) return;
  if (marks_.size() >= kMaxMarks) {
    stream_.wait();
    collect();
  }
  if (marks_.empty()) began_ = profile_.now();
  mark({});
}

void LaunchTimer::launched(uint32_t operation, uint64_t bytes) {
  if (is_timing()) mark({{{operation, bytes}}, {}});
}

void LaunchTimer::launched(std::span<const GpuEvent> times, std::vector<Part> parts) {
  assert(times.size() == parts.size() || !is_timing());
  if (is_timing()) mark({std::move(parts), times});
}

void LaunchTimer::await_times(std::span<const GpuEvent> times) {
  if (times.empty()) return;
  for (size_t i = collected_; i < marks_.size(); ++i) {
    if (marks_[i].times.data() != times.data()) continue;
    events_[i].wait();
    return record_ended();
  }
}

// Records the parts between event i and the previous one.
void LaunchTimer::record(size_t i) const {
  const Mark& mark = marks_[i];
  for (size_t k = 0; k < mark.parts.size(); ++k) {
    const GpuEvent& start = k == 0 ? events_[i - 1] : mark.times[k - 1];
    const GpuEvent& end = mark.times.empty() ? events_[i] : mark.times[k];
    profile_.record(mark.parts[k].operation, began_ + start.seconds_since(events_[0]), end.seconds_since(start),
                    mark.parts[k].bytes);
  }
}

void LaunchTimer::record_ended() {
  for (; collected_ < marks_.size() && events_[collected_].has_come(); ++collected_) record(collected_);
}

void LaunchTimer::collect() {
  record_ended();
  if (collected_ < marks_.size()) return;
  marks_.clear();
  collected_ = 0;
}

}  // namespace warpchat
