// The hyper-parameters and tensors of a decoder, read from a GGUF file: architectures llama, qwen2 and qwen3.
// Everything is checked here, so that the engine may trust shapes, types and values.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/gguf_reader.h"
#include "models/layer_matrices.h"

namespace warpchat {

enum class Architecture { kLlama, kQwen2, kQwen3 };
enum class RopePairing { kInterleaved, kNeox };  // pairs (2i, 2i+1), or (i, i + rope_dims/2)

struct RopeScaling {
  enum class Kind { kNone, kLinear, kYarn, kLlama3 } kind = Kind::kNone;  // kLlama3: per-frequency factors tensor
  double factor = 1.0;                                                    // positions are divided by it
  uint32_t original_context = 0;                                          // YaRN: n_ctx_orig
  double attention_factor = 1.0;  // YaRN: multiplies cos and sin, as llama.cpp computes it
  double beta_fast = 32.0, beta_slow = 1.0;
  double extrapolation = 1.0;  // YaRN ext_factor
};

struct ModelConfig {
  Architecture architecture;
  std::string name;  // general.name, or empty
  uint32_t n_layers, hidden, ffn, n_heads, n_kv_heads, head_dim, n_vocab, context_length;
  uint32_t rope_dims;  // rotated dimensions of a head, even, <= head_dim
  float rms_eps;
  double rope_base;
  RopePairing rope_pairing;
  RopeScaling rope_scaling;
  bool tied_output;                      // the output matrix is the embedding
  std::vector<double> rope_frequencies;  // [rope_dims / 2] radians per position, with all scaling applied
  double rope_magnitude;                 // factor on cos and sin (YaRN's attention factor, else 1)
};

struct MatrixShape {
  uint32_t rows, k;
};
LayerMatrices<MatrixShape> matrix_shapes(const ModelConfig& config);
LayerVectors<uint32_t> vector_sizes(const ModelConfig& config);
LayerVectors<bool> vectors_of(Architecture architecture);  // that it has for certain

struct LayerTensors {
  LayerMatrices<const TensorInfo*> matrices;
  LayerVectors<const TensorInfo*> vectors;
};

struct ModelTensors {
  const TensorInfo* token_embd;   // [n_vocab, hidden]
  const TensorInfo* output_norm;  // [hidden] F32
  const TensorInfo* output;       // [n_vocab, hidden]; token_embd if tied
  std::vector<LayerTensors> layers;
};

bool is_known_architecture(std::string_view name);  // as general.architecture says it

// Throw Error naming file and the key or tensor at fault: unknown architecture (with the supported list), missing or
// ill-shaped tensors, unsupported RoPE scaling, absurd sizes, non-finite scales, norms, eps or RoPE bases.
ModelConfig read_model_config(const GgufFile& file);
ModelTensors read_model_tensors(const GgufFile& file, const ModelConfig& config);

// The same without reading any weight, for a caller that first asks whether the model fits into memory at all; it owes
// the file check_scales (models/weight_check.h) before it computes.
ModelTensors find_model_tensors(const GgufFile& file, const ModelConfig& config);

}  // namespace warpchat
