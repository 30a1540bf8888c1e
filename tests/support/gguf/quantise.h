// Quantisers to every supported format, for tests and tools. K formats search scales for the least weighted square
// error, so that a real model stays good; others divide a block's range.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "models/tensor_type.h"

namespace warpchat {

// weights: k finite values; k is a multiple of the block's size. Returns bytes_per_row(type, k) bytes. Throws Error if
// k does not fit, a weight is not finite, or a scale exceeds binary16.
std::vector<std::byte> quantise_row(TensorType type, std::span<const float> weights);

}  // namespace warpchat
