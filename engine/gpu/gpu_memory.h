// Every size of a model on a GPU, computed once: the plan that is checked, and the one that is carried out.
#pragma once
#include <cstdint>

#include "engine/memory_budget.h"
#include "models/model_config.h"

namespace warpchat {

constexpr uint32_t kGpuPassColumns = 8;  // most positions in one pass

// What the device will hold: weights, KV cache and attention's scratch per position, activations and kernels.
MemoryBudget gpu_memory_budget(const ModelConfig& config, const ModelTensors& tensors, uint32_t context);

uint64_t weights_bytes(const ModelConfig& config, const ModelTensors& tensors);
uint64_t cache_bytes_per_position(const ModelConfig& config);  // keys and values of all layers, fp16

// Byte offsets in one allocation, each a multiple of 256.
struct ActivationPlan {
  uint64_t hidden, q, k, v, mixed, inner, logits;  // f32 [columns, width]
  uint64_t pass;                                   // u32 tokens [columns], positions [columns]
  uint64_t error;                                  // u32 [4]
  uint64_t cache_table;                            // u64 [n_layers][k, v][columns]
  uint64_t scratch[2], scratch_bytes;              // of attention: of one column, and of all
  uint64_t n_bytes = 0;
};
ActivationPlan plan_activations(const ModelConfig& config, uint32_t context, uint32_t columns);

}  // namespace warpchat
