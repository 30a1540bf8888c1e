// The tables of the persistent decoder: which block computes what of every layer, and where it lies.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/persistent_decoder.h"

namespace warpchat {

// Device addresses; 0 for what the model has not.
struct LayerAddresses {
  LayerMatrices<uint64_t> matrices;  // packed
  LayerVectors<uint64_t> vectors;
  uint64_t k_pages = 0, v_pages = 0;
  ExpertMatrices<uint64_t> experts = {};
  DeltaMatrices<uint64_t> delta_matrices = {};
  DeltaVectors<uint64_t> delta_vectors = {};
};
struct DecoderAddresses {
  std::vector<LayerAddresses> layers;
  uint64_t token_embd = 0, output = 0, output_norm = 0;
  uint64_t hidden = 0, q = 0, k = 0, v = 0, mixed = 0, inner = 0, logits = 0;  // of one column
  uint64_t scratch = 0;                                                        // of incremental attention
  uint32_t n_pages = 0;                                                        // of each layer's keys, and values
  uint64_t error = 0;
};

// The rows of the layers and that behind them, for a grid of n_blocks.
std::vector<LayerRow> layer_rows(const DecoderSpecs& specs, const DecoderAddresses& at, uint32_t n_blocks);

}  // namespace warpchat
