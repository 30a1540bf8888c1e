// The data of the profiler's table: columns, values, order.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "app/chat/profile/profiler_data.h"

namespace warpchat::gui {

enum class KernelColumn {
  kName,
  kCalls,
  kPerToken,      // microseconds
  kMilliseconds,  // in all
  kPerCall,       // microseconds
  kShare,         // of the time
  kBandwidth,     // bytes/s
  kOfPeak,        // share of the device's bandwidth, the roofline; above 1: read from a cache
  kTrend,         // no number: the last tokens as a line
  kInstructions,  // warp instructions per token or per call, like the columns below
  kShareOfInstructions,
  kLanes,  // active of 32
  kSectors,
  kConflicts,
  kBytes,
  kWaiting,  // of a phase's time
};
constexpr size_t kKernelColumns = 16;

struct KernelColumnLook {
  const char* heading;
  const char* meaning;  // the heading's tooltip
  float width;          // in widths of a digit
};
const KernelColumnLook& look_of(KernelColumn column);

enum class RowsOf {
  kTokens,
  kAnswer
};  // kTokens: decode only, per token; kAnswer: with prefill, per call, as in /perf

// Missing values are NaN.
struct KernelRow {
  uint32_t operation;  // index into ProfilerData::rows
  std::array<double, kKernelColumns> values;
  double operator[](KernelColumn column) const { return values[static_cast<size_t>(column)]; }
};

// The emulator's rows have counters where the others have times.
bool shows_counters(const ProfilerData& data);

// The columns that fit into a width, without the less important ones; the name is always first.
std::vector<KernelColumn> kernel_columns(const ProfilerData& data, RowsOf of, float digits);

// The operations that ran, in the profile's order.
std::vector<KernelRow> kernel_rows(const ProfilerData& data, RowsOf of);

// Stable sort by a column; rows without a value come last.
void sort_rows(std::vector<KernelRow>& rows, const ProfilerData& data, KernelColumn by, bool descending);

std::string cell_text(KernelColumn column, double value);  // "12.3", "46%", "cache"; "" where there is none

// A row's label: a phase's name without the common prefix.
std::string label_of(const std::string& row);

// The PTX text of a row: the kernel of that name, or the persistent decoder that contains the phase. Null: none.
const KernelText* text_of(const ProfilerData& data, const std::string& row);

}  // namespace warpchat::gui
