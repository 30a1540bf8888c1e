// A layer's weights and products as structs over any value type: tensors, formats, packed weights, device addresses,
// specs and kernels share them.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace warpchat {

// Shapes are [rows, columns]. Members are in order of use; T{} if the layer lacks the matrix.
template <class T>
struct LayerMatrices {
  T q{};           // [n_heads * head_dim, hidden]
  T k{}, v{};      // [n_kv_heads * head_dim, hidden]
  T output{};      // [hidden, n_heads * head_dim]; in a delta net [hidden, n_v_heads * head_dim]
  T gate{}, up{};  // [ffn, hidden]
  T down{};        // [hidden, ffn]
  T q_gate{};      // like q: attention's output is multiplied by the sigmoid of this product
  static constexpr std::array kMembers = {&LayerMatrices::q,      &LayerMatrices::k,      &LayerMatrices::v,
                                          &LayerMatrices::q_gate, &LayerMatrices::output, &LayerMatrices::gate,
                                          &LayerMatrices::up,     &LayerMatrices::down};
};

// Matrices of a gated delta net, which replace q, k and v.
template <class T>
struct DeltaMatrices {
  T qkv{};            // [channels, hidden]: n_k_heads queries and keys, n_v_heads values
  T z{};              // [n_v_heads * head_dim, hidden]: output gate
  T alpha{}, beta{};  // [n_v_heads, hidden]: decay and beta of each head
  static constexpr std::array kMembers = {&DeltaMatrices::qkv, &DeltaMatrices::z, &DeltaMatrices::alpha,
                                          &DeltaMatrices::beta};
};

// Matrices of a mixture of experts, which replace gate, up and down. Expert tensors are n_experts consecutive matrices.
// T{} for a missing shared expert.
template <class T>
struct ExpertMatrices {
  T router{};                    // [n_experts, hidden]
  T gate{}, up{};                // n_experts x [expert ffn, hidden]
  T down{};                      // n_experts x [hidden, expert ffn]
  T shared_gate{}, shared_up{};  // [shared ffn, hidden]
  T shared_down{};               // [hidden, shared ffn]
  static constexpr std::array kMembers = {
      &ExpertMatrices::router,      &ExpertMatrices::gate,      &ExpertMatrices::up,         &ExpertMatrices::down,
      &ExpertMatrices::shared_gate, &ExpertMatrices::shared_up, &ExpertMatrices::shared_down};
};

// F32 vectors. Biases and head norms exist in some architectures only; else T{}.
template <class T>
struct LayerVectors {
  T attn_norm{}, ffn_norm{};       // [hidden]
  T q_bias{}, k_bias{}, v_bias{};  // [n_heads * head_dim], [n_kv_heads * head_dim] x2
  T q_norm{}, k_norm{};            // [head_dim]
  T output_bias{}, down_bias{};    // [hidden]
  T gate_bias{}, up_bias{};        // [ffn]
  T shared_expert_gate{};          // [hidden]: the shared expert's output is multiplied by the sigmoid of this product
  static constexpr std::array kMembers = {
      &LayerVectors::attn_norm, &LayerVectors::ffn_norm, &LayerVectors::q_bias,    &LayerVectors::k_bias,
      &LayerVectors::v_bias,    &LayerVectors::q_norm,   &LayerVectors::k_norm,    &LayerVectors::output_bias,
      &LayerVectors::gate_bias, &LayerVectors::up_bias,  &LayerVectors::down_bias, &LayerVectors::shared_expert_gate};
};

template <class T>
struct DeltaVectors {
  T conv{};              // [channels, conv_kernel], newest position last
  T dt_bias{}, decay{};  // [n_v_heads]; decay is negative
  T norm{};              // [head_dim], for the output
  static constexpr std::array kMembers = {&DeltaVectors::conv, &DeltaVectors::dt_bias, &DeltaVectors::decay,
                                          &DeltaVectors::norm};
};

// Tensor names, after "blk.N.".
inline constexpr LayerMatrices<const char*> kMatrixNames = {.q = "attn_q.weight",
                                                            .k = "attn_k.weight",
                                                            .v = "attn_v.weight",
                                                            .output = "attn_output.weight",
                                                            .gate = "ffn_gate.weight",
                                                            .up = "ffn_up.weight",
                                                            .down = "ffn_down.weight"};
inline constexpr ExpertMatrices<const char*> kExpertNames = {.router = "ffn_gate_inp.weight",
                                                             .gate = "ffn_gate_exps.weight",
                                                             .up = "ffn_up_exps.weight",
                                                             .down = "ffn_down_exps.weight",
                                                             .shared_gate = "ffn_gate_shexp.weight",
                                                             .shared_up = "ffn_up_shexp.weight",
                                                             .shared_down = "ffn_down_shexp.weight"};
inline constexpr ExpertMatrices<bool> kIsPerExpert = {.gate = true, .up = true, .down = true};
inline constexpr DeltaMatrices<const char*> kDeltaMatrixNames = {
    .qkv = "attn_qkv.weight", .z = "attn_gate.weight", .alpha = "ssm_alpha.weight", .beta = "ssm_beta.weight"};
inline constexpr DeltaVectors<const char*> kDeltaVectorNames = {
    .conv = "ssm_conv1d.weight", .dt_bias = "ssm_dt.bias", .decay = "ssm_a", .norm = "ssm_norm.weight"};
inline constexpr LayerVectors<const char*> kVectorNames = {.attn_norm = "attn_norm.weight",
                                                           .ffn_norm = "ffn_norm.weight",
                                                           .q_bias = "attn_q.bias",
                                                           .k_bias = "attn_k.bias",
                                                           .v_bias = "attn_v.bias",
                                                           .q_norm = "attn_q_norm.weight",
                                                           .k_norm = "attn_k_norm.weight",
                                                           .output_bias = "attn_output.bias",
                                                           .down_bias = "ffn_down.bias",
                                                           .gate_bias = "ffn_gate.bias",
                                                           .up_bias = "ffn_up.bias",
                                                           .shared_expert_gate = "ffn_gate_inp_shexp.weight"};

// Calls visit(value, ...) for each member of one struct, or of several in parallel.
template <class Visit, class First, class... Others>
void for_each(Visit&& visit, First& first, Others&&... others) {
  for (size_t i = 0; i < First::kMembers.size(); ++i)
    visit(first.*First::kMembers[i], others.*std::remove_cvref_t<Others>::kMembers[i]...);
}

// A struct of the results of `make` for each member, in order.
template <template <class> class Layer, class T, class Make>
auto map(const Layer<T>& of, Make&& make) {
  Layer<std::invoke_result_t<Make&, const T&>> made;
  for_each([&](auto& to, const T& from) { to = make(from); }, made, of);
  return made;
}

// Names a weight: the members of the structs above in the order of their kMembers, then those outside the layers.
enum class Weight : uint8_t {
  // LayerMatrices
  kQ,
  kK,
  kV,
  kQGate,
  kOutput,
  kGate,
  kUp,
  kDown,
  // DeltaMatrices
  kQkv,
  kZ,
  kAlpha,
  kBeta,
  // ExpertMatrices
  kRouter,
  kExpertGate,
  kExpertUp,
  kExpertDown,
  kSharedGate,
  kSharedUp,
  kSharedDown,
  // LayerVectors
  kAttnNorm,
  kFfnNorm,
  kQBias,
  kKBias,
  kVBias,
  kQNorm,
  kKNorm,
  kOutputBias,
  kGateBias,
  kUpBias,
  kDownBias,
  kSharedExpertGate,
  // DeltaVectors
  kConv,
  kDtBias,
  kDecay,
  kDeltaNorm,
  // The model's.
  kTokenEmbd,
  kLogits,
  kLogitsNorm,
  kLogitsBias,
  kNone
};
inline constexpr size_t kWeights = static_cast<size_t>(Weight::kNone);

// A value for each weight of a layer, or for each of those outside the layers.
template <class T>
class PerWeight : public std::array<T, kWeights> {
 public:
  T& operator[](Weight weight) { return this->at(static_cast<size_t>(weight)); }
  const T& operator[](Weight weight) const { return this->at(static_cast<size_t>(weight)); }
};

// The values of a layer's structs. T is constructible from their members.
template <class T, class Matrices, class Deltas, class Experts, class Vectors, class DeltaVectors>
PerWeight<T> by_weight(const Matrices& matrices, const Deltas& deltas, const Experts& experts, const Vectors& vectors,
                       const DeltaVectors& delta_vectors) {
  static_assert(Matrices::kMembers.size() + Deltas::kMembers.size() + Experts::kMembers.size() +
                    Vectors::kMembers.size() + DeltaVectors::kMembers.size() ==
                static_cast<size_t>(Weight::kTokenEmbd));
  PerWeight<T> all{};
  size_t next = 0;
  const auto add = [&](const auto& value) { all.at(next++) = T(value); };
  for_each(add, matrices), for_each(add, deltas), for_each(add, experts), for_each(add, vectors);
  for_each(add, delta_vectors);
  return all;
}

}  // namespace warpchat
