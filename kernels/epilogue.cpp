#include "kernels/epilogue.h"

namespace warpchat {

using namespace ptx;

namespace {

// silu(gate) * up, where silu(v) = v / (1 + exp(-v))
Reg<f32> swiglu(Builder& b, const Reg<f32>& gate, const Reg<f32>& up) {
  constexpr float kLog2E = 1.44269504f;
  return b.div_full(gate, b.ex2(gate * -kLog2E) + 1.0f) * up;
}

}  // namespace

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
      return y.store(0, swiglu(b, products[0], products[1]));
  }
}

}  // namespace warpchat
