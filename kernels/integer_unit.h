// Units of 32 activations as 16-bit integers in two planes of bytes, which meet quantised weights: n = round(x /
// scale), |n| <= 32512, n = 256 high + low, high signed, low not.
#pragma once
#include <optional>
#include <vector>

#include "ptx/builder.h"

namespace warpchat {

// What each of a unit's four lanes has of it: eight values, in their order.
struct IntegerPart {
  ptx::Vec<ptx::b32, 2> high, low;
  std::optional<ptx::Reg<ptx::u32>> sum;  // of the integers of two lanes, 16 in all, in both of them
  ptx::Reg<ptx::f32> limit;               // the unit's largest magnitude
  ptx::Pred vanishes;                     // is the unit zero, or nearly

  ptx::Reg<ptx::f32> scale(ptx::Builder& b) const;
};

// values: the lane's eight. No branch may part the lanes.
IntegerPart integers_of(ptx::Builder& b, const std::vector<ptx::Reg<ptx::f32>>& values, bool has_sum);

}  // namespace warpchat
