#include "kernels/warp_sums.h"

#include <bit>
#include <cassert>

namespace warpchat {

using namespace ptx;

namespace {

Reg<u64> shuffle(Builder& b, const Reg<u64>& x, In<u32> lane) {
  Vec<u32, 2> words = b.split<u32>(x);
  return b.join<u64>(b.shuffle(words[0], lane), b.shuffle(words[1], lane));
}

// body(1), body(2), body(4), body(8), body(16): a loop that runs, since unrolled these would be most of a kernel's
// text.
template <class Body>
void for_doubled(Builder& b, const Body& body) {
  b.for_("doubling", 0, std::bit_width(kWarpSize) - 1, 1,
         [&](Reg<u32> doubling) { body(Reg<u32>(b.var("one", 1u)) << doubling); });
}

// x combined over the lanes, in all of them.
template <class Combine>
Reg<u64> folded(Builder& b, In<u64> x, const Combine& combine) {
  Var<u64> all = b.var<u64>("all", x);
  for_doubled(b, [&](const Reg<u32>& distance) {
    Vec<u32, 2> words = b.split<u32>(all);
    Reg<u32> low = b.shuffle_xor(words[0], distance), high = b.shuffle_xor(words[1], distance);
    all = combine(all, b.join<u64>(low, high));
  });
  return all;
}

// Lane w gets what the last lane of warp w has, and 0 where there is none. Holds a barrier.
Reg<u64> gathered(Builder& b, const Reg<u64>& x, const Shared<u64>& slots, const VirtualBlock& block) {
  b.if_(b.lane() == kWarpSize - 1, [&] { slots.store(block.warp(), x); });
  block.barrier();
  Var<u64> of_warp = b.var("of_warp", uint64_t{0});
  b.if_(b.lane() < block.threads() / kWarpSize, [&] { of_warp = slots.load(b.lane()); });
  return of_warp;
}

// The sum up to and with this lane's value.
Reg<u64> warp_scan(Builder& b, In<u64> x) {
  Var<u64> sum = b.var<u64>("sum", x);
  for_doubled(b, [&](const Reg<u32>& distance) {
    Vec<u32, 2> words = b.split<u32>(sum);
    Reg<u32> low = b.shuffle_up(words[0], distance), high = b.shuffle_up(words[1], distance);
    Reg<u64> lower = b.join<u64>(low, high);
    b.predicated(b.lane() >= distance, [&] { sum += lower; });
  });
  return sum;
}

}  // namespace

Reg<f32> warp_sum(Builder& b, const Reg<f32>& x, uint32_t width) {
  if (width <= 1) return x;
  const uint32_t distance = width / 2;
  return warp_sum(b, x + b.shuffle_xor(x, distance), distance);
}

Reg<f32> strided_sum(Builder& b, const Reg<f32>& x, uint32_t stride) {
  if (stride >= kWarpSize) return x;
  return strided_sum(b, x + b.shuffle_xor(x, stride), 2 * stride);
}

Reg<f32> strided_max(Builder& b, const Reg<f32>& x, uint32_t stride) {
  if (stride >= kWarpSize) return x;
  return strided_max(b, b.max(x, b.shuffle_xor(x, stride)), 2 * stride);
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

Reg<f32> block_sum(Builder& b, const Reg<f32>& x, const Shared<f32>& slots, uint32_t warps) {
  Reg<f32> of_warp = warp_sum(b, x);
  b.if_(b.lane() == 0, [&] { slots.store(b.warp(), of_warp); });
  b.barrier();
  Var<f32> sum = b.var("sum", slots.load());
  for (uint32_t warp = 1; warp < warps; ++warp) sum += slots.load(warp);
  return sum;
}

Reg<u32> warp_max(Builder& b, In<u32> x) {
  Var<u32> best = b.var<u32>("best", x);
  for (uint32_t distance = kWarpSize / 2; distance > 0; distance /= 2)
    best = b.max(best, b.shuffle_xor(best, distance));
  return best;
}

Reg<u64> warp_max(Builder& b, In<u64> x) {
  return folded(b, x, [&](const Reg<u64>& one, const Reg<u64>& other) { return b.max(one, other); });
}
Reg<u64> warp_sum(Builder& b, In<u64> x) {
  return folded(b, x, [](const Reg<u64>& one, const Reg<u64>& other) { return one + other; });
}

Reg<u64> block_max(Builder& b, In<u64> x, const Shared<u64>& slots, const VirtualBlock& block) {
  Reg<u64> of_warps = gathered(b, warp_max(b, x), slots, block);
  Reg<u64> best = warp_max(b, of_warps);
  block.barrier();
  return best;
}
Reg<u64> block_sum(Builder& b, In<u64> x, const Shared<u64>& slots, const VirtualBlock& block) {
  Reg<u64> of_warps = gathered(b, warp_sum(b, x), slots, block);
  Reg<u64> sum = warp_sum(b, of_warps);
  block.barrier();
  return sum;
}

// Every warp scans the sums of all warps once more, which costs less than to wait for one that does.
BlockScan block_scan(Builder& b, In<u64> x, const Shared<u64>& slots, const VirtualBlock& block) {
  Var<u64> own = b.var<u64>("own", x);
  Reg<u64> up_to_here = warp_scan(b, own);
  Reg<u64> up_to_warp = warp_scan(b, gathered(b, up_to_here, slots, block));
  Reg<u64> total = shuffle(b, up_to_warp, kWarpSize - 1);
  Reg<u64> warps_before = b.select(block.warp() > 0, shuffle(b, up_to_warp, block.warp() - 1), uint64_t{0});
  block.barrier();
  return {warps_before + up_to_here - own, total};
}

}  // namespace warpchat
