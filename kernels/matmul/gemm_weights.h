// A unit of packed weights as fragments of mma's first operand: 16 rows by 32 values of k, exact in f16. Lane 4 g + t
// holds 8 weights of row g and 8 of row g + 8, in pairs. k is permuted to match kernels/matmul/f16_activations.h: the
// lane has 4 t to 4 t + 3 and 16 + 4 t to 16 + 4 t + 3, which are one word of a packed row, or two quads of F16.
#pragma once
#include <optional>
#include <vector>

#include "kernels/matmul/gemm_plan.h"
#include "kernels/matmul/weight_unit.h"

namespace warpchat {

// A lane's part of a unit of one row.
struct WeightPart {
  std::vector<ptx::Reg<ptx::f16x2>> pairs;  // 4 pairs: weights, or code - zero, times the sub-scale if that is small
  std::vector<ptx::Reg<ptx::f32>> scales;  // factors still to be applied to the products, per part of the unit; or none
};

// Factors of one row in a tile of k.
struct RowFactors {
  std::vector<ptx::Reg<ptx::f32>> factor;  // for products with small scales, the same for all units
  // Weight minimums that multiply the columns' means: two pairs, for the first and last 16 weights of the lane's unit.
  // Then the factor of those products.
  std::vector<ptx::Reg<ptx::f16x2>> lowest;
  std::vector<ptx::Reg<ptx::f32>> lowest_factor;
};

// A warp's weights of one matrix. Codes are prefetched one turn (some units of k) ahead. Lane t of the four lanes of a
// row loads and decodes the scales of the tile's unit t for all four, one tile ahead.
class GemmWeights {
 public:
  // matrix: its first byte. A lane has every 8th of plan.rows_per_warp rows from `row` on. rows_before: rows of the
  // preceding experts, added to every row.
  GemmWeights(ptx::Builder& b, const GemmPlan& plan, TensorType type, const ptx::Global<ptx::u8>& matrix,
              const ptx::Reg<ptx::u32>& k, const ptx::Reg<ptx::u32>& row,
              const std::optional<ptx::Reg<ptx::u64>>& rows_before);

  // Called by a warp: prefetches its rows' units from `unit` on, one tile of k, into L2.
  void ask_ahead(const ptx::Reg<ptx::u32>& unit) const;
  void begin(const ptx::Reg<ptx::u32>& first_unit);  // starts the first tile
  // Factors of the lane's rows in the tile; starts loading those of the tile from `next` on.
  std::vector<RowFactors> numbers(const ptx::Reg<ptx::u32>& next);
  // For each turn of the tile: begin_turn() sets where ask_units() prefetches, the turn from `next` on; unit() gives
  // each of the turn's units once, which is the tile's of_tile-th.
  void begin_turn(const ptx::Reg<ptx::u32>& next);
  std::vector<WeightPart> unit(uint32_t number, const ptx::Reg<ptx::u32>& of_tile);
  void ask_units();
  // Number of units whose products share a factor.
  uint32_t units_at_once() const { return units_at_once_; }

 private:
  using Bytes = ptx::Global<ptx::u8>;
  struct Numbers {  // a unit without low codes, loaded for the next tile
    Numbers() = default;
    Numbers(Numbers&&) = default;
    std::vector<ptx::Var<ptx::b32>> high;
    std::vector<ptx::Var<ptx::f16>> head;
    std::vector<ptx::Var<ptx::s32>> scales;
  };
  // Decoded scales of the lane's unit in the current tile.
  struct UnitScales {
    std::vector<ptx::Reg<ptx::f32>> scales;
    std::vector<ptx::Reg<ptx::f16x2>> small;
    std::vector<ptx::Reg<ptx::b32>> high;
  };
  bool is_whole() const { return streams_.units_per_head == 8; }  // rows are whole tiles
  template <class T>
  ptx::Global<T> of_row(const ptx::Global<T>& first, size_t row) const;
  Bytes stream(uint64_t offset) const;
  ptx::Reg<ptx::u32> inside(const ptx::Reg<ptx::u32>& unit) const;
  std::vector<Bytes> low_places(const ptx::Reg<ptx::u32>& unit) const;
  void ask_numbers(const ptx::Reg<ptx::u32>& first_unit);
  UnitScales decode(const LoadedUnit& unit, RowFactors& numbers) const;
  std::vector<ptx::Reg<ptx::f16x2>> pairs_of(const LoadedUnit& unit,
                                             const std::vector<ptx::Reg<ptx::f16x2>>& scales) const;

  ptx::Builder& b_;
  const TensorType type_;
  const UnitFormat& format_;
  const uint32_t n_rows_;  // per lane: 2 or 4
  const uint32_t units_at_once_;
  const PackedStreams streams_;          // of a block of weights; in a row of n blocks, offsets are n times as large
  ptx::Reg<ptx::u32> part_, two_parts_;  // t, 2 t
  ptx::Reg<ptx::f16x2> minus_zero_;      // minus the f16 to which code 0 first converts
  ptx::Reg<ptx::f16x2> zero_scale_;      // the f16 to which scale 0 converts
  ptx::Reg<ptx::u32> n_blocks_, row_sixteens_;          // per row: blocks, 16-byte units
  ptx::Reg<ptx::u64> eight_rows_;                       // bytes
  Bytes row_, small_;                                   // the lane's first row; its first byte of heads and scales
  std::vector<Numbers> numbers_;                        // [rows]: of the lane's unit
  std::vector<std::vector<ptx::Var<ptx::b32>>> codes_;  // [units per turn, rows]: low codes
  // Turn being prefetched: its first unit and, for formats whose rows are whole tiles, the address of its codes.
  std::optional<ptx::Reg<ptx::u32>> asked_;
  std::vector<Bytes> low_;
  std::vector<UnitScales> scales_;  // [rows]
};

}  // namespace warpchat
