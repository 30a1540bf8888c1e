// Weights keep the residual stream, attention scores and gates of order one, so that every step affects the result.
#include "engine/session/check_model.h"

#include <cmath>

#include "models/k_quantise.h"
#include "models/rope.h"

namespace warpchat {
namespace {

// Shapes repeat, to limit the number of kernels to compile.
ModelConfig small_config() {
  constexpr double kRopeBase = 10000;
  ModelConfig c{};
  c.architecture = Architecture::kQwen3;
  c.name = "device check";
  c.n_layers = 4, c.hidden = 256, c.n_heads = 4, c.n_kv_heads = 4, c.head_dim = 64, c.n_vocab = 256;
  c.context_length = 64, c.ffn = 256, c.rope_dims = 32, c.rms_eps = 1e-6f, c.rope_pairing = RopePairing::kNeox;
  c.tied_output = true, c.gated_attention = true;
  c.ropes.push_back(
      {.base = kRopeBase, .scaling = {}, .frequencies = rope_frequencies({}, kRopeBase, c.rope_dims, {})});
  c.layers = {{.mixer = Mixer::kDeltaNet, .ffn = Ffn::kExperts},
              {.mixer = Mixer::kAttention, .ffn = Ffn::kDense},
              {.mixer = Mixer::kDeltaNet, .ffn = Ffn::kDense},
              {.mixer = Mixer::kAttention, .ffn = Ffn::kExperts}};
  c.experts = {.n = 8, .n_used = 2, .ffn = 256, .shared_ffn = 256, .normalises = true};
  c.delta_net = {.n_k_heads = 4, .n_v_heads = 8, .head_dim = 32, .conv_kernel = 4};
  return c;
}

// type: Q4_K or Q6_K, else F32.
void append_row(std::vector<std::byte>& bytes, TensorType type, std::span<const float> row) {
  const auto append = [&](const auto& block) {
    const auto raw = std::as_bytes(std::span(&block, 1));
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  };
  const size_t n = traits(type).block_weights;
  for (size_t at = 0; at < row.size(); at += n) {
    if (type == TensorType::kQ4_K)
      append(quantise_q4k(row.subspan(at, n)));
    else if (type == TensorType::kQ6_K)
      append(quantise_q6k(row.subspan(at, n)));
    else
      append(row[at]);
  }
}

}  // namespace

CheckModel::CheckModel(uint32_t seed) : config_(small_config()), random_(seed) {
  const MatrixShape vocabulary{config_.n_vocab, config_.hidden};
  tensors_.token_embd = tensors_.output = matrix("token_embd.weight", TensorType::kQ6_K, vocabulary, 1, 2);
  tensors_.output_norm = vector("output_norm.weight", config_.hidden, 1, 0.2f);
  for (uint32_t i = 0; i < config_.n_layers; ++i) tensors_.layers.push_back(layer(i));
}

std::vector<int32_t> CheckModel::tokens(uint32_t n) const {
  std::vector<int32_t> tokens(n);
  for (uint32_t i = 0; i < n; ++i) tokens[i] = static_cast<int32_t>((i * 37 + 5) % config_.n_vocab);
  return tokens;
}

const TensorInfo* CheckModel::tensor(const std::string& name, TensorType type, uint64_t k, uint64_t rows, float mean,
                                     float deviation) {
  std::normal_distribution<float> normal(mean, deviation);
  std::vector<float> row(k);
  std::vector<std::byte>& bytes = data_.emplace_back();
  for (uint64_t i = 0; i < rows; ++i) {
    for (float& weight : row) weight = normal(random_);
    append_row(bytes, type, row);
  }
  return &infos_.emplace_back(TensorInfo{name, type, {k, rows, 1, 1}, rows == 1 ? 1u : 2u, bytes});
}

// gain: standard deviation of a row's dot product with an input of rms 1.
const TensorInfo* CheckModel::matrix(const std::string& name, TensorType type, MatrixShape shape, uint32_t n,
                                     float gain) {
  const TensorInfo* of_all =
      tensor(name, type, shape.k, uint64_t{shape.rows} * n, 0, gain / std::sqrt(static_cast<float>(shape.k)));
  if (n == 1) return of_all;
  infos_.back().shape = {shape.k, shape.rows, n, 1};
  infos_.back().n_dims = 3;
  return of_all;
}

const TensorInfo* CheckModel::vector(const std::string& name, uint64_t size, float mean, float deviation) {
  return tensor(name, TensorType::kF32, size, 1, mean, deviation);
}

LayerTensors CheckModel::layer(uint32_t index) {
  const std::string blk = "blk." + std::to_string(index) + ".";
  const LayerConfig& kinds = config_.layers[index];
  const bool is_attention = kinds.mixer == Mixer::kAttention, is_dense = kinds.ffn == Ffn::kDense;
  const uint32_t n_experts = config_.experts.n;
  constexpr TensorType k4 = TensorType::kQ4_K, k6 = TensorType::kQ6_K, kFloat = TensorType::kF32;
  LayerTensors t{};
  const LayerMatrices<MatrixShape> shapes = matrix_shapes(config_, kinds.mixer);
  t.matrices.output = matrix(blk + "output", k4, shapes.output, 1, 1);
  if (is_attention) {
    t.matrices.q = matrix(blk + "q", k4, shapes.q, 1, 1.5f);
    t.matrices.k = matrix(blk + "k", k4, shapes.k, 1, 1.5f);
    t.matrices.v = matrix(blk + "v", k6, shapes.v, 1, 1);
    t.matrices.q_gate = matrix(blk + "q_gate", k4, shapes.q_gate, 1, 1.5f);
    t.vectors.q_norm = vector(blk + "q_norm", config_.head_dim, 1.5f, 0.2f);
    t.vectors.k_norm = vector(blk + "k_norm", config_.head_dim, 1.5f, 0.2f);
  } else {
    const DeltaMatrices<MatrixShape> delta = delta_matrix_shapes(config_);
    const DeltaNetConfig& net = config_.delta_net;
    t.delta_matrices = {matrix(blk + "qkv", k4, delta.qkv, 1, 1.5f), matrix(blk + "z", k4, delta.z, 1, 1.5f),
                        matrix(blk + "alpha", kFloat, delta.alpha, 1, 1),
                        matrix(blk + "beta", kFloat, delta.beta, 1, 1)};
    t.delta_vectors.conv = tensor(blk + "conv", kFloat, net.conv_kernel, net.channels(), 0, 0.7f);
    t.delta_vectors.dt_bias = vector(blk + "dt_bias", net.n_v_heads, -1, 0.5f);
    t.delta_vectors.decay = vector(blk + "decay", net.n_v_heads, -0.2f, 0.02f);
    t.delta_vectors.norm = vector(blk + "norm", net.head_dim, 1, 0.2f);
  }
  t.vectors.attn_norm = vector(blk + "attn_norm", config_.hidden, 1, 0.2f);
  t.vectors.ffn_norm = vector(blk + "ffn_norm", config_.hidden, 1, 0.2f);
  const ExpertMatrices<MatrixShape> experts = expert_shapes(config_);
  if (is_dense) {
    // Reuses another layer's experts, so that no further formats of experts need kernels.
    if (!tensors_.layers.empty()) t.experts = tensors_.layers.front().experts;
    t.matrices.gate = matrix(blk + "gate", k4, shapes.gate, 1, 1.5f);
    t.matrices.up = matrix(blk + "up", k4, shapes.up, 1, 1);
    t.matrices.down = matrix(blk + "down", k6, shapes.down, 1, 1);
    return t;
  }
  t.experts.router = matrix(blk + "router", kFloat, experts.router, 1, 3);  // rounding must not change the routing
  t.experts.gate = matrix(blk + "expert_gate", k4, experts.gate, n_experts, 1.5f);
  t.experts.up = matrix(blk + "expert_up", k4, experts.up, n_experts, 1);
  t.experts.down = matrix(blk + "expert_down", k6, experts.down, n_experts, 1);
  t.experts.shared_gate = matrix(blk + "shared_gate", k4, experts.shared_gate, 1, 1.5f);
  t.experts.shared_up = matrix(blk + "shared_up", k4, experts.shared_up, 1, 1);
  t.experts.shared_down = matrix(blk + "shared_down", k6, experts.shared_down, 1, 1);
  t.vectors.shared_expert_gate =
      vector(blk + "shared_expert_gate", config_.hidden, 0, 1 / std::sqrt(static_cast<float>(config_.hidden)));
  return t;
}

}  // namespace warpchat
