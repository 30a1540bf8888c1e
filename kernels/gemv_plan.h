// A GEMV's spec with every choice made: how rows, lanes and the input are shared out. Results do not depend on it but
// for lanes_per_row (the order of a row's sum) and warps (that of RMSNorm's squares).
#pragma once
#include <vector>

#include "kernels/product.h"

namespace warpchat {

struct GemvPlan {
  static constexpr uint32_t kFillUnits = 8;      // of which a warp makes integers at once: four lanes a unit
  static constexpr uint32_t kMostFillAhead = 3;  // such rounds
  static constexpr uint32_t kTileRows = 16;      // of mma, by eight columns
  static constexpr uint32_t kTileFloats = 160;   // that a tile's sums take in shared memory: columns are 20 apart

  GemvSpec spec;
  std::vector<ProductMatrix> matrices;

  // Rows: a warp takes rows_per_step at a time, row r of its step by the lanes of group r % n_groups.
  uint32_t warps, rows_per_warp, lanes_per_row;
  uint32_t n_groups;         // of lanes in a warp
  uint32_t rows_per_step;    // n_groups * rows_per_warp, at most spec.rows
  uint32_t n_steps;          // of all warps together; the last one overlaps the one before if the rows do not fill it
  uint32_t n_blocks;         // of a kernel of its own: a warp makes one step after the other, where there are many
  uint32_t units_in_flight;  // of each row that a lane loads before it multiplies the first

  // Input: units of all columns in shared memory, tile_units of them at once.
  bool has_float_input;  // else 16-bit integers
  bool has_input_sums;   // of the integers, for formats with a zero or a lowest weight
  uint32_t unit_weights, n_units, tile_units;

  // Several columns of integers, on tensor cores: a warp takes a tile of rows and every lanes_per_row-th group of
  // units_at_once units, which are neighbours; `splits` warps share a tile, row_tiles tiles a block.
  bool on_tensor_cores() const { return spec.columns > 1 && !has_float_input; }
  uint32_t units_at_once, splits, row_tiles;
  uint32_t row_tiles_in_all() const;
  uint32_t part_floats() const;  // of shared memory

  bool is_tiled() const { return tile_units < n_units; }
  bool normalises() const { return spec.prologue == GemvPrologue::kRmsNorm; }
  uint32_t threads() const { return warps * 32; }
  uint32_t fill_rounds() const;         // of a column's tile, as integers
  uint32_t fill_rounds_ahead() const;   // that a lane asks for at once
  uint32_t squares_slots() const;       // of a column: where parts of the sum of its squares are
  uint32_t blocks_per_sm() const;       // 128 registers a thread, so that nothing spills
  uint32_t input_unit_bytes() const;    // of a column
  uint32_t input_column_bytes() const;  // of the tile
};

// Throws Error with the spec's name and what is wrong with it.
GemvPlan plan_of(const GemvSpec& spec);

// Of several columns of quantised weights: as one of several products that have n_tiles in all.
void share_tiles(GemvPlan& plan, uint32_t n_tiles);

// Lays out the input of these plans, of equal k, in one way for all; false, and nothing done, where there is none that
// fits at once.
bool share_input(std::vector<GemvPlan>& plans);

}  // namespace warpchat
