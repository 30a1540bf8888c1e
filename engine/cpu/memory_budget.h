// Memory that a model needs on the CPU, and memory that the machine has.
#pragma once
#include <cstdint>

#include "engine/cpu/kernels/kernels.h"
#include "engine/memory_budget.h"
#include "kernels/attention/kv_cache.h"
#include "kernels/operation.h"
#include "models/model_config.h"

namespace warpchat {

// The buffers that the CPU has as f32 columns, in order, without the logits; the others are the experts' own.
inline constexpr Buffer kActivations[] = {
    Buffer::kHidden, Buffer::kQ,   Buffer::kK, Buffer::kV,     Buffer::kQGate, Buffer::kMixed,     Buffer::kInner,
    Buffer::kScores, Buffer::kQkv, Buffer::kZ, Buffer::kAlpha, Buffer::kBeta,  Buffer::kDeltaMixed};

// Longest input of the model's matrices.
uint32_t widest_input(const ModelConfig& config);

// Maximum columns with logits in one pass; each column is as wide as the vocabulary.
uint32_t logits_columns(uint32_t max_columns, uint32_t sequences);

// Saturates instead of overflowing.
MemoryBudget memory_budget(const CpuKernels& kernels, const ModelConfig& config, const ModelTensors& tensors,
                           uint32_t max_columns, uint32_t sequences = 1, KvTypes cache = {}, uint32_t n_states = 0);

// For all experts, without shared ones.
uint64_t expert_bytes(const CpuKernels& kernels, const ModelConfig& config, const ModelTensors& tensors);

// Memory still available to this process: the least of free memory, control group limit and address space limit.
uint64_t available_memory();

}  // namespace warpchat
