#include "kernels/warp_sums.h"

#include <bit>
#include <cassert>

namespace warpchat {

using namespace ptx;

Reg<f32> warp_sum(Builder& b, In<f32> x, uint32_t width) {
  Var<f32> sum = b.var<f32>("sum", x);
  for (uint32_t distance = width / 2; distance > 0; distance /= 2) sum += b.shuffle_xor(sum, distance);
  return sum;
}

Reg<f32> strided_sum(Builder& b, In<f32> x, uint32_t stride) {
  Var<f32> sum = b.var<f32>("sum", x);
  for (uint32_t distance = stride; distance < kWarpSize; distance *= 2) sum += b.shuffle_xor(sum, distance);
  return sum;
}

Reg<f32> strided_max(Builder& b, In<f32> x, uint32_t stride) {
  Var<f32> most = b.var<f32>("most", x);
  for (uint32_t distance = stride; distance < kWarpSize; distance *= 2) {
    most = b.max(most, b.shuffle_xor(most, distance));
  }
  return most;
}

// Each exchange halves what a lane still holds: it gives away the half that its partner keeps.
Reg<f32> scattered_sums(Builder& b, const std::vector<Reg<f32>>& values, uint32_t width) {
  assert(std::has_single_bit(values.size()) && values.size() <= width);
  std::vector<Reg<f32>> held = values;
  uint32_t distance = width / 2;
  for (; held.size() > 1; distance /= 2) {
    const size_t half = held.size() / 2;
    Pred upper = (b.lane() & distance) != 0;
    std::vector<Reg<f32>> kept;
    for (size_t i = 0; i < half; ++i) {
      Reg<f32> own = b.select(upper, held[half + i], held[i]), given = b.select(upper, held[i], held[half + i]);
      kept.push_back(own + b.shuffle_xor(given, distance));
    }
    held.swap(kept);
  }
  return warp_sum(b, held[0], 2 * distance);
}

Reg<f32> block_sum(Builder& b, In<f32> x, const Shared<f32>& slots, uint32_t warps) {
  Reg<f32> of_warp = warp_sum(b, x);
  b.if_(b.lane() == 0, [&] { slots.store(b.warp(), of_warp); });
  b.barrier();
  Var<f32> sum = b.var("sum", slots.load());
  for (uint32_t warp = 1; warp < warps; ++warp) sum += slots.load(warp);
  return sum;
}

}  // namespace warpchat
