// A small model for device checks, with a layer of every kind and weights in Q4_K and Q6_K, generated from a seed.
// Layers: delta net and experts, attention and dense, delta net and dense, attention and experts.
#pragma once
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "models/model_config.h"

namespace warpchat {

class CheckModel {
 public:
  explicit CheckModel(uint32_t seed);
  CheckModel(const CheckModel&) = delete;

  const ModelConfig& config() const { return config_; }
  const ModelTensors& tensors() const { return tensors_; }
  std::vector<int32_t> tokens(uint32_t n) const;  // token ids within the vocabulary

 private:
  const TensorInfo* tensor(const std::string& name, TensorType type, uint64_t k, uint64_t rows, float mean,
                           float deviation);
  const TensorInfo* matrix(const std::string& name, TensorType type, MatrixShape shape, uint32_t n, float gain);
  const TensorInfo* vector(const std::string& name, uint64_t size, float mean, float deviation);
  LayerTensors layer(uint32_t index);

  ModelConfig config_;
  ModelTensors tensors_;
  std::mt19937 random_;
  std::deque<std::vector<std::byte>> data_;
  std::deque<TensorInfo> infos_;
};

}  // namespace warpchat
