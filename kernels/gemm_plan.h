// A GEMM's spec with every choice made: how rows, columns and k are shared out.
#pragma once
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

struct GemmPlan {
  GemmSpec spec;
  std::vector<ProductMatrix> matrices;
  uint32_t warps, rows_per_warp, columns;
  uint32_t splits;        // of k, among warps of the same rows: a tile's units in turn
  uint32_t n_row_blocks;  // the last warps overlap the ones before if the rows do not fill them
  uint32_t threads() const { return warps * 32; }
  uint32_t row_warps() const { return warps / splits; }  // that have rows of their own
  uint32_t rows_per_block() const { return row_warps() * rows_per_warp; }
  // What a warp writes at once: columns of all its sums, each with 4 of padding, so that neither fragments nor columns
  // have bank conflicts.
  uint32_t sums_per_column() const { return static_cast<uint32_t>(matrices.size()) * rows_per_warp; }
  uint32_t stage_column() const { return sums_per_column() + 4; }
  uint32_t stage_columns() const { return sums_per_column() <= 32 ? 32 : 16; }
  uint32_t stage_floats() const { return stage_columns() * stage_column(); }
};

// Throws Error with the spec's name and what is wrong with it.
GemmPlan plan_of(const GemmSpec& spec);

}  // namespace warpchat
