// Each format has one pool of quantised random numbers. Every tensor is a prefix of its pool.
#include "tests/gpu/shaped_model.h"

#include <random>

#include "models/error.h"
#include "models/gguf_writer.h"
#include "models/quantise.h"
#include "models/rope.h"
#include "tests/support/tiny_model.h"

namespace warpchat {

namespace {

constexpr uint64_t kPattern = 1 << 20;  // random weights; longer tensors repeat them

}  // namespace

ModelShape bench_shape(std::string_view name) {
  if (name != "tiny") {
    const ModelShape shape = model_shape(name);
    if (shape.config.experts.n > 0 || shape.config.gated_attention)
      throw Error("cannot make random weights of " + std::string(name) + ", which has experts or delta nets");
    return shape;
  }
  ModelShape shape = model_shape("qwen2.5-1.5b");
  ModelConfig& c = shape.config;
  c.name = "tiny";
  c.n_layers = 2, c.hidden = 256, c.ffn = 512, c.n_heads = 4, c.n_kv_heads = 2, c.head_dim = 64, c.n_vocab = 512;
  c.rope_dims = c.head_dim;
  c.ropes[0].frequencies = rope_frequencies({}, c.ropes[0].base, c.head_dim, {});
  c.layers.resize(c.n_layers);
  c.context_length = 2048;
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

const TensorInfo* ShapedModel::add(const std::string& name, TensorType type, uint64_t k, uint64_t rows) {
  infos_.push_back({name, type, {k, rows, 1, 1}, rows == 1 ? 1u : 2u, {}});
  bytes_ += bytes_per_row(type, k) * rows;
  return &infos_.back();
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
    for_each([&](const TensorInfo*& tensor, const char* name, TensorType type,
                 const MatrixShape& m) { tensor = m.rows > 0 ? add(block + name, type, m.k, m.rows) : nullptr; },
             t.matrices, kMatrixNames, f.matrices, matrix_shapes(c));
    tensors_.layers.push_back(t);
  }
  std::map<TensorType, uint64_t> longest;  // pools grow first, so that spans into them stay valid
  for (const TensorInfo& t : infos_)
    longest[t.type] = std::max(longest[t.type], bytes_per_row(t.type, t.k()) * t.rows());
  for (const auto& [type, n_bytes] : longest) blocks(type, n_bytes);
  for (TensorInfo& t : infos_) t.data = blocks(t.type, bytes_per_row(t.type, t.k()) * t.rows());
}

void ShapedModel::write(const std::string& path) const {
  const ModelConfig& c = config_;
  GgufWriter file;
  add_model_keys(file, {.architecture = c.architecture == Architecture::kQwen3 ? "qwen3" : "qwen2",
                        .name = c.name,
                        .n_layers = c.n_layers,
                        .hidden = c.hidden,
                        .ffn = c.ffn,
                        .n_heads = c.n_heads,
                        .n_kv_heads = c.n_kv_heads,
                        .head_dim = c.head_dim,
                        .context_length = c.context_length,
                        .rms_eps = c.rms_eps,
                        .rope_base = static_cast<float>(c.ropes[0].base)});
  add_vocabulary(file, TinyVocabulary::kByteBpe, c.n_vocab);
  for (const TensorInfo& t : infos_) {
    const std::span<const uint64_t> shape(t.shape.data(), t.n_dims);
    file.add_tensor(t.name, t.type, shape, t.data);
  }
  file.write(path);
}

}  // namespace warpchat
