// What a model on the CPU will hold in memory, and whether the machine has it.
#pragma once
#include <cstdint>

#include "engine/cpu/kernels/kernels.h"
#include "models/model_config.h"

namespace warpchat {

struct MemoryBudget {
  uint64_t weights_bytes;             // packed copies of every matrix
  uint64_t cache_bytes_per_position;  // keys and values of all layers
  uint64_t activation_bytes;          // the buffers of one pass
  uint64_t total(uint32_t context) const;
};

// The longest input of any of the model's matrices.
uint32_t widest_input(const ModelConfig& config);

// Saturates instead of overflowing.
MemoryBudget memory_budget(const CpuKernels& kernels, const ModelConfig& config, const ModelTensors& tensors,
                           uint32_t max_columns);

// What the system would still give this process: the least of free memory, control group and address space limits.
uint64_t available_memory();

// Error "needs ..., available ..., largest --ctx-size that fits" if total(context) > available.
void check_memory(const MemoryBudget& budget, uint32_t context, uint64_t available);

}  // namespace warpchat
