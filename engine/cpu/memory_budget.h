// What a model on the CPU will hold in memory, and what the machine has.
#pragma once
#include <cstdint>

#include "engine/cpu/kernels/kernels.h"
#include "engine/memory_budget.h"
#include "kernels/kv_cache.h"
#include "models/model_config.h"

namespace warpchat {

// The longest input of any of the model's matrices.
uint32_t widest_input(const ModelConfig& config);

// Most columns whose logits are computed in one pass: each is as wide as the vocabulary.
uint32_t logits_columns(uint32_t max_columns, uint32_t sequences);

// Saturates instead of overflowing.
MemoryBudget memory_budget(const CpuKernels& kernels, const ModelConfig& config, const ModelTensors& tensors,
                           uint32_t max_columns, uint32_t sequences = 1, KvTypes cache = {}, uint32_t n_states = 0);

// Of all experts, without the shared ones.
uint64_t expert_bytes(const CpuKernels& kernels, const ModelConfig& config, const ModelTensors& tensors);

// What the system would still give this process: the least of free memory, control group and address space limits.
uint64_t available_memory();

}  // namespace warpchat
