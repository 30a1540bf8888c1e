// Units of 32 activations as 16-bit integers in two byte planes: n = round(x / scale), |n| <= 32512, n = 256 high +
// low, high signed, low unsigned.
#pragma once
#include <optional>
#include <vector>

#include "ptx/builder.h"

namespace warpchat {

// One lane's eight values of a unit that four lanes share, in order.
struct IntegerPart {
  ptx::Vec<ptx::b32, 2> high, low;
  std::optional<ptx::Reg<ptx::u32>> sum;  // over the 16 integers of two lanes, in both of them
  ptx::Reg<ptx::f32> limit;               // the unit's largest magnitude
  ptx::Pred vanishes;                     // the unit is zero, or nearly

  ptx::Reg<ptx::f32> scale(ptx::Builder& b) const;
};

// values: the lane's eight. The four lanes must not diverge.
IntegerPart integers_of(ptx::Builder& b, const std::vector<ptx::Reg<ptx::f32>>& values, bool has_sum);

}  // namespace warpchat
