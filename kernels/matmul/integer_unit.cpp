#include "kernels/matmul/integer_unit.h"

namespace warpchat {

using namespace ptx;

namespace {

constexpr float kLargestInteger = 32512;
constexpr float kVanishing = 1e-30f;  // the inverse of anything smaller would overflow

// Adding it to a float of at most 2^22 leaves the nearest integer in the low bits.
constexpr float kMagic = 12582912;
constexpr uint32_t kMagicBits = 0x4b400000;

}  // namespace

Reg<f32> IntegerPart::scale(Builder& b) const { return b.select(vanishes, 0.0f, limit * (1 / kLargestInteger)); }

IntegerPart integers_of(Builder& b, const std::vector<Reg<f32>>& values, bool has_sum) {
  // Compared as integers, NaN and infinity are the largest magnitudes, so the scale becomes NaN.
  Var<u32> max = b.var("max", values[0].as<u32>() & 0x7fffffffu);
  for (size_t i = 1; i < values.size(); ++i) max = b.max(max, values[i].as<u32>() & 0x7fffffffu);
  for (uint32_t distance : {2u, 1u}) max = b.max(max, b.shuffle_xor(max, distance));
  Reg<f32> limit = Reg<u32>(max).as<f32>();
  Pred vanishes = limit < kVanishing;
  Reg<f32> inverse = b.select(vanishes, 0.0f, b.rcp_approx(limit) * kLargestInteger);
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
