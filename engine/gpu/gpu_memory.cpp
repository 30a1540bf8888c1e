// Every size of a model on a GPU, computed once: the plan that is checked, and the one that is carried out.
#include "engine/gpu/gpu_memory.h"

#include <algorithm>

#include "engine/gpu/pass_layout.h"
#include "engine/gpu/weight_upload.h"
#include "kernels/attention.h"
#include "kernels/delta_chunk.h"
#include "kernels/f16_activations.h"
#include "kernels/int_activations.h"
#include "kernels/sampling.h"

namespace warpchat {

namespace {

constexpr uint32_t kLogitsColumns = 32;

uint64_t page_table_bytes(const GpuSizes& sizes) {
  return uint64_t{sizes.sequences} * sizes.pages_per_sequence() * sizeof(uint32_t);
}

// For the kind of pass with the most tiles, since smaller passes have smaller tiles.
uint64_t expert_tiles_bytes(const ExpertsConfig& e, const GpuSizes& sizes) {
  if (e.n == 0) return 0;
  uint64_t max = 0;
  for (const PassKind kind : {PassKind::kPrefill, PassKind::kBatch}) {
    const ExpertOrderSpec spec = decoder_expert_order(e, sizes.columns_of(kind));
    max = std::max<uint64_t>(max, max_expert_tiles(e.n, spec.tile, spec.columns * e.n_used));
  }
  return max * sizeof(ExpertTile);
}

}  // namespace

// One prompt chunk beside a token of every other sequence.
uint32_t GpuSizes::columns() const { return std::min(batch, context) + sequences - 1; }

uint32_t GpuSizes::token_columns() const { return std::max(sequences, columns_of(PassKind::kVerify)); }

uint32_t GpuSizes::buffer_columns() const { return columns() + (kAlignedColumns - 1) * (sequences - 1); }

uint32_t GpuSizes::columns_of(PassKind kind) const {
  switch (kind) {
    case PassKind::kDecode:
      return 1;
    case PassKind::kPrefill:
      return columns();
    case PassKind::kSmallBatch:
      return std::min(sequences, kFewSequences);
    case PassKind::kVerify:
      return std::min(columns(), kMaxVerifyTokens);
    case PassKind::kBatch:
      break;
  }
  return sequences;
}

uint32_t GpuSizes::logits_columns() const { return std::min(columns(), std::max(kLogitsColumns, sequences)); }

uint64_t weights_bytes(const ModelConfig& config, const ModelTensors& tensors) {
  uint64_t sum = vector_bytes(*tensors.output_norm) + matrix_bytes(*tensors.token_embd) +
                 (config.tied_output ? 0 : matrix_bytes(*tensors.output)) +
                 (tensors.output_bias ? vector_bytes(*tensors.output_bias) : 0);
  const auto add_matrix = [&](const TensorInfo* matrix) {
    if (matrix) sum = saturating_sum({sum, matrix_bytes(*matrix)});
  };
  const auto add_vector = [&](const TensorInfo* vector) {
    if (vector) sum = saturating_sum({sum, vector_bytes(*vector)});
  };
  for (const LayerTensors& t : tensors.layers) {
    for_each(add_matrix, t.matrices);
    for_each(add_matrix, t.experts);
    for_each(add_matrix, t.delta_matrices);
    LayerVectors<const TensorInfo*> vectors = t.vectors;
    vectors.gate_bias = vectors.up_bias = nullptr;
    for_each(add_vector, vectors);
    sum = saturating_sum({sum, pairs_bytes(t.vectors.gate_bias, t.vectors.up_bias)});
    for_each(add_vector, t.delta_vectors);
    add_matrix(t.vectors.shared_expert_gate);
  }
  return sum;
}

uint64_t sampler_bytes(const ModelConfig& config, const GpuSizes& sizes) {
  const SampleSpec spec{.n_vocab = config.n_vocab, .ring = sample_ring(sizes.context)};
  return saturating_product({uint64_t{sizes.token_columns()} + 1, sampler_state_stride(spec)});
}

CachePlan::CachePlan(const ModelConfig& config, const GpuSizes& sizes)
    : layers(config.n_layers_with(Mixer::kAttention)),
      pages(sizes.pages()),
      k{sizes.cache.k, config.n_kv_heads, config.head_dim},
      v{sizes.cache.v, config.n_kv_heads, config.head_dim} {}

uint64_t CachePlan::page_bytes() const { return saturating_product({layers, k.n_bytes() + v.n_bytes()}); }

ActivationPlan plan_activations(const ModelConfig& config, const GpuSizes& sizes) {
  const uint32_t columns = sizes.buffer_columns();
  ActivationPlan plan{};
  const auto place = [&](uint64_t n_bytes) {
    const uint64_t at = plan.n_bytes;
    plan.n_bytes = saturating_sum({plan.n_bytes, saturating_sum({n_bytes, 255}) / 256 * 256});
    return at;
  };
  const auto floats = [&](uint64_t width) { return place(saturating_product({columns, width, sizeof(float)})); };
  const uint64_t q_width = uint64_t{config.n_heads} * config.head_dim;
  const uint64_t kv_width = uint64_t{config.n_kv_heads} * config.head_dim;
  plan.hidden = floats(config.hidden);
  plan.q = floats(q_width);
  plan.k = floats(kv_width);
  plan.v = floats(kv_width);
  plan.mixed = floats(q_width);
  plan.inner = floats(config.ffn);
  const DeltaNetConfig& net = config.delta_net;
  plan.q_gate = floats(config.gated_attention ? q_width : 0);
  plan.qkv = floats(net.channels());
  plan.z = floats(net.inner());
  plan.alpha = floats(net.n_v_heads);
  plan.beta = floats(net.n_v_heads);
  plan.delta_mixed = floats(net.inner());
  const DeltaNetSpec prompt{net, config.rms_eps, sizes.columns_of(PassKind::kPrefill), true};
  plan.delta_chunks = place(takes_chunks(prompt) ? delta_chunk_scratch_bytes(prompt) : 0);
  const ExpertsConfig& e = config.experts;
  plan.scores = floats(e.n);
  plan.experts = floats(e.n_used);
  plan.expert_weights = floats(e.n_used);
  plan.expert_inner = floats(saturating_product({e.n_used, e.ffn}));
  plan.expert_outputs = floats(saturating_product({e.n_used, config.hidden}));
  plan.expert_order = floats(e.n_used);
  plan.expert_tiles = place(expert_tiles_bytes(e, sizes));
  plan.shared_inner = floats(e.shared_ffn);
  plan.shared_output = floats(e.shared_ffn > 0 ? config.hidden : 0);
  plan.shared_expert_gate = floats(e.shared_ffn > 0 ? 1 : 0);
  uint64_t half_values = 0, values = 0;  // half_values: per token, over all its assignments
  for (const uint64_t width :
       {uint64_t{config.hidden}, q_width, uint64_t{config.ffn}, uint64_t{net.inner()}, uint64_t{e.shared_ffn}}) {
    half_values = std::max(half_values, f16_activation_size(width));
    values = std::max(values, width);
  }
  half_values = std::max(half_values, saturating_product({e.n_used, f16_activation_size(e.ffn)}));
  plan.halves = place(saturating_product({columns, half_values, sizeof(uint16_t)}));
  plan.half_factors = floats(std::max(1u, e.n_used));
  const uint64_t of_integers = int_activation_blocks(columns);
  plan.integers = place(saturating_product({int_activations_words(values, of_integers), sizeof(uint32_t)}));
  plan.integer_factors = place(of_integers * sizeof(float));
  plan.logits = place(saturating_product({logits_rows(sizes), config.n_vocab, sizeof(float)}));
  plan.pass = place(pass_bytes(sizes));
  plan.error = place(16);
  plan.page_tables = place(page_table_bytes(sizes));
  plan.batch_scratch = place(sizes.sequences > kFewSequences ? batch_scratch_bytes(sizes.sequences) : 0);
  const uint64_t before = plan.n_bytes;
  for (const PassKind kind :
       {PassKind::kDecode, PassKind::kPrefill, PassKind::kSmallBatch, PassKind::kBatch, PassKind::kVerify}) {
    if (kind == PassKind::kBatch && sizes.sequences <= kFewSequences) continue;
    const DecoderAttentionSpec spec =
        decoder_attention(config, sizes.context, kind, sizes.columns_of(kind), sizes.cache);
    const auto* incremental = std::get_if<AttentionSpec>(&spec);
    plan.scratch[static_cast<size_t>(kind)] = place(incremental ? attention_scratch_bytes(*incremental) : 0);
  }
  plan.scratch_bytes = plan.n_bytes - before;
  return plan;
}

// Partly filled pages and their table entries count as full.
MemoryBudget gpu_memory_budget(const ModelConfig& config, const ModelTensors& tensors, const GpuSizes& sizes) {
  const ActivationPlan activations = plan_activations(config, sizes);
  const CachePlan cache(config, sizes);
  const uint32_t contexts = sizes.n_pages > 0 ? 1 : sizes.sequences;
  const uint64_t pages_at_once = saturating_sum(
      {saturating_product({contexts, cache.page_bytes()}), saturating_product({sizes.sequences, sizeof(uint32_t)})});
  GpuSizes of_many = sizes;  // a context of one split would need no scratch
  of_many.context = std::max(sizes.context, 64 * kPagePositions);
  const uint64_t scratch_per_position = plan_activations(config, of_many).scratch_bytes / of_many.context + 1;
  const uint64_t min_cache = sizes.n_pages <= sizes.pages_per_sequence()
                                 ? 0
                                 : saturating_sum({saturating_product({sizes.n_pages, cache.page_bytes()}),
                                                   saturating_product({scratch_per_position, sizes.context})});
  return {weights_bytes(config, tensors), saturating_sum({pages_at_once / kPagePositions + 1, scratch_per_position}),
          saturating_sum({activations.n_bytes - activations.scratch_bytes - page_table_bytes(sizes), pages_at_once,
                          cache.v.n_bytes(), saturating_product({sizes.n_states(config), config.delta_state_bytes()}),
                          sampler_bytes(config, sizes), kModuleBytes}),
          min_cache};
}

}  // namespace warpchat
