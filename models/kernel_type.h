// What kernels read instead of formats that keep weights by grids: blocks of four-bit codes, the same weights to the
// bit.
#pragma once
#include <cstddef>
#include <span>

#include "models/tensor_type.h"

namespace warpchat {

// The type itself, where kernels read it as a file has it.
TensorType kernel_type(TensorType stored);

// rows: whole blocks of `stored`, which is no kernel_type itself; out: as many blocks of kernel_type(stored).
void expand_rows(TensorType stored, std::span<const std::byte> rows, std::span<std::byte> out);

}  // namespace warpchat
