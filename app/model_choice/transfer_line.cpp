// Pure, but for the clock that callers bring.
#include "app/model_choice/transfer_line.h"

#include <cstdio>

#include "models/human_bytes.h"

namespace warpchat {

namespace {

constexpr std::chrono::seconds kWindow{5};
constexpr std::chrono::milliseconds kBetweenPoints{50};
constexpr double kLongestLeft = 100 * 3600.0;  // s; more is no estimate

}  // namespace

void TransferRate::add(Time now, uint64_t bytes) {
  if (!points_.empty() && bytes < points_.back().second) reset();  // a file began anew
  if (points_.size() > 1 && now - points_[points_.size() - 2].first < kBetweenPoints) points_.pop_back();
  points_.emplace_back(now, bytes);
  while (now - points_.front().first > kWindow) points_.pop_front();
}

double TransferRate::bytes_per_second() const {
  if (points_.empty()) return 0;
  const std::chrono::duration<double> time = points_.back().first - points_.front().first;
  const uint64_t bytes = points_.back().second - points_.front().second;
  return time.count() < 0.5 ? 0 : static_cast<double>(bytes) / time.count();
}

std::string duration_text(uint64_t seconds) {
  const auto two = [](uint64_t large, const char* large_unit, uint64_t small, const char* small_unit) {
    const std::string text = std::to_string(large) + " " + large_unit;
    return small == 0 ? text : text + " " + std::to_string(small) + " " + small_unit;
  };
  if (seconds < 60) return std::to_string(seconds) + " s";
  if (seconds < 3600) return two(seconds / 60, "min", seconds % 60, "s");
  return two(seconds / 3600, "h", seconds / 60 % 60, "min");
}

std::string transfer_line(const DownloadProgress& progress, double bytes_per_second) {
  const std::string part = human_bytes(progress.bytes) + " of " + human_bytes(progress.total);
  if (progress.phase == DownloadPhase::kWaiting)
    return "another program is downloading this; waiting, " + part + " done";
  if (progress.phase == DownloadPhase::kChecking) return "verifying the downloaded part, " + part;
  char percent[16];
  const double share =
      progress.total == 0 ? 1 : static_cast<double>(progress.bytes) / static_cast<double>(progress.total);
  std::snprintf(percent, sizeof percent, "%3d%%  ", static_cast<int>(100 * share));
  std::string line = percent + part;
  if (bytes_per_second < 1) return line;
  line += "  " + human_bytes(static_cast<uint64_t>(bytes_per_second)) + "/s";
  const double left = static_cast<double>(progress.total - progress.bytes) / bytes_per_second;
  return left > kLongestLeft ? line : line + "  " + duration_text(static_cast<uint64_t>(left + 0.5)) + " left";
}

}  // namespace warpchat
