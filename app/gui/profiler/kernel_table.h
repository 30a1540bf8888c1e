// The profiler's table as numbers: which columns there are, what stands in each, and in which order.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "app/desk/profiler_data.h"

namespace warpchat::gui {

enum class KernelColumn {
  kName,
  kCalls,
  kPerToken,      // microseconds
  kMilliseconds,  // in all
  kPerCall,       // microseconds
  kShare,         // of the time
  kBandwidth,     // bytes/s
  kOfPeak,        // of the device's bandwidth: how much of the roofline is reached; above 1: out of a cache
  kTrend,         // no number: the last tokens as a line
  kInstructions,  // of warps, a token or a call; so are the rest
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
  const char* meaning;  // a sentence for who points at the heading
  float width;          // in widths of a digit
};
const KernelColumnLook& look_of(KernelColumn column);

enum class RowsOf { kTokens, kAnswer };  // behind the prompt, by the token; with it, by the call, as /perf shows them

// A value that there is none of is NaN.
struct KernelRow {
  uint32_t operation;  // index into ProfilerData::rows
  std::array<double, kKernelColumns> values;
  double operator[](KernelColumn column) const { return values[static_cast<size_t>(column)]; }
};

// The emulator's rows have counters where the others have times.
bool shows_counters(const ProfilerData& data);

// That fit into a width, the less important left out; the name is always first.
std::vector<KernelColumn> kernel_columns(const ProfilerData& data, RowsOf of, float digits);

// Of what ran, in the profile's order.
std::vector<KernelRow> kernel_rows(const ProfilerData& data, RowsOf of);

// By a column; rows without a value last, equal ones as they were.
void sort_rows(std::vector<KernelRow>& rows, const ProfilerData& data, KernelColumn by, bool descending);

std::string cell_text(KernelColumn column, double value);  // "12.3", "46%", "cache"; "" where there is none

// A row's name as it is shown: of a phase without what all phases begin with, which would leave nothing of a short one.
std::string label_of(const std::string& row);

// The kernel whose text belongs to a row: of that name, and for a phase of the persistent decoder the kernel that it is
// part of. Null: there is none.
const KernelText* text_of(const ProfilerData& data, const std::string& row);

}  // namespace warpchat::gui
