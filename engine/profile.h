// Calls, time, bytes and counters per operation, recorded while decoding; every front end shows the same table. Rows
// are the decoder's steps on a CPU, kernels on a GPU. An emulated GPU has counters in place of times.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpchat {

// Emulator counters, summed over a kernel's launches.
struct KernelCounters {
  uint64_t instructions = 0;       // per warp
  uint64_t lane_instructions = 0;  // per active lane
  uint64_t sectors = 0;            // 32 bytes of global memory each
  uint64_t bank_conflicts = 0;     // replays of shared-memory accesses
};

struct OperationProfile {
  std::string name;  // "norm_qkv" on the CPU, "gemv_q4k_..." on a GPU
  uint64_t calls = 0;
  double seconds = 0;
  uint64_t bytes = 0;  // read and written: weights, cache and activations, by the operation's formula
  KernelCounters counters;
  double wait_seconds = 0;  // part of seconds, for a persistent phase: average time of a block at the barrier after it
  double bandwidth() const { return seconds > 0 ? static_cast<double>(bytes) / seconds : 0; }  // bytes a second
};

// One call on the timeline, or one multiprocessor's share of it.
struct TraceSpan {
  static constexpr uint32_t kWhole = UINT32_MAX;  // lane of whole calls
  uint32_t operation;
  double start, seconds;   // start: since the profile was created
  uint64_t bytes;          // moved by the call; 0 for a share
  uint32_t lane = kWhole;  // the multiprocessor's number, for a share
  float wait = 0;          // part of seconds: as OperationProfile::wait_seconds
};

// A token of the answer.
struct ProfiledToken {
  double start, seconds;     // since the profile was created; since the previous token
  bool was_drafted = false;  // computed in the same pass as the previous token
};

// A consistent copy of the profile.
struct ProfileSnapshot {
  std::vector<OperationProfile> rows;        // since the last reset
  std::vector<OperationProfile> token_rows;  // the answer's part of each row, without the prompt
  uint64_t n_tokens = 0;                     // in the answer so far
  double peak_bandwidth = 0;                 // same as Profile::peak_bandwidth
  std::vector<ProfiledToken> tokens;         // the latest, at most Profile::kKeptTokens, oldest first
  std::vector<TraceSpan> spans;              // calls since the first of those tokens began, as recorded
  std::vector<TraceSpan> shares;             // the trace's latest shares
};

// Written by the engine's thread, read by any.
class Profile {
 public:
  static constexpr size_t kKeptTokens = 256;

  uint32_t operation(std::string_view name);  // row id, created on the first call
  void record(uint32_t operation, double start, double seconds, uint64_t bytes, double wait_seconds = 0);
  void record_shares(std::span<const TraceSpan> shares);  // for recorded calls; affects the trace only
  void count(uint32_t operation, const KernelCounters& counters);
  void count_call(uint32_t operation);         // time and bytes are in other rows
  void reset();                                // zeroes rows and tokens, keeps ids and trace
  std::vector<OperationProfile> rows() const;  // in order of first registration

  // A viewer was opened: after the prompt, token_rows begin here, since earlier tokens may not have been measured.
  void begin_watching();
  // The prompt is done: what follows belongs to the answer.
  void begin_tokens();
  void end_token(double seconds, bool was_drafted = false);  // seconds: since the previous token

  // Devices measure while enabled: see Steps::set_measuring. Initially off.
  void set_enabled(bool on) { enabled_ = on; }
  bool is_enabled() const { return enabled_; }

  double now() const;  // since the profile was created

  // Keeps the last `spans` calls and as many shares from now on. 0 drops the trace and stops it.
  void keep_trace(size_t spans = size_t{1} << 18);
  std::vector<TraceSpan> trace() const;  // oldest first: calls as recorded, shares sorted in by their start
  bool keeps_trace() const;

  // Limits the copied tokens and calls, and shares. Copies no more than that under the lock.
  ProfileSnapshot snapshot(size_t max_tokens, size_t max_spans) const;

  // Peak of the device's memory; 0: unknown. streaming: rows that only read from memory, where the bandwidth is
  // measured along the way. The peak is at least what one of them reaches.
  void set_peak_bandwidth(double bytes_per_second, std::vector<uint32_t> streaming = {});
  double peak_bandwidth() const;

 private:
  // The latest spans, in a ring buffer.
  struct Ring {
    std::vector<TraceSpan> spans;
    size_t next = 0;  // where the next span goes once full
    void keep(const TraceSpan& span, size_t max);
    std::vector<TraceSpan> last(size_t max) const;           // oldest first
    size_t ending_behind(double seconds, size_t max) const;  // number of newest spans that end after it
  };
  using Clock = std::chrono::steady_clock;
  const Clock::time_point began_ = Clock::now();
  std::atomic<bool> enabled_ = false;
  std::vector<OperationProfile> token_rows() const;  // this and the next need the mutex
  double peak_with(const std::vector<OperationProfile>& token_rows) const;
  mutable std::mutex mutex_;
  double peak_bandwidth_ = 0;
  std::vector<uint32_t> streaming_;
  std::vector<OperationProfile> rows_, prompt_rows_;  // prompt_rows_: rows_ when the answer began
  bool in_tokens_ = false;
  uint64_t n_tokens_ = 0;
  std::deque<ProfiledToken> tokens_;
  Ring calls_, shares_;
  size_t ring_size_ = 0;
};

// Records one call from construction to destruction, unless the profile was off when it began.
class OperationTimer {
 public:
  OperationTimer(Profile& profile, uint32_t operation, uint64_t bytes)
      : profile_(profile.is_enabled() ? &profile : nullptr), operation_(operation), bytes_(bytes) {
    if (profile_ != nullptr) start_ = profile_->now();
  }
  ~OperationTimer() {
    if (profile_ != nullptr) profile_->record(operation_, start_, profile_->now() - start_, bytes_);
  }
  void add_bytes(uint64_t bytes) { bytes_ += bytes; }
  OperationTimer(const OperationTimer&) = delete;
  OperationTimer& operator=(const OperationTimer&) = delete;

 private:
  Profile* const profile_;  // null: off
  uint32_t operation_;
  uint64_t bytes_;
  double start_ = 0;
};

}  // namespace warpchat
