// The persistent decoder's tables: which block computes which part of every layer, and the addresses of its operands.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/persistent_decoder.h"

namespace warpchat {

// Device addresses; 0 if the model lacks the tensor.
struct LayerAddresses {
  LayerMatrices<uint64_t> matrices;  // packed
  LayerVectors<uint64_t> vectors;    // without gate_bias and up_bias
  uint64_t k_pages = 0, v_pages = 0;
  ExpertMatrices<uint64_t> experts = {};
  DeltaMatrices<uint64_t> delta_matrices = {};
  DeltaVectors<uint64_t> delta_vectors = {};
  uint64_t gate_up_bias = 0;  // f32 [ffn, 2], as kernels/gemv.h has it
};
struct DecoderAddresses {
  std::vector<LayerAddresses> layers;
  uint64_t token_embd = 0, output = 0, output_norm = 0, output_bias = 0;
  uint64_t hidden = 0, q = 0, k = 0, v = 0, mixed = 0, inner = 0, logits = 0;  // one column each
  uint64_t scratch = 0;                                                        // of incremental attention
  uint32_t n_pages = 0;                                                        // per layer, for keys and for values
  uint64_t error = 0;
  // One column each, if a layer uses them.
  uint64_t q_gate = 0, qkv = 0, z = 0, alpha = 0, beta = 0, delta_mixed = 0;
  uint64_t scores = 0, expert_inner = 0, expert_outputs = 0, shared_inner = 0, shared_output = 0,
           shared_expert_gate = 0;
  uint64_t routes = 0;  // route_bytes for all blocks of the grid
};

// Rows of all layers and the logits' row, for a grid of n_blocks. bytes_ahead: prefetched per phase.
std::vector<LayerRow> layer_rows(const DecoderSpecs& specs, const DecoderAddresses& at, uint32_t n_blocks,
                                 uint64_t bytes_ahead);

// The kernel's arguments from hidden to scratch.
std::vector<uint64_t> activation_arguments(const DecoderSpecs& specs, const DecoderAddresses& at);

}  // namespace warpchat
