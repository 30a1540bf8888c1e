// A unit of packed weights as fragments of mma's first operand: 16 rows by 32 values of k, exact in halves. Lane 4 g +
// t holds 8 weights of row g and 8 of row g + 8, in pairs; where they lie in the unit is free, as long as the columns
// lie the same way (kernels/half_columns.h): 4 t to 4 t + 3, then 16 + 4 t to 16 + 4 t + 3, which
// one word of the packed row has, or two quads of F16.
#pragma once
#include "kernels/gemm_plan.h"
#include "kernels/weight_unit.h"

namespace warpchat {

// A lane's part of one row's unit.
struct WeightPart {
  std::vector<ptx::Reg<ptx::f16x2>> pairs;         // 4: code - zero, or weights
  std::vector<ptx::Reg<ptx::f32>> scales, lowest;  // as DecodedCodes; none of F16
};

// The weights of a matrix, or of two of one format as if their rows were one's. What the four lanes of a row would all
// read, scales above all, one of them reads and decodes for them.
class GemmWeights {
 public:
  // matrices: their first bytes. A lane has every 8th of plan.rows_per_warp rows from `row` on; of all matrices four at
  // most. rows_before: of the experts before this one, which rows are counted from.
  GemmWeights(ptx::Builder& b, const GemmPlan& plan, TensorType type, const std::vector<ptx::Global<ptx::u8>>& matrices,
              const ptx::Reg<ptx::u32>& k, const ptx::Reg<ptx::u32>& row,
              const std::optional<ptx::Reg<ptx::u64>>& rows_before);
  // By a warp: asks for its rows' units from `unit` on, a tile of k, into the second-level cache.
  void ask_ahead(const ptx::Reg<ptx::u32>& unit) const;
  // Loads and decodes the parts of the lane's rows, matrix by matrix. unit: of 32 values of k.
  std::vector<WeightPart> load(const ptx::Reg<ptx::u32>& unit) const;

 private:
  using Bytes = ptx::Global<ptx::u8>;
  Bytes row_at(const Bytes& matrix, const ptx::Reg<ptx::u32>& row) const;
  Bytes shared_row(const Bytes& matrix, const ptx::Reg<ptx::u32>& row) const;
  Bytes stream(const Bytes& row, uint64_t offset, bool is_there) const;
  LoadedUnit load_shared(const ptx::Reg<ptx::u32>& unit) const;
  std::vector<LoadedUnit> load_codes(const ptx::Reg<ptx::u32>& unit) const;
  std::vector<Bytes> low_places(const ptx::Reg<ptx::u32>& unit) const;
  std::vector<ptx::Reg<ptx::f16x2>> pairs_of(const LoadedUnit& unit) const;
  void append_halves(const ptx::Reg<ptx::b32>& codes, std::vector<ptx::Reg<ptx::f16x2>>& pairs) const;

  ptx::Builder& b_;
  const TensorType type_;
  const uint32_t n_rows_;                // of a lane in a matrix: 2 or 4
  const PackedStreams streams_;          // of a block; in a row of n blocks they begin n times as far from its start
  ptx::Reg<ptx::u32> part_, two_parts_;  // t, 2 t
  ptx::Reg<ptx::f16x2> zero_;            // the half that a code of weight 0 becomes at first
  ptx::Reg<ptx::u32> n_blocks_;          // of a row
  ptx::Reg<ptx::u32> row_sixteens_;      // a row's bytes
  std::vector<ptx::Reg<ptx::u64>> to_matrices_;  // bytes from the first one to the others
  const Bytes first_;                            // of the first matrix
  // Where streams begin: of the lane's first row, and of its t-th what its four lanes share.
  Bytes row_, shared_, high_, heads_, scales_;
};

}  // namespace warpchat
