// The tables of the persistent decoder: which block computes what of every layer, and where it lies.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/persistent_decoder.h"

namespace warpchat {

// Device addresses; 0 for what the model has not.
struct LayerAddresses {
  uint64_t q = 0, k = 0, v = 0, output = 0, gate = 0, up = 0, down = 0;  // matrices, packed
  uint64_t attn_norm = 0, ffn_norm = 0, q_bias = 0, k_bias = 0, v_bias = 0, q_norm = 0, k_norm = 0;
  uint64_t k_cache = 0, v_cache = 0;  // of the sequence
};
struct DecoderAddresses {
  std::vector<LayerAddresses> layers;
  uint64_t token_embd = 0, output = 0, output_norm = 0;
  uint64_t hidden = 0, q = 0, k = 0, v = 0, mixed = 0, inner = 0, logits = 0;  // of one column
  uint64_t scratch = 0;                                                        // of incremental attention
  uint64_t error = 0;
};

// The rows of the layers and that behind them, for a grid of n_blocks.
std::vector<LayerRow> layer_rows(const DecoderSpecs& specs, const DecoderAddresses& at, uint32_t n_blocks);

}  // namespace warpchat
