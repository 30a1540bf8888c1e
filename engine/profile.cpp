// The profile's rows and its ring of calls, guarded by a mutex.
#include "engine/profile.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace warpchat {

namespace {

// Difference of two states of one row.
OperationProfile since(const OperationProfile& before, const OperationProfile& row) {
  const KernelCounters &a = before.counters, &b = row.counters;
  return {row.name,
          row.calls - before.calls,
          row.seconds - before.seconds,
          row.bytes - before.bytes,
          {b.instructions - a.instructions, b.lane_instructions - a.lane_instructions, b.sectors - a.sectors,
           b.bank_conflicts - a.bank_conflicts},
          row.wait_seconds - before.wait_seconds};
}

}  // namespace

uint32_t Profile::operation(std::string_view name) {
  std::lock_guard lock(mutex_);
  for (size_t i = 0; i < rows_.size(); ++i)
    if (rows_[i].name == name) return static_cast<uint32_t>(i);
  rows_.push_back({std::string(name)});
  return static_cast<uint32_t>(rows_.size() - 1);
}

void Profile::record(uint32_t operation, double start, double seconds, uint64_t bytes, double wait_seconds) {
  std::lock_guard lock(mutex_);
  OperationProfile& row = rows_.at(operation);
  ++row.calls;
  row.seconds += seconds;
  row.bytes += bytes;
  row.wait_seconds += wait_seconds;
  calls_.keep({operation, start, seconds, bytes, TraceSpan::kWhole, static_cast<float>(wait_seconds)}, ring_size_);
}

void Profile::record_shares(std::span<const TraceSpan> shares) {
  std::lock_guard lock(mutex_);
  for (const TraceSpan& share : shares) shares_.keep(share, ring_size_);
}

void Profile::Ring::keep(const TraceSpan& span, size_t max) {
  if (max == 0) return;
  if (spans.size() < max)
    spans.push_back(span);
  else
    spans[next] = span, next = (next + 1) % max;
}

std::vector<TraceSpan> Profile::Ring::last(size_t max) const {
  const size_t n = std::min(max, spans.size()), of_the_end = std::min(n, next);  // next: where the newest span ends
  std::vector<TraceSpan> ordered(spans.end() - static_cast<std::ptrdiff_t>(n - of_the_end), spans.end());
  const auto end = spans.begin() + static_cast<std::ptrdiff_t>(next);
  ordered.insert(ordered.end(), end - static_cast<std::ptrdiff_t>(of_the_end), end);
  return ordered;
}

size_t Profile::Ring::ending_behind(double seconds, size_t max) const {
  const size_t size = spans.size();
  size_t n = 0;
  while (n < std::min(max, size)) {
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

void Profile::count_call(uint32_t operation) {
  std::lock_guard lock(mutex_);
  ++rows_.at(operation).calls;
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

void Profile::begin_watching() {
  std::lock_guard lock(mutex_);
  if (in_tokens_) prompt_rows_ = rows_;
}

void Profile::end_token(double seconds, bool was_drafted) {
  const double end = now();
  std::lock_guard lock(mutex_);
  ++n_tokens_;
  if (tokens_.size() == kKeptTokens) tokens_.pop_front();
  tokens_.push_back({end - seconds, seconds, was_drafted});
}

std::vector<OperationProfile> Profile::rows() const {
  std::lock_guard lock(mutex_);
  return rows_;
}

void Profile::set_peak_bandwidth(double bytes_per_second, std::vector<uint32_t> streaming) {
  std::lock_guard lock(mutex_);
  peak_bandwidth_ = bytes_per_second;
  streaming_ = std::move(streaming);
}

double Profile::peak_bandwidth() const {
  std::lock_guard lock(mutex_);
  return peak_with(token_rows());
}

double Profile::peak_with(const std::vector<OperationProfile>& token_rows) const {
  if (peak_bandwidth_ == 0) return 0;
  double peak = peak_bandwidth_;
  for (const uint32_t operation : streaming_)
    peak = std::max({peak, rows_[operation].bandwidth(), token_rows[operation].bandwidth()});
  return peak;
}

std::vector<OperationProfile> Profile::token_rows() const {
  std::vector<OperationProfile> of_tokens;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const OperationProfile& row = rows_[i];
    const OperationProfile before = !in_tokens_ ? row : i < prompt_rows_.size() ? prompt_rows_[i] : OperationProfile{};
    of_tokens.push_back(since(before, row));
  }
  return of_tokens;
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

ProfileSnapshot Profile::snapshot(size_t max_tokens, size_t max_spans) const {
  std::lock_guard lock(mutex_);
  ProfileSnapshot shot;
  shot.rows = rows_;
  shot.n_tokens = n_tokens_;
  shot.tokens.assign(tokens_.end() - static_cast<std::ptrdiff_t>(std::min(max_tokens, tokens_.size())), tokens_.end());
  if (!shot.tokens.empty()) shot.spans = calls_.last(calls_.ending_behind(shot.tokens.front().start, max_spans));
  shot.shares = shares_.last(max_spans);
  shot.token_rows = token_rows();
  shot.peak_bandwidth = peak_with(shot.token_rows);
  return shot;
}

}  // namespace warpchat
