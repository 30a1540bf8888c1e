// Every size of a model on a GPU, computed once: the plan that is checked, and the one that is carried out.
#pragma once
#include <cstdint>

#include "engine/memory_budget.h"
#include "kernels/kernel_list.h"
#include "models/model_config.h"

namespace warpchat {

// How much a decoder on a GPU does at once.
struct GpuSizes {
  uint32_t context = 0;    // positions in each sequence's KV cache
  uint32_t batch = 512;    // positions in one prefill pass
  uint32_t sequences = 1;  // each with a KV cache
  KvTypes cache = {};
  uint32_t columns_of(PassKind kind) const;
  uint32_t columns() const;         // most of a pass
  uint32_t logits_columns() const;  // most whose logits are computed in one pass: each is as wide as the vocabulary
};

// What the device will hold: weights, KV cache and attention's scratch per position, activations, the sampler's states
// and kernels.
MemoryBudget gpu_memory_budget(const ModelConfig& config, const ModelTensors& tensors, const GpuSizes& sizes);

constexpr uint64_t kModuleBytes = 16 << 20;  // compiled kernels and what the driver keeps for them: an estimate

uint64_t weights_bytes(const ModelConfig& config, const ModelTensors& tensors);
uint64_t sampler_bytes(const ModelConfig& config, const GpuSizes& sizes);  // and the persistent decoder's

// The caches of one sequence lie behind each other, those of keys and values in turn.
struct CachePlan {
  CachePlan(const ModelConfig& config, const GpuSizes& sizes);
  uint64_t bytes_per_position() const;  // of all layers, without what aligns them; saturates
  uint64_t n_bytes() const { return layers * (k.n_bytes() + v.n_bytes()); }  // of a sequence
  uint64_t offset(uint64_t layer, bool values) const {
    return layer * (k.n_bytes() + v.n_bytes()) + (values ? k.n_bytes() : 0);
  }

  uint64_t layers;
  KvLayout k, v;  // of a layer
};

// A pass may compute the logits of up to three columns more than are wanted: its input begins at 16 bytes.
inline uint32_t logits_rows(const GpuSizes& sizes) { return sizes.logits_columns() + 3; }

// Byte offsets in one allocation, each a multiple of 256.
struct ActivationPlan {
  uint64_t hidden, q, k, v, mixed, inner;       // f32 [columns, width]
  uint64_t logits;                              // f32 [logits_rows, n_vocab]
  uint64_t pass;                                // u32 tokens [columns of the pass], then as many positions
  uint64_t error;                               // u32 [4]
  uint64_t cache_table;                         // u64 [n_layers][k, v][sequences]: of the pass's columns in order
  uint64_t scratch[kPassKinds], scratch_bytes;  // of incremental attention, for each kind of pass
  uint64_t n_bytes = 0;
};
ActivationPlan plan_activations(const ModelConfig& config, const GpuSizes& sizes);

}  // namespace warpchat
