// The profile's rows and its ring of calls behind a mutex.
#include "engine/profile.h"

#include <algorithm>
#include <iterator>

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
  calls_.keep({operation, start, seconds, bytes}, ring_size_);
}

void Profile::record_shares(std::span<const TraceSpan> shares) {
  std::lock_guard lock(mutex_);
  for (const TraceSpan& share : shares) shares_.keep(share, ring_size_);
}

void Profile::Ring::keep(const TraceSpan& span, size_t most) {
  if (most == 0) return;
  if (spans.size() < most)
    spans.push_back(span);
  else
    spans[next] = span, next = (next + 1) % most;
}

std::vector<TraceSpan> Profile::Ring::in_order() const {
  std::vector<TraceSpan> sorted = spans;
  std::rotate(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(next), sorted.end());
  return sorted;
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
  std::unique_lock lock(mutex_);
  const std::vector<TraceSpan> calls = calls_.in_order(), shares = shares_.in_order();
  lock.unlock();
  std::vector<TraceSpan> spans;
  std::merge(calls.begin(), calls.end(), shares.begin(), shares.end(), std::back_inserter(spans),
             [](const TraceSpan& a, const TraceSpan& b) { return a.start < b.start; });
  return spans;
}

}  // namespace warpchat
