#include "kernels/shapes.h"

#include <algorithm>
#include <iterator>

#include "models/error.h"
#include "models/rope.h"
#include "models/text_format.h"

namespace warpchat {
namespace {

// From the models' config.json files.
struct Row {
  const char* name;
  Architecture architecture;
  uint32_t n_layers, hidden, ffn, n_heads, n_kv_heads, head_dim, n_vocab, context_length;
  bool tied_output;
  ExpertsConfig experts = {};  // the same for every layer, if there are any
  uint32_t n_v_heads = 0;      // in the delta nets of a hybrid; 0: not a hybrid
};
constexpr auto kQwen2 = Architecture::kQwen2, kQwen3 = Architecture::kQwen3;
constexpr ExpertsConfig kExpertsOf30B{.n = 128, .n_used = 8, .ffn = 768, .normalises = true};
constexpr ExpertsConfig kExpertsOf35B{.n = 256, .n_used = 8, .ffn = 512, .shared_ffn = 512, .normalises = true};
constexpr Row kRows[] = {
    {"qwen2.5-0.5b", kQwen2, 24, 896, 4864, 14, 2, 64, 151936, 32768, true},
    {"qwen2.5-1.5b", kQwen2, 28, 1536, 8960, 12, 2, 128, 151936, 32768, true},
    {"qwen2.5-3b", kQwen2, 36, 2048, 11008, 16, 2, 128, 151936, 32768, true},
    {"qwen2.5-7b", kQwen2, 28, 3584, 18944, 28, 4, 128, 152064, 32768, false},
    {"qwen3-0.6b", kQwen3, 28, 1024, 3072, 16, 8, 128, 151936, 40960, true},
    {"qwen3-1.7b", kQwen3, 28, 2048, 6144, 16, 8, 128, 151936, 40960, true},
    {"qwen3-4b", kQwen3, 36, 2560, 9728, 32, 8, 128, 151936, 40960, true},
    {"qwen3-30b-a3b", kQwen3, 48, 2048, 0, 32, 4, 128, 151936, 40960, false, kExpertsOf30B},
    {"qwen3.5-4b", kQwen3, 32, 2560, 9216, 16, 4, 256, 248320, 262144, true, {}, 32},
    {"qwen3.5-9b", kQwen3, 32, 4096, 12288, 16, 4, 256, 248320, 262144, false, {}, 32},
    {"qwen3.5-27b", kQwen3, 64, 5120, 17408, 24, 4, 256, 248320, 262144, false, {}, 48},
    {"qwen3.5-35b-a3b", kQwen3, 40, 2048, 0, 16, 2, 256, 248320, 262144, false, kExpertsOf35B, 32},
};
constexpr double kRopeBase = 1e6;
constexpr float kRmsEps = 1e-6f;

// In all hybrids here, every fourth layer is attention and a quarter of each head is rotated.
constexpr uint32_t kAttentionInterval = 4, kRotatedPart = 4;
constexpr double kHybridRopeBase = 1e7;

LayerConfig layer_of(const Row& row, uint32_t index) {
  const bool is_delta_net = row.n_v_heads > 0 && (index + 1) % kAttentionInterval != 0;
  return {.mixer = is_delta_net ? Mixer::kDeltaNet : Mixer::kAttention,
          .ffn = row.experts.n > 0 ? Ffn::kExperts : Ffn::kDense};
}

ModelConfig config_of(const Row& row) {
  const bool is_hybrid = row.n_v_heads > 0;
  const double rope_base = is_hybrid ? kHybridRopeBase : kRopeBase;
  const uint32_t rope_dims = is_hybrid ? row.head_dim / kRotatedPart : row.head_dim;
  ModelConfig config{.architecture = row.architecture,
                     .name = row.name,
                     .n_layers = row.n_layers,
                     .hidden = row.hidden,
                     .n_heads = row.n_heads,
                     .n_kv_heads = row.n_kv_heads,
                     .head_dim = row.head_dim,
                     .n_vocab = row.n_vocab,
                     .context_length = row.context_length,
                     .ffn = row.ffn,
                     .rope_dims = rope_dims,
                     .rms_eps = kRmsEps,
                     .rope_pairing = RopePairing::kNeox,
                     .tied_output = row.tied_output,
                     .ropes = {{rope_base, {}, rope_frequencies({}, rope_base, rope_dims, {})}},
                     .layers = {},
                     .experts = row.experts,
                     .gated_attention = is_hybrid};
  if (is_hybrid)
    config.delta_net = {.n_k_heads = 16, .n_v_heads = row.n_v_heads, .head_dim = 128, .conv_kernel = 4, .tiled = true};
  for (uint32_t layer = 0; layer < row.n_layers; ++layer) config.layers.push_back(layer_of(row, layer));
  return config;
}

bool needs_more_bits(uint32_t layer, uint32_t n_layers) {
  return layer < n_layers / 8 || layer >= 7 * n_layers / 8 || (layer - n_layers / 8) % 3 == 2;
}

TensorType format_of(bool more_bits, uint32_t k) {
  if (k % 256 != 0) return more_bits ? TensorType::kQ8_0 : TensorType::kQ5_0;
  return more_bits ? TensorType::kQ6_K : TensorType::kQ4_K;
}

LayerMatrices<TensorType> matrix_formats(const ModelConfig& c, const LayerConfig& layer, bool more_bits) {
  const TensorType usual = format_of(false, c.hidden), absent = TensorType::kF32;
  const bool is_dense = layer.ffn == Ffn::kDense;
  LayerMatrices<TensorType> m{.q = absent,
                              .k = absent,
                              .v = absent,
                              .output = format_of(false, c.delta_net.inner()),
                              .gate = is_dense ? usual : absent,
                              .up = is_dense ? usual : absent,
                              .down = is_dense ? format_of(more_bits, c.ffn) : absent,
                              .q_gate = absent};
  switch (layer.mixer) {
    case Mixer::kDeltaNet:
      break;
    case Mixer::kAttention:
      m.q = m.k = usual;
      m.v = format_of(more_bits, c.hidden);
      m.output = format_of(false, c.n_heads * c.head_dim);
      if (c.gated_attention) m.q_gate = usual;
      break;
  }
  return m;
}

LayerVectors<bool> vectors_of_layer(const ModelConfig& c, const LayerConfig& layer) {
  LayerVectors<bool> has = vectors_of(c.architecture);
  if (layer.mixer == Mixer::kDeltaNet) has.q_norm = has.k_norm = false;
  has.shared_expert_gate = c.experts.shared_ffn > 0;
  return has;
}

ExpertMatrices<TensorType> expert_formats(const ModelConfig& c, bool more_bits) {
  const TensorType usual = format_of(false, c.hidden);
  ExpertMatrices<TensorType> m{.router = TensorType::kF32,
                               .gate = usual,
                               .up = usual,
                               .down = format_of(more_bits, c.experts.ffn),
                               .shared_gate = TensorType::kF32,
                               .shared_up = TensorType::kF32,
                               .shared_down = TensorType::kF32};
  if (c.experts.shared_ffn > 0) {
    m.shared_gate = m.shared_up = usual;
    m.shared_down = format_of(more_bits, c.experts.shared_ffn);
  }
  return m;
}

}  // namespace

DecoderFormats q4_k_m_formats(const ModelConfig& config) {
  DecoderFormats formats{format_of(config.tied_output, config.hidden), format_of(true, config.hidden), {}};
  for (uint32_t i = 0; i < config.n_layers; ++i) {
    const LayerConfig& layer = config.layers.at(i);
    const bool more_bits = needs_more_bits(i, config.n_layers);
    LayerFormats f{.matrices = matrix_formats(config, layer, more_bits), .has = vectors_of_layer(config, layer)};
    if (layer.ffn == Ffn::kExperts) f.experts = expert_formats(config, more_bits);
    if (layer.mixer == Mixer::kDeltaNet) {
      const TensorType usual = format_of(false, config.hidden);
      f.delta = {.qkv = format_of(more_bits, config.hidden), .z = usual, .alpha = usual, .beta = usual};
    }
    formats.layers.push_back(f);
  }
  return formats;
}

std::vector<std::string> shape_names() {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.push_back(row.name);
  return names;
}

ModelShape model_shape(std::string_view name) {
  const auto row = std::ranges::find(kRows, name, &Row::name);
  if (row == std::end(kRows))
    throw Error("the shape \"" + std::string(name) + "\" is unknown, expected one of " +
                word_list(kRows, ", ", &Row::name));
  const ModelConfig config = config_of(*row);
  return {config, q4_k_m_formats(config)};
}

}  // namespace warpchat
