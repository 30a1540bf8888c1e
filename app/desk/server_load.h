// What a serving machine tells of its load, as rows for people.
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "app/desk/profiler_data.h"
#include "engine/remote/server_metrics.h"

namespace warpchat {

struct LoadSample {
  ServerMetrics metrics;
  std::chrono::steady_clock::time_point at;
};

// Speeds are those between the two; without an earlier sample there are none, and shares are since the server's start.
std::vector<LoadRow> load_rows(const LoadSample& now, const std::optional<LoadSample>& before);

}  // namespace warpchat
