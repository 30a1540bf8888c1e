// Groups the expert assignments of a pass by expert, so a grouped GEMM (kernels/matmul/gemm.h) reads each expert's
// weights once per tile of assignments. Integer arithmetic only: the order depends on the routing alone.
#pragma once
#include <cstdint>
#include <string>

#include "kernels/matmul/expert_tiles.h"
#include "ptx/kernel.h"

namespace warpchat {

struct ExpertOrderSpec {
  uint32_t n, n_used;  // number of experts, 1 to 1,024; experts per column, 1 to 32
  uint32_t tile;       // maximum assignments per tile: the product's columns_per_block
  uint32_t columns = 1;
};

// Parameters in order:
//   experts    u32 [columns, n_used], each below n
//   order      u32 [uses]: assignment numbers, grouped by expert, ascending within each
//   tiles      ExpertTile [most_expert_tiles(n, tile, columns * n_used)], 16-byte aligned
//   n_columns  u32, only if columns > 1: at most `columns`; assignments beyond are in no tile
// Throws Error for a spec outside the bounds above.
ptx::Kernel expert_order(const ExpertOrderSpec& spec, ptx::Target target);
std::string name_of(const ExpertOrderSpec& spec);

inline constexpr uint32_t kExpertOrderThreads = 1024;  // of the only block: one per expert
// Warps that share the counting, each with a counter for every expert.
uint32_t expert_counting_warps(const ExpertOrderSpec& spec);

}  // namespace warpchat
