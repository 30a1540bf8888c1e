// Quantisers for tests and tools: F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q6_K by rounding to the nearest.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "models/tensor_type.h"

namespace warpchat {

// weights: k values, k a multiple of the format's block. Returns bytes_per_row(type, k) bytes. Error if unsupported.
std::vector<std::byte> quantise_row(TensorType type, std::span<const float> weights);

}  // namespace warpchat
