#include "kernels/shapes.h"

#include "models/error.h"
#include "models/rope.h"

namespace warpchat {
namespace {

// From the models' config.json; a head has 64 dimensions in Qwen2.5-0.5B, 128 in all others.
struct Row {
  const char* name;
  Architecture architecture;
  uint32_t n_layers, hidden, ffn, n_heads, n_kv_heads, head_dim, n_vocab, context_length;
  bool tied_output;
};
constexpr auto kQwen2 = Architecture::kQwen2, kQwen3 = Architecture::kQwen3;
constexpr Row kRows[] = {
    {"qwen2.5-0.5b", kQwen2, 24, 896, 4864, 14, 2, 64, 151936, 32768, true},
    {"qwen2.5-1.5b", kQwen2, 28, 1536, 8960, 12, 2, 128, 151936, 32768, true},
    {"qwen2.5-3b", kQwen2, 36, 2048, 11008, 16, 2, 128, 151936, 32768, true},
    {"qwen2.5-7b", kQwen2, 28, 3584, 18944, 28, 4, 128, 152064, 32768, false},
    {"qwen3-0.6b", kQwen3, 28, 1024, 3072, 16, 8, 128, 151936, 40960, true},
    {"qwen3-1.7b", kQwen3, 28, 2048, 6144, 16, 8, 128, 151936, 40960, true},
    {"qwen3-4b", kQwen3, 36, 2560, 9728, 32, 8, 128, 151936, 40960, true},
};
constexpr double kRopeBase = 1e6;
constexpr float kRmsEps = 1e-6f;

ModelConfig config_of(const Row& row) {
  return {.architecture = row.architecture,
          .name = row.name,
          .n_layers = row.n_layers,
          .hidden = row.hidden,
          .n_heads = row.n_heads,
          .n_kv_heads = row.n_kv_heads,
          .head_dim = row.head_dim,
          .n_vocab = row.n_vocab,
          .context_length = row.context_length,
          .ffn = row.ffn,
          .rope_dims = row.head_dim,
          .rms_eps = kRmsEps,
          .rope_pairing = RopePairing::kNeox,
          .tied_output = row.tied_output,
          .ropes = {{kRopeBase, {}, rope_frequencies({}, kRopeBase, row.head_dim, {})}},
          .layers = std::vector<LayerConfig>(row.n_layers)};
}

bool needs_more_bits(uint32_t layer, uint32_t n_layers) {
  return layer < n_layers / 8 || layer >= 7 * n_layers / 8 || (layer - n_layers / 8) % 3 == 2;
}

TensorType format_of(bool more_bits, uint32_t k) {
  if (k % 256 != 0) return more_bits ? TensorType::kQ8_0 : TensorType::kQ5_0;
  return more_bits ? TensorType::kQ6_K : TensorType::kQ4_K;
}

}  // namespace

DecoderFormats q4_k_m_formats(const ModelConfig& config) {
  const uint32_t mixed = config.n_heads * config.head_dim;
  DecoderFormats formats{format_of(config.tied_output, config.hidden), format_of(true, config.hidden), {}};
  for (uint32_t layer = 0; layer < config.n_layers; ++layer) {
    const bool more_bits = needs_more_bits(layer, config.n_layers);
    const TensorType usual = format_of(false, config.hidden);
    formats.layers.push_back({.matrices = {.q = usual,
                                           .k = usual,
                                           .v = format_of(more_bits, config.hidden),
                                           .output = format_of(false, mixed),
                                           .gate = usual,
                                           .up = usual,
                                           .down = format_of(more_bits, config.ffn)},
                              .has = vectors_of(config.architecture)});
  }
  return formats;
}

std::vector<std::string> shape_names() {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.push_back(row.name);
  return names;
}

ModelShape model_shape(std::string_view name) {
  std::string known;
  for (const Row& row : kRows) {
    if (row.name == name) {
      const ModelConfig config = config_of(row);
      return {config, q4_k_m_formats(config)};
    }
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw Error("the shape \"" + std::string(name) + "\" is unknown, expected one of " + known);
}

}  // namespace warpchat
