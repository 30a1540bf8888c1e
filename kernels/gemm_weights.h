// A unit of packed weights as fragments of mma's first operand: 16 rows by 32 values of k, exact in halves. Lane 4 g +
// t holds 8 weights of row g and 8 of row g + 8, in pairs; where they lie in the unit is free, as long as the columns
// lie the same way (kernels/half_columns.h): 4 t to 4 t + 3, then 16 + 4 t to 16 + 4 t + 3, which
// one word of the packed row has, or two quads of F16.
#pragma once
#include <optional>
#include <vector>

#include "kernels/gemm_plan.h"
#include "kernels/weight_unit.h"

namespace warpchat {

// A lane's part of one row's unit.
struct WeightPart {
  std::vector<ptx::Reg<ptx::f16x2>> pairs;  // 4: weights, or code - zero, times the scale where that is small
  std::vector<ptx::Reg<ptx::f32>> scales;   // that products are yet to be multiplied by, by part of the unit; or none
};

// Of a row in a tile of k.
struct RowNumbers {
  std::vector<ptx::Reg<ptx::f32>> factor;  // of products with small scales, of all units
  // Weights' lowest values by the means of columns: twice in each pair, those of the first and the last 16 of the unit
  // that the lane has of four. And what their products are to be multiplied by.
  std::vector<ptx::Reg<ptx::f16x2>> lowest;
  std::vector<ptx::Reg<ptx::f32>> lowest_factor;
};

// A matrix's weights in a warp: some units of k at once, a turn, whose codes are asked for while products read those
// before. Lane t of a row's four reads and decodes the scales of the tile's t-th unit for all of them, a tile before.
class GemmWeights {
 public:
  // matrix: its first byte. A lane has every 8th of plan.rows_per_warp rows from `row` on. rows_before: of the experts
  // before this one, which rows are counted from.
  GemmWeights(ptx::Builder& b, const GemmPlan& plan, TensorType type, const ptx::Global<ptx::u8>& matrix,
              const ptx::Reg<ptx::u32>& k, const ptx::Reg<ptx::u32>& row,
              const std::optional<ptx::Reg<ptx::u64>>& rows_before);

  // By a warp: asks for its rows' units from `unit` on, a tile of k, into the second-level cache.
  void ask_ahead(const ptx::Reg<ptx::u32>& unit) const;
  void begin(const ptx::Reg<ptx::u32>& first_unit);  // of the first tile
  // Of the lane's rows in the tile; asks for those of the tile from `next` on.
  std::vector<RowNumbers> numbers(const ptx::Reg<ptx::u32>& next);
  // Then the tile's turns: where the codes are that are asked for in this one, those of the turn from `next` on; each
  // of the turn's units once, that is the tile's of_tile-th; and behind them the next turn's.
  void begin_turn(const ptx::Reg<ptx::u32>& next);
  std::vector<WeightPart> unit(uint32_t number, const ptx::Reg<ptx::u32>& of_tile);
  void ask_units();
  // So many units' products share a factor.
  uint32_t units_at_once() const { return units_at_once_; }

 private:
  using Bytes = ptx::Global<ptx::u8>;
  struct Numbers {  // a unit but for its low codes, while they are another tile's
    Numbers() = default;
    Numbers(Numbers&&) = default;
    std::vector<ptx::Var<ptx::b32>> high;
    std::vector<ptx::Var<ptx::f16>> head;
    std::vector<ptx::Var<ptx::s32>> scales;
  };
  // Of the tile in work, of the lane's unit.
  struct UnitScales {
    std::vector<ptx::Reg<ptx::f32>> scales;
    std::vector<ptx::Reg<ptx::f16x2>> small;
    std::vector<ptx::Reg<ptx::b32>> high;
  };
  bool is_whole() const { return streams_.units_per_head == 8; }  // no row ends in a tile
  template <class T>
  ptx::Global<T> of_row(const ptx::Global<T>& first, size_t row) const;
  Bytes stream(uint64_t offset) const;
  ptx::Reg<ptx::u32> inside(const ptx::Reg<ptx::u32>& unit) const;
  std::vector<Bytes> low_places(const ptx::Reg<ptx::u32>& unit) const;
  void ask_numbers(const ptx::Reg<ptx::u32>& first_unit);
  UnitScales decode(const LoadedUnit& unit, RowNumbers& numbers) const;
  std::vector<ptx::Reg<ptx::f16x2>> pairs_of(const LoadedUnit& unit,
                                             const std::vector<ptx::Reg<ptx::f16x2>>& scales) const;

  ptx::Builder& b_;
  const TensorType type_;
  const UnitFormat& format_;
  const uint32_t n_rows_;  // of a lane: 2 or 4
  const uint32_t units_at_once_;
  const PackedStreams streams_;                 // of a block; in a row of n they begin n times as far from its start
  ptx::Reg<ptx::u32> part_, two_parts_;         // t, 2 t
  ptx::Reg<ptx::f16x2> minus_zero_;             // less the half that a code of weight 0 becomes at first
  ptx::Reg<ptx::f16x2> zero_scale_;             // what a scale of 0 becomes
  ptx::Reg<ptx::u32> n_blocks_, row_sixteens_;  // of a row: blocks, bytes
  ptx::Reg<ptx::u64> eight_rows_;               // bytes
  Bytes row_, small_;                           // the lane's first; the first of its streams of heads and scales
  std::vector<Numbers> numbers_;                // [rows]: of the lane's unit
  std::vector<std::vector<ptx::Var<ptx::b32>>> codes_;  // [units of a turn, rows]: low ones
  // Of the turn that is asked for: its first unit, and where its codes are, of formats whose rows end with a tile.
  std::optional<ptx::Reg<ptx::u32>> asked_;
  std::vector<Bytes> low_;
  std::vector<UnitScales> scales_;  // [rows]
};

}  // namespace warpchat
