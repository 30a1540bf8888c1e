// The tensors of a decoder: every one that the architecture has, in its shape, and none besides.
#include <algorithm>
#include <cassert>
#include <set>

#include "models/message.h"
#include "models/model_config.h"
#include "models/weight_check.h"

namespace warpchat {
namespace {

std::string shape_text(const std::vector<uint64_t>& shape) {
  std::string text;
  for (uint64_t size : shape) text += (text.empty() ? "[" : ", ") + std::to_string(size);
  return text + "]";
}

// As the engine's code writes shapes: rows first.
std::vector<uint64_t> shape_of(const TensorInfo& tensor) {
  std::vector<uint64_t> shape(tensor.shape.begin(), tensor.shape.begin() + tensor.n_dims);
  std::reverse(shape.begin(), shape.end());
  return shape;
}

// Hands out tensors by name and remembers which were asked for.
class Directory {
 public:
  explicit Directory(const GgufFile& file) : file_(file) {}

  // n > 1: so many, one after the other.
  const TensorInfo* matrix(const std::string& name, uint64_t rows, uint64_t k, uint64_t n = 1) {
    const TensorInfo& tensor = file_.tensor(name);
    check_shape(tensor, n, rows, k);
    return note(tensor);
  }

  // F32, [n].
  const TensorInfo* vector(const std::string& name, uint64_t n) {
    const TensorInfo& tensor = file_.tensor(name);
    check_shape(tensor, 1, 1, n);
    if (tensor.type != TensorType::kF32)
      file_.fail("tensor " + name + " has type " + std::string(traits(tensor.type).name) + ", expected F32");
    return note(tensor);
  }

  bool has(const std::string& name) const { return file_.find_tensor(name) != nullptr; }

  // A tensor that nobody asked for belongs to mathematics that this program would leave out.
  void refuse_strays() const {
    for (const TensorInfo& tensor : file_.tensors()) {
      if (known_.count(&tensor) || is_obsolete(tensor.name)) continue;
      file_.fail("tensor " + printable(tensor.name) + " is not part of a supported " +
                 std::string(file_.get_string("general.architecture")) + " model");
    }
  }
  void expect(const std::string& name) {
    if (const TensorInfo* tensor = file_.find_tensor(name)) note(*tensor);
  }

 private:
  // Tables of rotations that old converters wrote and no program reads.
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
  std::set<const TensorInfo*> known_;
};

// Query, key and value biases: all three or none, where the architecture leaves it open.
LayerVectors<bool> vectors_of(const Directory& directory, const ModelConfig& config, const std::string& block) {
  LayerVectors<bool> has = vectors_of(config.architecture);
  if (directory.has(block + kVectorNames.q_bias) || directory.has(block + kVectorNames.k_bias) ||
      directory.has(block + kVectorNames.v_bias))
    has.q_bias = has.k_bias = has.v_bias = true;
  has.shared_switch = config.experts.shared_ffn > 0;
  return has;
}

// A router's scores decide which experts compute a token: its weights are as exact as they were trained.
bool is_exact(TensorType type) {
  return type == TensorType::kF32 || type == TensorType::kF16 || type == TensorType::kBF16;
}

ExpertMatrices<const TensorInfo*> read_experts(Directory& directory, const GgufFile& file, const ModelConfig& config,
                                               const std::string& block) {
  ExpertMatrices<const TensorInfo*> experts;
  for_each(
      [&](const TensorInfo*& tensor, const char* name, const MatrixShape& shape, bool is_many) {
        if (shape.rows > 0 && shape.k > 0)
          tensor = directory.matrix(block + name, shape.rows, shape.k, is_many ? config.experts.n : 1);
      },
      experts, kExpertNames, expert_shapes(config), kIsOfEachExpert);
  if (!is_exact(experts.router->type))
    file.fail("tensor " + experts.router->name + " has type " + std::string(traits(experts.router->type).name) +
              ", expected F32, F16 or BF16");
  return experts;
}

LayerTensors read_layer(Directory& directory, const GgufFile& file, const ModelConfig& config, const LayerConfig& kinds,
                        const std::string& block) {
  LayerTensors layer;
  for_each(
      [&](const TensorInfo*& tensor, const char* name, uint64_t n, bool is_there) {
        if (is_there) tensor = directory.vector(block + name, n);
      },
      layer.vectors, kVectorNames, vector_sizes(config), vectors_of(directory, config, block));
  for_each(
      [&](const TensorInfo*& tensor, const char* name, const MatrixShape& shape) {
        if (shape.rows > 0 && shape.k > 0) tensor = directory.matrix(block + name, shape.rows, shape.k);
      },
      layer.matrices, kMatrixNames, matrix_shapes(config));
  if (kinds.ffn == Ffn::kExperts) layer.experts = read_experts(directory, file, config, block);
  return layer;
}

}  // namespace

LayerMatrices<MatrixShape> matrix_shapes(const ModelConfig& c) {
  const uint32_t q = c.n_heads * c.head_dim, kv = c.n_kv_heads * c.head_dim;
  return {.q = {q, c.hidden},
          .k = {kv, c.hidden},
          .v = {kv, c.hidden},
          .output = {c.hidden, q},
          .gate = {c.ffn, c.hidden},
          .up = {c.ffn, c.hidden},
          .down = {c.hidden, c.ffn}};
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
  const size_t n_bytes = tensor.data.size() / tensor.shape[2];
  one.shape[2] = 1;
  one.n_dims = 2;
  one.data = tensor.data.subspan(index * n_bytes, n_bytes);
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
          .shared_switch = c.hidden};
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
  Directory directory(file);
  ModelTensors tensors{};
  tensors.token_embd = directory.matrix("token_embd.weight", config.n_vocab, config.hidden);
  tensors.output_norm = directory.vector("output_norm.weight", config.hidden);
  tensors.output =
      config.tied_output ? tensors.token_embd : directory.matrix("output.weight", config.n_vocab, config.hidden);
  if (config.architecture == Architecture::kLlama) directory.expect("rope_freqs.weight");  // read with the config
  for (uint32_t i = 0; i < config.n_layers; ++i)
    tensors.layers.push_back(read_layer(directory, file, config, config.layers[i], "blk." + std::to_string(i) + "."));
  directory.refuse_strays();
  return tensors;
}

ModelTensors read_model_tensors(const GgufFile& file, const ModelConfig& config) {
  ModelTensors tensors = find_model_tensors(file, config);
  check_scales(file);
  return tensors;
}

}  // namespace warpchat
