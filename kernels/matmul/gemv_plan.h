// A GEMV's spec with every choice made: how rows, lanes and the input are distributed. Only lanes_per_row (order of a
// row's sum) and warps (order of RMSNorm's squares) affect the results.
#pragma once
#include <vector>

#include "kernels/matmul/product.h"

namespace warpchat {

struct GemvPlan {
  static constexpr uint32_t kFillUnits = 8;     // units that a warp converts to integers at once: four lanes each
  static constexpr uint32_t kMaxFillAhead = 3;  // such rounds loaded at once
  static constexpr uint32_t kTileRows = 16;     // rows of an mma tile; it has eight columns
  static constexpr uint32_t kTileFloats = 160;  // floats of a tile's sums in shared memory, with a column stride of 20

  GemvSpec spec;
  std::vector<ProductMatrix> matrices;

  // Rows: a warp takes rows_per_step at a time; lane group r % n_groups has row r of the step.
  uint32_t warps, rows_per_warp, lanes_per_row;
  uint32_t n_groups;         // lane groups in a warp
  uint32_t rows_per_step;    // n_groups * rows_per_warp, at most spec.rows
  uint32_t n_steps;          // over all warps; the last step overlaps the previous one if rows do not divide evenly
  uint32_t n_blocks;         // blocks of a separate kernel; a warp makes several steps if there are many
  uint32_t units_in_flight;  // per row: loaded by a lane before it multiplies the first
  // The next units are loaded before these are multiplied: see load_ahead().
  bool loads_ahead = false;

  // Input: units of all columns in shared memory, tile_units at a time.
  bool has_float_input;  // else 16-bit integers
  bool has_input_sums;   // sums of the integers, for formats with a zero point or minimum
  uint32_t unit_weights, n_units, tile_units;

  // Several columns of int activations on tensor cores: a warp takes a tile of rows and every lanes_per_row-th group of
  // units_at_once consecutive units; `splits` warps share a tile, and a block has row_tiles tiles.
  bool on_tensor_cores() const { return spec.columns > 1 && !has_float_input; }
  uint32_t units_at_once, splits, row_tiles;
  uint32_t row_tiles_in_all() const;
  uint32_t part_floats() const;  // in shared memory

  bool is_tiled() const { return tile_units < n_units; }
  bool normalises() const { return spec.prologue == GemvPrologue::kRmsNorm; }
  uint32_t threads() const { return warps * 32; }
  uint32_t fill_rounds() const;             // per column and tile, for integers
  uint32_t prefetched_fill_rounds() const;  // rounds that a lane loads at once
  uint32_t squares_slots() const;           // per column: partial sums of squares
  uint32_t blocks_per_sm() const;           // 128 registers per thread, so that nothing spills
  uint32_t input_unit_bytes() const;        // per column
  uint32_t input_column_bytes() const;      // per tile
};

// Throws Error with the spec's name and what is wrong with it.
GemvPlan plan_of(const GemvSpec& spec);

// Several columns of quantised weights: distributes the tiles as one of several products with n_tiles in total.
void distribute_tiles(GemvPlan& plan, uint32_t n_tiles);

// For one column in one tile: memory then works while a warp multiplies. This takes the registers of a second block on
// the multiprocessor, so it is for kernels that have one. Does nothing to other plans.
void load_ahead(GemvPlan& plan);

// Gives all these plans, of equal k, the same input layout. Returns false and changes nothing if none fits shared
// memory without tiling.
bool share_input(std::vector<GemvPlan>& plans);

}  // namespace warpchat
