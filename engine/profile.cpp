// The profile's rows and its ring of calls behind a mutex.
#include "engine/profile.h"

#include <algorithm>
#include <iterator>

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

std::vector<TraceSpan> Profile::Ring::last(size_t most) const {
  const size_t n = std::min(most, spans.size()), of_the_end = std::min(n, next);  // those before next are the newest
  std::vector<TraceSpan> ordered(spans.end() - static_cast<std::ptrdiff_t>(n - of_the_end), spans.end());
  const auto end = spans.begin() + static_cast<std::ptrdiff_t>(next);
  ordered.insert(ordered.end(), end - static_cast<std::ptrdiff_t>(of_the_end), end);
  return ordered;
}

size_t Profile::Ring::ending_behind(double seconds, size_t most) const {
  const size_t size = spans.size();
  size_t n = 0;
  while (n < std::min(most, size)) {
    const TraceSpan& span = spans[(next + size - 1 - n) % size];
    if (span.start + span.seconds <= seconds) break;
    ++n;
  }
  return n;
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
  n_tokens_ = watched_from_ = 0;
  tokens_.clear();
}

void Profile::begin_tokens() {
  std::lock_guard lock(mutex_);
  prompt_rows_ = rows_;
  in_tokens_ = true;
  n_tokens_ = watched_from_ = 0;
  tokens_.clear();
}

void Profile::begin_watching() {
  std::lock_guard lock(mutex_);
  if (!in_tokens_) return;
  prompt_rows_ = rows_;
  watched_from_ = n_tokens_;
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
  for (Ring* ring : {&calls_, &shares_}) *ring = {ring->last(spans)};
  ring_size_ = spans;
}

bool Profile::keeps_trace() const {
  std::lock_guard lock(mutex_);
  return ring_size_ > 0;
}

std::vector<TraceSpan> Profile::trace() const {
  std::unique_lock lock(mutex_);
  const std::vector<TraceSpan> calls = calls_.last(ring_size_), shares = shares_.last(ring_size_);
  lock.unlock();
  std::vector<TraceSpan> spans;
  std::merge(calls.begin(), calls.end(), shares.begin(), shares.end(), std::back_inserter(spans),
             [](const TraceSpan& a, const TraceSpan& b) { return a.start < b.start; });
  return spans;
}

ProfileSnapshot Profile::snapshot(size_t most_tokens, size_t most_spans) const {
  std::lock_guard lock(mutex_);
  ProfileSnapshot shot;
  shot.rows = rows_;
  shot.n_tokens = n_tokens_;
  shot.n_passes = n_tokens_ - std::min(n_tokens_, std::max<uint64_t>(1, watched_from_));
  shot.tokens.assign(tokens_.end() - static_cast<std::ptrdiff_t>(std::min(most_tokens, tokens_.size())), tokens_.end());
  if (!shot.tokens.empty()) shot.spans = calls_.last(calls_.ending_behind(shot.tokens.front().start, most_spans));
  shot.shares = shares_.last(most_spans);
  for (size_t i = 0; i < rows_.size(); ++i) {
    const OperationProfile& row = rows_[i];
    const OperationProfile before = !in_tokens_ ? row : i < prompt_rows_.size() ? prompt_rows_[i] : OperationProfile{};
    shot.token_rows.push_back(since(before, row));
  }
  return shot;
}

}  // namespace warpchat
