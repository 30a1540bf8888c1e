// The columns of a GEMM's input in shared memory as halves, kGemmTileK values of k at once: filled by the block
// together, multiplied by gamma where RMSNorm comes first, read as fragments of mma's second operand.
// A column's values are multiplied by 2^15 over the power of two above the largest so far, so that halves neither
// overflow nor lose bits that matter. When a tile brings a larger one, the sums so far must be multiplied by `rescale`.
#pragma once
#include <optional>

#include "kernels/gemm_plan.h"
#include "ptx/builder.h"

namespace warpchat {

class GemmInput {
 public:
  // gamma: its address, if the kernel takes one; without experts null where RMSNorm does not come first.
  GemmInput(ptx::Builder& b, const GemmPlan& plan, const ptx::Reg<ptx::u32>& k,
            const std::optional<ptx::Reg<ptx::u64>>& gamma);

  struct Columns {                    // of the block
    ptx::Global<ptx::f32> x;          // of all blocks
    ptx::Reg<ptx::u32> first, count;  // those beyond read as 0
    // With experts: their uses, in place of `first`; a barrier must part their stores from fill.
    std::optional<ptx::Shared<ptx::u32>> uses = {};
  };
  // Each to be parted from what is read and written before and after it by block barriers.
  void clear(const Columns& columns);
  void fill(const Columns& columns, const ptx::Reg<ptx::u32>& first_unit);
  void settle();  // when all of k was here

  // Afterwards the warp's part of the same memory, [stage_columns, stage_column].
  ptx::Shared<ptx::f32> stage() const {
    return halves_.as<ptx::f32>() + b_.warp() * (plan_.stage_columns() * plan_.stage_column());
  }
  ptx::Reg<ptx::f32> factor(const ptx::Reg<ptx::u32>& column) const { return factors_.load(column); }  // once settled

  // Where a lane's values of a unit of the tile lie, and those for mma's columns 8 i to 8 i + 7: the same of k as
  // GemmWeights', in pairs.
  using Place = ptx::Shared<ptx::b32>;
  Place place(const ptx::Reg<ptx::u32>& unit) const { return fragment_ + unit * (kGemmUnit / 2); }
  ptx::Vec<ptx::f16x2, 4> load(const Place& place, uint32_t i) const;
  // Of the columns of a lane's sums, those of 8 i to 8 i + 7 at 8 i: what the tile multiplies them by.
  ptx::Shared<ptx::f32> rescale() const { return factors_ + (b_.lane() & 3) * 2; }

 private:
  void load_quad(const ptx::Global<ptx::f32>& from, const ptx::Reg<ptx::u32>& first,
                 ptx::VarVec<ptx::f32, 4>& values) const;
  void fill_column(const ptx::Reg<ptx::u32>& column, const ptx::Reg<ptx::u32>& turn, const ptx::Shared<ptx::b32>& quad,
                   const ptx::VarVec<ptx::f32, 4>& values);
  void add_squares(const ptx::Reg<ptx::u32>& column, const ptx::VarVec<ptx::f32, 4>& values);
  using Normalises = std::optional<ptx::Pred>;  // where the launch tells
  Normalises normalises() const;
  template <class Body>
  void if_normalising(const Normalises& normalises, const Body& body) const;
  ptx::Reg<ptx::u32> advance_exponent(const ptx::Reg<ptx::u32>& turn, const ptx::VarVec<ptx::f32, 4>& values);
  ptx::Reg<ptx::u32> own_column();

  ptx::Builder& b_;
  const GemmPlan& plan_;
  ptx::Reg<ptx::u32> k_;
  std::optional<ptx::Reg<ptx::u64>> gamma_;
  ptx::Shared<ptx::b32> halves_;                  // [columns, kGemmTileK and padding], in pairs
  ptx::Shared<ptx::f32> factors_;                 // [columns]
  std::optional<ptx::Shared<ptx::f32>> squares_;  // [columns, 32]: sums of each lane's values
  ptx::Shared<ptx::b32> fragment_;                // the lane's first pair of unit 0, column lane / 4
  ptx::Var<ptx::u32> exponent_;                   // of the largest value so far of own_column(), the warp's lane-th
};

}  // namespace warpchat
