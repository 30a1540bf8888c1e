#include "tests/gpu/measure_phases.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "engine/profile.h"
#include "engine/token_source.h"
#include "tests/gpu/results.h"

namespace warpchat {
namespace {

// Mean without the outliers at either end. The stamps' clock is coarse, but their mean is precise.
double trimmed_mean(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t cut = values.size() / 20;
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(cut),
             end = values.end() - static_cast<std::ptrdiff_t>(cut);
  return std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
}

struct Phase {
  std::vector<double> work;     // per multiprocessor, averaged over all
  std::vector<double> slowest;  // from the first multiprocessor's begin to the last one's end
  std::vector<double> opens;    // from then until the first multiprocessor begins the next phase
  std::vector<double> waits;    // per multiprocessor, from its end to its next begin: averaged over all
};

double end_of(const TraceSpan& span) { return span.start + span.seconds; }

using Lanes = std::vector<std::vector<TraceSpan>>;  // per multiprocessor: the same phases in order

Lanes lanes_of(const std::vector<TraceSpan>& trace) {
  std::map<uint32_t, std::vector<TraceSpan>> by_lane;
  for (const TraceSpan& span : trace)
    if (span.lane != TraceSpan::kWhole) by_lane[span.lane].push_back(span);
  Lanes lanes;
  for (auto& [lane, spans] : by_lane) {
    std::ranges::sort(spans, {}, &TraceSpan::start);
    lanes.push_back(std::move(spans));
  }
  return lanes;
}

void add_step(const Lanes& lanes, size_t i, Phase& phase) {
  const auto over_lanes = [&](auto&& value) {
    std::vector<double> values;
    for (const auto& lane : lanes) values.push_back(value(lane));
    return values;
  };
  const auto mean = [](const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.0) / v.size(); };
  const std::vector<double> begins = over_lanes([&](const auto& lane) { return lane[i].start; });
  const std::vector<double> ends = over_lanes([&](const auto& lane) { return end_of(lane[i]); });
  const double last_end = *std::ranges::max_element(ends);
  phase.work.push_back(mean(over_lanes([&](const auto& lane) { return lane[i].seconds; })));
  phase.slowest.push_back(last_end - *std::ranges::min_element(begins));
  if (std::ranges::any_of(lanes, [&](const auto& lane) { return i + 1 >= lane.size(); })) return;
  const std::vector<double> next = over_lanes([&](const auto& lane) { return lane[i + 1].start; });
  phase.opens.push_back(*std::ranges::min_element(next) - last_end);
  phase.waits.push_back(mean(next) - mean(ends));
}

void decode(Decoder& decoder, uint32_t depth, uint32_t tokens) {
  SamplingParams greedy;
  greedy.temperature = 0;
  const Token first = 1;
  decoder.forward({&first, 1}, depth, Logits::kLast);
  const auto source = make_token_source(decoder, {greedy, {first}, depth + 1, 0, tokens});
  const std::atomic<bool> stop = false;
  for (uint32_t i = 0; i < tokens; ++i) source->next(stop);
}

}  // namespace

void measure_phases(const std::string& shape, const std::string& device, Decoder& decoder, Steps& steps, uint32_t depth,
                    uint32_t tokens) {
  steps.set_launch_mode(LaunchMode::kPersistent);
  Profile& profile = steps.profile();
  profile.set_enabled(true);
  profile.keep_trace(size_t{1} << 21);
  decode(decoder, depth, tokens);
  const Lanes lanes = lanes_of(profile.trace());
  const std::vector<OperationProfile> rows = profile.rows();
  profile.keep_trace(0);
  profile.set_enabled(false);
  if (lanes.empty()) return say("\nNo stamps of " + shape + " at " + std::to_string(depth) + ".");

  std::map<uint32_t, Phase> phases;
  const size_t n = std::ranges::min(lanes, {}, &std::vector<TraceSpan>::size).size();
  for (size_t i = 0; i < n; ++i) add_step(lanes, i, phases[lanes[0][i].operation]);
  ResultTable table("phases", device,
                    {"shape", "depth", "phase", "times", "work of a multiprocessor, us", "first begin to last end, us",
                     "last end to next begin, us", "wait of a multiprocessor, us"});
  const auto us = [](const std::vector<double>& values) {
    return values.empty() ? number(NAN, 2) : microseconds(trimmed_mean(values));
  };
  for (const auto& [operation, phase] : phases)
    table.row({shape, uint64_t{depth}, rows.at(operation).name, uint64_t{phase.work.size()}, us(phase.work),
               us(phase.slowest), us(phase.opens), us(phase.waits)});
}

}  // namespace warpchat
