// A server's load as rows for people.
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "app/chat/profile/profiler_data.h"
#include "engine/remote/server_metrics.h"

namespace warpchat {

struct LoadSample {
  ServerMetrics metrics;
  std::chrono::steady_clock::time_point at;
};

// Speeds are computed between the two samples; without an earlier one there are none, and shares count from the
// server's start.
std::vector<LoadRow> load_rows(const LoadSample& now, const std::optional<LoadSample>& before);

}  // namespace warpchat
