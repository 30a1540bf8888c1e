// GEMM activations in shared memory: f16 columns as in kernels/matmul/f16_activations.h, one tile of k at a time, read
// as fragments of mma's second operand; with means if the weights have a minimum. Double-buffered: a tile loads while
// products read the previous one.
#pragma once
#include <functional>
#include <optional>

#include "kernels/matmul/gemm_plan.h"
#include "ptx/builder.h"

namespace warpchat {

class GemmInput {
 public:
  GemmInput(ptx::Builder& b, const GemmPlan& plan);

  struct Columns {                  // of this block
    ptx::Global<ptx::b32> halves;   // of all blocks
    ptx::Global<ptx::f32> factors;  // of all blocks
    ptx::Reg<ptx::u32> count, k;
    std::function<ptx::Reg<ptx::u32>(const ptx::Reg<ptx::u32>&)> place;  // index of the i-th column in the batch
  };
  // Starts loading the first tile, from first_unit on.
  void begin(const Columns& columns, const ptx::Reg<ptx::u32>& first_unit);
  // Block barrier: the tile requested last has arrived, and no thread reads its predecessor any more.
  void arrive();
  // After arrive(): starts loading the tile from `first_unit` on, while products read the current one; call turn()
  // after those products.
  void ask(const ptx::Reg<ptx::u32>& first_unit);
  void turn();

  // A warp's part of the same memory, [stage_columns, stage_column]; use it after the last tile and a barrier.
  ptx::Shared<ptx::f32> stage(const ptx::Reg<ptx::u32>& warp) const {
    return halves_.as<ptx::f32>() + warp * plan_.stage_floats();
  }
  // The factors from this column on.
  ptx::Shared<ptx::f32> factors(const ptx::Reg<ptx::u32>& column) const { return factors_ + column; }

  // Address of a lane's values of a unit in the tile; columns 8 i to 8 i + 7 are at constant offsets. k is permuted as
  // in GemmWeights, in pairs.
  using Place = ptx::Shared<ptx::b32>;
  Place place(const ptx::Reg<ptx::u32>& unit) const;
  ptx::Vec<ptx::f16x2, 4> load(const Place& place, uint32_t i) const;
  // Address of the means of the tile's unit lane % 4: two f16 pairs (mean and rounding remainder), for the unit's first
  // and last 16 values.
  ptx::Shared<ptx::b32> place_means() const;
  ptx::Vec<ptx::f16x2, 2> load_means(const ptx::Shared<ptx::b32>& place, uint32_t i) const;

 private:
  uint32_t columns_at_once() const;  // columns copied at once, 16 bytes per thread
  uint32_t tile_pairs() const;
  void ask_into(const ptx::Reg<ptx::u32>& first_unit, const ptx::Reg<ptx::u32>& tile);
  void ask_means(const ptx::Reg<ptx::u32>& first_unit, const ptx::Reg<ptx::u32>& tile);
  void copy(const ptx::Shared<ptx::b32>& to, const ptx::Global<ptx::b32>& from) const;

  ptx::Builder& b_;
  const GemmPlan& plan_;
  ptx::Shared<ptx::b32> halves_;    // [2, columns, kGemmTileK], in pairs: double buffer; later the staged sums
  ptx::Shared<ptx::b32> means_;     // [2, columns, 8]: double buffer
  ptx::Shared<ptx::u32> places_;    // [columns]: index in the batch
  ptx::Shared<ptx::f32> factors_;   // [columns]
  ptx::Reg<ptx::u32> part_;         // the thread's 16-byte part of a row
  ptx::Reg<ptx::u32> column_;       // first column that the thread copies
  ptx::Reg<ptx::u32> odd_;          // parity of the lane's column, lane / 4: see place()
  ptx::Shared<ptx::b32> own_;       // destination of the thread's first part
  ptx::Shared<ptx::b32> fragment_;  // the lane's first pair of its column
  ptx::Var<ptx::u32> tile_;         // offset of the current buffer, in pairs
  std::optional<Columns> columns_;
  std::optional<ptx::Reg<ptx::u64>> first_part_;  // the thread's source in column 0
  std::optional<ptx::Reg<ptx::u32>> step_bytes_;  // bytes of a column's f16 values, before its means
  std::optional<ptx::Reg<ptx::u32>> row_bytes_;
};

}  // namespace warpchat
