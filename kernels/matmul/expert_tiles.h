// Tiles of expert assignments, which a grouped product multiplies one by one (gemm.h).
#pragma once
#include <cstdint>

namespace warpchat {

// A tile of a grouped product: consecutive assignments of one expert. Empty tiles come last.
struct ExpertTile {
  uint32_t expert, first, count, unused;
};

// Upper bound on the non-empty tiles of n_assignments assignments, however they are distributed.
inline uint32_t max_expert_tiles(uint32_t n_experts, uint32_t tile, uint32_t n_assignments) {
  const uint64_t touched = std::min(n_experts, n_assignments);
  return static_cast<uint32_t>((n_assignments + touched * (tile - 1)) / tile);
}

}  // namespace warpchat
