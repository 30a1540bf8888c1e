// A unit of packed weights as fragments of mma's first operand: 16 rows by 32 values of k, exact in halves. Lane 4 g +
// t holds 8 weights of row g and 8 of row g + 8, in pairs; where they lie in the unit is free, as long as the columns
// lie the same way (kernels/gemm_input.h): of a quantised format 4 t to 4 t + 3, then 16 + 4 t to 16 + 4 t + 3, which
// one word of the packed row has; of F16 8 t to 8 t + 7.
#pragma once
#include "kernels/gemm_plan.h"
#include "kernels/weight_unit.h"

namespace warpchat {

// A lane's part of one row's unit.
struct WeightPart {
  std::vector<ptx::Reg<ptx::f16x2>> pairs;         // 4: code - zero, or weights
  std::vector<ptx::Reg<ptx::f32>> scales, lowest;  // as DecodedCodes; none of F16
};

class GemmWeights {
 public:
  GemmWeights(ptx::Builder& b, const ProductMatrix& matrix);
  // Loads and decodes the parts of `n_rows` rows, 8 apart, from the one at `row`. unit: below the plan's n_units.
  std::vector<WeightPart> load(const ptx::Global<ptx::u8>& row, const ptx::Reg<ptx::u32>& unit, uint32_t n_rows) const;

 private:
  LoadedUnit load_part(const UnitPlace& place, uint64_t offset) const;
  WeightPart decode_part(const LoadedUnit& unit) const;
  ptx::Reg<ptx::b32> codes(const LoadedUnit& unit, int half) const;
  void append_halves(const ptx::Reg<ptx::b32>& codes, std::vector<ptx::Reg<ptx::f16x2>>& pairs) const;

  ptx::Builder& b_;
  const ProductMatrix& matrix_;
  ptx::Reg<ptx::u32> part_, two_parts_;  // t, 2 t
  ptx::Reg<ptx::f16x2> zero_;            // the half that a code of weight 0 becomes at first
};

}  // namespace warpchat
