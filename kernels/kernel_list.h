// The kernels of a decoder with given sizes and formats: the specs of every step of a pass, and each kernel once.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "kernels/attention.h"
#include "kernels/delta_net.h"
#include "kernels/embedding.h"
#include "kernels/expert_order.h"
#include "kernels/experts.h"
#include "kernels/f16_activations.h"
#include "kernels/flash_attention.h"
#include "kernels/gemm.h"
#include "kernels/gemv.h"
#include "kernels/gemv_columns.h"
#include "kernels/int_activations.h"
#include "kernels/kv_scatter.h"
#include "models/model_config.h"

namespace warpchat {

struct LayerFormats {
  LayerMatrices<TensorType> matrices;
  LayerVectors<bool> has;
  ExpertMatrices<TensorType> experts = {};
  DeltaMatrices<TensorType> delta = {};
};

struct DecoderFormats {
  TensorType token_embd, output;
  std::vector<LayerFormats> layers;
  bool has_output_bias = false;
};

DecoderFormats formats_of(const ModelTensors& tensors);

// What the columns of a pass are.
enum class PassKind : uint8_t {
  kDecode,      // one position of one sequence
  kPrefill,     // consecutive positions of one sequence
  kSmallBatch,  // one position each of 2 to kFewSequences sequences, with a token's products: bit-identical to single
                // tokens
  kBatch,       // one position each of more sequences
  kVerify,  // draft verification: a few positions of one sequence, with a token's products; attention and states run in
            // turn
};
inline constexpr size_t kPassKinds = 5;
inline constexpr uint32_t kFewSequences = 8;    // from more sequences on, gemm is faster
PassKind kind_of_tokens(uint32_t n_sequences);  // for one token of each sequence

// A matrix product: gemv for tokens of few sequences, or for up to kGemvColumns columns per block if gemm does not
// support the matrix; else gemm.
using ProductSpec = std::variant<GemvSpec, GemmSpec>;
inline constexpr uint32_t kGemvColumns = 8;

// Flash attention for prompts, if it supports the heads; else incremental attention, which runs a prompt in launches of
// up to kGemvColumns columns.
using DecoderAttentionSpec = std::variant<AttentionSpec, FlashAttentionSpec>;

// The steps of engine/steps.h as specs. q, k, v: normalised input; output, down: residual; gate_up: normalised input,
// SwiGLU. Each adds a bias if the model has one. RMSNorm is gemv's prologue. For gemm, f16_activations applies it, and
// for gemv of several columns, int_activations: once for all products of an input.
using LayerSpecs = LayerProducts<ProductSpec>;
// A mixture-of-experts layer, in place of gate_up and down; the shared fields only with a shared expert.
struct ExpertSpecs {
  ProductSpec router;  // has gate_up's input
  RouteSpec route;
  ExpertProductSpec gate_up, down;  // each assignment alone, at most kMaxAssignments per launch
  ProductSpec shared_gate_up, shared_down, shared_expert_gate;
  ExpertSumSpec sum;
  // Replace gate_up and down when a pass has many columns and gemm supports the matrix: assignments in this order.
  std::optional<GemmSpec> grouped_gate_up, grouped_down;
  ExpertOrderSpec order;
  bool has_order() const { return grouped_gate_up.has_value() || grouped_down.has_value(); }
  static constexpr uint32_t kMaxAssignments = 65535;
};
// A delta-net layer, in place of q, k and v, with the same input.
using DeltaSpecs = DeltaMatrices<ProductSpec>;
bool is_present(const ProductSpec& product);   // the layer has this product
bool accepts_f16(const ProductSpec& product);  // whether it is a gemm
bool accepts_int(const ProductSpec& product);  // whether it is a gemv of several columns with quantised weights
bool writes_f16(const DecoderAttentionSpec& attention);  // replaces f16_activations for the output product
struct DecoderSpecs {
  PassKind kind;
  EmbeddingSpec embedding;
  DecoderAttentionSpec attention;          // the same for every layer
  std::vector<KvScatterSpec> kv_scatters;  // for prompts, one per rotation; in decode passes attention includes them
  std::vector<uint32_t> ropes;             // [layers.size()]: index of the rotation
  std::vector<LayerSpecs> layers;
  std::vector<ExpertSpecs> experts;                   // [layers.size()] with experts, else empty
  std::vector<DeltaSpecs> deltas;                     // [layers.size()] with delta nets, else empty
  DeltaNetSpec delta_net;                             // the same for every delta-net layer
  ProductSpec logits;                                 // has normalised input
  std::optional<F16ActivationsSpec> f16_activations;  // input conversion of gemm, if there is one
  std::optional<IntActivationsSpec> int_activations;  // input conversion of integer products, if there are any
};

// context: positions per KV cache. columns: maximum per pass, 1 for kToken. formats: at least one layer.
DecoderSpecs decoder_specs(const ModelConfig& config, const DecoderFormats& formats, uint32_t context, PassKind kind,
                           uint32_t columns, KvTypes cache = {});

// Calls visit(product) for each product that is present. Specs: DecoderSpecs, const or not.
template <class Specs, class Visit>
void for_each_product(Specs& specs, Visit&& visit) {
  const auto visit_if_there = [&](auto& product) {
    if (is_present(product)) visit(product);
  };
  for (auto& layer : specs.layers) for_each(visit_if_there, layer);
  for (auto& delta : specs.deltas) for_each(visit_if_there, delta);
  for (auto& e : specs.experts)
    for (auto* product : {&e.router, &e.shared_gate_up, &e.shared_down, &e.shared_expert_gate})
      visit_if_there(*product);
}

// Two or more products of one input that share a launch, in order.
using FusedProducts = std::variant<FusedGemv, FusedGemm>;
std::vector<FusedProducts> fuse(const std::vector<const ProductSpec*>& of_one_input);
bool is_fused_into(const FusedProducts& all, const ProductSpec& product);  // product: has the same input
template <class T>
bool is_fused_into_any(const std::vector<T>& launches, const ProductSpec& product) {
  return std::ranges::any_of(launches, [&](const T& launch) { return is_fused_into(launch, product); });
}

template <class T>
std::vector<const T*> of_one_input(const LayerProducts<T>& layer) {
  return {&layer.q, &layer.k, &layer.v, &layer.q_gate};
}
template <class T>
std::vector<const T*> of_one_input(const DeltaMatrices<T>& delta) {
  return {&delta.qkv, &delta.z, &delta.alpha, &delta.beta};
}

// Calls alone(product) for each product with its own launch, and beside(products) for those that share one.
template <class Single, class Fused>
void for_each_launch(const DecoderSpecs& specs, Single&& single, Fused&& fused) {
  const auto visit = [&](const std::vector<const ProductSpec*>& products) {
    const std::vector<FusedProducts> launches = fuse(products);
    for (const FusedProducts& all : launches) fused(all);
    for (const ProductSpec* product : products)
      if (is_present(*product) && !is_fused_into_any(launches, *product)) single(*product);
  };
  for (const LayerSpecs& layer : specs.layers) {
    visit(of_one_input(layer));
    for (const ProductSpec* product : {&layer.output, &layer.gate_up, &layer.down}) visit({product});
  }
  for (const DeltaSpecs& delta : specs.deltas) visit(of_one_input(delta));
  for (const ExpertSpecs& e : specs.experts)
    for (const ProductSpec* product : {&e.router, &e.shared_gate_up, &e.shared_down, &e.shared_expert_gate})
      visit({product});
}

// Like decoder_specs, without scatter and f16 conversion.
DecoderAttentionSpec decoder_attention(const ModelConfig& config, uint32_t context, PassKind kind, uint32_t columns,
                                       KvTypes cache = {});

// Enough for every split-K product of a batch (kernels/gemm.h).
uint64_t batch_scratch_bytes(uint32_t columns);

// As in expert_specs, for a pass of many columns.
ExpertOrderSpec decoder_expert_order(const ExpertsConfig& experts, uint32_t columns);

// Every kernel of the specs once; a token's kernels call the functions of token_functions.h.
std::vector<ptx::Kernel> decoder_kernels(const DecoderSpecs& specs, ptx::Target target);

std::string name_of(const ProductSpec& spec);
std::string name_of(const FusedProducts& all);
std::string name_of(const DecoderAttentionSpec& spec);

}  // namespace warpchat
