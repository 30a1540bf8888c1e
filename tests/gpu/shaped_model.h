// A model of a known shape with random weights, for measurements: every format of its Q4_K_M mix, in memory or as a
// file that other programs measure.
#pragma once
#include <cstddef>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/shapes.h"

namespace warpchat {

// model_shape, and "tiny": two layers of Qwen2's kind that the emulator decodes in no time. Error for models with
// experts or delta nets.
ModelShape bench_shape(std::string_view name);

class ShapedModel {
 public:
  explicit ShapedModel(const ModelShape& shape);
  const ModelConfig& config() const { return config_; }
  const ModelTensors& tensors() const { return tensors_; }
  uint64_t n_bytes() const { return bytes_; }  // of a file with these tensors

  // As a GGUF file with a vocabulary of bytes, padded to n_vocab. Copies all weights on the way. Error naming the path.
  void write(const std::string& path) const;

 private:
  const TensorInfo* add(const std::string& name, TensorType type, uint64_t k, uint64_t rows);
  std::span<const std::byte> blocks(TensorType type, uint64_t n_bytes);

  ModelConfig config_;
  ModelTensors tensors_;
  std::list<TensorInfo> infos_;
  std::map<TensorType, std::vector<std::byte>> blocks_;  // tensors of one format share their bytes
  uint64_t bytes_ = 0;
};

}  // namespace warpchat
