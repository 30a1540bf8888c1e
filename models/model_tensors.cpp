// Reads a decoder's tensors: all tensors of the architecture must exist with the right shape, and no others.
#include <algorithm>
#include <cassert>
#include <set>

#include "models/model_config.h"
#include "models/text_format.h"
#include "models/weight_check.h"

namespace warpchat {
namespace {

std::string shape_text(const std::vector<uint64_t>& shape) {
  std::string text;
  for (uint64_t size : shape) text += (text.empty() ? "[" : ", ") + std::to_string(size);
  return text + "]";
}

// Rows first, as in the engine.
std::vector<uint64_t> shape_of(const TensorInfo& tensor) {
  std::vector<uint64_t> shape(tensor.shape.begin(), tensor.shape.begin() + tensor.n_dims);
  std::reverse(shape.begin(), shape.end());
  return shape;
}

// Looks up tensors by name and records which were used.
class Directory {
 public:
  Directory(const GgufFile& file, std::vector<std::unique_ptr<TensorInfo>>& views) : file_(file), views_(views) {}

  // n > 1: n consecutive matrices.
  const TensorInfo* matrix(const std::string& name, uint64_t rows, uint64_t k, uint64_t n = 1) {
    const TensorInfo& tensor = file_.tensor(name);
    check_shape(tensor, n, rows, k);
    return note(tensor);
  }

  // An F32 vector [n], or matrix [rows, n].
  const TensorInfo* vector(const std::string& name, uint64_t n, uint64_t rows = 1) {
    const TensorInfo& tensor = file_.tensor(name);
    check_shape(tensor, 1, rows, n);
    if (tensor.type != TensorType::kF32)
      file_.fail("tensor " + name + " has type " + std::string(traits(tensor.type).name) + ", expected F32");
    return note(tensor);
  }

  // A view of some rows of a tensor. For a tensor of n matrices, of those rows of each.
  const TensorInfo* view(const TensorInfo* of, std::vector<RowStretches> order, uint64_t n = 1) {
    TensorInfo& made = *views_.emplace_back(std::make_unique<TensorInfo>(*of));
    uint64_t rows = 0;
    for (const RowStretches& part : order) rows += part.run * part.n;
    made.shape = {of->k(), rows / n, n, 1};
    made.order = std::move(order);
    return &made;
  }
  // n consecutive rows from `first` on.
  const TensorInfo* rows(const TensorInfo* of, uint64_t first, uint64_t n) {
    TensorInfo& made = *views_.emplace_back(std::make_unique<TensorInfo>(*of));
    made.shape[1] = n;
    made.data = {of->row(first).data(), n * of->row(first).size()};
    return &made;
  }

  // n consecutive elements of a vector from `first` on.
  const TensorInfo* elements(const TensorInfo* of, uint64_t first, uint64_t n) {
    TensorInfo& made = *views_.emplace_back(std::make_unique<TensorInfo>(*of));
    made.shape[0] = n;
    made.data = of->data.subspan(first * sizeof(float), n * sizeof(float));
    return &made;
  }

  bool has(const std::string& name) const { return file_.find_tensor(name) != nullptr; }

  // An unused tensor means a computation that this program does not implement.
  void refuse_unused_tensors() const {
    for (const TensorInfo& tensor : file_.tensors()) {
      if (known_.count(&tensor) || is_obsolete(tensor.name)) continue;
      file_.fail("tensor " + printable(tensor.name) + " is not part of a supported " +
                 std::string(file_.get_string("general.architecture")) + " model");
    }
  }
  void expect(const std::string& name) {
    if (const TensorInfo* tensor = file_.find_tensor(name)) note(*tensor);
  }
  // Whether there is a bias to add. Zeros change nothing, so they need no kernel that adds them.
  bool has_bias(const std::string& name) {
    const TensorInfo* tensor = file_.find_tensor(name);
    if (tensor == nullptr) return false;
    if (!std::ranges::all_of(tensor->data, [](std::byte byte) { return byte == std::byte{0}; })) return true;
    note(*tensor);
    return false;
  }
  void expect_all(const std::string& prefix) {
    for (const TensorInfo& tensor : file_.tensors())
      if (tensor.name.starts_with(prefix)) note(tensor);
  }

 private:
  // RoPE tables that old converters wrote and no program reads.
  static bool is_obsolete(const std::string& name) { return name.find(".attn_rot_embd") != std::string::npos; }

  void check_shape(const TensorInfo& tensor, uint64_t n, uint64_t rows, uint64_t k) const {
    if (tensor.k() == k && tensor.rows() == n * rows && tensor.shape[1] == rows && tensor.shape[2] == n) return;
    const std::vector<uint64_t> expected = n > 1      ? std::vector{n, rows, k}
                                           : rows > 1 ? std::vector{rows, k}
                                                      : std::vector{k};
    file_.fail("tensor " + tensor.name + " has shape " + shape_text(shape_of(tensor)) + ", expected " +
               shape_text(expected));
  }
  const TensorInfo* note(const TensorInfo& tensor) { return *known_.insert(&tensor).first; }

  const GgufFile& file_;
  std::vector<std::unique_ptr<TensorInfo>>& views_;
  std::set<const TensorInfo*> known_;
};

// Biases of attention and of a dense FFN are optional in every architecture, each by itself. Where the layer has no
// such product, a bias other than zeros stays unknown.
LayerVectors<bool> vectors_of(Directory& directory, const ModelConfig& config, const LayerConfig& kinds,
                              const std::string& block) {
  LayerVectors<bool> has = vectors_of(config.architecture);
  const bool is_attention = kinds.mixer == Mixer::kAttention, is_dense = kinds.ffn == Ffn::kDense;
  has.output_bias = directory.has_bias(block + kVectorNames.output_bias) && is_attention;
  has.gate_bias = directory.has_bias(block + kVectorNames.gate_bias) && is_dense;
  has.up_bias = directory.has_bias(block + kVectorNames.up_bias) && is_dense;
  has.down_bias = directory.has_bias(block + kVectorNames.down_bias) && is_dense;
  has.q_bias = directory.has(block + kVectorNames.q_bias);
  has.k_bias = directory.has(block + kVectorNames.k_bias);
  has.v_bias = directory.has(block + kVectorNames.v_bias);
  has.shared_expert_gate = config.experts.shared_ffn > 0;
  return has;
}

// Router scores decide the routing, so router weights must not be quantised.
bool is_exact(TensorType type) {
  return type == TensorType::kF32 || type == TensorType::kF16 || type == TensorType::kBF16;
}

ExpertMatrices<const TensorInfo*> read_experts(Directory& directory, const GgufFile& file, const ModelConfig& config,
                                               const std::string& block) {
  const ExpertsConfig& e = config.experts;
  const std::string fused = block + "ffn_gate_up_exps.weight";  // per expert: rows of gate, then rows of up
  ExpertMatrices<const TensorInfo*> experts;
  if (directory.has(fused)) {
    const TensorInfo* tensor = directory.matrix(fused, uint64_t{2} * e.ffn, config.hidden, e.n);
    experts.gate = directory.view(tensor, {{0, e.ffn, uint64_t{2} * e.ffn, e.n}}, e.n);
    experts.up = directory.view(tensor, {{e.ffn, e.ffn, uint64_t{2} * e.ffn, e.n}}, e.n);
  }
  for_each(
      [&](const TensorInfo*& tensor, const char* name, const MatrixShape& shape, bool is_many) {
        if (tensor == nullptr && shape.rows > 0 && shape.k > 0)
          tensor = directory.matrix(block + name, shape.rows, shape.k, is_many ? e.n : 1);
      },
      experts, kExpertNames, expert_shapes(config), kIsPerExpert);
  if (!is_exact(experts.router->type))
    file.fail("tensor " + experts.router->name + " has type " + std::string(traits(experts.router->type).name) +
              ", expected F32, F16 or BF16");
  return experts;
}

// Handles files with fused attention tensors.
void split_attention(Directory& directory, const ModelConfig& c, const std::string& block,
                     LayerMatrices<const TensorInfo*>& matrices) {
  const uint64_t q = uint64_t{c.n_heads} * c.head_dim, kv = uint64_t{c.n_kv_heads} * c.head_dim;
  const std::string fused = block + "attn_qkv.weight";
  if (c.gated_attention) {  // per head: query, then gate
    const TensorInfo* both = directory.matrix(block + kMatrixNames.q, 2 * q, c.hidden);
    matrices.q = directory.view(both, {{0, c.head_dim, uint64_t{2} * c.head_dim, c.n_heads}});
    matrices.q_gate = directory.view(both, {{c.head_dim, c.head_dim, uint64_t{2} * c.head_dim, c.n_heads}});
  } else if (directory.has(fused)) {
    const TensorInfo* all = directory.matrix(fused, q + 2 * kv, c.hidden);
    matrices.q = directory.rows(all, 0, q);
    matrices.k = directory.rows(all, q, kv);
    matrices.v = directory.rows(all, q + kv, kv);
  }
}

// Handles files with fused attention biases. Marks those as read.
void split_biases(Directory& directory, const ModelConfig& c, const std::string& block,
                  LayerVectors<const TensorInfo*>& vectors, LayerVectors<bool>& has) {
  const std::string fused = block + "attn_qkv.bias";
  if (c.gated_attention || !directory.has(fused)) return;
  const uint64_t q = uint64_t{c.n_heads} * c.head_dim, kv = uint64_t{c.n_kv_heads} * c.head_dim;
  const TensorInfo* all = directory.vector(fused, q + 2 * kv);
  vectors.q_bias = directory.elements(all, 0, q);
  vectors.k_bias = directory.elements(all, q, kv);
  vectors.v_bias = directory.elements(all, q + kv, kv);
  has.q_bias = has.k_bias = has.v_bias = false;
}

// Older files are ordered by key head: its own rows, then those of its value heads.
void split_delta_net(Directory& directory, const ModelConfig& c, const std::string& block,
                     DeltaMatrices<const TensorInfo*>& matrices) {
  const DeltaNetConfig& net = c.delta_net;
  const uint64_t d = net.head_dim, n = net.n_k_heads, of_each = net.n_v_heads / n;
  if (const std::string fused = block + "ssm_ba.weight"; directory.has(fused)) {
    const TensorInfo* both = directory.matrix(fused, uint64_t{2} * net.n_v_heads, c.hidden);
    matrices.beta = directory.view(both, {{0, of_each, 2 * of_each, n}});
    matrices.alpha = directory.view(both, {{of_each, of_each, 2 * of_each, n}});
  }
  if (const std::string fused = block + "ssm_in.weight"; directory.has(fused)) {
    const uint64_t stride = (2 + 2 * of_each) * d;
    const TensorInfo* all = directory.matrix(fused, n * stride, c.hidden);
    matrices.qkv = directory.view(all, {{0, d, stride, n}, {d, d, stride, n}, {2 * d, of_each * d, stride, n}});
    matrices.z = directory.view(all, {{(2 + of_each) * d, of_each * d, stride, n}});
  }
}

LayerTensors read_layer(Directory& directory, const GgufFile& file, const ModelConfig& config, const LayerConfig& kinds,
                        const std::string& block) {
  LayerTensors layer;
  LayerMatrices<const char*> matrix_names = kMatrixNames;
  LayerVectors<const char*> vector_names = kVectorNames;
  LayerVectors<bool> has = vectors_of(directory, config, kinds, block);
  if (config.gated_attention) vector_names.ffn_norm = "post_attention_norm.weight";
  const auto read_matrix = [&](const TensorInfo*& tensor, const char* name, const MatrixShape& shape) {
    if (tensor == nullptr && shape.rows > 0 && shape.k > 0)
      tensor = directory.matrix(block + name, shape.rows, shape.k);
  };
  switch (kinds.mixer) {
    case Mixer::kAttention:
      split_attention(directory, config, block, layer.matrices);
      split_biases(directory, config, block, layer.vectors, has);
      break;
    case Mixer::kDeltaNet: {
      const DeltaNetConfig& net = config.delta_net;
      matrix_names.output = "ssm_out.weight";
      has.q_bias = has.k_bias = has.v_bias = has.q_norm = has.k_norm = false;
      split_delta_net(directory, config, block, layer.delta_matrices);
      for_each(read_matrix, layer.delta_matrices, kDeltaMatrixNames, delta_matrix_shapes(config));
      const DeltaVectors<uint32_t> sizes = {net.conv_kernel, net.n_v_heads, net.n_v_heads, net.head_dim};
      const DeltaVectors<uint32_t> rows = {net.channels(), 1, 1, 1};
      for_each([&](const TensorInfo*& tensor, const char* name, uint32_t n,
                   uint32_t n_rows) { tensor = directory.vector(block + name, n, n_rows); },
               layer.delta_vectors, kDeltaVectorNames, sizes, rows);
      break;
    }
  }
  for_each(
      [&](const TensorInfo*& tensor, const char* name, uint64_t n, bool is_present) {
        if (is_present) tensor = directory.vector(block + name, n);
      },
      layer.vectors, vector_names, vector_sizes(config), has);
  for_each(read_matrix, layer.matrices, matrix_names, matrix_shapes(config, kinds.mixer));
  if (kinds.ffn == Ffn::kExperts) layer.experts = read_experts(directory, file, config, block);
  return layer;
}

}  // namespace

LayerMatrices<MatrixShape> matrix_shapes(const ModelConfig& c, Mixer mixer) {
  const uint32_t q = c.n_heads * c.head_dim, kv = c.n_kv_heads * c.head_dim;
  LayerMatrices<MatrixShape> shapes = {.gate = {c.ffn, c.hidden}, .up = {c.ffn, c.hidden}, .down = {c.hidden, c.ffn}};
  switch (mixer) {
    case Mixer::kAttention:
      shapes.q = {q, c.hidden};
      shapes.k = shapes.v = {kv, c.hidden};
      if (c.gated_attention) shapes.q_gate = shapes.q;
      shapes.output = {c.hidden, q};
      break;
    case Mixer::kDeltaNet:
      shapes.output = {c.hidden, c.delta_net.inner()};
      break;
  }
  return shapes;
}

DeltaMatrices<MatrixShape> delta_matrix_shapes(const ModelConfig& c) {
  const DeltaNetConfig& net = c.delta_net;
  return {.qkv = {net.channels(), c.hidden},
          .z = {net.inner(), c.hidden},
          .alpha = {net.n_v_heads, c.hidden},
          .beta = {net.n_v_heads, c.hidden}};
}

ExpertMatrices<MatrixShape> expert_shapes(const ModelConfig& c) {
  const ExpertsConfig& e = c.experts;
  return {.router = {e.n, c.hidden},
          .gate = {e.ffn, c.hidden},
          .up = {e.ffn, c.hidden},
          .down = {c.hidden, e.ffn},
          .shared_gate = {e.shared_ffn, c.hidden},
          .shared_up = {e.shared_ffn, c.hidden},
          .shared_down = {c.hidden, e.shared_ffn}};
}

TensorInfo expert_of(const TensorInfo& tensor, uint32_t index) {
  assert(index < tensor.shape[2]);
  TensorInfo one = tensor;
  const std::span<const std::byte> first = tensor.row(index * tensor.shape[1]);
  one.shape[2] = 1;
  one.n_dims = 2;
  one.data = {first.data(), first.size() * tensor.shape[1]};
  one.order.clear();  // an expert's rows are contiguous
  return one;
}

LayerVectors<uint32_t> vector_sizes(const ModelConfig& c) {
  const uint32_t q = c.n_heads * c.head_dim, kv = c.n_kv_heads * c.head_dim;
  return {.attn_norm = c.hidden,
          .ffn_norm = c.hidden,
          .q_bias = q,
          .k_bias = kv,
          .v_bias = kv,
          .q_norm = c.head_dim,
          .k_norm = c.head_dim,
          .output_bias = c.hidden,
          .down_bias = c.hidden,
          .gate_bias = c.ffn,
          .up_bias = c.ffn,
          .shared_expert_gate = c.hidden};
}

LayerVectors<bool> vectors_of(Architecture architecture) {
  const bool bias = architecture == Architecture::kQwen2, norms = architecture == Architecture::kQwen3;
  return {.attn_norm = true,
          .ffn_norm = true,
          .q_bias = bias,
          .k_bias = bias,
          .v_bias = bias,
          .q_norm = norms,
          .k_norm = norms};
}

ModelTensors find_model_tensors(const GgufFile& file, const ModelConfig& config) {
  ModelTensors tensors{};
  Directory directory(file, tensors.views);
  tensors.token_embd = directory.matrix("token_embd.weight", config.n_vocab, config.hidden);
  tensors.output_norm = directory.vector("output_norm.weight", config.hidden);
  tensors.output =
      config.tied_output ? tensors.token_embd : directory.matrix("output.weight", config.n_vocab, config.hidden);
  tensors.output_bias = directory.has_bias("output.bias") ? directory.vector("output.bias", config.n_vocab) : nullptr;
  if (config.architecture == Architecture::kLlama) directory.expect("rope_freqs.weight");  // read with the config
  for (uint32_t i = 0; i < config.n_layers; ++i)
    tensors.layers.push_back(read_layer(directory, file, config, config.layers[i], "blk." + std::to_string(i) + "."));
  for (uint32_t i = config.n_layers; i < config.n_blocks(); ++i) directory.expect_all("blk." + std::to_string(i) + ".");
  directory.refuse_unused_tensors();
  return tensors;
}

ModelTensors read_model_tensors(const GgufFile& file, const ModelConfig& config) {
  ModelTensors tensors = find_model_tensors(file, config);
  check_scales(file);
  return tensors;
}

}  // namespace warpchat
