// The columns of a GEMM's input in shared memory, halves as kernels/half_columns.h has made them, a tile of k at once,
// read as fragments of mma's second operand; with their means, where the weights have lowest values. A tile is asked
// for while the products read the one before.
#pragma once
#include <functional>
#include <optional>

#include "kernels/gemm_plan.h"
#include "ptx/builder.h"

namespace warpchat {

class GemmInput {
 public:
  GemmInput(ptx::Builder& b, const GemmPlan& plan);

  struct Columns {                  // of the block
    ptx::Global<ptx::b32> halves;   // of all blocks
    ptx::Global<ptx::f32> factors;  // likewise
    ptx::Reg<ptx::u32> count, k;
    std::function<ptx::Reg<ptx::u32>(const ptx::Reg<ptx::u32>&)> place;  // of the block's i-th column among all
  };
  // Asks for the first tile, from first_unit on.
  void begin(const Columns& columns, const ptx::Reg<ptx::u32>& first_unit);
  // The tile asked for last is there, and its place's last readers have gone on. By the block, as a barrier.
  void arrive();
  // Behind arrive(): the tile from `first_unit` on, which comes while products read this one; turn() behind those.
  void ask(const ptx::Reg<ptx::u32>& first_unit);
  void turn();

  // Behind the last tile and a barrier a warp's part of the same memory, [stage_columns, stage_column].
  ptx::Shared<ptx::f32> stage(const ptx::Reg<ptx::u32>& warp) const {
    return halves_.as<ptx::f32>() + warp * plan_.stage_floats();
  }
  ptx::Shared<ptx::f32> factors(const ptx::Reg<ptx::u32>& column) const { return factors_ + column; }  // from there on

  // Where a lane's values of the tile's unit lie, and those for mma's columns 8 i to 8 i + 7: the same of k as
  // GemmWeights', in pairs.
  using Place = ptx::Shared<ptx::b32>;
  Place place(const ptx::Reg<ptx::u32>& unit) const;
  ptx::Vec<ptx::f16x2, 4> load(const Place& place, uint32_t i) const;
  // Where the means of the tile's lane % 4-th unit lie, and those for columns 8 i to 8 i + 7, with what they leave: of
  // the unit's first and of its last 16.
  ptx::Shared<ptx::b32> place_means() const;
  ptx::Vec<ptx::f16x2, 2> load_means(const ptx::Shared<ptx::b32>& place, uint32_t i) const;

 private:
  uint32_t columns_at_once() const;  // that the threads copy, a part of 16 bytes each
  uint32_t tile_pairs() const;
  void ask_into(const ptx::Reg<ptx::u32>& first_unit, const ptx::Reg<ptx::u32>& tile);
  void ask_means(const ptx::Reg<ptx::u32>& first_unit, const ptx::Reg<ptx::u32>& tile);
  void copy(const ptx::Shared<ptx::b32>& to, const ptx::Global<ptx::b32>& from) const;

  ptx::Builder& b_;
  const GemmPlan& plan_;
  ptx::Shared<ptx::b32> halves_;    // [2, columns, kGemmTileK], in pairs: two tiles; then sums
  ptx::Shared<ptx::b32> means_;     // [2, columns, 8]: likewise
  ptx::Shared<ptx::u32> places_;    // [columns], among all
  ptx::Shared<ptx::f32> factors_;   // [columns]
  ptx::Reg<ptx::u32> part_;         // of a row, the thread's
  ptx::Reg<ptx::u32> column_;       // the thread's first
  ptx::Reg<ptx::u32> odd_;          // of the lane's column, lane / 4: see place()
  ptx::Shared<ptx::b32> own_;       // where the thread's first part goes
  ptx::Shared<ptx::b32> fragment_;  // the lane's first pair of that column
  ptx::Var<ptx::u32> tile_;         // pairs before the tile that products read
  std::optional<Columns> columns_;
  std::optional<ptx::Reg<ptx::u64>> first_part_;  // the thread's, of column 0
  std::optional<ptx::Reg<ptx::u32>> step_bytes_;  // of a column's halves, before its means
  std::optional<ptx::Reg<ptx::u32>> row_bytes_;
};

}  // namespace warpchat
