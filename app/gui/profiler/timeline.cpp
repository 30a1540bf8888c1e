#include "app/gui/profiler/timeline.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace warpchat::gui {

namespace {

constexpr double kShortestView = 1e-6;

double end_of_span(const TraceSpan& span) { return span.start + span.seconds; }

TimeView within(TimeView view, TimeView whole) {
  const double length = std::min(view.length(), whole.length());
  const double from = std::clamp(view.from, whole.from, whole.to - length);
  return {from, from + length};
}

}  // namespace

std::vector<TimelineLane> lanes_of(const ProfilerData& data) {
  std::vector<TimelineLane> lanes{{"calls", data.spans}};
  std::map<uint32_t, TimelineLane> of_processors;
  for (const TraceSpan& share : data.shares) of_processors[share.lane].spans.push_back(share);
  for (auto& [number, lane] : of_processors) {
    lane.label = "SM " + std::to_string(number);
    lanes.push_back(std::move(lane));
  }
  for (TimelineLane& lane : lanes) std::ranges::stable_sort(lane.spans, {}, &TraceSpan::start);
  return lanes;
}

std::optional<TimeView> whole_time(const ProfilerData& data) {
  if (data.tokens.empty() || data.spans.empty()) return std::nullopt;
  TimeView whole{data.spans.front().start, 0};
  for (const TraceSpan& span : data.spans) {
    whole.from = std::min(whole.from, span.start);
    whole.to = std::max(whole.to, end_of_span(span));
  }
  if (whole.length() < kShortestView) whole.to = whole.from + kShortestView;
  return whole;
}

TimeView last_tokens(const ProfilerData& data, size_t n, TimeView whole) {
  size_t covered = data.tokens.size();
  while (covered > 0 && data.tokens[covered - 1].start >= whole.to) --covered;
  if (covered == 0) return whole;
  const double from = data.tokens[covered - std::min(n, covered)].start;
  return within({from, std::max(whole.to, from + kShortestView)}, whole);
}

TimeView zoomed(TimeView view, double factor, double around, TimeView whole) {
  const double min = std::min(kShortestView, whole.length());
  const double length = std::clamp(view.length() * factor, min, whole.length());
  const double left = view.length() > 0 ? (around - view.from) / view.length() : 0.5;
  const double from = around - left * length;
  return within({from, from + length}, whole);
}

TimeView panned(TimeView view, double seconds, TimeView whole) {
  return within({view.from + seconds, view.to + seconds}, whole);
}

std::vector<TimelineBar> timeline_bars(std::span<const TraceSpan> spans, TimeView view, float pixels) {
  std::vector<TimelineBar> bars;
  const double scale = pixels / view.length();
  double longest = 0;  // of the spans in the last bar, while that is of several
  auto first = std::ranges::lower_bound(spans, view.from, {}, end_of_span);
  for (auto it = first; it != spans.end() && it->start < view.to; ++it) {
    const auto from = static_cast<float>(std::max(0.0, (it->start - view.from) * scale));
    const auto to = static_cast<float>(std::min<double>(pixels, (end_of_span(*it) - view.from) * scale));
    if (to - from >= 1) {
      bars.push_back({from, to, it->operation, static_cast<size_t>(it - spans.begin())});
      continue;
    }
    const float pixel = std::floor(from);
    if (bars.empty() || bars.back().span != TimelineBar::kSeveral || bars.back().from != pixel) {
      bars.push_back({pixel, pixel + 1, it->operation, TimelineBar::kSeveral});
      longest = it->seconds;
    } else if (it->seconds > longest) {
      bars.back().operation = it->operation;
      longest = it->seconds;
    }
  }
  return bars;
}

const TraceSpan* span_at(const TimelineLane& lane, double time, double slack) {
  const auto behind = std::ranges::upper_bound(lane.spans, time + slack, {}, &TraceSpan::start);
  const TraceSpan* best = nullptr;
  double nearest = slack;
  for (auto it = behind; it != lane.spans.begin();) {
    --it;
    const double distance = std::max({0.0, it->start - time, time - end_of_span(*it)});
    if (distance <= nearest) best = &*it, nearest = distance;
    if (distance == 0 || end_of_span(*it) < time - slack) break;
  }
  return best;
}

double tick_step(double length, int max) {
  const double min = length / max;
  const double power = std::pow(10.0, std::floor(std::log10(min)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (power * factor >= min) return power * factor;
  return power * 10;
}

}  // namespace warpchat::gui
