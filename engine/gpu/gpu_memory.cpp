// Every size of a model on a GPU, computed once: the plan that is checked, and the one that is carried out.
#include "engine/gpu/gpu_memory.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

#include "engine/decoder.h"
#include "engine/gpu/pass_layout.h"
#include "engine/gpu/weight_upload.h"
#include "kernels/attention/attention.h"
#include "kernels/delta_net/delta_chunk.h"
#include "kernels/matmul/f16_activations.h"
#include "kernels/matmul/int_activations.h"
#include "kernels/sampling/mask_logits.h"
#include "kernels/sampling/sampling.h"

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

uint64_t rounded(uint64_t n_bytes) { return saturating_sum({n_bytes, 255}) / 256 * 256; }

struct Lifetime {  // in a layer: its first and last operation that uses a buffer
  uint32_t first = UINT32_MAX, last = 0;
  bool meets(const Lifetime& other) const { return first <= other.last && other.first <= last; }
};

// When each layer uses the buffers with a column per token; outside the layers they live through the whole pass.
using Lifetimes = std::vector<std::array<Lifetime, kBuffers>>;  // [n_layers]

Lifetimes lifetimes_of(const Network& network, uint32_t n_layers) {
  Lifetimes lifetimes(n_layers);
  for (const Operation& operation : network)
    for (const Buffer buffer : buffers_of(operation)) {
      const bool is_outside = operation.layer == n_layers;
      for (uint32_t layer = is_outside ? 0 : operation.layer; layer < (is_outside ? n_layers : operation.layer + 1);
           ++layer) {
        Lifetime& lifetime = lifetimes[layer][static_cast<size_t>(buffer)];
        lifetime.first = is_outside ? 0 : std::min(lifetime.first, operation.index);
        lifetime.last = is_outside ? UINT32_MAX : std::max(lifetime.last, operation.index);
      }
    }
  return lifetimes;
}

// Buffers that no layer uses at the same time share memory. Larger ones are placed first, each as low as possible.
// Returns the bytes of all.
uint64_t place_columns(const ModelConfig& config, const GpuSizes& sizes, const Network& network, ActivationPlan& plan) {
  struct Placed {
    Buffer buffer;
    uint64_t n_bytes, begin = 0;
  };
  std::vector<Placed> all;
  for (size_t i = 0; i < kBuffers; ++i) {
    const auto buffer = static_cast<Buffer>(i);
    const BufferShape shape = shape_of(buffer, config);
    if (shape.width == 0 || buffer == Buffer::kTokens || buffer == Buffer::kPositions) continue;  // of the pass
    const uint64_t rows = buffer == Buffer::kLogits ? logits_rows(sizes) : sizes.buffer_columns();
    all.push_back({buffer, rounded(saturating_product({rows, shape.per_column, shape.width, sizeof(float)}))});
  }
  std::ranges::stable_sort(all, std::greater(), &Placed::n_bytes);
  const Lifetimes lifetimes = lifetimes_of(network, config.n_layers);
  const auto meet = [&](Buffer a, Buffer b) {
    return std::ranges::any_of(lifetimes, [&](const auto& of_layer) {
      return of_layer[static_cast<size_t>(a)].meets(of_layer[static_cast<size_t>(b)]);
    });
  };
  uint64_t n_bytes = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    std::vector<Placed> others;  // that must be elsewhere, by place
    std::ranges::copy_if(std::span(all).first(i), std::back_inserter(others),
                         [&](const Placed& placed) { return meet(placed.buffer, all[i].buffer); });
    std::ranges::sort(others, {}, &Placed::begin);
    uint64_t begin = 0;
    for (const Placed& other : others)
      if (saturating_sum({begin, all[i].n_bytes}) > other.begin)
        begin = std::max(begin, saturating_sum({other.begin, other.n_bytes}));
    all[i].begin = plan[all[i].buffer] = begin;
    n_bytes = std::max(n_bytes, saturating_sum({begin, all[i].n_bytes}));
  }
  return n_bytes;
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
  const uint64_t masks = uint64_t{sizes.token_columns()} * mask_words(config.n_vocab) * sizeof(uint32_t);
  return saturating_sum({saturating_product({uint64_t{sizes.token_columns()} + 1, sampler_state_stride(spec)}), masks});
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
    plan.n_bytes = saturating_sum({plan.n_bytes, rounded(n_bytes)});
    return at;
  };
  const Network network = text_decoder(config);
  plan.n_bytes = place_columns(config, sizes, network, plan);
  const ExpertsConfig& e = config.experts;
  uint64_t half_values = 0, values = 0;  // of the widest input; half_values: per token, over all its assignments
  for (const Operation& operation : network)
    for (const Buffer input : inputs_of_products(operation)) {
      const BufferShape shape = shape_of(input, config);
      half_values = std::max(half_values, saturating_product({shape.per_column, f16_activation_size(shape.width)}));
      values = std::max<uint64_t>(values, shape.width);
    }
  const DeltaNetSpec prompt{config.delta_net, config.rms_eps, sizes.columns_of(PassKind::kPrefill), true};
  plan[Buffer::kDeltaChunks] = place(takes_chunks(prompt) ? delta_chunk_scratch_bytes(prompt) : 0);
  plan[Buffer::kExpertOrder] = place(saturating_product({columns, e.n_used, sizeof(uint32_t)}));
  plan[Buffer::kExpertTiles] = place(expert_tiles_bytes(e, sizes));
  plan[Buffer::kHalves] = place(saturating_product({columns, half_values, sizeof(uint16_t)}));
  plan[Buffer::kHalfFactors] = place(saturating_product({columns, std::max(1u, e.n_used), sizeof(float)}));
  const uint64_t of_integers = int_activation_blocks(columns);
  plan[Buffer::kIntegers] = place(saturating_product({int_activations_words(values, of_integers), sizeof(uint32_t)}));
  plan[Buffer::kIntegerFactors] = place(of_integers * sizeof(float));
  plan.pass = place(pass_bytes(sizes));
  plan[Buffer::kError] = place(16);
  plan.page_tables = place(page_table_bytes(sizes));
  plan[Buffer::kBatchScratch] = place(sizes.sequences > kFewSequences ? batch_scratch_bytes(sizes.sequences) : 0);
  const uint64_t before = plan.n_bytes;
  for (const PassKind kind :
       {PassKind::kDecode, PassKind::kPrefill, PassKind::kSmallBatch, PassKind::kBatch, PassKind::kVerify}) {
    if (kind == PassKind::kBatch && sizes.sequences <= kFewSequences) continue;
    const DecoderAttentionSpec spec =
        decoder_attention(config, {kind, sizes.columns_of(kind), sizes.context, sizes.cache});
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
