// The hyper-parameters and tensors of a decoder, read from a GGUF file of one of the known architectures.
// Everything is checked here, so that the engine may trust shapes, types and values.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/gguf_reader.h"
#include "models/layer_matrices.h"

namespace warpchat {

enum class Architecture { kLlama, kQwen2, kQwen3 };  // of the attention; a qwen3moe and a qwen3vl are a kQwen3
enum class RopePairing { kInterleaved, kNeox };      // pairs (2i, 2i+1), or (i, i + rope_dims/2)

struct RopeScaling {
  enum class Kind { kNone, kLinear, kYarn, kLlama3 } kind = Kind::kNone;  // kLlama3: per-frequency factors tensor
  double factor = 1.0;                                                    // positions are divided by it
  uint32_t original_context = 0;                                          // YaRN: n_ctx_orig
  double attention_factor = 1.0;  // YaRN: multiplies cos and sin, as llama.cpp computes it
  double beta_fast = 32.0, beta_slow = 1.0;
  double extrapolation = 1.0;  // YaRN ext_factor
};

// The rotation of queries and keys by their positions.
struct Rope {
  double base;
  RopeScaling scaling;
  std::vector<double> frequencies;  // [rope_dims / 2] radians per position, with all scaling applied
  double magnitude = 1;             // factor on cos and sin (YaRN's attention factor, else 1)
};

// A layer is a mixer of positions and a feed-forward network, each of a kind.
enum class Mixer : uint8_t { kAttention, kDeltaNet };
enum class Ffn : uint8_t { kDense, kExperts };  // of SwiGLU: one, or some of many

// A router gives each expert a score. The best n_used of a token, of equal ones the first, compute it; their weights
// are the softmax over all scores.
struct ExpertsConfig {
  uint32_t n = 0, n_used = 0;
  uint32_t ffn = 0;         // of one
  uint32_t shared_ffn = 0;  // of the expert that every token goes through; 0: none
  bool normalises = false;  // the weights of those used are divided by their sum
  float scale = 1;          // of the weights
};

// Each value head of a gated delta net has a matrix of keys by values, which a token first lets fade, then corrects
// towards its own value at its own key. Source: Yang et al., Gated Delta Networks (2024).
struct DeltaNetConfig {
  uint32_t n_k_heads = 0, n_v_heads = 0;  // those of values are a multiple of those of keys
  uint32_t head_dim = 0;                  // of keys and values alike
  uint32_t conv_kernel = 0;               // positions that a channel's convolution sees
  bool tiled = false;  // value head h reads with key head h % n_k_heads, else with h / (n_v_heads / n_k_heads)
  uint32_t inner() const { return n_v_heads * head_dim; }
  uint32_t channels() const { return (2 * n_k_heads + n_v_heads) * head_dim; }
  // Of a layer's state: what the last positions were before the convolution, and that with the matrices of all heads.
  uint64_t tail_floats() const { return uint64_t{conv_kernel - 1} * channels(); }
  uint64_t layer_floats() const { return tail_floats() + uint64_t{inner()} * head_dim; }
  uint32_t key_head(uint32_t v_head) const { return tiled ? v_head % n_k_heads : v_head / (n_v_heads / n_k_heads); }
};

struct LayerConfig {
  Mixer mixer = Mixer::kAttention;
  Ffn ffn = Ffn::kDense;
  uint32_t window = 0;  // of attention: the positions that a query sees, its own the last; 0: all up to its own
  uint32_t rope = 0;    // of attention: which of ModelConfig's
};

struct ModelConfig {
  Architecture architecture;
  std::string name;  // general.name, or empty
  uint32_t n_layers, hidden, n_heads, n_kv_heads, head_dim, n_vocab, context_length;
  uint32_t ffn;        // of dense layers; 0: there are none
  uint32_t rope_dims;  // rotated dimensions of a head, even, <= head_dim
  float rms_eps;
  RopePairing rope_pairing;
  bool tied_output;                 // the output matrix is the embedding
  std::vector<Rope> ropes;          // each once: layers of one rotation share what is made of it
  std::vector<LayerConfig> layers;  // [n_layers]
  ExpertsConfig experts;            // of the layers that have some
  DeltaNetConfig delta_net;         // likewise
  bool gated_attention = false;     // a gate beside every query decides how much of a head's output counts
  uint32_t n_unused_blocks = 0;     // behind the layers: they predict further tokens, which this program does not use

  uint32_t n_blocks() const { return n_layers + n_unused_blocks; }
  uint32_t n_layers_with(Mixer mixer) const;
  uint64_t delta_state_bytes() const;    // of a sequence, all layers that are delta nets
  std::vector<uint32_t> places() const;  // [n_layers]: which each is of the layers with its mixer
};

struct MatrixShape {
  uint32_t rows, k;
};
LayerMatrices<MatrixShape> matrix_shapes(const ModelConfig& config, Mixer mixer = Mixer::kAttention);
DeltaMatrices<MatrixShape> delta_matrix_shapes(const ModelConfig& config);
ExpertMatrices<MatrixShape> expert_shapes(const ModelConfig& config);  // of one expert
LayerVectors<uint32_t> vector_sizes(const ModelConfig& config);
LayerVectors<bool> vectors_of(Architecture architecture);  // that it has for certain, with dense layers

// Of one shape whatever the layout of the file: where it keeps several of these in one tensor, they are views of it.
struct LayerTensors {
  LayerMatrices<const TensorInfo*> matrices;
  LayerVectors<const TensorInfo*> vectors;
  ExpertMatrices<const TensorInfo*> experts;
  DeltaMatrices<const TensorInfo*> delta_matrices;
  DeltaVectors<const TensorInfo*> delta_vectors;
};

// One of the matrices of an experts' tensor.
TensorInfo expert_of(const TensorInfo& tensor, uint32_t index);

struct ModelTensors {
  const TensorInfo* token_embd;   // [n_vocab, hidden]
  const TensorInfo* output_norm;  // [hidden] F32
  const TensorInfo* output;       // [n_vocab, hidden]; token_embd if tied
  std::vector<LayerTensors> layers;
  std::vector<std::unique_ptr<TensorInfo>> views;  // that layers name
};

bool is_known_architecture(std::string_view name);  // as general.architecture says it

// Throw Error naming file and the key or tensor at fault: unknown architecture (with the supported list), missing or
// ill-shaped tensors, unsupported RoPE scaling, absurd sizes, non-finite scales, norms, eps or RoPE bases.
ModelConfig read_model_config(const GgufFile& file);
ModelTensors read_model_tensors(const GgufFile& file, const ModelConfig& config);

// The same without reading any weight, for a caller that first asks whether the model fits into memory at all, or reads
// weights when they are needed; it owes them check_scales (models/weight_check.h) before it computes.
ModelTensors find_model_tensors(const GgufFile& file, const ModelConfig& config);

}  // namespace warpchat
