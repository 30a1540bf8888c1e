// The profile's rows and its ring of calls behind a mutex.
#include "engine/profile.h"

#include <algorithm>

namespace warpchat {

namespace {

// What the row has more than it had.
OperationProfile since(const OperationProfile& before, const OperationProfile& row) {
  const KernelCounters &a = before.counters, &b = row.counters;
  return {row.name,
          row.calls - before.calls,
          row.seconds - before.seconds,
          row.bytes - before.bytes,
          {b.instructions - a.instructions, b.lane_instructions - a.lane_instructions, b.sectors - a.sectors,
           b.bank_conflicts - a.bank_conflicts}};
}

}  // namespace

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
  in_tokens_ = false;
  n_tokens_ = 0;
  tokens_.clear();
}

void Profile::begin_tokens() {
  std::lock_guard lock(mutex_);
  prompt_rows_ = rows_;
  in_tokens_ = true;
  n_tokens_ = 0;
  tokens_.clear();
}

void Profile::end_token(double seconds) {
  const double end = now();
  std::lock_guard lock(mutex_);
  ++n_tokens_;
  if (tokens_.size() == kKeptTokens) tokens_.pop_front();
  tokens_.push_back({end - seconds, seconds});
}

std::vector<OperationProfile> Profile::rows() const {
  std::lock_guard lock(mutex_);
  return rows_;
}

double Profile::now() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

void Profile::keep_trace(size_t spans) {
  std::lock_guard lock(mutex_);
  if (spans == ring_size_) return;
  std::vector<TraceSpan> kept = last_spans(spans);
  ring_.swap(kept);
  ring_size_ = spans;
  next_ = 0;
}

bool Profile::keeps_trace() const {
  std::lock_guard lock(mutex_);
  return ring_size_ > 0;
}

std::vector<TraceSpan> Profile::trace() const {
  std::lock_guard lock(mutex_);
  return last_spans(ring_.size());
}

std::vector<TraceSpan> Profile::last_spans(size_t most) const {
  const size_t n = std::min(most, ring_.size());
  std::vector<TraceSpan> spans(n);
  const size_t of_the_end = std::min(n, next_);  // those before next_ are the newest
  std::copy_n(ring_.end() - static_cast<std::ptrdiff_t>(n - of_the_end), n - of_the_end, spans.begin());
  std::copy_n(ring_.begin() + static_cast<std::ptrdiff_t>(next_ - of_the_end), of_the_end,
              spans.end() - static_cast<std::ptrdiff_t>(of_the_end));
  return spans;
}

ProfileSnapshot Profile::snapshot(size_t most_spans) const {
  std::lock_guard lock(mutex_);
  ProfileSnapshot shot{rows_, {}, n_tokens_, {tokens_.begin(), tokens_.end()}, last_spans(most_spans)};
  for (size_t i = 0; i < rows_.size(); ++i) {
    const OperationProfile& row = rows_[i];
    const OperationProfile before = !in_tokens_ ? row : i < prompt_rows_.size() ? prompt_rows_[i] : OperationProfile{};
    shot.token_rows.push_back(since(before, row));
  }
  return shot;
}

}  // namespace warpchat
