// Hyper-parameters and tensors of a decoder, read from a GGUF file of a known architecture. All shapes, types and
// values are checked here.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/gguf_reader.h"
#include "models/layer_matrices.h"

namespace warpchat {

enum class Architecture { kLlama, kQwen2, kQwen3 };  // kind of attention; qwen3moe and qwen3vl are kQwen3
enum class RopePairing { kInterleaved, kNeox };      // pairs (2i, 2i+1), or (i, i + rope_dims/2)

struct RopeScaling {
  enum class Kind { kNone, kLinear, kYarn, kLlama3 } kind = Kind::kNone;  // kLlama3: tensor of per-frequency factors
  double factor = 1.0;                                                    // divides positions
  uint32_t original_context = 0;                                          // YaRN: n_ctx_orig
  double attention_factor = 1.0;  // YaRN: multiplies cos and sin, computed as in llama.cpp
  double beta_fast = 32.0, beta_slow = 1.0;
  double extrapolation = 1.0;  // YaRN ext_factor
  double magnitude = 0;        // YaRN: factor on cos and sin as the file states it; 0: computed
};

// Rotary position embedding of queries and keys.
struct Rope {
  double base;
  RopeScaling scaling;
  std::vector<double> frequencies;  // [rope_dims / 2] radians per position, with all scaling applied
  double magnitude = 1;             // factor on cos and sin (YaRN's attention factor, else 1)
};

// A layer has a mixer of positions and an FFN.
enum class Mixer : uint8_t { kAttention, kDeltaNet };
enum class Ffn : uint8_t { kDense, kExperts };  // SwiGLU: dense, or mixture of experts

// Routing: each token uses its n_used experts with the highest scores; of equal scores the lower number wins. Weights
// are the softmax over all scores.
struct ExpertsConfig {
  uint32_t n = 0, n_used = 0;
  uint32_t ffn = 0;         // per expert
  uint32_t shared_ffn = 0;  // the shared expert's size; every token uses it; 0: none
  bool normalises = false;  // divides the weights of used experts by their sum
  float scale = 1;          // multiplies the weights
};

// A gated delta net. Each value head has a [keys, values] matrix. A token decays it, then moves it towards the token's
// value at the token's key. Source: Yang et al., Gated Delta Networks (2024).
struct DeltaNetConfig {
  uint32_t n_k_heads = 0, n_v_heads = 0;  // n_v_heads is a multiple of n_k_heads
  uint32_t head_dim = 0;                  // same for keys and values
  uint32_t conv_kernel = 0;               // positions seen by a channel's convolution
  bool tiled = false;                     // value head h uses key head h % n_k_heads, else h / (n_v_heads / n_k_heads)
  uint32_t inner() const { return n_v_heads * head_dim; }
  uint32_t channels() const { return (2 * n_k_heads + n_v_heads) * head_dim; }
  // Sizes of a layer's state: the last inputs of the convolution; those and the matrices of all heads.
  uint64_t tail_floats() const { return uint64_t{conv_kernel - 1} * channels(); }
  uint64_t layer_floats() const { return tail_floats() + uint64_t{inner()} * head_dim; }
  uint32_t key_head(uint32_t v_head) const { return tiled ? v_head % n_k_heads : v_head / (n_v_heads / n_k_heads); }
};

struct LayerConfig {
  Mixer mixer = Mixer::kAttention;
  Ffn ffn = Ffn::kDense;
  uint32_t window = 0;  // for attention: positions that a query sees, including its own; 0: all earlier ones
  uint32_t rope = 0;    // for attention: index in ModelConfig::ropes
};

struct ModelConfig {
  Architecture architecture;
  std::string name;  // general.name, or empty
  uint32_t n_layers, hidden, n_heads, n_kv_heads, head_dim, n_vocab, context_length;
  uint32_t ffn;        // for dense layers; 0: none
  uint32_t rope_dims;  // rotated dimensions per head, even, <= head_dim
  float rms_eps;
  RopePairing rope_pairing;
  bool tied_output;                 // the output matrix equals the embedding
  std::vector<Rope> ropes;          // distinct ones; layers with equal rotation share an entry
  std::vector<LayerConfig> layers;  // [n_layers]
  ExpertsConfig experts;            // for layers with experts
  DeltaNetConfig delta_net;         // for delta-net layers
  bool gated_attention = false;     // a gate per query head multiplies attention's output
  uint32_t n_unused_blocks = 0;     // after the layers: multi-token prediction, not used

  uint32_t n_blocks() const { return n_layers + n_unused_blocks; }
  uint32_t n_layers_with(Mixer mixer) const;
  uint64_t delta_state_bytes() const;                 // per sequence, for all delta-net layers
  std::vector<uint32_t> cache_slot_of_layer() const;  // [n_layers]: index among the layers with the same mixer
};

struct MatrixShape {
  uint32_t rows, k;
};
LayerMatrices<MatrixShape> matrix_shapes(const ModelConfig& config, Mixer mixer = Mixer::kAttention);
DeltaMatrices<MatrixShape> delta_matrix_shapes(const ModelConfig& config);
ExpertMatrices<MatrixShape> expert_shapes(const ModelConfig& config);  // shapes of one expert
LayerVectors<uint32_t> vector_sizes(const ModelConfig& config);
LayerVectors<bool> vectors_of(Architecture architecture);  // those of a usual dense layer; biases are optional

// Shapes do not depend on the file's layout: matrices fused in one tensor become views of it.
struct LayerTensors {
  LayerMatrices<const TensorInfo*> matrices;
  LayerVectors<const TensorInfo*> vectors;
  ExpertMatrices<const TensorInfo*> experts;
  DeltaMatrices<const TensorInfo*> delta_matrices;
  DeltaVectors<const TensorInfo*> delta_vectors;
};

// One expert's matrix of an expert tensor.
TensorInfo expert_of(const TensorInfo& tensor, uint32_t index);

struct ModelTensors {
  const TensorInfo* token_embd = nullptr;   // [n_vocab, hidden]
  const TensorInfo* output_norm = nullptr;  // [hidden] F32
  const TensorInfo* output = nullptr;       // [n_vocab, hidden]; token_embd if tied
  const TensorInfo* output_bias = nullptr;  // [n_vocab] F32, or null
  std::vector<LayerTensors> layers;
  std::vector<std::unique_ptr<TensorInfo>> views;  // referenced by layers
};

bool is_known_architecture(std::string_view name);  // as in general.architecture

// Throw Error with file, and key or tensor: unknown architecture (with the supported list), missing or ill-shaped
// tensors, unsupported RoPE scaling, absurd sizes, non-finite scales, norms, eps or RoPE bases.
ModelConfig read_model_config(const GgufFile& file);
ModelTensors read_model_tensors(const GgufFile& file, const ModelConfig& config);

// Like read_model_tensors(), but without reading weights, for callers that first check memory or read weights on
// demand. They must call check_scales (models/weight_check.h) before computing.
ModelTensors find_model_tensors(const GgufFile& file, const ModelConfig& config);

}  // namespace warpchat
