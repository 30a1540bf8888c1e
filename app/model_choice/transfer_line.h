// The progress of a download as one line.
#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include "engine/hub/download.h"

namespace warpchat {

// Bytes per second over the last few seconds.
class TransferRate {
 public:
  using Time = std::chrono::steady_clock::time_point;
  void add(Time now, uint64_t bytes);  // the total until now
  double bytes_per_second() const;     // 0: not known yet
  void reset() { points_.clear(); }

 private:
  std::deque<std::pair<Time, uint64_t>> points_;
};

// " 45%  850 MB of 1.9 GB  12 MB/s  1 min 20 s left"; without a rate the first half.
std::string transfer_line(const DownloadProgress& progress, double bytes_per_second);

std::string duration_text(uint64_t seconds);  // "40 s", "1 min 20 s", "3 h 5 min"

}  // namespace warpchat
