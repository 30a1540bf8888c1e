#include "kernels/operation.h"

#include <iterator>

#include "kernels/common/overloaded.h"

namespace warpchat {

std::string_view name_of(Buffer buffer) {
  constexpr std::string_view kNames[] = {"hidden",
                                         "q",
                                         "k",
                                         "v",
                                         "q_gate",
                                         "mixed",
                                         "qkv",
                                         "z",
                                         "alpha",
                                         "beta",
                                         "mixed",
                                         "inner",
                                         "scores",
                                         "shared_expert_gate",
                                         "experts",
                                         "expert_weights",
                                         "expert_inner",
                                         "expert_outputs",
                                         "shared_inner",
                                         "shared_output",
                                         "tokens",
                                         "positions",
                                         "logits",
                                         "page_tables",
                                         "states",
                                         "keys",
                                         "values",
                                         "halves",
                                         "half_factors",
                                         "integers",
                                         "integer_factors",
                                         "expert_order",
                                         "expert_tiles",
                                         "attention_scratch",
                                         "batch_scratch",
                                         "delta_chunks",
                                         "error",
                                         "choice",
                                         "rows"};
  static_assert(std::size(kNames) == kBuffers);
  return kNames[static_cast<size_t>(buffer)];
}

BufferShape shape_of(Buffer buffer, const ModelConfig& c) {
  const ExpertsConfig& e = c.experts;
  const uint32_t q_width = c.n_heads * c.head_dim;
  const bool has_shared = e.shared_ffn > 0;
  switch (buffer) {
    case Buffer::kHidden:
      return {c.hidden};
    case Buffer::kQ:
    case Buffer::kMixed:
      return {q_width};
    case Buffer::kK:
    case Buffer::kV:
      return {c.n_kv_heads * c.head_dim};
    case Buffer::kQGate:
      return {c.gated_attention ? q_width : 0};
    case Buffer::kQkv:
      return {c.delta_net.channels()};
    case Buffer::kZ:
    case Buffer::kDeltaMixed:
      return {c.delta_net.inner()};
    case Buffer::kAlpha:
    case Buffer::kBeta:
      return {c.delta_net.n_v_heads};
    case Buffer::kInner:
      return {c.ffn};
    case Buffer::kScores:
      return {e.n};
    case Buffer::kSharedExpertGate:
      return {has_shared ? 1u : 0};
    case Buffer::kExperts:
    case Buffer::kExpertWeights:
      return {e.n > 0 ? 1u : 0, e.n_used};
    case Buffer::kExpertInner:
      return {e.ffn, e.n_used};
    case Buffer::kExpertOutputs:
      return {e.n > 0 ? c.hidden : 0, e.n_used};
    case Buffer::kSharedInner:
      return {e.shared_ffn};
    case Buffer::kSharedOutput:
      return {has_shared ? c.hidden : 0};
    case Buffer::kTokens:
    case Buffer::kPositions:
      return {1};
    case Buffer::kLogits:
      return {c.n_vocab};
    default:
      return {};
  }
}

std::vector<Buffer> inputs_of_products(const Operation& operation) {
  if (const auto* products = std::get_if<Products>(&operation.what)) return {products->input};
  if (const auto* routing = std::get_if<Routing>(&operation.what)) return {routing->scores.input};
  const auto* experts = std::get_if<Experts>(&operation.what);
  if (experts == nullptr) return {};
  std::vector<Buffer> all = {experts->input, experts->gate_up.output};
  if (experts->shared_gate_up) all.push_back(experts->shared_gate_up->output);
  return all;
}

std::vector<Buffer> outputs_of(const Operation& operation) {
  if (const auto* products = std::get_if<Products>(&operation.what)) {
    std::vector<Buffer> all;
    for (const MatrixProduct& product : products->products) all.push_back(product.output);
    return all;
  }
  return std::visit(Overloaded{[](const Convolution& o) { return std::vector{o.qkv}; },
                               [](const Routing& o) { return std::vector{o.scores.products[0].output}; },
                               [](const Products&) { return std::vector<Buffer>(); },
                               [](const WantedColumns&) { return std::vector<Buffer>(); },
                               [](const auto& o) { return std::vector{o.output}; }},
                    operation.what);
}

std::vector<Buffer> buffers_of(const Operation& operation) {
  std::vector<Buffer> all = outputs_of(operation);
  const auto add = [&](const std::vector<Buffer>& more) { all.insert(all.end(), more.begin(), more.end()); };
  add(inputs_of_products(operation));
  std::visit(Overloaded{[&](const Attention& o) {
                          add({o.q, o.k, o.v, o.gate.value_or(o.q)});
                        },
                        [&](const Convolution& o) {
                          add({o.alpha, o.beta});
                        },
                        [&](const Recurrence& o) {
                          add({o.qkv, o.z, o.alpha, o.beta});
                        },
                        [&](const WantedColumns& o) { add(o.buffers); },
                        [&](const Routing& o) {
                          add({Buffer::kExperts, Buffer::kExpertWeights, o.scores.products.back().output});
                        },
                        [&](const Experts& o) {
                          // In the persistent decoder a block may still route while another one multiplies.
                          add({Buffer::kScores, Buffer::kExperts, Buffer::kExpertWeights, o.down.output});
                          if (o.shared_down) add({Buffer::kSharedExpertGate, o.shared_down->output});
                        },
                        [](const auto&) {}},
             operation.what);
  return all;
}

}  // namespace warpchat
