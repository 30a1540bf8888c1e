// The timeline's data: lanes of spans, the visible part of time, and the bars to draw.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/chat/profile/profiler_data.h"

namespace warpchat::gui {

struct TimeView {
  double from = 0, to = 0;  // seconds of the profile's clock
  double length() const { return to - from; }
  bool operator==(const TimeView&) const = default;
};

struct TimelineLane {
  std::string label;             // "calls", "SM 17"
  std::vector<TraceSpan> spans;  // by their start
};

// The calls as a whole first, then the multiprocessors by number.
std::vector<TimelineLane> lanes_of(const ProfilerData& data);

// From the first shown token to the last recorded call; empty without calls.
std::optional<TimeView> whole_time(const ProfilerData& data);
// The last so many tokens of it.
TimeView last_tokens(const ProfilerData& data, size_t n, TimeView whole);

// Never beyond the whole, nor shorter than a microsecond.
TimeView zoomed(TimeView view, double factor, double around, TimeView whole);  // factor < 1: closer
TimeView panned(TimeView view, double seconds, TimeView whole);

struct TimelineBar {
  static constexpr size_t kSeveral = SIZE_MAX;
  float from, to;      // pixels from the left
  uint32_t operation;  // of several, the longest
  size_t span;         // index into the lane's, or kSeveral: too short to be told apart
};

// At most two bars a pixel, however many spans there are. spans: by their start, none within another.
std::vector<TimelineBar> timeline_bars(std::span<const TraceSpan> spans, TimeView view, float pixels);

// The span at a time, with `slack` seconds to either side for those that are too narrow to point at.
const TraceSpan* span_at(const TimelineLane& lane, double time, double slack);

// The step of an axis: 1, 2 or 5 times a power of ten, with at most `most` steps in the length.
double tick_step(double length, int max);

}  // namespace warpchat::gui
