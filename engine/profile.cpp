// The profile's rows behind a mutex, and their table in text.
#include "engine/profile.h"

#include <algorithm>
#include <cstdio>

namespace warpchat {

uint32_t Profile::operation(std::string_view name) {
  std::lock_guard lock(mutex_);
  for (size_t i = 0; i < rows_.size(); ++i)
    if (rows_[i].name == name) return static_cast<uint32_t>(i);
  rows_.push_back({std::string(name)});
  return static_cast<uint32_t>(rows_.size() - 1);
}

void Profile::record(uint32_t operation, double seconds, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  OperationProfile& row = rows_.at(operation);
  ++row.calls;
  row.seconds += seconds;
  row.bytes += bytes;
}

void Profile::reset() {
  std::lock_guard lock(mutex_);
  for (OperationProfile& row : rows_) row = {row.name};
}

std::vector<OperationProfile> Profile::rows() const {
  std::lock_guard lock(mutex_);
  return rows_;
}

std::string profile_table(const std::vector<OperationProfile>& rows) {
  double total = 0;
  for (const OperationProfile& row : rows) total += row.seconds;
  char line[160];
  std::snprintf(line, sizeof line, "%-18s %9s %12s %12s %7s %8s\n", "operation", "calls", "total ms", "us/call",
                "share", "GB/s");
  std::string table = line;
  for (const OperationProfile& row : rows) {
    if (row.calls == 0) continue;
    std::snprintf(line, sizeof line, "%-18s %9llu %12.2f %12.2f %6.1f%% %8.2f\n", row.name.c_str(),
                  static_cast<unsigned long long>(row.calls), row.seconds * 1e3,
                  row.seconds * 1e6 / static_cast<double>(row.calls), total > 0 ? 100 * row.seconds / total : 0.0,
                  row.seconds > 0 ? static_cast<double>(row.bytes) / row.seconds * 1e-9 : 0.0);
    table += line;
  }
  return table;
}

}  // namespace warpchat
