// Every size of a model on a GPU, computed once: the plan that is checked, and the one that is carried out.
#pragma once
#include <cstdint>

#include "engine/memory_budget.h"
#include "kernels/kernel_list.h"
#include "models/model_config.h"

namespace warpchat {

// How much a decoder on a GPU does at once.
struct GpuSizes {
  uint32_t context = 0;    // most positions of a sequence
  uint32_t batch = 512;    // positions in one prefill pass
  uint32_t sequences = 1;  // each with a page table
  KvTypes cache = {};
  uint32_t n_pages = 0;      // of the KV cache, which they share; 0: a context's for each
  uint32_t kept_states = 0;  // of delta nets, beside the sequences' own
  uint32_t n_states(const ModelConfig& config) const {
    return config.n_layers_with(Mixer::kDeltaNet) > 0 ? sequences + kept_states : 0;
  }
  uint32_t pages_per_sequence() const { return pages_of(context); }  // most
  uint64_t pages() const { return n_pages > 0 ? n_pages : uint64_t{sequences} * pages_per_sequence(); }
  uint32_t columns_of(PassKind kind) const;
  uint32_t token_columns() const;   // most of a pass that are not a prompt's: each has a page table and a sampler
  uint32_t columns() const;         // most of a pass
  uint32_t buffer_columns() const;  // most that they take: see kAlignedColumns
  uint32_t logits_columns() const;  // most whose logits are computed in one pass: each is as wide as the vocabulary
};

// What the device will hold: weights, KV cache and attention's scratch per position, activations, the sampler's states
// and kernels.
MemoryBudget gpu_memory_budget(const ModelConfig& config, const ModelTensors& tensors, const GpuSizes& sizes);

constexpr uint64_t kModuleBytes = 16 << 20;  // compiled kernels and what the driver keeps for them: an estimate

uint64_t weights_bytes(const ModelConfig& config, const ModelTensors& tensors);
uint64_t sampler_bytes(const ModelConfig& config, const GpuSizes& sizes);  // and the persistent decoder's

// Every layer's pages of keys, and behind them those of its values. The page behind the last one is what tables name
// where they have none: nothing is written to it, and reading it does no harm.
struct CachePlan {
  CachePlan(const ModelConfig& config, const GpuSizes& sizes);
  uint64_t page_bytes() const;  // of all layers; saturates
  uint64_t n_bytes() const { return saturating_sum({saturating_product({pages, page_bytes()}), v.n_bytes()}); }
  uint64_t offset(uint64_t layer, bool values) const {
    return pages * (layer * (k.n_bytes() + v.n_bytes()) + (values ? k.n_bytes() : 0));
  }

  uint64_t layers, pages;
  KvLayout k, v;  // of a page of a layer
};

// What the host tells a pass: u64 page tables, of each column or of a prompt's one sequence, as many addresses of
// states; u32 tokens; u32 positions.
inline uint64_t pass_bytes(const GpuSizes& sizes) {
  return uint64_t{sizes.token_columns()} * 16 + uint64_t{sizes.buffer_columns()} * 8;
}

// A pass may compute the logits of up to three columns more than are wanted: its input begins at 16 bytes.
inline uint32_t logits_rows(const GpuSizes& sizes) { return sizes.logits_columns() + 3; }

// Byte offsets in one allocation, each a multiple of 256.
struct ActivationPlan {
  uint64_t hidden, q, k, v, mixed, inner;                       // f32 [buffer_columns, width]
  uint64_t halves, half_factors;                                // of the widest input: see kernels/half_columns.h
  uint64_t integers, integer_factors;                           // likewise: see kernels/integer_columns.h
  uint64_t batch_scratch;                                       // of a batch's products: batch_scratch_bytes
  uint64_t q_gate, qkv, z, alpha, beta, delta_mixed;            // likewise, of hybrids
  uint64_t delta_chunks;                                        // of their prompts: see DeltaChunkScratch
  uint64_t scores, shared_inner, shared_output, shared_switch;  // likewise, of layers of experts
  uint64_t experts, expert_weights;                             // u32, f32 [buffer_columns, n_used]
  uint64_t expert_inner, expert_outputs;                        // f32 [buffer_columns, n_used, width]
  uint64_t expert_order, expert_tiles;                          // u32, as kernels/expert_order.h has them of a part
  uint64_t logits;                                              // f32 [logits_rows, n_vocab]
  uint64_t pass;                                                // of its columns: page tables, tokens and positions
  uint64_t error;                                               // u32 [4]
  uint64_t page_tables;                                         // u32 [sequences, pages_per_sequence]
  uint64_t scratch[kPassKinds], scratch_bytes;                  // of incremental attention, for each kind of pass
  uint64_t n_bytes = 0;
};
ActivationPlan plan_activations(const ModelConfig& config, const GpuSizes& sizes);

}  // namespace warpchat
