// Calls, time and bytes per operation, recorded while decoding; every front end shows the same table.
#pragma once
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace warpchat {

struct OperationProfile {
  std::string name;  // "norm_qkv", "attention", ...
  uint64_t calls = 0;
  double seconds = 0;
  uint64_t bytes = 0;  // read and written: weights, cache and activations, as the operation's formula says
};

// Written by the engine's thread, read by any.
class Profile {
 public:
  uint32_t operation(std::string_view name);  // id of a row, made at the first call
  void record(uint32_t operation, double seconds, uint64_t bytes);
  void reset();                                // zeroes the rows, keeps the ids
  std::vector<OperationProfile> rows() const;  // in order of first registration

 private:
  mutable std::mutex mutex_;
  std::vector<OperationProfile> rows_;
};

// Records one call from construction to destruction.
class OperationTimer {
 public:
  OperationTimer(Profile& profile, uint32_t operation, uint64_t bytes)
      : profile_(profile), operation_(operation), bytes_(bytes), start_(std::chrono::steady_clock::now()) {}
  ~OperationTimer() {
    profile_.record(operation_, std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(),
                    bytes_);
  }
  OperationTimer(const OperationTimer&) = delete;
  OperationTimer& operator=(const OperationTimer&) = delete;

 private:
  Profile& profile_;
  uint32_t operation_;
  uint64_t bytes_;
  std::chrono::steady_clock::time_point start_;
};

// The table for people: operation, calls, microseconds a call, share, GB/s.
std::string profile_table(const std::vector<OperationProfile>& rows);

}  // namespace warpchat
