// The profile's rows and its ring of calls behind a mutex.
#include "engine/profile.h"

#include <algorithm>

namespace warpchat {

uint32_t Profile::operation(std::string_view name) {
  std::lock_guard lock(mutex_);
  for (size_t i = 0; i < rows_.size(); ++i)
    if (rows_[i].name == name) return static_cast<uint32_t>(i);
  rows_.push_back({std::string(name)});
  return static_cast<uint32_t>(rows_.size() - 1);
}

void Profile::record(uint32_t operation, double start, double seconds, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  OperationProfile& row = rows_.at(operation);
  ++row.calls;
  row.seconds += seconds;
  row.bytes += bytes;
  keep({operation, start, seconds, bytes});
}

void Profile::record_shares(std::span<const TraceSpan> shares) {
  std::lock_guard lock(mutex_);
  for (const TraceSpan& share : shares) keep(share);
}

void Profile::keep(const TraceSpan& span) {
  if (ring_size_ == 0) return;
  if (ring_.size() < ring_size_)
    ring_.push_back(span);
  else
    ring_[next_] = span, next_ = (next_ + 1) % ring_size_;
}

void Profile::count(uint32_t operation, const KernelCounters& counters) {
  std::lock_guard lock(mutex_);
  KernelCounters& sum = rows_.at(operation).counters;
  sum.instructions += counters.instructions;
  sum.lane_instructions += counters.lane_instructions;
  sum.sectors += counters.sectors;
  sum.bank_conflicts += counters.bank_conflicts;
}

void Profile::reset() {
  std::lock_guard lock(mutex_);
  for (OperationProfile& row : rows_) row = {row.name};
}

std::vector<OperationProfile> Profile::rows() const {
  std::lock_guard lock(mutex_);
  return rows_;
}

double Profile::now() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

void Profile::keep_trace(size_t spans) {
  std::lock_guard lock(mutex_);
  ring_size_ = spans;
}

bool Profile::keeps_trace() const {
  std::lock_guard lock(mutex_);
  return ring_size_ > 0;
}

std::vector<TraceSpan> Profile::trace() const {
  std::lock_guard lock(mutex_);
  std::vector<TraceSpan> spans = ring_;
  std::rotate(spans.begin(), spans.begin() + static_cast<std::ptrdiff_t>(next_), spans.end());
  return spans;
}

}  // namespace warpchat
