// A product's input in shared memory: filled by the block together, scaled by gamma where RMSNorm comes first, then
// read unit by unit. Integers, of one column: those of kernels/integer_unit.h. A unit's 16 bytes of each half plane lie
// beside the next unit's, so that lanes read without bank conflicts; behind the planes lie the sums of each 16
// integers, and the scales. Floats: units of 4 or 8 in planes of 4.
#pragma once
#include <optional>

#include "kernels/gemv_plan.h"
#include "kernels/virtual_block.h"

namespace warpchat {

// The first unit of what is in shared memory, where the input comes in several tiles; none: all of it is there.
using FirstUnit = std::optional<ptx::Reg<ptx::u32>>;

struct InputUnit {                            // of integers
  std::vector<ptx::Reg<ptx::b32>> high, low;  // 8 words of 4 values
  std::vector<ptx::Reg<ptx::s32>> sums;       // of the first and the last 16 integers, or none
  std::vector<ptx::Reg<ptx::f32>> scale;      // one
};

class SharedInput {
 public:
  SharedInput(ptx::Builder& b, const GemvPlan& plan, const VirtualBlock& block);

  // Before the first stretch; a block barrier must follow.
  void clear_squares();
  // x: f32 [columns, k], gamma: none or f32 [k]; n_columns: of floats, where there are several. A block barrier must
  // come before the first read.
  void fill(const ptx::Global<ptx::f32>& x, const std::optional<ptx::Global<ptx::f32>>& gamma,
            const std::optional<ptx::Reg<ptx::u32>>& n_columns, const FirstUnit& first);

  // Where a unit of the tile lies in the first column; the others are constant distances away.
  struct Place {
    ptx::Shared<ptx::b32> words, sums;
    ptx::Shared<ptx::f32> scale;
  };
  Place place(const ptx::Reg<ptx::u32>& unit) const;
  InputUnit load_integers(const Place& place) const;
  std::vector<ptx::Reg<ptx::f32>> load_floats(const Place& place, uint32_t column) const;

  // rsqrt(mean(x^2) + eps) of a column, when all of it was here.
  ptx::Reg<ptx::f32> rms_factor(const ptx::Reg<ptx::u32>& column) const;

 private:
  struct Column {  // the values of the tile, and where they go
    ptx::Global<ptx::f32> x;
    std::optional<ptx::Global<ptx::f32>> gamma;
    ptx::Shared<ptx::b32> planes;
  };
  Column column_at(const Column& first, const std::optional<ptx::Reg<ptx::u32>>& column) const;
  // Eight units, which a warp makes integers of at once.
  struct Round {
    ptx::Reg<ptx::u32> unit;  // of the lane
    std::optional<ptx::Pred> is_inside;
  };
  void fill_integers(const Column& tile, const FirstUnit& first);
  void fill_floats(const Column& column, const FirstUnit& first, ptx::Var<ptx::f32>& squares);
  template <int N>
  std::vector<ptx::Reg<ptx::f32>> load_values(const Column& column, const ptx::Reg<ptx::u32>& first,
                                              const std::optional<ptx::Pred>& is_inside, ptx::Var<ptx::f32>& squares);
  void store_integers(const Column& tile, const Round& round, const ptx::Reg<ptx::u32>& quarter,
                      const std::vector<ptx::Reg<ptx::f32>>& values);
  // Under the condition, if there is one.
  void store_squares(const ptx::Reg<ptx::u32>& slot, const ptx::Reg<ptx::f32>& squares,
                     const std::optional<ptx::Pred>& condition);
  ptx::Shared<ptx::b32> sums_of(const ptx::Shared<ptx::b32>& planes) const { return planes + 4 * plane_words_; }
  ptx::Shared<ptx::f32> scales_of(const ptx::Shared<ptx::b32>& planes) const;

  // Under the condition, if there is one.
  template <class F>
  void where(const std::optional<ptx::Pred>& condition, F&& body) {
    if (condition)
      b_.if_(*condition, body);
    else
      body();
  }

  ptx::Builder& b_;
  const GemvPlan& plan_;
  const VirtualBlock& block_;
  uint32_t plane_words_;  // of a half plane of bytes, or a plane of floats
  ptx::Shared<ptx::b32> planes_;
  std::optional<ptx::Shared<ptx::f32>> squares_;  // [columns, squares_slots]: sums of rounds, or of warps' floats
};

}  // namespace warpchat
