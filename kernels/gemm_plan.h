// A GEMM's spec with every choice made: how rows, columns and k are shared out.
#pragma once
#include <bit>
#include <vector>

#include "kernels/gemm.h"
#include "kernels/product.h"

namespace warpchat {

inline constexpr uint32_t kGemmUnit = 32;      // values of k whose products are added up before scales meet them
inline constexpr uint32_t kGemmTileUnits = 4;  // of the columns in shared memory at once
inline constexpr uint32_t kGemmTileK = kGemmUnit * kGemmTileUnits;
// Of the columns that it could have a block of few computes so many, or twice, four times as many: it passes over the
// others.
inline constexpr uint32_t kGemmFewColumns = 16;
// A block of no more columns passes over this one.
inline uint32_t most_that_pass_over(uint32_t column) { return column < kGemmFewColumns ? 0 : std::bit_floor(column); }

// Of scratch: arrivals of parts, u32 for each tile of rows and columns; then their sums.
inline constexpr uint32_t kMostGemmParts = 8, kMostPartedTiles = 4096, kGemmArrivalsBytes = 4 * kMostPartedTiles;

struct GemmPlan {
  // What a lane writes at once: tiles of sums, so that it waits once for what it adds to them; how many of their
  // split-K parts; values of two matrices.
  static constexpr uint32_t kWrittenTiles = 4, kMergedParts = 4, kStagedAtOnce = 4;

  GemmSpec spec;
  std::vector<ProductMatrix> matrices;
  std::vector<TensorType> formats;  // that the kernel takes, of each matrix in turn or of its only one
  uint32_t warps, rows_per_warp, columns;
  uint32_t parts;         // of k, by blocks: not more than there are tiles
  uint32_t n_row_blocks;  // the last warps overlap the ones before if the rows do not fill them
  uint32_t threads() const { return warps * 32; }
  uint32_t blocks_per_sm(ptx::Target target) const;                                      // so that nothing spills
  uint32_t row_warps() const { return warps / static_cast<uint32_t>(matrices.size()); }  // of each matrix
  uint32_t rows_per_block() const { return row_warps() * rows_per_warp; }
  bool has_lowest() const;  // one of the formats
  // What a warp of two matrices writes at once: columns of all its sums, each with 4 of padding, so that neither
  // fragments nor columns have bank conflicts.
  uint32_t stage_column() const { return rows_per_warp + 4; }
  uint32_t stage_columns() const { return warps * rows_per_warp <= 256 ? 32 : 16; }
  uint32_t stage_floats() const { return stage_columns() * stage_column(); }
};

// Throws Error with the spec's name and what is wrong with it.
GemmPlan plan_of(const GemmSpec& spec);

bool takes_many_registers(const GemmPlan& plan);  // matrices of two formats, or two small scales a unit
bool has_two_small_scales(TensorType format);
ptx::Cost gemm_block_cost(GemmProducts products, uint32_t n_columns);  // without experts: every matrix read once

}  // namespace warpchat
