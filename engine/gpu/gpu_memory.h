// All sizes of a model on a GPU, computed once for both the check and the allocation.
#pragma once
#include <array>
#include <cstdint>

#include "engine/memory_budget.h"
#include "kernels/launch_list.h"
#include "models/model_config.h"

namespace warpchat {

// Capacity of a decoder on a GPU.
struct GpuSizes {
  uint32_t context = 0;    // maximum positions per sequence
  uint32_t batch = 512;    // positions in one prefill pass
  uint32_t sequences = 1;  // each with a page table
  KvTypes cache = {};
  uint32_t n_pages = 0;            // in the shared KV cache; 0: a full context per sequence
  uint32_t state_checkpoints = 0;  // checkpoints of delta nets, besides the sequences' own states
  uint32_t n_states(const ModelConfig& config) const {
    return config.n_layers_with(Mixer::kDeltaNet) > 0 ? sequences + state_checkpoints : 0;
  }
  uint32_t pages_per_sequence() const { return pages_of(context); }  // maximum
  uint64_t pages() const { return n_pages > 0 ? n_pages : uint64_t{sequences} * pages_per_sequence(); }
  uint32_t columns_of(PassKind kind) const;
  uint32_t token_columns() const;   // maximum per pass outside prompts; each has a page table and a sampler
  uint32_t columns() const;         // maximum per pass
  uint32_t buffer_columns() const;  // maximum in the buffers, with alignment: see kAlignedColumns
  uint32_t logits_columns() const;  // maximum with logits per pass; each is as wide as the vocabulary
};

// Device memory of a model: weights, KV cache and attention scratch per position, activations, sampler states, kernels.
MemoryBudget gpu_memory_budget(const ModelConfig& config, const ModelTensors& tensors, const GpuSizes& sizes);

constexpr uint64_t kModuleBytes = 16 << 20;  // estimate for compiled kernels, with the driver's share

uint64_t weights_bytes(const ModelConfig& config, const ModelTensors& tensors);
uint64_t sampler_bytes(const ModelConfig& config, const GpuSizes& sizes);  // includes the persistent decoder's

// For every layer, pages of keys, then pages of values. Unused page table entries name an extra last page, which is
// never written and safe to read.
struct CachePlan {
  CachePlan(const ModelConfig& config, const GpuSizes& sizes);
  uint64_t page_bytes() const;  // for all layers; saturates
  uint64_t n_bytes() const { return saturating_sum({saturating_product({pages, page_bytes()}), v.n_bytes()}); }
  uint64_t offset(uint64_t layer, bool values) const {
    return pages * (layer * (k.n_bytes() + v.n_bytes()) + (values ? k.n_bytes() : 0));
  }

  uint64_t layers, pages;
  KvLayout k, v;  // one page of one layer
};

// Input of a pass: u64 page tables (one per column, or one per prompt) and as many u64 addresses of states; u32 tokens;
// u32 positions.
inline uint64_t pass_bytes(const GpuSizes& sizes) {
  return uint64_t{sizes.token_columns()} * 16 + uint64_t{sizes.buffer_columns()} * 8;
}

// A pass may compute logits for up to three unwanted columns, because its input is 16-byte aligned.
inline uint32_t logits_rows(const GpuSizes& sizes) { return sizes.logits_columns() + 3; }

// Byte offsets in one allocation, each a multiple of 256.
struct ActivationPlan {
  std::array<uint64_t, kBuffers> offsets = {};  // of the buffers of a pass, but for those in `pass` and in caches
  uint64_t pass;                                // page tables, states, tokens and positions of a pass
  uint64_t page_tables;                         // u32 [sequences, pages_per_sequence]
  uint64_t scratch[kPassKinds], scratch_bytes;  // for incremental attention, per kind of pass
  uint64_t n_bytes = 0;
  uint64_t& operator[](Buffer buffer) { return offsets.at(static_cast<size_t>(buffer)); }
  uint64_t operator[](Buffer buffer) const { return offsets.at(static_cast<size_t>(buffer)); }
};
ActivationPlan plan_activations(const ModelConfig& config, const GpuSizes& sizes);

}  // namespace warpchat
