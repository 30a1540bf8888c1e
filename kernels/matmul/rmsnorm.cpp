#include "kernels/matmul/rmsnorm.h"

#include <bit>
#include <cmath>
#include <cstdio>

#include "kernels/common/columns.h"
#include "kernels/common/spec_check.h"
#include "kernels/common/warp_sums.h"
#include "ptx/builder.h"

namespace warpchat {

using namespace ptx;

std::string name_of(const RmsNormSpec& s) {
  char name[64];
  std::snprintf(name, sizeof name, "rmsnorm_%u_c%u_e%08x", s.n, s.columns, std::bit_cast<uint32_t>(s.eps));
  return name;
}

// One block per column. Threads keep squared values until they can scale them, so x is read once.
Kernel rmsnorm(const RmsNormSpec& s, Target target) {
  constexpr uint32_t kThreads = 256, kHeld = 32;  // 8,192 values in registers; longer rows are read again beyond that
  require_between(1, INT32_MAX, "rmsnorm", "n", s.n);
  require_between(1, UINT16_MAX, "rmsnorm", "columns", s.columns);
  if (!std::isfinite(s.eps) || s.eps < 0) throw Error("rmsnorm: eps must be finite and at least 0");
  Builder b(name_of(s), target);
  Global<f32> x = b.global<f32>("x", uint64_t{s.columns} * s.n), gamma = b.global<f32>("gamma", s.n);
  Global<f32> y = b.global<f32>("y", uint64_t{s.columns} * s.n);
  Shared<f32> slots = b.shared<f32>("slots", kThreads / kWarpSize);
  Reg<u32> column = b.block().named("column");
  leave_beyond_columns(b, declare_columns(b, s.columns), column);
  Global<f32> from = x + wide(column) * s.n, to = y + wide(column) * s.n;

  Var<f32> squares = b.var("squares", 0.0f);
  std::vector<Var<f32>> held;
  for (uint32_t first = 0; first < s.n && held.size() < kHeld; first += kThreads) {
    Reg<u32> i = b.thread() + first;
    held.push_back(b.var("x", 0.0f));
    b.if_(i < s.n, [&] { held.back() = from.load(i); });
    squares = b.fma(held.back(), held.back(), squares);
  }
  const uint32_t rest = static_cast<uint32_t>(held.size()) * kThreads;
  if (rest < s.n) {
    b.for_("i", b.thread() + rest, s.n, kThreads, [&](Reg<u32> i) {
      Reg<f32> value = from.load(i);
      squares = b.fma(value, value, squares);
    });
  }
  Reg<f32> mean = block_sum(b, squares, slots, kThreads / kWarpSize) * (1.0f / static_cast<float>(s.n));
  Reg<f32> factor = b.rsqrt(mean + s.eps);
  for (uint32_t j = 0; j < held.size(); ++j) {
    Reg<u32> i = b.thread() + j * kThreads;
    b.if_(i < s.n, [&] { to.store(i, held[j] * factor * gamma.load(i, kReadOnly)); });
  }
  if (rest < s.n) {
    b.for_("i", b.thread() + rest, s.n, kThreads,
           [&](Reg<u32> i) { to.store(i, from.load(i) * factor * gamma.load(i, kReadOnly)); });
  }
  return b.finish(Launch{s.columns, kThreads},
                  {.bytes = uint64_t{s.columns} * s.n * 8 + uint64_t{s.n} * 4, .flops = uint64_t{s.columns} * s.n * 4});
}

}  // namespace warpchat
