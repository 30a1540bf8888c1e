// Each format has one pool of quantised random numbers. Every tensor is a prefix of its pool.
#include "tests/gpu/shaped_model.h"

#include <random>

#include "models/error.h"
#include "models/rope.h"
#include "tests/support/gguf/gguf_writer.h"
#include "tests/support/gguf/quantise.h"
#include "tests/support/tiny_model.h"

namespace warpchat {

namespace {

constexpr uint64_t kPattern = 1 << 20;  // random weights; longer tensors repeat them
constexpr float kDecay = -0.02f;        // of every head of a delta net; must be negative, or states grow

uint64_t bytes_of(const TensorInfo& t) { return bytes_per_row(t.type, t.k()) * t.rows(); }

const char* architecture_of(const ModelConfig& c) {
  if (c.architecture != Architecture::kQwen3) return "qwen2";
  return c.experts.n > 0 ? "qwen3moe" : "qwen3";
}

}  // namespace

ModelShape bench_shape(std::string_view name) {
  constexpr std::string_view kTiny = "tiny";
  if (!name.starts_with(kTiny)) return model_shape(name);
  const bool has_kind = name.size() > kTiny.size();
  ModelShape shape = model_shape(has_kind ? name.substr(kTiny.size() + 1) : "qwen2.5-1.5b");
  ModelConfig& c = shape.config;
  c.name = name;
  c.n_layers = c.delta_net.n_v_heads > 0 ? 4 : 2;  // the fourth layer of a hybrid is attention
  c.hidden = 256, c.n_heads = 4, c.n_kv_heads = 2, c.head_dim = 64, c.n_vocab = 512, c.context_length = 2048;
  c.ffn = c.experts.n > 0 ? 0 : 512;
  if (c.experts.n > 0) c.experts.n = 8, c.experts.n_used = 2, c.experts.ffn = 256;
  if (c.experts.shared_ffn > 0) c.experts.shared_ffn = 256;
  if (c.delta_net.n_v_heads > 0) c.delta_net.n_k_heads = 2, c.delta_net.n_v_heads = 4;
  c.rope_dims = c.gated_attention ? c.head_dim / 4 : c.head_dim;
  c.ropes[0].frequencies = rope_frequencies({}, c.ropes[0].base, c.rope_dims, {});
  c.layers.resize(c.n_layers);
  shape.formats = q4_k_m_formats(c);
  return shape;
}

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

const TensorInfo* ShapedModel::add(const std::string& name, TensorType type, uint64_t k, uint64_t rows, uint64_t n) {
  infos_.push_back({name, type, {k, rows, n, 1}, n > 1 ? 3u : rows > 1 ? 2u : 1u, {}});
  bytes_ += bytes_per_row(type, k) * rows * n;
  return &infos_.back();
}

void ShapedModel::add_delta_net(const std::string& block, const LayerFormats& formats, LayerTensors& t) {
  const DeltaNetConfig& net = config_.delta_net;
  for_each([&](const TensorInfo*& tensor, const char* name, TensorType type,
               const MatrixShape& m) { tensor = add(block + name, type, m.k, m.rows); },
           t.delta_matrices, kDeltaMatrixNames, formats.delta, delta_matrix_shapes(config_));
  t.delta_vectors.conv = add(block + kDeltaVectorNames.conv, TensorType::kF32, net.conv_kernel, net.channels());
  t.delta_vectors.dt_bias = add(block + kDeltaVectorNames.dt_bias, TensorType::kF32, net.n_v_heads, 1);
  t.delta_vectors.decay = add(block + kDeltaVectorNames.decay, TensorType::kF32, net.n_v_heads, 1);
  t.delta_vectors.norm = add(block + kDeltaVectorNames.norm, TensorType::kF32, net.head_dim, 1);
  decays_.assign(net.n_v_heads, kDecay);
}

ShapedModel::ShapedModel(const ModelShape& shape) : config_(shape.config) {
  const ModelConfig& c = config_;
  const auto vector = [&](const std::string& name, uint32_t n, bool present) {
    return present ? add(name, TensorType::kF32, n, 1) : nullptr;
  };
  tensors_.token_embd = add("token_embd.weight", shape.formats.token_embd, c.hidden, c.n_vocab);
  tensors_.output_norm = vector("output_norm.weight", c.hidden, true);
  tensors_.output =
      c.tied_output ? tensors_.token_embd : add("output.weight", shape.formats.output, c.hidden, c.n_vocab);
  for (const LayerFormats& f : shape.formats.layers) {
    const std::string block = "blk." + std::to_string(tensors_.layers.size()) + ".";
    LayerTensors t;
    for_each([&](const TensorInfo*& tensor, const char* name, uint32_t n,
                 bool has) { tensor = vector(block + name, n, has); },
             t.vectors, kVectorNames, vector_sizes(c), f.has);
    const LayerConfig& layer = c.layers[tensors_.layers.size()];
    for_each(
        [&](const TensorInfo*& tensor, const char* name, TensorType type, const MatrixShape& m) {
          // A file has queries and their gates in one tensor, without a name for the gates.
          if (m.rows > 0 && m.k > 0) tensor = add(block + (name ? name : "attn_q_gate.weight"), type, m.k, m.rows);
        },
        t.matrices, kMatrixNames, f.matrices, matrix_shapes(c, layer.mixer));
    if (layer.ffn == Ffn::kExperts) {
      for_each(
          [&](const TensorInfo*& tensor, const char* name, TensorType type, const MatrixShape& m, bool per_expert) {
            if (m.rows > 0 && m.k > 0) tensor = add(block + name, type, m.k, m.rows, per_expert ? c.experts.n : 1);
          },
          t.experts, kExpertNames, f.experts, expert_shapes(c), kIsPerExpert);
    }
    if (layer.mixer == Mixer::kDeltaNet) add_delta_net(block, f, t);
    tensors_.layers.push_back(t);
  }
  std::map<TensorType, uint64_t> longest;  // pools grow first, so that spans into them stay valid
  for (const TensorInfo& t : infos_) longest[t.type] = std::max(longest[t.type], bytes_of(t));
  for (const auto& [type, n_bytes] : longest) blocks(type, n_bytes);
  norms_.resize(std::max(c.hidden, c.head_dim * c.n_heads));
  std::mt19937 random(2);
  std::normal_distribution<float> normal(1, 0.2f);
  for (float& weight : norms_) weight = normal(random);
  for (TensorInfo& t : infos_) {
    if (t.name.ends_with("norm.weight")) {
      t.data = std::as_bytes(std::span(norms_).first(t.k()));
    } else if (t.name.ends_with(kDeltaVectorNames.decay)) {
      t.data = std::as_bytes(std::span(decays_));
    } else {
      t.data = blocks(t.type, bytes_of(t));
    }
  }
}

void ShapedModel::write(const std::string& path) const {
  const ModelConfig& c = config_;
  if (c.gated_attention) throw Error(path + ": cannot write " + c.name + ", which has delta nets");
  GgufWriter file;
  add_model_keys(file, {.architecture = architecture_of(c),
                        .name = c.name,
                        .n_layers = c.n_layers,
                        .hidden = c.hidden,
                        .ffn = c.ffn,
                        .n_heads = c.n_heads,
                        .n_kv_heads = c.n_kv_heads,
                        .head_dim = c.head_dim,
                        .context_length = c.context_length,
                        .rms_eps = c.rms_eps,
                        .rope_base = static_cast<float>(c.ropes[0].base),
                        .experts = c.experts});
  add_vocabulary(file, TinyVocabulary::kByteBpe, c.n_vocab);
  for (const TensorInfo& t : infos_) {
    const std::span<const uint64_t> shape(t.shape.data(), t.n_dims);
    file.add_tensor(t.name, t.type, shape, t.data);
  }
  file.write(path);
}

}  // namespace warpchat
