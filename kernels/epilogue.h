// What becomes of a product before it is written: the same behind every matrix product.
#pragma once
#include <optional>
#include <vector>

#include "kernels/gemv.h"
#include "ptx/builder.h"

namespace warpchat {

// Writes a row's product to `y`, its element of the output, by `epilogue`. products: of the weights, and with kSwiglu
// of up. bias: f32 [rows], with kBias.
void write_product(ptx::Builder& b, GemvEpilogue epilogue, const std::vector<ptx::Reg<ptx::f32>>& products,
                   const std::optional<ptx::Global<ptx::f32>>& bias, const ptx::Reg<ptx::u32>& row,
                   const ptx::Global<ptx::f32>& y);

}  // namespace warpchat
