#include "engine/gpu/stamp_profile.h"

#include <algorithm>
#include <map>

namespace warpchat {

namespace {

double seconds(uint64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

}  // namespace

StampProfile::StampProfile(Profile& profile, CompiledPass& token, const PersistentLaunch& launch)
    : profile_(profile),
      launch_(launch),
      n_layers_(static_cast<uint32_t>(token.list().layers.size())),
      logits_bytes_(uint64_t{token.list().first<EmbeddingSpec>()->n_vocab} * sizeof(float)),
      program_(decoder_program(token.list())),
      phases_(phases_of_a_token(program_, phases_of_layers(token.list()))),
      kernel_(profile.operation(launch.kernel().kernel().name)) {
  for (const Phase& phase : program_.phases)
    operations_.push_back(profile.operation("persistent " + std::string(name_of(phase.kind))));
  for (uint32_t i = 0; i < token.list().operations.size(); ++i)
    for (const BoundLaunch& bound : token.launches(i))
      launches_[{bound.launch->phase, token.list().operations[i].layer}].push_back(&bound);
}

StampRequest StampProfile::stamps() const {
  if (!profile_.is_enabled()) return {};
  return profile_.keeps_trace() ? StampRequest{launch_.n_blocks(), kStampsPerBlock}
                                : StampRequest{1, kStampsSingleBlock};
}

uint32_t StampProfile::tokens_per_launch(const StampRequest& stamps) const {
  if (stamps.n_blocks == 0) return UINT32_MAX;
  return std::max(1u, static_cast<uint32_t>(stamps.n_slots / 2 / phases_.size()));
}

void StampProfile::record(uint32_t position) {
  const double now = profile_.now();
  const std::vector<std::vector<Stamp>> blocks = launch_.stamps();
  if (blocks.empty() || blocks[0].empty()) return;
  profile_.count_call(kernel_);  // its time is in the phases' rows
  const Clocks clocks{now, blocks[0].back().time};
  Blocks spans;
  for (const std::vector<Stamp>& stamps : blocks) spans.push_back(spans_of(stamps));
  record_calls(spans, position, clocks);
  if (profile_.keeps_trace()) record_shares(blocks, clocks);
}

// Pairs begin and end stamps. A full ring may have lost a begin stamp; its span is omitted.
std::vector<StampProfile::Span> StampProfile::spans_of(std::span<const Stamp> stamps) {
  std::vector<Span> spans;
  for (size_t i = 0; i + 1 < stamps.size(); ++i)
    if (stamps[i + 1].phase == (stamps[i].phase | kEndOfPhase))
      spans.push_back({stamps[i].phase, stamps[i].time, stamps[i + 1].time});
  return spans;
}

// Average wait in seconds of all recording blocks after each span of the first block.
std::vector<double> StampProfile::waits_of(const Blocks& blocks) {
  std::vector<double> waits;
  for (size_t i = 0; i < blocks[0].size(); ++i) {
    double sum = 0;
    size_t n = 0;
    for (const std::vector<Span>& spans : blocks) {
      if (i + 1 >= spans.size()) continue;
      sum += seconds(spans[i + 1].begin - spans[i].end);
      ++n;
    }
    waits.push_back(n > 0 ? sum / static_cast<double>(n) : 0);
  }
  return waits;
}

// A call lasts until the next phase begins on the first block: until all blocks have finished and met at the barrier.
// Its bytes count all blocks, so its time must, too. After the last phase it ends with the first block.
void StampProfile::record_calls(const Blocks& blocks, uint32_t position, const Clocks& clocks) {
  const std::vector<Span>& spans = blocks[0];
  const std::vector<double> waits = waits_of(blocks);
  uint32_t layer = 0;
  for (size_t i = 0; i < spans.size(); ++i) {
    const Span& span = spans[i];
    const uint64_t end = i + 1 < spans.size() ? spans[i + 1].begin : span.end;
    if (span.phase == 0) layer = 0;
    if (span.phase == 0 && i > 0) ++position;
    const double length = seconds(end - span.begin);  // on the first block; others may have waited longer
    profile_.record(operations_[span.phase], clocks.at(span.begin), length, bytes_of(span.phase, layer, position),
                    std::min(waits[i], length));
    const bool ends_layer = program_.phases[span.phase].kind == PhaseKind::kDown ||
                            program_.phases[span.phase].kind == PhaseKind::kExpertsSum;
    if (ends_layer) ++layer;
  }
}

// All blocks run the same phases, so spans of equal index match.
void StampProfile::record_shares(std::span<const std::vector<Stamp>> blocks, const Clocks& clocks) {
  std::map<uint32_t, std::vector<Span>> lanes;  // by multiprocessor, from the first begin to the last end of its blocks
  for (const std::vector<Stamp>& stamps : blocks) {
    if (stamps.empty()) continue;
    const std::vector<Span> spans = spans_of(stamps);
    std::vector<Span>& lane = lanes.try_emplace(stamps[0].sm, spans).first->second;
    for (size_t i = 0; i < std::min(lane.size(), spans.size()); ++i) {
      lane[i].begin = std::min(lane[i].begin, spans[i].begin);
      lane[i].end = std::max(lane[i].end, spans[i].end);
    }
  }
  std::vector<TraceSpan> shares;
  for (const auto& [sm, lane] : lanes)
    for (const Span& span : lane)
      shares.push_back({operations_[span.phase], clocks.at(span.begin), seconds(span.end - span.begin), 0, sm});
  std::stable_sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
  profile_.record_shares(shares);
}

uint64_t StampProfile::bytes_of(uint32_t phase, uint32_t layer, uint32_t position) const {
  const PhaseKind kind = program_.phases[phase].kind;
  if (kind == PhaseKind::kSample) return logits_bytes_;
  const auto found = launches_.find({kind, program_.is_of_layers(phase) ? layer : n_layers_});
  if (found == launches_.end()) return 0;
  uint64_t bytes = 0;
  for (const BoundLaunch* bound : found->second)
    bytes += warpchat::bytes_of(bound->launch->spec, bound->kernel->kernel(), {1, position + 1, position + 1});
  return bytes;
}

}  // namespace warpchat
