#include "tests/tools/rewrite_as_qwen2.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <thread>

#include "models/dequantise.h"
#include "models/model_config.h"
#include "tests/support/gguf/quantise.h"

namespace warpchat {
namespace {

using Bytes = std::vector<std::byte>;

// Sizes before and after.
struct Padding {
  uint32_t hidden, n_heads, n_kv_heads;              // after
  uint32_t old_hidden, old_n_heads, old_n_kv_heads;  // before
  uint32_t head_dim, n_layers;
};

Padding padding_of(const GgufFile& file, const ModelConfig& config) {
  if (config.architecture != Architecture::kLlama) file.fail("only llama models can be rewritten as qwen2");
  if (config.rope_dims != config.head_dim) file.fail("partial RoPE cannot be rewritten");
  if (file.find_tensor("rope_freqs.weight")) file.fail("qwen2 models have no rope_freqs.weight");
  const uint32_t hidden = (config.hidden + 255) / 256 * 256, n_heads = hidden / config.head_dim;
  const uint32_t group = config.n_heads / config.n_kv_heads;
  if (hidden % config.head_dim != 0 || n_heads % group != 0 || config.ffn % 256 != 0) {
    file.fail("hidden " + std::to_string(config.hidden) + " cannot be padded to " + std::to_string(hidden) +
              " in whole groups of " + std::to_string(group) + " heads, or ffn is no multiple of 256");
  }
  return {hidden,         n_heads,           n_heads / group, config.hidden,
          config.n_heads, config.n_kv_heads, config.head_dim, config.n_layers};
}

// The old row of a new row, or -1 for a row of zeros.
using RowMap = std::function<int64_t(uint64_t)>;

RowMap padded_rows(uint64_t old_rows) {
  return [old_rows](uint64_t row) { return row < old_rows ? static_cast<int64_t>(row) : -1; };
}

// Row i of a head becomes the first of pair i, row i + head_dim / 2 the second.
RowMap rotary_rows(uint64_t old_rows, uint64_t head_dim) {
  return [=](uint64_t row) -> int64_t {
    if (row >= old_rows) return -1;
    const uint64_t head = row / head_dim, i = row % head_dim, half = head_dim / 2;
    return static_cast<int64_t>(head * head_dim + (i < half ? 2 * i : 2 * (i - half) + 1));
  };
}

class Rewriter {
 public:
  Rewriter(const GgufFile& file, RewriteFormat format)
      : file_(file), format_(format), config_(read_model_config(file)), to_(padding_of(file, config_)) {}

  GgufWriter rewrite() {
    const ModelTensors tensors = read_model_tensors(file_, config_);
    rewrite_keys();
    matrix(*tensors.token_embd, config_.n_vocab, to_.hidden, TensorType::kQ6_K, padded_rows(config_.n_vocab));
    for (uint32_t i = 0; i < to_.n_layers; ++i) rewrite_layer(tensors.layers[i], "blk." + std::to_string(i) + ".", i);
    norm(*tensors.output_norm);
    if (!config_.tied_output) {
      matrix(*tensors.output, config_.n_vocab, to_.hidden, TensorType::kQ6_K, padded_rows(config_.n_vocab));
    }
    return std::move(writer_);
  }

 private:
  void rewrite_keys() {
    constexpr uint32_t kMostlyF32 = 0, kMostlyF16 = 1, kMostlyQ4KM = 15;  // llama.cpp's file types
    writer_.add_string("general.architecture", "qwen2");
    writer_.add_uint32("general.file_type", format_ == RewriteFormat::kF32   ? kMostlyF32
                                            : format_ == RewriteFormat::kF16 ? kMostlyF16
                                                                             : kMostlyQ4KM);
    writer_.add_uint32("qwen2.embedding_length", to_.hidden);
    writer_.add_uint32("qwen2.attention.head_count", to_.n_heads);
    writer_.add_uint32("qwen2.attention.head_count_kv", to_.n_kv_heads);
    writer_.add_float32("qwen2.attention.layer_norm_rms_epsilon", static_cast<float>(config_.rms_eps * filled()));
    const std::vector<std::string> replaced = {"general.architecture",
                                               "general.file_type",
                                               "general.alignment",
                                               "llama.embedding_length",
                                               "llama.attention.head_count",
                                               "llama.attention.head_count_kv",
                                               "llama.attention.layer_norm_rms_epsilon"};
    for (const GgufValue& value : file_.values()) {
      if (std::find(replaced.begin(), replaced.end(), value.key) != replaced.end()) continue;
      const bool renamed = value.key.starts_with("llama.");
      const std::string key = renamed ? "qwen2." + std::string(value.key.substr(6)) : std::string(value.key);
      writer_.add_encoded(key, {value.encoded.begin(), value.encoded.end()});
    }
  }

  // The share of a padded vector without padding; its mean square shrinks to this share.
  double filled() const { return static_cast<double>(to_.old_hidden) / to_.hidden; }

  void rewrite_layer(const LayerTensors& layer, const std::string& block, uint32_t index) {
    const uint64_t q_rows = uint64_t{to_.n_heads} * to_.head_dim, kv_rows = uint64_t{to_.n_kv_heads} * to_.head_dim;
    const uint64_t old_q = uint64_t{to_.old_n_heads} * to_.head_dim;
    const uint64_t old_kv = uint64_t{to_.old_n_kv_heads} * to_.head_dim;
    const TensorType often = TensorType::kQ4_K, rarely = deserves_more(index) ? TensorType::kQ6_K : often;
    const LayerMatrices<const TensorInfo*>& matrices = layer.matrices;
    const LayerVectors<const TensorInfo*>& vectors = layer.vectors;
    norm(*vectors.attn_norm);
    matrix(*matrices.q, q_rows, to_.hidden, often, rotary_rows(old_q, to_.head_dim));
    matrix(*matrices.k, kv_rows, to_.hidden, often, rotary_rows(old_kv, to_.head_dim));
    matrix(*matrices.v, kv_rows, to_.hidden, rarely, padded_rows(old_kv));
    zeros(block + "attn_q.bias", q_rows);
    zeros(block + "attn_k.bias", kv_rows);
    zeros(block + "attn_v.bias", kv_rows);
    matrix(*matrices.output, to_.hidden, q_rows, often, padded_rows(to_.old_hidden));
    norm(*vectors.ffn_norm);
    matrix(*matrices.gate, config_.ffn, to_.hidden, often, padded_rows(config_.ffn));
    matrix(*matrices.up, config_.ffn, to_.hidden, often, padded_rows(config_.ffn));
    matrix(*matrices.down, to_.hidden, config_.ffn, rarely, padded_rows(to_.old_hidden));
  }

  // llama.cpp's rule for Q4_K_M: larger formats for the first and last eighth of the layers, and every third between.
  bool deserves_more(uint32_t layer) const {
    const uint32_t eighth = to_.n_layers / 8;
    return layer < eighth || layer >= 7 * to_.n_layers / 8 || (layer - eighth) % 3 == 2;
  }

  TensorType stored_as(TensorType in_q4_k_m) const {
    if (format_ == RewriteFormat::kF32) return TensorType::kF32;
    return format_ == RewriteFormat::kF16 ? TensorType::kF16 : in_q4_k_m;
  }

  // Takes rows from `from` and pads columns with zeros to k.
  void matrix(const TensorInfo& old, uint64_t rows, uint64_t k, TensorType type, const RowMap& from) {
    type = stored_as(type);
    const uint64_t row_bytes = bytes_per_row(type, k), old_row_bytes = bytes_per_row(old.type, old.k());
    Bytes bytes(rows * row_bytes);
    const auto rewrite_rows = [&](uint64_t begin, uint64_t end) {
      for (uint64_t row = begin; row < end; ++row) {
        std::vector<float> weights(k);
        const int64_t old_row = from(row);
        if (old_row >= 0) {
          const auto bytes_of_row = old.data.subspan(static_cast<uint64_t>(old_row) * old_row_bytes, old_row_bytes);
          dequantise_row(old.type, bytes_of_row, std::span(weights).first(old.k()));
        }
        std::ranges::copy(quantise_row(type, weights), bytes.begin() + static_cast<int64_t>(row * row_bytes));
      }
    };
    const uint64_t n_threads = std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::thread> threads;
    for (uint64_t i = 0; i < n_threads; ++i) {
      threads.emplace_back(rewrite_rows, rows * i / n_threads, rows * (i + 1) / n_threads);
    }
    for (std::thread& thread : threads) thread.join();
    const uint64_t shape[] = {k, rows};
    writer_.add_tensor(old.name, type, shape, bytes);
  }

  void norm(const TensorInfo& old) {
    std::vector<double> gains(old.k());
    dequantise_row(old.type, old.data, std::span(gains));
    std::vector<float> rescaled(to_.hidden);
    for (size_t i = 0; i < gains.size(); ++i) rescaled[i] = static_cast<float>(gains[i] * std::sqrt(filled()));
    vector(old.name, rescaled);
  }

  void zeros(const std::string& name, uint64_t size) { vector(name, std::vector<float>(size)); }

  void vector(const std::string& name, const std::vector<float>& values) {
    const uint64_t shape[] = {values.size()};
    writer_.add_tensor(name, TensorType::kF32, shape, std::as_bytes(std::span(values)));
  }

  const GgufFile& file_;
  const RewriteFormat format_;
  const ModelConfig config_;
  const Padding to_;
  GgufWriter writer_;
};

}  // namespace

GgufWriter rewrite_as_qwen2(const GgufFile& file, RewriteFormat format) { return Rewriter(file, format).rewrite(); }

}  // namespace warpchat
