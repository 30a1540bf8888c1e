// The uses of a pass by expert, so that a grouped product (kernels/gemm.h) reads each expert's weights once for a tile
// of uses. Whole numbers only: the order follows from the choices alone.
#pragma once
#include <cstdint>
#include <string>

#include "ptx/kernel.h"

namespace warpchat {

struct ExpertOrderSpec {
  uint32_t n, n_used;  // experts: 1 to 1,024; used by a column: 1 to 32
  uint32_t tile;       // uses of a tile, at most: the product's columns_per_block
  uint32_t columns = 1;
};

// A tile of a grouped product: neighbours in the order that have the same expert. Those without uses come last.
struct ExpertTile {
  uint32_t expert, first, count, unused;
};

// Parameters in order:
//   experts    u32 [columns, n_used], each below n
//   order      u32 [uses]: the numbers of all uses, by expert, and of an expert's in rising order
//   tiles      ExpertTile [most_expert_tiles(n, tile, columns * n_used)], 16-byte aligned
//   n_columns  u32, only if columns > 1: at most `columns`; uses beyond are in no tile
// Throws Error for a spec outside the bounds above.
ptx::Kernel expert_order(const ExpertOrderSpec& spec, ptx::Target target);
std::string name_of(const ExpertOrderSpec& spec);

inline constexpr uint32_t kExpertOrderThreads = 1024;  // of its only block: a thread for each expert
// Warps that share out the uses, each with a counter for every expert.
uint32_t expert_counting_warps(const ExpertOrderSpec& spec);

// Tiles with uses that there can be of n_uses, however they are dealt out.
uint32_t most_expert_tiles(uint32_t n_experts, uint32_t tile, uint32_t n_uses);

}  // namespace warpchat
