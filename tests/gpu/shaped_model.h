// A model of a known shape with random weights, for measurements: all formats of its Q4_K_M mix, in memory or as a file
// for other programs.
#pragma once
#include <cstddef>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/shapes.h"

namespace warpchat {

// model_shape, or for "tiny-SHAPE" a few narrow layers of that shape's kinds, which the emulator decodes quickly.
// "tiny" has those of qwen2.5-1.5b.
ModelShape bench_shape(std::string_view name);

class ShapedModel {
 public:
  explicit ShapedModel(const ModelShape& shape);
  const ModelConfig& config() const { return config_; }
  const ModelTensors& tensors() const { return tensors_; }
  uint64_t n_bytes() const { return bytes_; }  // size of a file with these tensors

  // Writes a GGUF file with a vocabulary of bytes, padded to n_vocab. Copies all weights. Throws Error with the path,
  // also for models with delta nets.
  void write(const std::string& path) const;

 private:
  // A tensor of n matrices of [rows, k].
  const TensorInfo* add(const std::string& name, TensorType type, uint64_t k, uint64_t rows, uint64_t n = 1);
  void add_delta_net(const std::string& block, const LayerFormats& formats, LayerTensors& t);
  std::span<const std::byte> blocks(TensorType type, uint64_t n_bytes);

  ModelConfig config_;
  ModelTensors tensors_;
  std::list<TensorInfo> infos_;
  std::map<TensorType, std::vector<std::byte>> blocks_;  // tensors of one format share bytes
  std::vector<float> norms_, decays_;                    // for all norms; for all delta nets
  uint64_t bytes_ = 0;
};

}  // namespace warpchat
