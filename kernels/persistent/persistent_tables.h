// The persistent decoder's tables: which block computes which part of every layer, and the addresses of its operands.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/persistent/persistent_decoder.h"

namespace warpchat {

// Rows of all layers and the logits' row, for a grid of n_blocks. bytes_ahead: prefetched per phase.
std::vector<LayerRow> layer_rows(const LaunchList& list, const PassAddresses& at, uint32_t n_blocks,
                                 uint64_t bytes_ahead);

}  // namespace warpchat
