// Each column is a heading, a width and a formula; which ones are shown depends on what the device measures.
#include "app/gui/profiler/kernel_table.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/platform/text/numbers.h"
#include "models/text_format.h"

namespace warpchat::gui {

namespace {

constexpr std::string_view kPersistentRow = "persistent ", kPersistentKernel = "persistent_decoder";
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr float kNameWidth = 17;  // digits, at least
constexpr float kBetween = 1.4f;  // digits, from a column to the next

constexpr KernelColumnLook kLooks[kKernelColumns] = {
    {"kernel", "Click a row to read its kernel.", kNameWidth},
    {"calls", "Calls since the answer began.", 7},
    {"\u00b5s/token", "Time per token.", 9.5f},
    {"total ms", "Total time.", 9},
    {"\u00b5s/call", "Time per call.", 9},
    {"share", "Share of the time of all rows.", 7.5f},
    {"GB/s", "Bytes that the operation must move, divided by its time.", 7},
    {"of peak", "Share of the memory bandwidth, the roofline of decoding. \"cache\": faster than memory can deliver.",
     8},
    {"trend", "Time in each of the last tokens, from zero to the longest.", 12},
    {"instructions", "Warp instructions.", 12},
    {"share", "Share of the instructions of all rows.", 7.5f},
    {"lanes", "Active lanes per warp, average of 32.", 6.5f},
    {"sectors", "32-byte pieces of global memory, read or written.", 9},
    {"conflicts", "Shared memory replays because of bank conflicts.", 9},
    {"bytes", "Bytes that the operation must move.", 9},
    {"waiting", "Share of the phase's time spent waiting at the barrier after it, averaged over the blocks.", 8},
};

double ratio(double value, double by) { return by > 0 ? value / by : kNone; }
double ratio(uint64_t value, uint64_t by) { return ratio(static_cast<double>(value), static_cast<double>(by)); }

const std::vector<OperationProfile>& source(const ProfilerData& data, RowsOf of) {
  return of == RowsOf::kTokens ? data.token_rows : data.rows;
}

struct Sums {
  double seconds = 0;
  uint64_t instructions = 0;
};

KernelRow row_of(uint32_t operation, const OperationProfile& o, const ProfilerData& data, RowsOf of, const Sums& sums) {
  KernelRow row{operation, {}};
  row.values.fill(kNone);
  const auto set = [&](KernelColumn column, double value) { row.values[static_cast<size_t>(column)] = value; };
  if (o.calls > 0) set(KernelColumn::kCalls, static_cast<double>(o.calls));
  if (o.seconds > 0) {  // the persistent decoder's launches have their phases' time
    set(KernelColumn::kPerToken, ratio(o.seconds * 1e6, static_cast<double>(data.n_passes)));
    set(KernelColumn::kMilliseconds, o.seconds * 1e3);
    set(KernelColumn::kPerCall, ratio(o.seconds * 1e6, static_cast<double>(o.calls)));
    set(KernelColumn::kShare, ratio(o.seconds, sums.seconds));
    set(KernelColumn::kBandwidth, o.bandwidth());
    set(KernelColumn::kOfPeak, ratio(o.bandwidth(), data.peak_bandwidth));
  }
  const uint64_t by = of == RowsOf::kTokens ? data.n_passes : o.calls;
  if (o.wait_seconds > 0) set(KernelColumn::kWaiting, ratio(o.wait_seconds, o.seconds));
  if (o.bytes > 0) set(KernelColumn::kBytes, ratio(o.bytes, by));
  if (o.counters.instructions == 0) return row;
  constexpr uint64_t kLanes = 32;
  set(KernelColumn::kInstructions, ratio(o.counters.instructions, by));
  set(KernelColumn::kShareOfInstructions, ratio(o.counters.instructions, sums.instructions));
  set(KernelColumn::kLanes, ratio(o.counters.lane_instructions, o.counters.instructions * kLanes));
  set(KernelColumn::kSectors, ratio(o.counters.sectors, by));
  set(KernelColumn::kConflicts, ratio(o.counters.bank_conflicts, by));
  return row;
}

struct Wanted {
  KernelColumn column;
  int rank;  // the highest leaves first where it is narrow
};

std::vector<Wanted> wanted_columns(const ProfilerData& data, RowsOf of) {
  using enum KernelColumn;
  const bool waits = std::ranges::any_of(source(data, of), [](const auto& row) { return row.wait_seconds > 0; });
  if (shows_counters(data)) {
    std::vector<Wanted> wanted{{kCalls, 4}, {kInstructions, 0}, {kShareOfInstructions, 2},
                               {kLanes, 1}, {kSectors, 3},      {kConflicts, 5},
                               {kBytes, 6}};
    if (waits) wanted.push_back({kWaiting, 1});
    return wanted;
  }
  std::vector<Wanted> wanted{{kCalls, 5}};
  if (of == RowsOf::kAnswer) wanted.insert(wanted.end(), {{kMilliseconds, 0}, {kPerCall, 4}});
  if (of == RowsOf::kTokens) wanted.push_back({kPerToken, 0});
  wanted.insert(wanted.end(), {{kShare, 1}, {kBandwidth, 2}});
  if (data.peak_bandwidth > 0) wanted.push_back({kOfPeak, 3});
  if (waits) wanted.push_back({kWaiting, 1});
  if (of == RowsOf::kTokens) wanted.push_back({kTrend, 4});
  return wanted;
}

}  // namespace

const KernelColumnLook& look_of(KernelColumn column) { return kLooks[static_cast<size_t>(column)]; }

bool shows_counters(const ProfilerData& data) {
  return std::ranges::any_of(data.rows, [](const OperationProfile& row) { return row.counters.instructions > 0; });
}

std::vector<KernelColumn> kernel_columns(const ProfilerData& data, RowsOf of, float digits) {
  std::vector<Wanted> wanted = wanted_columns(data, of);
  const auto width = [&] {
    float sum = kNameWidth;
    for (const Wanted& w : wanted) sum += look_of(w.column).width + kBetween;
    return sum;
  };
  while (wanted.size() > 1 && width() > digits) wanted.erase(std::ranges::max_element(wanted, {}, &Wanted::rank));
  std::vector<KernelColumn> columns{KernelColumn::kName};
  for (const Wanted& w : wanted) columns.push_back(w.column);
  return columns;
}

std::vector<KernelRow> kernel_rows(const ProfilerData& data, RowsOf of) {
  const std::vector<OperationProfile>& operations = source(data, of);
  Sums sums;
  for (const OperationProfile& o : operations) {
    sums.seconds += o.seconds;
    sums.instructions += o.counters.instructions;
  }
  std::vector<KernelRow> rows;
  for (uint32_t i = 0; i < operations.size(); ++i)
    if (operations[i].calls > 0 || operations[i].counters.instructions > 0)
      rows.push_back(row_of(i, operations[i], data, of, sums));
  return rows;
}

void sort_rows(std::vector<KernelRow>& rows, const ProfilerData& data, KernelColumn by, bool descending) {
  const auto name = [&](const KernelRow& row) -> const std::string& { return data.rows[row.operation].name; };
  const KernelColumn column = by == KernelColumn::kTrend ? KernelColumn::kPerToken : by;
  std::ranges::stable_sort(rows, [&](const KernelRow& a, const KernelRow& b) {
    if (by == KernelColumn::kName) return descending ? name(b) < name(a) : name(a) < name(b);
    const double x = a[column], y = b[column];
    if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
    return descending ? y < x : x < y;
  });
}

std::string cell_text(KernelColumn column, double value) {
  if (std::isnan(value)) return "";
  switch (column) {
    case KernelColumn::kName:
    case KernelColumn::kTrend:
      return "";
    case KernelColumn::kCalls:
      return grouped(static_cast<uint64_t>(value));
    case KernelColumn::kPerToken:
    case KernelColumn::kMilliseconds:
    case KernelColumn::kPerCall:
      return three_digits(value);
    case KernelColumn::kOfPeak:
      return value > 1 ? "cache" : percent_text(value);
    case KernelColumn::kShare:
    case KernelColumn::kShareOfInstructions:
    case KernelColumn::kLanes:
    case KernelColumn::kWaiting:
      return percent_text(value);
    case KernelColumn::kBandwidth:
      return three_digits(value * 1e-9);
    case KernelColumn::kInstructions:
    case KernelColumn::kSectors:
    case KernelColumn::kConflicts:
      return compact_number(value);
    case KernelColumn::kBytes:
      return bytes_text(value);
  }
  return "";
}

std::string label_of(const std::string& row) {
  return row.starts_with(kPersistentRow) ? row.substr(kPersistentRow.size()) : row;
}

const KernelText* text_of(const ProfilerData& data, const std::string& row) {
  const bool is_phase = row.starts_with(kPersistentRow);
  for (const KernelText& kernel : data.kernels)
    if (is_phase ? kernel.name.starts_with(kPersistentKernel) : kernel.name == row) return &kernel;
  return nullptr;
}

}  // namespace warpchat::gui
