// The tensors of a decoder: every one that the architecture has, in its shape, and none besides.
#include <algorithm>
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

  const TensorInfo* matrix(const std::string& name, uint64_t rows, uint64_t k) {
    const TensorInfo& tensor = file_.tensor(name);
    check_shape(tensor, rows, k);
    return note(tensor);
  }

  // F32, [n].
  const TensorInfo* vector(const std::string& name, uint64_t n) {
    const TensorInfo& tensor = file_.tensor(name);
    check_shape(tensor, 1, n);
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

  void check_shape(const TensorInfo& tensor, uint64_t rows, uint64_t k) const {
    if (tensor.k() == k && tensor.rows() == rows && tensor.shape[1] == rows) return;
    const std::vector<uint64_t> expected = rows == 1 ? std::vector{k} : std::vector{rows, k};
    file_.fail("tensor " + tensor.name + " has shape " + shape_text(shape_of(tensor)) + ", expected " +
               shape_text(expected));
  }
  const TensorInfo* note(const TensorInfo& tensor) { return *known_.insert(&tensor).first; }

  const GgufFile& file_;
  std::set<const TensorInfo*> known_;
};

// Query, key and value biases: all three or none.
void read_biases(Directory& directory, const ModelConfig& config, const std::string& block, LayerTensors& layer) {
  const bool any = directory.has(block + "attn_q.bias") || directory.has(block + "attn_k.bias") ||
                   directory.has(block + "attn_v.bias");
  if (config.architecture != Architecture::kQwen2 && !any) return;
  const uint64_t kv_rows = uint64_t{config.n_kv_heads} * config.head_dim;
  layer.attn_q_bias = directory.vector(block + "attn_q.bias", uint64_t{config.n_heads} * config.head_dim);
  layer.attn_k_bias = directory.vector(block + "attn_k.bias", kv_rows);
  layer.attn_v_bias = directory.vector(block + "attn_v.bias", kv_rows);
}

LayerTensors read_layer(Directory& directory, const ModelConfig& config, const std::string& block) {
  const uint64_t hidden = config.hidden, ffn = config.ffn;
  const uint64_t q_rows = uint64_t{config.n_heads} * config.head_dim;
  const uint64_t kv_rows = uint64_t{config.n_kv_heads} * config.head_dim;
  LayerTensors layer{};
  layer.attn_norm = directory.vector(block + "attn_norm.weight", hidden);
  layer.attn_q = directory.matrix(block + "attn_q.weight", q_rows, hidden);
  layer.attn_k = directory.matrix(block + "attn_k.weight", kv_rows, hidden);
  layer.attn_v = directory.matrix(block + "attn_v.weight", kv_rows, hidden);
  layer.attn_output = directory.matrix(block + "attn_output.weight", hidden, q_rows);
  read_biases(directory, config, block, layer);
  if (config.architecture == Architecture::kQwen3) {
    layer.attn_q_norm = directory.vector(block + "attn_q_norm.weight", config.head_dim);
    layer.attn_k_norm = directory.vector(block + "attn_k_norm.weight", config.head_dim);
  }
  layer.ffn_norm = directory.vector(block + "ffn_norm.weight", hidden);
  layer.ffn_gate = directory.matrix(block + "ffn_gate.weight", ffn, hidden);
  layer.ffn_up = directory.matrix(block + "ffn_up.weight", ffn, hidden);
  layer.ffn_down = directory.matrix(block + "ffn_down.weight", hidden, ffn);
  return layer;
}

}  // namespace

ModelTensors find_model_tensors(const GgufFile& file, const ModelConfig& config) {
  Directory directory(file);
  ModelTensors tensors{};
  tensors.token_embd = directory.matrix("token_embd.weight", config.n_vocab, config.hidden);
  tensors.output_norm = directory.vector("output_norm.weight", config.hidden);
  tensors.output =
      config.tied_output ? tensors.token_embd : directory.matrix("output.weight", config.n_vocab, config.hidden);
  if (config.architecture == Architecture::kLlama) directory.expect("rope_freqs.weight");  // read with the config
  for (uint32_t i = 0; i < config.n_layers; ++i)
    tensors.layers.push_back(read_layer(directory, config, "blk." + std::to_string(i) + "."));
  directory.refuse_strays();
  return tensors;
}

ModelTensors read_model_tensors(const GgufFile& file, const ModelConfig& config) {
  ModelTensors tensors = find_model_tensors(file, config);
  check_scales(file);
  return tensors;
}

}  // namespace warpchat
