#include "engine/gpu/phase_profile.h"

#include <algorithm>
#include <initializer_list>
#include <map>

namespace warpchat {

namespace {

double seconds(uint64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

}  // namespace

PhaseProfile::PhaseProfile(Profile& profile, PassKernels& token_kernels, const PersistentLaunch& launch)
    : profile_(profile),
      kernels_(token_kernels),
      launch_(launch),
      program_(decoder_program(token_kernels.specs())),
      phases_(phases_of_a_token(program_, layer_kinds(token_kernels.specs()))),
      kernel_(profile.operation(launch.kernel().kernel().name)) {
  for (const Phase& phase : program_.phases)
    operations_.push_back(profile.operation("persistent " + std::string(name_of(phase.kind))));
}

StampRequest PhaseProfile::stamps() const {
  if (!profile_.is_enabled()) return {};
  return profile_.keeps_trace() ? StampRequest{launch_.n_blocks(), kStampsPerBlock}
                                : StampRequest{1, kStampsSingleBlock};
}

uint32_t PhaseProfile::tokens_per_launch(const StampRequest& stamps) const {
  if (stamps.n_blocks == 0) return UINT32_MAX;
  return std::max(1u, static_cast<uint32_t>(stamps.n_slots / 2 / phases_.size()));
}

void PhaseProfile::record(uint32_t position) {
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
std::vector<PhaseProfile::Span> PhaseProfile::spans_of(std::span<const Stamp> stamps) {
  std::vector<Span> spans;
  for (size_t i = 0; i + 1 < stamps.size(); ++i)
    if (stamps[i + 1].phase == (stamps[i].phase | kEndOfPhase))
      spans.push_back({stamps[i].phase, stamps[i].time, stamps[i + 1].time});
  return spans;
}

// Average wait in seconds of all recording blocks after each span of the first block.
std::vector<double> PhaseProfile::waits_of(const Blocks& blocks) {
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
void PhaseProfile::record_calls(const Blocks& blocks, uint32_t position, const Clocks& clocks) {
  const std::vector<Span>& spans = blocks[0];
  const std::vector<double> waits = waits_of(blocks);
  size_t layer = 0;
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
void PhaseProfile::record_shares(std::span<const std::vector<Stamp>> blocks, const Clocks& clocks) {
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

uint64_t PhaseProfile::bytes_of(uint32_t phase, size_t layer, uint32_t position) {
  const PassKernels::Steps& steps = kernels_.steps();
  layer = std::min(layer, steps.layers.size() - 1);
  const LayerSteps& l = steps.layers[layer];
  const DeltaMatrices<ProductStep>* delta = steps.deltas.empty() ? nullptr : &steps.deltas[layer];
  const ExpertSteps* e = steps.experts.empty() ? nullptr : &steps.experts[layer];
  const auto of = [](const GpuStep& step) { return step.kernel->kernel().cost.bytes; };
  const auto products = [](std::initializer_list<const ProductStep*> all) {
    uint64_t bytes = 0;
    for (const ProductStep* product : all)
      if (product->step.kernel != nullptr) bytes += product->bytes(1);
    return bytes;
  };
  switch (program_.phases[phase].kind) {
    case PhaseKind::kEmbed:
      return steps.embedding.kernel->kernel().cost.bytes;
    case PhaseKind::kQkv:
      return products({&l.q, &l.k, &l.v, &l.q_gate}) +
             (delta ? products({&delta->qkv, &delta->z, &delta->alpha, &delta->beta}) : 0);
    case PhaseKind::kAttention:
      return attention_cost(std::get<AttentionSpec>(kernels_.specs().attention), position + 1).bytes;
    case PhaseKind::kConv:
      return of(steps.conv);
    case PhaseKind::kDelta:
      return of(steps.delta);
    case PhaseKind::kOutput:
      return l.output.bytes(1);
    case PhaseKind::kGateUp:
      return l.gate_up.bytes(1);
    case PhaseKind::kDown:
      return l.down.bytes(1);
    case PhaseKind::kRouter:
      return products({&e->router, &e->shared_expert_gate});
    case PhaseKind::kExpertsGateUp:
      return of(e->gate_up) + products({&e->shared_gate_up});
    case PhaseKind::kExpertsDown:
      return of(e->down) + products({&e->shared_down});
    case PhaseKind::kExpertsSum:
      return of(e->sum);
    case PhaseKind::kLogits:
      return kernels_.logits().bytes(1);
    case PhaseKind::kSample:
      return uint64_t{kernels_.specs().embedding.n_vocab} * sizeof(float);
    case PhaseKind::kEmit:
      return 0;
  }
  return 0;
}

}  // namespace warpchat
