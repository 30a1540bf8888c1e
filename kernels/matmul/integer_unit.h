// Units of 32 activations as 16-bit integers in two byte planes: n = round(x / scale), |n| <= 32512, n = 256 high +
// low, high signed, low unsigned.
#pragma once
#include <optional>
#include <vector>

#include "ptx/builder.h"

namespace warpchat {

// One lane's eight values of a unit that four lanes share, in order.
struct IntegerPart {
  static constexpr float kLargest = 32512;

  ptx::Vec<ptx::b32, 2> high, low;
  std::optional<ptx::Reg<ptx::u32>> sum;  // over the 16 integers of two lanes, in both of them
  ptx::Reg<ptx::f32> limit;               // the unit's largest magnitude
  ptx::Pred vanishes;                     // the unit is zero, or nearly

  ptx::Reg<ptx::f32> scale(ptx::Builder& b) const { return b.select(vanishes, 0.0f, limit * (1 / kLargest)); }
};

// values: the lane's eight. The four lanes must not diverge.
inline IntegerPart integers_of(ptx::Builder& b, const std::vector<ptx::Reg<ptx::f32>>& values, bool has_sum) {
  using namespace ptx;
  constexpr float kVanishing = 1e-30f;  // the inverse of anything smaller would overflow

  // Adding it to a float of at most 2^22 leaves the nearest integer in the low bits.
  constexpr float kMagic = 12582912;
  constexpr uint32_t kMagicBits = 0x4b400000;

  // Compared as integers, NaN and infinity are the largest magnitudes, so the scale becomes NaN.
  Var<u32> max = b.var("max", values[0].as<u32>() & 0x7fffffffu);
  for (size_t i = 1; i < values.size(); ++i) max = b.max(max, values[i].as<u32>() & 0x7fffffffu);
  for (uint32_t distance : {2u, 1u}) max = b.max(max, b.shuffle_xor(max, distance));
  Reg<f32> limit = Reg<u32>(max).as<f32>();
  Pred vanishes = limit < kVanishing;
  Reg<f32> inverse = b.select(vanishes, 0.0f, b.rcp_approx(limit) * IntegerPart::kLargest);
  std::vector<Reg<u32>> bits;
  for (const Reg<f32>& value : values) bits.push_back(b.fma(value, inverse, kMagic).as<u32>());
  const auto bytes = [&](size_t first, uint32_t which) {  // byte 0 or 1 of four
    Reg<u32> front = b.prmt(bits[first], bits[first + 1], 0x40 + 0x11 * which),
             back = b.prmt(bits[first + 2], bits[first + 3], 0x40 + 0x11 * which);
    return b.prmt(front, back, 0x5410).as<b32>();
  };
  const auto plane = [&](uint32_t which) {
    const Reg<b32> front = bytes(0, which);
    return Vec<b32, 2>(front, bytes(4, which));
  };
  const Vec<b32, 2> high = plane(1);
  IntegerPart part{high, plane(0), {}, limit, vanishes};
  if (!has_sum) return part;
  Var<u32> sum = b.var("sum", bits[0] - 8 * kMagicBits);
  for (size_t i = 1; i < bits.size(); ++i) sum += bits[i];
  sum += b.shuffle_xor(sum, 1);
  part.sum.emplace(sum);
  return part;
}

}  // namespace warpchat
