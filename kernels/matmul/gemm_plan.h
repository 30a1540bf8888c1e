// A GEMM's spec with every choice made: how rows, columns and k are distributed.
#pragma once
#include <bit>
#include <vector>

#include "kernels/matmul/gemm.h"
#include "kernels/matmul/product.h"

namespace warpchat {

inline constexpr uint32_t kGemmUnit = 32;      // values of k summed before scales are applied
inline constexpr uint32_t kGemmTileUnits = 4;  // units of k per shared-memory tile
inline constexpr uint32_t kGemmTileK = kGemmUnit * kGemmTileUnits;
// A block with few columns computes only the first 16, 32, ... of its columns that cover them, and skips the rest.
inline constexpr uint32_t kMinComputedColumns = 16;
// Blocks with at most this many columns skip this column.
inline uint32_t max_columns_skipping(uint32_t column) {
  return column < kMinComputedColumns ? 0 : std::bit_floor(column);
}

// Scratch: one arrival counter (u32) per tile of rows and columns, then the split-K partial sums.
inline constexpr uint32_t kMaxSplitK = 8, kMaxSplitKTiles = 4096, kGemmArrivalsBytes = 4 * kMaxSplitKTiles;

struct GemmPlan {
  // Batch sizes per lane when writing results: output tiles (so their loads overlap), split-K parts, and staged values
  // of two matrices.
  static constexpr uint32_t kWrittenTiles = 4, kMergedParts = 4, kStagedAtOnce = 4;

  GemmSpec spec;
  std::vector<ProductMatrix> matrices;
  std::vector<TensorType> formats;  // supported formats: one per matrix, or all those of the only matrix
  uint32_t warps, rows_per_warp, columns;
  uint32_t split_k;       // split-K blocks, at most the number of k tiles
  uint32_t n_row_blocks;  // the last warps overlap earlier ones if rows do not divide evenly
  uint32_t threads() const { return warps * 32; }
  uint32_t blocks_per_sm(ptx::Target target) const;                                      // so that nothing spills
  uint32_t row_warps() const { return warps / static_cast<uint32_t>(matrices.size()); }  // per matrix
  uint32_t rows_per_block() const { return row_warps() * rows_per_warp; }
  bool has_lowest() const;  // any of the formats has a minimum
  // With two matrices, a warp stages columns of its sums, each padded by 4 so that neither fragment nor column accesses
  // conflict.
  uint32_t stage_column() const { return rows_per_warp + 4; }
  uint32_t stage_columns() const { return warps * rows_per_warp <= 256 ? 32 : 16; }
  uint32_t stage_floats() const { return stage_columns() * stage_column(); }
};

// Throws Error with the spec's name and what is wrong with it.
GemmPlan plan_of(const GemmSpec& spec);

bool needs_many_registers(const GemmPlan& plan);  // matrices of two formats, or two small scales per unit
bool has_two_small_scales(TensorType format);
ptx::Cost gemm_block_cost(GemmProducts products, uint32_t n_columns);  // without experts: every matrix read once

}  // namespace warpchat
