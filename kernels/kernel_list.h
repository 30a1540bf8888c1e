// The kernels that a decoder of given sizes and formats needs: the specs of a pass's steps, and each kernel once.
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
#include "kernels/flash_attention.h"
#include "kernels/gemm.h"
#include "kernels/gemv.h"
#include "kernels/gemv_columns.h"
#include "kernels/half_columns.h"
#include "kernels/integer_columns.h"
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
};

DecoderFormats formats_of(const ModelTensors& tensors);

// What the columns of a pass are.
enum class PassKind : uint8_t {
  kToken,   // one position
  kPrompt,  // consecutive positions of one sequence
  kFew,     // one position each of 2 to kFewSequences sequences: by a token's products, so that no bit of it changes
  kBatch,   // of more
  kRun,     // a few consecutive positions of one sequence, likewise; attention and states take one after the other
};
inline constexpr size_t kPassKinds = 5;
inline constexpr uint32_t kFewSequences = 8;    // beyond which gemm gains
PassKind kind_of_tokens(uint32_t n_sequences);  // a token of each

// A matrix product: gemv for tokens of few sequences, and where gemm does not take the matrix, up to kGemvColumns
// columns a block; else gemm.
using ProductSpec = std::variant<GemvSpec, GemmSpec>;
inline constexpr uint32_t kGemvColumns = 8;

// Flash attention for a prompt, where it takes the heads; else incremental attention, for a prompt in several launches
// of up to kGemvColumns columns.
using DecoderAttentionSpec = std::variant<AttentionSpec, FlashAttentionSpec>;

// The steps of engine/steps.h as specs. q, k, v: of the normalised columns, bias where the model has one; output, down:
// residual; gate_up: of the normalised columns, swiglu. RMSNorm is gemv's prologue, and before gemm half_columns does
// it, before gemv of several columns integer_columns, once for all products of the same input.
using LayerSpecs = LayerProducts<ProductSpec>;
// Of a layer of experts, in place of gate_up and down; the shared expert's where there is one.
struct ExpertSpecs {
  ProductSpec router;  // of the columns that gate_up has
  RouteSpec route;
  ExpertProductSpec gate_up, down;  // each use by itself; of at most kMostUses uses a launch
  ProductSpec shared_gate_up, shared_down, shared_switch;
  ExpertSumSpec sum;
  // In place of gate_up and of down where a pass has many columns and gemm takes the matrix: the uses in this order.
  std::optional<GemmSpec> grouped_gate_up, grouped_down;
  ExpertOrderSpec order;
  bool has_order() const { return grouped_gate_up.has_value() || grouped_down.has_value(); }
  static constexpr uint32_t kMostUses = 65535;
};
// Of a layer that is a delta net, in place of q, k and v, and of the same columns.
using DeltaSpecs = DeltaMatrices<ProductSpec>;
bool is_there(const ProductSpec& product);                  // a layer has it
bool takes_halves(const ProductSpec& product);              // gemm
bool takes_integers(const ProductSpec& product);            // gemv of several columns of quantised weights
bool writes_halves(const DecoderAttentionSpec& attention);  // in place of half_columns, for the output of its layer
struct DecoderSpecs {
  PassKind kind;
  EmbeddingSpec embedding;
  DecoderAttentionSpec attention;          // of every layer
  std::vector<KvScatterSpec> kv_scatters;  // of a prompt, of each rotation; in tokens attention has them
  std::vector<uint32_t> ropes;             // [layers.size()]: which rotation
  std::vector<LayerSpecs> layers;
  std::vector<ExpertSpecs> experts;                   // [layers.size()] of a mixture, else empty
  std::vector<DeltaSpecs> deltas;                     // [layers.size()] of a hybrid, else empty
  DeltaNetSpec delta_net;                             // of its layers
  ProductSpec logits;                                 // of the normalised columns
  std::optional<HalfColumnsSpec> half_columns;        // where there is a gemm: its input
  std::optional<IntegerColumnsSpec> integer_columns;  // likewise, where a product takes integers
};

// context: positions of each KV cache. columns: most of a pass, 1 for kToken. formats: at least one layer.
DecoderSpecs decoder_specs(const ModelConfig& config, const DecoderFormats& formats, uint32_t context, PassKind kind,
                           uint32_t columns, KvTypes cache = {});

// visit(product) for each that a layer has. Specs: DecoderSpecs, const or not.
template <class Specs, class Visit>
void for_each_product(Specs& specs, Visit&& visit) {
  const auto visit_if_there = [&](auto& product) {
    if (is_there(product)) visit(product);
  };
  for (auto& layer : specs.layers) for_each(visit_if_there, layer);
  for (auto& delta : specs.deltas) for_each(visit_if_there, delta);
  for (auto& e : specs.experts)
    for (auto* product : {&e.router, &e.shared_gate_up, &e.shared_down, &e.shared_switch}) visit_if_there(*product);
}

// Two or more of a pass's products of one input that are one launch, in their order.
using ProductsTogether = std::variant<GemvTogether, GemmTogether>;
std::vector<ProductsTogether> together(const std::vector<const ProductSpec*>& of_one_input);
bool is_part_of(const ProductsTogether& all, const ProductSpec& product);  // of the same input
template <class T>
bool is_part_of_any(const std::vector<T>& launches, const ProductSpec& product) {
  return std::ranges::any_of(launches, [&](const T& launch) { return is_part_of(launch, product); });
}

template <class T>
std::vector<const T*> of_one_input(const LayerProducts<T>& layer) {
  return {&layer.q, &layer.k, &layer.v, &layer.q_gate};
}
template <class T>
std::vector<const T*> of_one_input(const DeltaMatrices<T>& delta) {
  return {&delta.qkv, &delta.z, &delta.alpha, &delta.beta};
}

// alone(product) for each that a layer has and that has a launch of its own, beside(products) for those of one launch.
template <class Alone, class Beside>
void for_each_launch(const DecoderSpecs& specs, Alone&& alone, Beside&& beside) {
  const auto visit = [&](const std::vector<const ProductSpec*>& products) {
    const std::vector<ProductsTogether> launches = together(products);
    for (const ProductsTogether& all : launches) beside(all);
    for (const ProductSpec* product : products)
      if (is_there(*product) && !is_part_of_any(launches, *product)) alone(*product);
  };
  for (const LayerSpecs& layer : specs.layers) {
    visit(of_one_input(layer));
    for (const ProductSpec* product : {&layer.output, &layer.gate_up, &layer.down}) visit({product});
  }
  for (const DeltaSpecs& delta : specs.deltas) visit(of_one_input(delta));
  for (const ExpertSpecs& e : specs.experts)
    for (const ProductSpec* product : {&e.router, &e.shared_gate_up, &e.shared_down, &e.shared_switch})
      visit({product});
}

// That of decoder_specs, but for scatters and halves.
DecoderAttentionSpec decoder_attention(const ModelConfig& config, uint32_t context, PassKind kind, uint32_t columns,
                                       KvTypes cache = {});

// For any product of a batch that has parts (kernels/gemm.h).
uint64_t batch_scratch_bytes(uint32_t columns);

// That of expert_specs: of a pass of many columns.
ExpertOrderSpec decoder_expert_order(const ExpertsConfig& experts, uint32_t columns);

// Every kernel of the specs once; those of a token call the functions of token_functions.h.
std::vector<ptx::Kernel> decoder_kernels(const DecoderSpecs& specs, ptx::Target target);

std::string name_of(const ProductSpec& spec);
std::string name_of(const ProductsTogether& all);
std::string name_of(const DecoderAttentionSpec& spec);

}  // namespace warpchat
