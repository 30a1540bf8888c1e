// Quantisers for tests and tools, to every supported format. The K formats search their scales for the least weighted
// square error, so that a real model stays good; the others divide a block's range.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "models/tensor_type.h"

namespace warpchat {

// weights: k finite values, k a multiple of the format's block. Returns bytes_per_row(type, k) bytes. Throws Error
// where k does not fit the blocks, a weight is not finite, or a block's scale exceeds binary16.
std::vector<std::byte> quantise_row(TensorType type, std::span<const float> weights);

}  // namespace warpchat
