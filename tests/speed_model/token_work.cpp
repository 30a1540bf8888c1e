#include "tests/speed_model/token_work.h"

#include <algorithm>
#include <utility>

#include "kernels/persistent_decoder.h"
#include "kernels/product.h"

namespace warpchat {

namespace {

using Form = KernelGroup::Form;

// Whether the input of a phase's products is normalised.
bool is_normalised(PhaseKind phase) {
  return phase != PhaseKind::kOutput && phase != PhaseKind::kDown && phase != PhaseKind::kExpertsDown;
}

// Sets what the persistent decoder's blocks prefetch, each for its own work.
void ask_ahead(std::vector<KernelWork>& works) {
  uint64_t bytes = 0;
  for (const KernelWork& work : works) bytes += work.bytes;
  for (KernelWork& work : works)
    work.model.bytes_ahead = work.bytes * std::min(bytes, kMaxBytesAhead) / std::max<uint64_t>(bytes, 1);
}

// The phases are those of decoder_program().
class Layers {
 public:
  // last: the works after the last layer's mixer.
  Layers(const KernelWorks& works, const KernelWorks& last, uint32_t position, Form form)
      : works_(&works),
        last_(last),
        form_(form),
        scatter_(works.kv_scatter()),
        attention_(works.attention(position)),
        groups_{{PhaseKind::kEmbed, {works.embedding()}, form}} {}

  std::vector<KernelGroup> groups() {
    const DecoderSpecs& specs = works_->specs();
    for (size_t i = 0; i < specs.layers.size(); ++i) {
      const LayerSpecs& layer = specs.layers[i];
      if (is_present(layer.q))
        add_attention(layer);
      else
        add_delta_net(specs.deltas[i]);
      if (i + 1 == specs.layers.size()) works_ = &last_;
      add_products(PhaseKind::kOutput, {&layer.output}, is_present(layer.q) && writes_f16(specs.attention));
      if (is_present(layer.gate_up))
        add_dense(layer);
      else
        add_experts(specs.experts[i]);
    }
    return std::move(groups_);
  }

 private:
  void add(PhaseKind phase, std::vector<KernelWork> kernels) { groups_.push_back({phase, std::move(kernels), form_}); }

  void add_products(PhaseKind phase, std::initializer_list<const ProductSpec*> specs, bool has_f16 = false) {
    std::vector<KernelWork> kernels = works_->products(specs, is_normalised(phase), has_f16);
    ask_ahead(kernels);
    add(phase, std::move(kernels));
  }

  void add_attention(const LayerSpecs& layer) {
    add_products(PhaseKind::kQkv, {&layer.q, &layer.k, &layer.v, &layer.q_gate});
    if (scatter_) add(PhaseKind::kAttention, {*scatter_});
    std::vector<KernelWork> attention = {attention_};
    ask_ahead(attention);
    add(PhaseKind::kAttention, std::move(attention));
  }

  void add_delta_net(const DeltaSpecs& delta) {
    add_products(PhaseKind::kQkv, {&delta.qkv, &delta.z, &delta.alpha, &delta.beta});
    add(PhaseKind::kConv, {works_->convolution()});
    for (const KernelWork& work : works_->recurrence()) add(PhaseKind::kDelta, {work});
  }

  void add_dense(const LayerSpecs& layer) {
    add_products(PhaseKind::kGateUp, {&layer.gate_up});
    add_products(PhaseKind::kDown, {&layer.down});
  }

  void add_experts(const ExpertSpecs& experts) {
    add_products(PhaseKind::kRouter, {&experts.router, &experts.shared_expert_gate});
    add(PhaseKind::kExpertsGateUp, {works_->route(experts.route)});  // in each block of the persistent decoder
    if (experts.has_order()) add(PhaseKind::kExpertsGateUp, {works_->expert_order(experts.order)});
    add_assignments(PhaseKind::kExpertsGateUp, experts.gate_up, experts.grouped_gate_up, experts.shared_gate_up);
    add_assignments(PhaseKind::kExpertsDown, experts.down, experts.grouped_down, experts.shared_down);
    add(PhaseKind::kExpertsSum, {works_->expert_sum(experts.sum)});
  }

  // Experts are known only after the router, so their first weights are not prefetched.
  void add_assignments(PhaseKind phase, const ExpertProductSpec& spec, const std::optional<GemmSpec>& grouped,
                       const ProductSpec& shared) {
    const bool is_down = phase == PhaseKind::kExpertsDown;
    KernelWork assignments = works_->assignments(spec, grouped);
    std::vector<KernelWork> kernels = works_->products({&shared}, is_normalised(phase));
    if (is_down) kernels.push_back(assignments);
    ask_ahead(kernels);
    if (!is_down) kernels.push_back(std::move(assignments));
    // The shared expert's first products reuse the input, which is converted already.
    if (grouped && (is_down || !accepts_f16(shared)))
      kernels.push_back(works_->f16_activations(*grouped, is_normalised(phase)));
    add(phase, std::move(kernels));
  }

  const KernelWorks* works_;
  const KernelWorks& last_;
  Form form_;
  std::optional<KernelWork> scatter_;
  KernelWork attention_;
  std::vector<KernelGroup> groups_;
};

SampleSpec sample_spec(const DecoderSpecs& specs) {
  return {.n_vocab = specs.embedding.n_vocab,
          .ring = sample_ring(std::get<AttentionSpec>(specs.attention).max_positions)};
}

}  // namespace

TokenWork::TokenWork(DecoderSpecs specs, ptx::Target target, SamplingDemand s)
    : works_(std::move(specs), target, 1),
      sampling_(sampling_work(sample_spec(works_.specs()), target, false, s.top_k, s.has_top_p)),
      persistent_sampling_(sampling_work(sample_spec(works_.specs()), target, true, s.top_k, s.has_top_p)) {}

uint64_t TokenWork::barriers() const {
  return barriers_of_a_token(decoder_program(works_.specs()), layer_kinds(works_.specs()));
}

uint64_t TokenWork::weight_bytes() const {
  uint64_t bytes = 0;
  const auto add = [&](const GemvSpec& spec, uint64_t n) {
    for (const ProductMatrix& matrix : matrices_of(spec)) bytes += n * spec.rows * matrix.row_bytes;
  };
  const DecoderSpecs& specs = works_.specs();
  for_each_product(specs, [&](const ProductSpec& product) { add(std::get<GemvSpec>(product), 1); });
  add(std::get<GemvSpec>(specs.logits), 1);
  for (const ExpertSpecs& experts : specs.experts) {
    add(experts.gate_up.product, experts.route.n);
    add(experts.down.product, experts.route.n);
  }
  return bytes;
}

std::vector<KernelGroup> TokenWork::at(uint32_t position) const {
  std::vector<KernelGroup> groups = Layers(works_, works_, position, Form::kBoth).groups();
  std::vector<KernelWork> logits = {this->logits()};
  ask_ahead(logits);
  groups.push_back({PhaseKind::kLogits, std::move(logits)});
  groups.push_back({PhaseKind::kSample, {sampling_}, Form::kSeparate});
  groups.push_back({PhaseKind::kSample, {persistent_sampling_}, Form::kPersistent});
  groups.push_back({PhaseKind::kEmit, {}, Form::kPersistent});
  return groups;
}

PassWork::PassWork(const DecoderSpecs& specs, ptx::Target target, uint32_t columns, const TokenWork& token)
    : works_(specs, target, columns),
      last_(specs.kind == PassKind::kPrefill && columns > 1 ? std::optional<KernelWorks>({specs, target, 1})
                                                            : std::nullopt),
      logits_(specs.kind == PassKind::kPrefill ? std::vector{token.logits()} : works_.products({&specs.logits}, true)) {
}

std::vector<KernelGroup> PassWork::at(uint32_t position) const {
  std::vector<KernelGroup> groups = Layers(works_, last_ ? *last_ : works_, position, Form::kSeparate).groups();
  groups.push_back({PhaseKind::kLogits, logits_, Form::kSeparate});
  return groups;
}

double prompt_seconds(const GpuTraits& gpu, const PassWork& work, uint32_t columns, uint32_t n_tokens) {
  double seconds = 0;
  for (uint32_t first = 0; first < n_tokens; first += columns) seconds += 1 / predict(gpu, work.at(first), 0).stream;
  return seconds;
}

}  // namespace warpchat
