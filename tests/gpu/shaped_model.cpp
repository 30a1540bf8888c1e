// One pool of quantised random numbers a format; every tensor is its beginning.
#include "tests/gpu/shaped_model.h"

#include <random>

#include "models/quantise.h"

namespace warpchat {

namespace {

constexpr uint64_t kPattern = 1 << 20;  // weights that are really random; longer tensors repeat them

}  // namespace

std::span<const std::byte> ShapedModel::blocks(TensorType type, uint64_t n_bytes) {
  std::vector<std::byte>& pool = blocks_[type];
  if (pool.empty()) {
    std::vector<float> weights(kPattern);
    std::mt19937 random(1);
    std::normal_distribution<float> normal(0, 0.02f);
    for (float& weight : weights) weight = normal(random);
    pool = quantise_row(type, weights);
  }
  const size_t pattern = bytes_per_row(type, kPattern);
  while (pool.size() < n_bytes) {
    const size_t before = pool.size();
    pool.resize(before + pattern);
    std::copy(pool.begin(), pool.begin() + static_cast<std::ptrdiff_t>(pattern),
              pool.begin() + static_cast<std::ptrdiff_t>(before));
  }
  return std::span<const std::byte>(pool).first(n_bytes);
}

const TensorInfo* ShapedModel::add(const std::string& name, TensorType type, uint64_t k, uint64_t rows) {
  infos_.push_back({name, type, {k, rows, 1, 1}, 2, {}});
  bytes_ += bytes_per_row(type, k) * rows;
  return &infos_.back();
}

ShapedModel::ShapedModel(const ModelShape& shape) : config_(shape.config) {
  const ModelConfig& c = config_;
  const uint32_t q_width = c.n_heads * c.head_dim, kv_width = c.n_kv_heads * c.head_dim;
  const auto vector = [&](const std::string& name, uint32_t n, bool present) {
    return present ? add(name, TensorType::kF32, n, 1) : nullptr;
  };
  tensors_.token_embd = add("token_embd.weight", shape.formats.token_embd, c.hidden, c.n_vocab);
  tensors_.output_norm = vector("output_norm.weight", c.hidden, true);
  tensors_.output =
      c.tied_output ? tensors_.token_embd : add("output.weight", shape.formats.output, c.hidden, c.n_vocab);
  for (const LayerFormats& f : shape.formats.layers) {
    LayerTensors t{};
    t.attn_norm = vector("attn_norm", c.hidden, true);
    t.ffn_norm = vector("ffn_norm", c.hidden, true);
    t.attn_q = add("attn_q", f.q, c.hidden, q_width);
    t.attn_k = add("attn_k", f.k, c.hidden, kv_width);
    t.attn_v = add("attn_v", f.v, c.hidden, kv_width);
    t.attn_output = add("attn_output", f.output, q_width, c.hidden);
    t.ffn_gate = add("ffn_gate", f.gate, c.hidden, c.ffn);
    t.ffn_up = add("ffn_up", f.up, c.hidden, c.ffn);
    t.ffn_down = add("ffn_down", f.down, c.ffn, c.hidden);
    t.attn_q_bias = vector("attn_q_bias", q_width, f.q_bias);
    t.attn_k_bias = vector("attn_k_bias", kv_width, f.k_bias);
    t.attn_v_bias = vector("attn_v_bias", kv_width, f.v_bias);
    t.attn_q_norm = vector("attn_q_norm", c.head_dim, f.qk_norm);
    t.attn_k_norm = vector("attn_k_norm", c.head_dim, f.qk_norm);
    tensors_.layers.push_back(t);
  }
  std::map<TensorType, uint64_t> longest;  // pools grow first, so that the spans into them stay
  for (const TensorInfo& t : infos_)
    longest[t.type] = std::max(longest[t.type], bytes_per_row(t.type, t.k()) * t.rows());
  for (const auto& [type, n_bytes] : longest) blocks(type, n_bytes);
  for (TensorInfo& t : infos_) t.data = blocks(t.type, bytes_per_row(t.type, t.k()) * t.rows());
}

}  // namespace warpchat
