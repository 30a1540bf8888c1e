// What a model would hold on a device, by its header alone.
#pragma once
#include <cstdint>

#include "engine/session/model.h"

namespace warpchat {

// Bytes of weights, KV caches and activations, with the context that the options ask for.
uint64_t memory_needed(const ModelOptions& options, const ModelConfig& config, const ModelTensors& tensors,
                       bool on_gpu);

}  // namespace warpchat
