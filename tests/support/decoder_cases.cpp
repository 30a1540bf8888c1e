// The models that every decoder is tested with, and the walk through their tokens.
#include "tests/support/decoder_cases.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>

#include "models/rope.h"

namespace warpchat {

std::vector<float> decode(Decoder& decoder, std::span<const Token> tokens, const std::vector<uint32_t>& passes,
                          uint32_t position) {
  std::vector<float> logits;
  for (size_t at = 0, pass = 0; at < tokens.size(); ++pass) {
    const size_t n =
        std::min<size_t>({passes[std::min(pass, passes.size() - 1)], tokens.size() - at, decoder.max_logits_columns()});
    if (!decoder.forward(tokens.subspan(at, n), position + static_cast<uint32_t>(at), Logits::kAll))
      throw std::logic_error("the decoder stopped");
    for (uint32_t c = 0; c < n; ++c) {
      const std::span<const float> row = decoder.logits(c);
      logits.insert(logits.end(), row.begin(), row.end());
    }
    at += n;
  }
  return logits;
}

std::vector<Token> some_tokens(size_t n) {
  std::vector<Token> tokens(n);
  for (size_t i = 0; i < n; ++i) tokens[i] = static_cast<Token>(i * 37 % 256);
  return tokens;
}

void rotate_last_layer_apart(ModelConfig& config) {
  config.layers.back().rope = static_cast<uint32_t>(config.ropes.size());
  config.ropes.push_back({.base = 100, .frequencies = rope_frequencies({}, 100, config.rope_dims, {})});
}

RopeScaling scaled_rope(RopeScaling::Kind kind, double factor) {
  RopeScaling s;
  s.kind = kind, s.factor = factor, s.original_context = 64;
  return s;
}

namespace {

const DecoderCase kCases[] = {
    {"qwen2_tied", {}},
    {"qwen3_untied_own_head_dim",
     {.architecture = "qwen3", .head_dim = 128, .tied_output = false},
     {7.5e-4, 2.0e-6},
     {1.0e-3, 4.1e-6}},
    {"no_biases", {.biases = TinyBiases::kNone}},
    {"fused_biases", {.biases = TinyBiases::kFused}},
    {"query_biases_only", {.biases = TinyBiases::kQueriesOnly}},
    {"biases_of_every_product", {.biases = TinyBiases::kEvery}},
    {"biases_of_every_product_of_llama", {.architecture = "llama", .tied_output = false, .biases = TinyBiases::kEvery}},
    {"biases_of_some_products", {.architecture = "qwen3", .n_layers = 3, .head_dim = 64, .biases = TinyBiases::kSome}},
    {"llama_interleaved", {.architecture = "llama"}},
    {"llama_frequency_divisors", {.architecture = "llama", .rope_scaling = scaled_rope(RopeScaling::Kind::kLlama3, 1)}},
    {"linear_scaling", {.rope_scaling = scaled_rope(RopeScaling::Kind::kLinear, 4)}},
    {"yarn", {.rope_scaling = scaled_rope(RopeScaling::Kind::kYarn, 4)}},
    {"half_of_the_head_rotates", {.architecture = "llama", .rope_dims = 32}},
    {"one_kv_head", {.n_kv_heads = 1}},
    {"no_grouping", {.n_kv_heads = 4}},
    {"head_dim_80", {.architecture = "qwen3", .head_dim = 80, .formats = TinyFormats::all(TensorType::kQ8_0)}},
    {"head_dim_96", {.architecture = "qwen3", .head_dim = 96, .formats = TinyFormats::all(TensorType::kQ8_0)}},
    {"head_dim_256", {.architecture = "qwen3", .head_dim = 256}},
    {"padded_vocabulary", {.n_vocab = 517, .vocabulary = TinyVocabulary::kSpm}},
    {"k_no_multiple_of_256",
     {.hidden = 224, .ffn = 352, .n_heads = 7, .n_kv_heads = 1, .formats = TinyFormats::all(TensorType::kQ5_0)}},
    {"hidden_no_multiple_of_32",
     {.hidden = 84, .ffn = 150, .n_heads = 6, .n_kv_heads = 3, .formats = TinyFormats::all(TensorType::kF16)}},
    {"formats_mixed_in_one_step",  // f16 and integer activations for the same step
     {.formats = {TensorType::kQ8_0, TensorType::kQ6_K, TensorType::kQ4_K, TensorType::kF16, TensorType::kQ6_K,
                  TensorType::kQ5_1, TensorType::kBF16, TensorType::kQ4_0, TensorType::kF32}}},
    {"f32", {.formats = TinyFormats::all(TensorType::kF32)}, {7.3e-4, 1.1e-6}, {5.8e-4, 6.9e-7}},
    {"q4_0", {.formats = TinyFormats::all(TensorType::kQ4_0)}},
    {"q4_1", {.formats = TinyFormats::all(TensorType::kQ4_1)}},
    {"q8_0", {.formats = TinyFormats::all(TensorType::kQ8_0)}},
    {"q2_k", {.formats = TinyFormats::all(TensorType::kQ2_K)}},
    {"q3_k", {.formats = TinyFormats::all(TensorType::kQ3_K)}},
    {"q5_k", {.formats = TinyFormats::all(TensorType::kQ5_K)}},
    {"iq4_nl", {.formats = TinyFormats::all(TensorType::kIQ4_NL)}},
    {"iq4_xs", {.formats = TinyFormats::all(TensorType::kIQ4_XS)}},
    {"mxfp4", {.formats = TinyFormats::all(TensorType::kMXFP4)}, {7.3e-4, 9.9e-7}, {1.3e-3, 3.1e-6}},
    {"grids",  // tied: the embedding is read from the expanded weights
     {.n_layers = 1,
      .ffn = 256,
      .formats = {TensorType::kIQ3_S, TensorType::kIQ3_S, TensorType::kIQ2_XXS, TensorType::kIQ2_XS,
                  TensorType::kIQ3_XXS, TensorType::kIQ2_S, TensorType::kIQ2_XXS, TensorType::kIQ2_XS,
                  TensorType::kIQ3_S}},
     {4.7e-4, 4.0e-7},
     {8.8e-4, 1.0e-6}},
    {"grids_untied",
     {.n_layers = 1,
      .ffn = 256,
      .tied_output = false,
      .formats = {TensorType::kIQ2_S, TensorType::kIQ3_XXS, TensorType::kIQ3_S, TensorType::kIQ2_XXS,
                  TensorType::kIQ2_S, TensorType::kIQ3_XXS, TensorType::kIQ3_S, TensorType::kIQ2_S,
                  TensorType::kIQ2_XS}},
     {5.2e-4, 9.7e-7},
     {8.0e-4, 2.1e-6}},
    // At 200, the fp16 of the KV cache alone exceeds the limit for such small models.
    {"outlier_channel_tied", {.outlier = 50}, {5.8e-4, 2.4e-8}, {4.4e-4, 1.3e-7}},
    {"outlier_channel", {.tied_output = false, .outlier = 50}, {5.7e-4, 6.2e-8}, {4.4e-4, 3.7e-8}},
    {"experts",
     {.architecture = "qwen3moe", .head_dim = 64, .experts = {.n = 8, .n_used = 2, .ffn = 256, .normalises = true}},
     {8e-4, 3.3e-6},
     {1.6e-3, 5.7e-6}},
    {"many_experts_of_odd_size",
     {.architecture = "qwen3moe",
      .head_dim = 64,
      .formats = TinyFormats::all(TensorType::kQ8_0),
      .experts = {.n = 16, .n_used = 4, .ffn = 96, .normalises = true}},
     {8e-4, 3e-6},
     {1.9e-3, 7.2e-6}},
    {"shared_expert",
     {.architecture = "qwen2moe",
      .tied_output = false,
      .formats = TinyFormats::all(TensorType::kQ5_0),
      .experts = {.n = 8, .n_used = 2, .ffn = 160, .shared_ffn = 512}},
     {8e-4, 4e-6},
     {1.5e-3, 7.9e-6}},
    {"delta_nets",  // several value heads per key head, tiled; gated attention with partial RoPE
     {.architecture = "qwen35",
      .n_layers = 4,
      .head_dim = 128,
      .rope_dims = 32,
      .delta_net = {.n_k_heads = 2, .n_v_heads = 4, .head_dim = 64, .conv_kernel = 4},
      .full_attention_interval = 4,
      .n_unused_blocks = 1}},
    {"delta_nets_and_experts",
     {.architecture = "qwen35moe",
      .n_layers = 3,
      .head_dim = 64,
      .tied_output = false,
      .formats = TinyFormats::all(TensorType::kQ8_0),
      .experts = {.n = 8, .n_used = 2, .ffn = 96, .shared_ffn = 128, .normalises = true},
      .delta_net = {.n_k_heads = 2, .n_v_heads = 2, .head_dim = 64, .conv_kernel = 4},
      .full_attention_interval = 3},
     {8e-4, 1.4e-6},
     {1.5e-3, 8.3e-6}},
    {"delta_nets_of_older_files",
     {.architecture = "qwen3next",
      .head_dim = 64,
      .formats = TinyFormats::all(TensorType::kQ5_0),
      .experts = {.n = 8, .n_used = 2, .ffn = 64, .shared_ffn = 64, .normalises = true},
      .delta_net = {.n_k_heads = 2, .n_v_heads = 6, .head_dim = 32, .conv_kernel = 4},
      .older_layout = true}},
};

}  // namespace

std::span<const DecoderCase> decoder_cases() { return kCases; }

DecodableModel load(const DecoderCase& model) {
  static std::map<std::string, std::vector<std::byte>> files;
  const auto [entry, is_new] = files.try_emplace(model.name);
  if (is_new) entry->second = build_tiny_model(model.spec, /*seed=*/1);
  return DecodableModel(GgufFile::view(entry->second, model.name));
}

std::vector<float> read_floats(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

}  // namespace warpchat
