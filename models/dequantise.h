// Exact dequantisation of every supported format: the reference for tests of kernels.
#pragma once
#include <cstddef>
#include <span>

#include "models/tensor_type.h"

namespace warpchat {

// row: bytes_per_row(type, out.size()) bytes; out: weights, exact in double.
void dequantise_row(TensorType type, std::span<const std::byte> row, std::span<double> out);

// The same, rounded once to float.
void dequantise_row(TensorType type, std::span<const std::byte> row, std::span<float> out);

// Whether every scale (and every weight of F32, F16, BF16) is finite.
bool scales_are_finite(TensorType type, std::span<const std::byte> data);

}  // namespace warpchat
