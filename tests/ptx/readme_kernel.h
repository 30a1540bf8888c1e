// The kernel of ptx/README.md, word for word: a test compares them.
#pragma once
// clang-format off
#include "ptx/builder.h"
using namespace ptx;

// y[row] = w[row, :] . x, f32 [rows, k], k a multiple of 4; one warp a row.
Kernel gemv(uint32_t rows, uint32_t k, Target target) {
  constexpr uint32_t kWarps = 4;
  Builder b("gemv", target);
  Global<f32> w = b.global<f32>("w", uint64_t{rows} * k), x = b.global<f32>("x", k);
  Global<f32> y = b.global<f32>("y", rows);
  Reg<u32> row = (b.block() * kWarps + b.warp()).named("row");
  b.if_(row < rows, [&] {                                    // a warp shares its row: this never splits one
    Global<f32> row_start = w + wide(row) * k;
    Var<f32> sum = b.var("sum", 0.0f);
    b.for_("chunk", b.lane(), k / 4, kWarpSize, [&](Reg<u32> chunk) {
      Vec<f32, 4> weights = row_start.load<4>(chunk * 4, kReadOnce), v = x.load<4>(chunk * 4);
      for (int i = 0; i < 4; ++i) sum = b.fma(weights[i], v[i], sum);  // a C++ loop is unrolled
    });
    for (uint32_t step = 16; step > 0; step /= 2) sum += b.shuffle_xor(sum, step);
    b.if_(b.lane() == 0, [&] { y.store(row, sum); });
  });
  return b.finish(Launch{(rows + kWarps - 1) / kWarps, kWarps * kWarpSize});
}
