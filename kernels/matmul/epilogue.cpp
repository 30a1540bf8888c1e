#include "kernels/matmul/epilogue.h"

#include "kernels/common/sigmoid.h"

namespace warpchat {

using namespace ptx;

void write_product(Builder& b, GemvEpilogue epilogue, const std::vector<Reg<f32>>& products,
                   const std::optional<Global<f32>>& bias, const Reg<u32>& row, const Global<f32>& y) {
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
