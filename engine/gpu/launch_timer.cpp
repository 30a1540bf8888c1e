// A list of marks in the stream, and their distances.
#include "engine/gpu/launch_timer.h"

namespace warpchat {

namespace {

constexpr size_t kMostMarks = 1 << 13;

}  // namespace

void LaunchTimer::mark(const Mark& mark) {
  if (events_.size() == marks_.size()) events_.emplace_back(stream_.context(), Event::Timing::kOn);
  stream_.record(events_[marks_.size()]);
  marks_.push_back(mark);
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

void LaunchTimer::collect() {
  for (; collected_ < marks_.size(); ++collected_) {
    const size_t i = collected_;
    if (!events_[i].has_come()) return;
    if (marks_[i].operation == Mark::kNothing) continue;
    profile_.record(marks_[i].operation, began_ + events_[i - 1].seconds_since(events_[0]),
                    events_[i].seconds_since(events_[i - 1]), marks_[i].bytes);
  }
  marks_.clear();
  collected_ = 0;
}

}  // namespace warpchat
