// The epilogue that all matrix products share.
#pragma once
#include <optional>
#include <vector>

#include "kernels/common/sigmoid.h"
#include "kernels/matmul/gemv.h"
#include "ptx/builder.h"

namespace warpchat {

// Applies `epilogue` to a row's product and writes it to `y`, its output element. products: weights', and up's if
// is_swiglu. bias: as in kernels/matmul/gemv.h.
inline void write_product(ptx::Builder& b, GemvEpilogue epilogue, const std::vector<ptx::Reg<ptx::f32>>& products,
                          const std::optional<ptx::Global<ptx::f32>>& bias, const ptx::Reg<ptx::u32>& row,
                          const ptx::Global<ptx::f32>& y) {
  using namespace ptx;
  switch (epilogue) {
    case GemvEpilogue::kStore:
      return y.store(0, products[0]);
    case GemvEpilogue::kBias:
      return y.store(0, products[0] + bias->load(row));
    case GemvEpilogue::kResidual:
      return y.store(0, products[0] + y.load());
    case GemvEpilogue::kSwiglu:
      return y.store(0, silu(b, products[0]) * products[1]);
    case GemvEpilogue::kBiasResidual:
      return y.store(0, products[0] + bias->load(row) + y.load());
    case GemvEpilogue::kBiasSwiglu: {
      const Global<f32> both = *bias + row * 2;
      return y.store(0, silu(b, products[0] + both.load(0)) * (products[1] + both.load(1)));
    }
  }
}

}  // namespace warpchat
