// Calls, time, bytes and counters per operation, recorded while decoding; every front end shows the same table. On the
// CPU the rows are the decoder's steps, on a GPU its kernels; an emulated GPU has counters where a real one has time.
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

// What the emulator counted of a kernel's launches.
struct KernelCounters {
  uint64_t instructions = 0;       // of warps
  uint64_t lane_instructions = 0;  // of active lanes
  uint64_t sectors = 0;            // of global memory, 32 bytes each
  uint64_t bank_conflicts = 0;     // replays of shared-memory accesses
};

struct OperationProfile {
  std::string name;  // "norm_qkv" on the CPU, "gemv_q4k_..." on a GPU
  uint64_t calls = 0;
  double seconds = 0;
  uint64_t bytes = 0;  // read and written: weights, cache and activations, as the operation's formula says
  KernelCounters counters;
  double wait_seconds = 0;  // of them, of a persistent phase: at the barrier behind it, a block on average
  double bandwidth() const { return seconds > 0 ? static_cast<double>(bytes) / seconds : 0; }  // bytes a second
};

// One call on the time line, or one multiprocessor's share of it.
struct TraceSpan {
  static constexpr uint32_t kWhole = UINT32_MAX;  // a lane: calls as a whole, one after the other
  uint32_t operation;
  double start, seconds;   // seconds since the profile was made
  uint64_t bytes;          // of the call; 0 for a share
  uint32_t lane = kWhole;  // of a share: the multiprocessor's number
  float wait = 0;          // of the call's seconds: as OperationProfile::wait_seconds
};

// A token of the answer.
struct ProfiledToken {
  double start, seconds;     // seconds since the profile was made; since the token before
  bool was_drafted = false;  // its pass is that of the token before
};

// Everything at one moment.
struct ProfileSnapshot {
  std::vector<OperationProfile> rows;        // since the last reset
  std::vector<OperationProfile> token_rows;  // the part of them behind the prompt, row by row
  uint64_t n_tokens = 0;                     // of the answer so far
  double peak_bandwidth = 0;                 // as Profile::peak_bandwidth
  std::vector<ProfiledToken> tokens;         // the last of them, at most Profile::kKeptTokens, oldest first
  std::vector<TraceSpan> spans;              // the trace's calls since the first of those began, as recorded
  std::vector<TraceSpan> shares;             // the trace's last ones
};

// Written by the engine's thread, read by any.
class Profile {
 public:
  static constexpr size_t kKeptTokens = 256;

  uint32_t operation(std::string_view name);  // id of a row, made at the first call
  void record(uint32_t operation, double start, double seconds, uint64_t bytes, double wait_seconds = 0);
  void record_shares(std::span<const TraceSpan> shares);  // of calls recorded already: for the trace alone
  void count(uint32_t operation, const KernelCounters& counters);
  void count_call(uint32_t operation);         // whose time and bytes are those of other rows
  void reset();                                // zeroes the rows and forgets the tokens, keeps ids and trace
  std::vector<OperationProfile> rows() const;  // in order of first registration

  // Somebody begins to look: behind the prompt, token_rows begin here, for not all may have been measured before.
  void begin_watching();
  // The prompt is done: what comes from now on is the answer's, token by token.
  void begin_tokens();
  void end_token(double seconds, bool was_drafted = false);  // a token is there, so long after the one before

  // Devices measure while it is on: see Steps::set_measuring. Off at first.
  void set_enabled(bool on) { enabled_ = on; }
  bool is_enabled() const { return enabled_; }

  double now() const;  // seconds since the profile was made

  // From now on the last `spans` calls are kept, and as many shares; 0: none, and those kept so far are dropped.
  void keep_trace(size_t spans = size_t{1} << 18);
  std::vector<TraceSpan> trace() const;  // oldest first: calls as recorded, shares among them by their start
  bool keeps_trace() const;

  // At most so many tokens and calls, and as many shares. Copies no more than that under the lock.
  ProfileSnapshot snapshot(size_t most_tokens, size_t most_spans) const;

  // Of the device's memory; 0: unknown. streaming: rows that do nothing but read from memory, where the bandwidth was
  // measured in passing; what one of them reaches the memory can give, so the peak is at least that.
  void set_peak_bandwidth(double bytes_per_second, std::vector<uint32_t> streaming = {});
  double peak_bandwidth() const;

 private:
  // The last spans in a vector that goes round once it is full.
  struct Ring {
    std::vector<TraceSpan> spans;
    size_t next = 0;  // where the next span goes then
    void keep(const TraceSpan& span, size_t most);
    std::vector<TraceSpan> last(size_t most) const;           // oldest first
    size_t ending_behind(double seconds, size_t most) const;  // how many of the newest
  };
  using Clock = std::chrono::steady_clock;
  const Clock::time_point began_ = Clock::now();
  std::atomic<bool> enabled_ = false;
  std::vector<OperationProfile> token_rows() const;  // these and the next with the mutex held
  double peak_with(const std::vector<OperationProfile>& token_rows) const;
  mutable std::mutex mutex_;
  double peak_bandwidth_ = 0;
  std::vector<uint32_t> streaming_;
  std::vector<OperationProfile> rows_, prompt_rows_;  // the latter as rows_ were when the tokens began
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
