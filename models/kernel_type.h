// Formats that kernels read in place of grid formats: blocks of four-bit codes, with exactly the same weights.
#pragma once
#include <cstddef>
#include <span>

#include "models/tensor_type.h"

namespace warpchat {

// The type itself, unless its blocks are expanded for kernels.
TensorType kernel_type(TensorType stored);

// rows: whole blocks of `stored`, which must differ from its kernel_type. out: as many blocks of kernel_type(stored).
void expand_rows(TensorType stored, std::span<const std::byte> rows, std::span<std::byte> out);

}  // namespace warpchat
