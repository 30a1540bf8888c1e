// Memory that a model will need on a device, computed from its header.
#pragma once
#include <cstdint>

#include "engine/cpu/cpu_steps.h"
#include "engine/gpu/gpu_memory.h"
#include "engine/session/model.h"

namespace warpchat {

// CPU options with that context, without threads and progress.
CpuOptions cpu_options(const ModelOptions& options, const ModelConfig& config, uint32_t context);
GpuSizes gpu_sizes(const ModelOptions& options, const ModelConfig& config, uint32_t context);

// Bytes of weights, KV caches and activations, with the context chosen by the options.
uint64_t memory_needed(const ModelOptions& options, const ModelConfig& config, const ModelTensors& tensors,
                       bool on_gpu);

}  // namespace warpchat
