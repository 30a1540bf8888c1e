// A product's input in shared memory: filled by the whole block, scaled by gamma with RMSNorm, then read unit by unit.
// Integers (one column): as in kernels/matmul/integer_unit.h. Each 16-byte half of a unit's plane lies next to that of
// the following unit, to avoid bank conflicts; after the planes come the sums of each 16 integers, then the scales.
// Floats: units of 4 or 8 in planes of 4.
#pragma once
#include <optional>

#include "kernels/common/virtual_block.h"
#include "kernels/matmul/gemv_plan.h"

namespace warpchat {

// First unit in shared memory if the input is tiled; none: all of it is resident.
using FirstUnit = std::optional<ptx::Reg<ptx::u32>>;

struct InputUnit {                            // quantised
  std::vector<ptx::Reg<ptx::b32>> high, low;  // 8 words of 4 values
  std::vector<ptx::Reg<ptx::s32>> sums;       // over the first and the last 16 integers, or none
  std::vector<ptx::Reg<ptx::f32>> scale;      // one
};

class SharedInput {
 public:
  SharedInput(ptx::Builder& b, const GemvPlan& plan, const VirtualBlock& block);

  // Call before the first fill; a block barrier must follow.
  void clear_squares();
  // x: f32 [columns, k], gamma: none or f32 [k], n_columns: for several float columns. A block barrier must precede the
  // first read.
  void fill(const ptx::Global<ptx::f32>& x, const std::optional<ptx::Global<ptx::f32>>& gamma,
            const std::optional<ptx::Reg<ptx::u32>>& n_columns, const FirstUnit& first);

  // Address of a unit of the tile in the first column; other columns are at constant offsets.
  struct Place {
    ptx::Shared<ptx::b32> words, sums;
    ptx::Shared<ptx::f32> scale;
  };
  Place place(const ptx::Reg<ptx::u32>& unit) const;
  InputUnit load_integers(const Place& place) const;
  std::vector<ptx::Reg<ptx::f32>> load_floats(const Place& place, uint32_t column) const;

  // rsqrt(mean(x^2) + eps) of a column, once fill() has covered all of it.
  ptx::Reg<ptx::f32> rms_factor(const ptx::Reg<ptx::u32>& column) const;

 private:
  struct Column {  // the tile's values and their destination
    ptx::Global<ptx::f32> x;
    std::optional<ptx::Global<ptx::f32>> gamma;
    ptx::Shared<ptx::b32> planes;
  };
  Column column_at(const Column& first, const std::optional<ptx::Reg<ptx::u32>>& column) const;
  // Eight units that a warp converts to integers at once.
  struct Round {
    ptx::Reg<ptx::u32> unit;  // the lane's
    std::optional<ptx::Pred> is_inside;
  };
  void fill_integers(const Column& tile, const FirstUnit& first);
  void fill_floats(const Column& column, const FirstUnit& first, ptx::Var<ptx::f32>& squares);
  template <int N>
  std::vector<ptx::Reg<ptx::f32>> load_values(const Column& column, const ptx::Reg<ptx::u32>& first,
                                              const std::optional<ptx::Pred>& is_inside, ptx::Var<ptx::f32>& squares);
  void store_integers(const Column& tile, const Round& round, const ptx::Reg<ptx::u32>& quarter,
                      const std::vector<ptx::Reg<ptx::f32>>& values);
  // Conditional if there is a condition.
  void store_squares(const ptx::Reg<ptx::u32>& slot, const ptx::Reg<ptx::f32>& squares,
                     const std::optional<ptx::Pred>& condition);
  ptx::Shared<ptx::b32> sums_of(const ptx::Shared<ptx::b32>& planes) const { return planes + 4 * plane_words_; }
  ptx::Shared<ptx::f32> scales_of(const ptx::Shared<ptx::b32>& planes) const;

  // Conditional if there is a condition.
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
  uint32_t plane_words_;  // per half plane of bytes, or per plane of floats
  ptx::Shared<ptx::b32> planes_;
  std::optional<ptx::Shared<ptx::f32>> squares_;  // [columns, squares_slots]: partial sums, per round or per warp
};

}  // namespace warpchat
