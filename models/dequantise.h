// Exact dequantisation of every supported format: the reference that every kernel is tested against.
#pragma once
#include <cstddef>
#include <span>

#include "models/tensor_type.h"

namespace warpchat {

// row: bytes_per_row(type, out.size()) bytes; out: k weights, exact products and sums of the block's fields in double.
void dequantise_row(TensorType type, std::span<const std::byte> row, std::span<double> out);

// The same rounded once to float.
void dequantise_row(TensorType type, std::span<const std::byte> row, std::span<float> out);

// True if every scale (and every weight of F32, F16, BF16) of the row is finite.
bool scales_are_finite(TensorType type, std::span<const std::byte> data);

}  // namespace warpchat
