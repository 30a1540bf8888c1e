// Both tables use one list of columns: heading, width and formula.
#include "engine/profile_report.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <set>

#include <nlohmann/json.hpp>

#include "models/text_format.h"

namespace warpchat {

namespace {

struct Column {
  const char* heading;
  int width;
  std::function<std::string(const OperationProfile&)> cell;
};

std::string with_digits(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

double per(double value, double by) { return by > 0 ? value / by : 0; }

bool has_time(const OperationProfile& row) { return row.seconds > 0; }
bool has_bytes(const OperationProfile& row) { return row.bytes > 0; }
bool is_counted(const OperationProfile& row) { return row.counters.instructions > 0; }
bool has_waited(const OperationProfile& row) { return row.wait_seconds > 0; }

// "-" for a row that lacks the value.
template <class Has, class Text>
std::function<std::string(const OperationProfile&)> where(Has has, Text text) {
  return [=](const OperationProfile& row) -> std::string { return has(row) ? text(row) : "-"; };
}

// A rate above the peak means that the data came from a cache.
std::string of_peak(const OperationProfile& row, double peak_bandwidth) {
  if (row.bandwidth() > peak_bandwidth) return "cache";
  return with_digits(100 * row.bandwidth() / peak_bandwidth, 1) + "%";
}

std::vector<Column> time_columns(double total_seconds, double peak_bandwidth) {
  const auto us_per_call = [](const OperationProfile& row) {
    return with_digits(per(row.seconds * 1e6, static_cast<double>(row.calls)), 2);
  };
  const auto share = [=](const OperationProfile& row) {
    return with_digits(100 * per(row.seconds, total_seconds), 1) + "%";
  };
  std::vector<Column> columns{
      {"total ms", 11, where(has_time, [](const auto& row) { return with_digits(row.seconds * 1e3, 2); })},
      {"us/call", 11, where(has_time, us_per_call)},
      {"share", 7, where(has_time, share)},
      {"GB/s", 9, where(has_time, [](const auto& row) { return with_digits(row.bandwidth() * 1e-9, 2); })}};
  if (peak_bandwidth > 0)
    columns.push_back({"of peak", 8, where(has_time, [=](const auto& row) { return of_peak(row, peak_bandwidth); })});
  return columns;
}

std::vector<Column> counter_columns() {
  const auto each = [](uint64_t value, const OperationProfile& row) {
    return grouped(row.calls > 0 ? value / row.calls : 0);
  };
  const auto counter = [=](uint64_t KernelCounters::*which) {
    return where(is_counted, [=](const OperationProfile& row) { return each(row.counters.*which, row); });
  };
  return {{"instructions/call", 18, counter(&KernelCounters::instructions)},
          {"sectors/call", 14, counter(&KernelCounters::sectors)},
          {"bank conflicts/call", 20, counter(&KernelCounters::bank_conflicts)},
          {"bytes/call", 14, where(has_bytes, [=](const OperationProfile& row) { return each(row.bytes, row); })}};
}

std::vector<Column> columns_for(const std::vector<OperationProfile>& rows, double peak_bandwidth) {
  double seconds = 0;
  uint64_t instructions = 0;
  for (const OperationProfile& row : rows) seconds += row.seconds, instructions += row.counters.instructions;
  std::vector<Column> columns{{"calls", 9, [](const auto& row) { return std::to_string(row.calls); }}};
  const std::vector<Column> rest = instructions > 0 ? counter_columns() : time_columns(seconds, peak_bandwidth);
  columns.insert(columns.end(), rest.begin(), rest.end());
  if (std::ranges::any_of(rows, has_waited))
    columns.push_back({"waiting", 8, where(has_waited, [](const auto& row) {
                         return with_digits(100 * row.wait_seconds / row.seconds, 1) + "%";
                       })});
  return columns;
}

std::string padded(std::string text, int width, bool to_the_left) {
  const size_t missing = text.size() < static_cast<size_t>(width) ? static_cast<size_t>(width) - text.size() : 0;
  return to_the_left ? text + std::string(missing, ' ') : std::string(missing, ' ') + text;
}

// A kernel's name without its middle: family and last part distinguish the rows of one model.
std::string shortened(const std::string& name) {
  constexpr size_t kMax = 42, kEnd = 14;
  if (name.size() <= kMax) return name;
  return name.substr(0, kMax - kEnd - 2) + ".." + name.substr(name.size() - kEnd);
}

// Thread ids of the trace; viewers sort by them.
constexpr uint32_t kStreamThread = 1;
uint32_t thread_of(uint32_t lane) { return lane == TraceSpan::kWhole ? kStreamThread : kStreamThread + 1 + lane; }

}  // namespace

std::string profile_table(const std::vector<OperationProfile>& rows, double peak_bandwidth) {
  const std::vector<Column> columns = columns_for(rows, peak_bandwidth);
  int name_width = 18;
  for (const OperationProfile& row : rows)
    if (row.calls > 0) name_width = std::max(name_width, static_cast<int>(shortened(row.name).size()));
  std::string table = padded("operation", name_width, true);
  for (const Column& column : columns) table += " " + padded(column.heading, column.width, false);
  table += "\n";
  for (const OperationProfile& row : rows) {
    if (row.calls == 0) continue;
    table += padded(shortened(row.name), name_width, true);
    for (const Column& column : columns) table += " " + padded(column.cell(row), column.width, false);
    table += "\n";
  }
  return table;
}

std::string profile_markdown(const Profile& profile, const std::string& title) {
  const std::vector<OperationProfile> rows = profile.rows();
  const std::vector<Column> columns = columns_for(rows, profile.peak_bandwidth());
  std::string text = "# " + title + "\n\n| operation |", rule = "| --- |";
  for (const Column& column : columns) text += " " + std::string(column.heading) + " |", rule += " ---: |";
  text += "\n" + rule + "\n";
  for (const OperationProfile& row : rows) {
    if (row.calls == 0) continue;
    text += "| " + row.name + " |";
    for (const Column& column : columns) text += " " + column.cell(row) + " |";
    text += "\n";
  }
  return text;
}

std::string profile_trace_json(const Profile& profile, const std::string& title) {
  const std::vector<OperationProfile> rows = profile.rows();
  const std::vector<TraceSpan> spans = profile.trace();
  nlohmann::json events = nlohmann::json::array();
  const auto name = [&](const char* what, uint32_t thread, const std::string& text) {
    events.push_back({{"ph", "M"}, {"pid", 1}, {"tid", thread}, {"name", what}, {"args", {{"name", text}}}});
  };
  name("process_name", kStreamThread, title);
  name("thread_name", kStreamThread, "stream");
  std::set<uint32_t> lanes;
  for (const TraceSpan& span : spans) lanes.insert(span.lane);
  for (const uint32_t lane : lanes)
    if (lane != TraceSpan::kWhole) name("thread_name", thread_of(lane), "SM " + std::to_string(lane));
  for (const TraceSpan& span : spans) {
    events.push_back({{"ph", "X"},
                      {"pid", 1},
                      {"tid", thread_of(span.lane)},
                      {"name", rows[span.operation].name},
                      {"ts", span.start * 1e6},
                      {"dur", span.seconds * 1e6},
                      {"args", {{"bytes", span.bytes}}}});
    if (span.wait > 0) events.back()["args"]["waiting_us"] = span.wait * 1e6f;
  }
  return nlohmann::json{{"traceEvents", events}, {"displayTimeUnit", "ns"}}.dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace warpchat
