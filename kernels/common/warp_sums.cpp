#include "kernels/common/warp_sums.h"

#include <bit>
#include <cassert>

namespace warpchat {

using namespace ptx;

namespace {

Reg<u64> shuffle(Builder& b, const Reg<u64>& x, In<u32> lane) {
  Vec<u32, 2> words = b.split<u32>(x);
  return b.join<u64>(b.shuffle(words[0], lane), b.shuffle(words[1], lane));
}

// Calls body(1), body(2), ... body(16) in a real loop: unrolled, this would be most of a kernel's text.
template <class Body>
void for_distances(Builder& b, const Body& body) {
  Var<u32> distance = b.var("distance", 1u);
  b.do_while([&] {
    body(distance);
    distance += distance;
    return distance < kWarpSize;
  });
}

// Combines the values of all lanes; every lane gets the result.
template <class Combine>
void fold(Builder& b, Var<u64>& all, const Combine& combine) {
  for_distances(b, [&](const Var<u32>& distance) {
    Vec<u32, 2> words = b.split<u32>(all);
    Reg<u32> low = b.shuffle_xor(words[0], distance), high = b.shuffle_xor(words[1], distance);
    all = combine(all, b.join<u64>(low, high));
  });
}

// sum = inclusive prefix sum over the lanes.
void scan(Builder& b, Var<u64>& sum) {
  for_distances(b, [&](const Var<u32>& distance) {
    Vec<u32, 2> words = b.split<u32>(sum);
    Reg<u32> low = b.shuffle_up(words[0], distance), high = b.shuffle_up(words[1], distance);
    Reg<u64> lower = b.join<u64>(low, high);
    b.predicated(b.lane() >= distance, [&] { sum += lower; });
  });
}

// Calls over_lanes() with the warp's values. Then, in every warp, lane w gets the result of warp w's last lane (0 for
// absent warps), and of_warps() combines these; the same text serves both. Ends with a barrier.
template <class OverLanes, class OfWarps>
void over_block(Builder& b, Var<u64>& x, const Shared<u64>& slots, const VirtualBlock& block,
                const OverLanes& over_lanes, const OfWarps& of_warps) {
  const Shared<u64> of_this_warp = slots + block.warp(), of_another = slots + b.lane();
  b.for_("stage", 0, 2, 1, [&](Reg<u32> stage) {
    over_lanes();
    b.if_(stage == 0, [&] {
      of_warps();
      b.predicated(b.lane() == kWarpSize - 1, [&] { of_this_warp.store(0, x); });
      block.barrier();
      x = of_another.load();
    });
  });
  block.barrier();
}

template <class Combine>
Reg<u64> folded_over_block(Builder& b, In<u64> x, const Shared<u64>& slots, const VirtualBlock& block,
                           const Combine& combine) {
  Var<u64> all = b.var<u64>("all", x);
  over_block(
      b, all, slots, block, [&] { fold(b, all, combine); }, [] {});
  return all;
}

}  // namespace

Reg<f32> warp_sum(Builder& b, const Reg<f32>& x, uint32_t width) {
  if (width <= 1) return x;
  const uint32_t distance = width / 2;
  return warp_sum(b, x + b.shuffle_xor(x, distance), distance);
}

Reg<f32> strided_max(Builder& b, const Reg<f32>& x, uint32_t stride) {
  if (stride >= kWarpSize) return x;
  return strided_max(b, b.max(x, b.shuffle_xor(x, stride)), 2 * stride);
}

// Each exchange halves the values a lane holds: it sends the half that its partner keeps.
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
  if (runs(b.target(), sm_80)) return b.reduce_max(x);
  Var<u32> best = b.var<u32>("best", x);
  for (uint32_t distance = kWarpSize / 2; distance > 0; distance /= 2)
    best = b.max(best, b.shuffle_xor(best, distance));
  return best;
}

Reg<u64> warp_max(Builder& b, In<u64> x) {
  Var<u64> all = b.var<u64>("all", x);
  fold(b, all, [&](const Reg<u64>& one, const Reg<u64>& other) { return b.max(one, other); });
  return all;
}

Reg<u64> block_max(Builder& b, In<u64> x, const Shared<u64>& slots, const VirtualBlock& block) {
  return folded_over_block(b, x, slots, block,
                           [&](const Reg<u64>& one, const Reg<u64>& other) { return b.max(one, other); });
}

Reg<u64> block_sum(Builder& b, In<u64> x, const Shared<u64>& slots, const VirtualBlock& block) {
  return folded_over_block(b, x, slots, block, [](const Reg<u64>& one, const Reg<u64>& other) { return one + other; });
}

// Every warp scans the totals of all warps, which is cheaper than waiting for one to do so.
BlockScan block_scan(Builder& b, In<u64> x, const Shared<u64>& slots, const VirtualBlock& block) {
  Var<u64> sum = b.var<u64>("sum", x), up_to_here = b.var("up_to_here", uint64_t{0});
  over_block(
      b, sum, slots, block, [&] { scan(b, sum); }, [&] { up_to_here = sum; });
  Reg<u64> total = shuffle(b, sum, kWarpSize - 1);
  Reg<u64> warps_before = b.select(block.warp() > 0, shuffle(b, sum, block.warp() - 1), uint64_t{0});
  return {warps_before + up_to_here - x, total};
}

}  // namespace warpchat
