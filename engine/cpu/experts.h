// Mixture-of-experts FFNs: routing of a pass's columns, and the experts' outputs.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "engine/cpu/packed_matrix.h"
#include "engine/cpu/pages.h"
#include "engine/cpu/products.h"
#include "models/model_config.h"

namespace warpchat {

// A layer's experts. An expert is packed when the first token is routed to it, so that a large file opens quickly.
struct LayerExperts {
  ExpertMatrices<const TensorInfo*> tensors;
  ExpertMatrices<std::vector<PackedMatrix>> packed;  // per expert: [n], initially empty; others: [1] or none
};

class ExpertRunner {
 public:
  // arena: needs room for all experts of all layers.
  ExpertRunner(ThreadPool& pool, const CpuKernels& kernels, ProductRunner& products, const FileMappings& mappings,
               Arena& arena, const ModelConfig& config, uint32_t max_columns);
  static uint64_t bytes_needed(const ModelConfig& config, uint32_t max_columns);  // saturates

  uint64_t n_bytes() const { return sums_.n_bytes() + shared_inner_.n_bytes() + inner_.n_bytes() + outputs_.n_bytes(); }

  LayerExperts load(const ExpertMatrices<const TensorInfo*>& tensors);  // router and shared expert
  // Routes the columns. scores: [columns, n].
  void choose(const float* scores, uint32_t columns);
  // hidden += outputs of the routed experts, and of the shared one if any. shared_expert_gate: [hidden]. Returns the
  // bytes of weights read.
  uint64_t run(LayerExperts& layer, const ProductInput& input, const std::vector<float>& shared_expert_gate,
               float* hidden);

 private:
  struct Use {  // assignment of a column to an expert
    uint32_t expert, column;
    float weight;
  };
  uint64_t run_shared(const LayerExperts& layer, const ProductInput& input,
                      const std::vector<float>& shared_expert_gate);
  const PackedMatrix& packed(std::vector<PackedMatrix>& experts, const TensorInfo& tensor, uint32_t index);

  ThreadPool& pool_;
  const CpuKernels& kernels_;
  ProductRunner& products_;
  const FileMappings& mappings_;
  Arena& arena_;
  const ExpertsConfig config_;
  const uint32_t max_assignments_;  // assignments at once
  std::vector<Use> assignments_;    // this pass's assignments, sorted by expert and column
  Pages sums_, shared_inner_;  // [columns, hidden], [columns, shared ffn]
  Pages inner_, outputs_;      // [max_assignments, ffn], [max_assignments, hidden]
};

}  // namespace warpchat
