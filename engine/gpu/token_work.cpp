#include "engine/gpu/token_work.h"

#include "kernels/phase_program.h"

namespace warpchat {

namespace {

using Form = KernelGroup::Form;

// From the embedding to the layers' end; phases as in decoder_program().
std::vector<KernelGroup> layers_at(const KernelWorks& works, uint32_t position, Form form) {
  std::vector<KernelGroup> groups{{PhaseKind::kEmbed, {works.embedding()}, form}};
  const KernelWork scatter = works.kv_scatter(), attention = works.attention(position);
  for (const LayerSpecs& layer : works.specs().layers) {
    groups.push_back({PhaseKind::kQkv, works.products({&layer.q, &layer.k, &layer.v}), form});
    groups.push_back({PhaseKind::kScatter, {scatter}, form});
    groups.push_back({PhaseKind::kAttention, {attention}, form});
    groups.push_back({PhaseKind::kOutput, works.products({&layer.output}), form});
    groups.push_back({PhaseKind::kGateUp, works.products({&layer.gate_up}), form});
    groups.push_back({PhaseKind::kDown, works.products({&layer.down}), form});
  }
  return groups;
}

SampleSpec sample_spec(const DecoderSpecs& specs) {
  return {.n_vocab = specs.embedding.n_vocab, .ring = sample_ring(specs.kv_scatters[0].max_positions)};
}

}  // namespace

TokenWork::TokenWork(DecoderSpecs specs, ptx::Target target, SamplingDemand s)
    : works_(std::move(specs), target, 1),
      sampling_(sampling_work(sample_spec(works_.specs()), target, false, s.top_k, s.has_top_p)),
      persistent_sampling_(sampling_work(sample_spec(works_.specs()), target, true, s.top_k, s.has_top_p)) {}

uint64_t TokenWork::barriers() const { return barriers_of_a_token(decoder_program(), works_.specs().layers.size()); }

std::vector<KernelGroup> TokenWork::at(uint32_t position) const {
  std::vector<KernelGroup> groups = layers_at(works_, position, Form::kBoth);
  groups.push_back({PhaseKind::kLogits, {logits()}});
  groups.push_back({PhaseKind::kChoose, {sampling_}, Form::kSeparate});
  groups.push_back({PhaseKind::kChoose, {persistent_sampling_}, Form::kPersistent});
  groups.push_back({PhaseKind::kPublish, {}, Form::kPersistent});
  return groups;
}

PassWork::PassWork(const DecoderSpecs& specs, ptx::Target target, uint32_t columns, const TokenWork& token)
    : works_(specs, target, columns),
      logits_(specs.kind == PassKind::kPrompt ? token.logits() : works_.product(specs.logits)) {}

std::vector<KernelGroup> PassWork::at(uint32_t position) const {
  std::vector<KernelGroup> groups = layers_at(works_, position, Form::kSeparate);
  groups.push_back({PhaseKind::kLogits, {logits_}, Form::kSeparate});
  return groups;
}

double prompt_seconds(const GpuTraits& gpu, const PassWork& work, uint32_t columns, uint32_t n_tokens) {
  double seconds = 0;
  for (uint32_t first = 0; first < n_tokens; first += columns) seconds += 1 / predict(gpu, work.at(first), 0).stream;
  return seconds;
}

}  // namespace warpchat
