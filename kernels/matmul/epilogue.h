// The epilogue that all matrix products share.
#pragma once
#include <optional>
#include <vector>

#include "kernels/matmul/gemv.h"
#include "ptx/builder.h"

namespace warpchat {

// Applies `epilogue` to a row's product and writes it to `y`, its output element. products: weights', and up's if
// is_swiglu. bias: as in kernels/matmul/gemv.h.
void write_product(ptx::Builder& b, GemvEpilogue epilogue, const std::vector<ptx::Reg<ptx::f32>>& products,
                   const std::optional<ptx::Global<ptx::f32>>& bias, const ptx::Reg<ptx::u32>& row,
                   const ptx::Global<ptx::f32>& y);

}  // namespace warpchat
