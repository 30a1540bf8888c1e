// What follows from an AttentionSpec: how a block's lanes share the keys, the tree that merges the splits, and where
// its parts lie in scratch.
#pragma once
#include <string>
#include <vector>

#include "kernels/attention.h"

namespace warpchat {

struct AttentionPlan {
  static constexpr uint32_t kMostPages = ptx::kWarpSize;  // of a block: a lane knows the number of each
  static constexpr uint32_t kWarps = 8;
  static constexpr uint32_t kGroup = 32;       // dimensions: of a scale of codes
  static constexpr uint32_t kGroupsAhead = 4;  // whose keys and values registers hold at the same time
  static constexpr uint32_t kHeadsAtOnce = 8;  // rows of a product, which has as many of what halves leave
  static constexpr uint32_t kFanIn = 32;       // children of a node of the merge
  static constexpr uint32_t kMergeAhead = 8;   // children whose states are in flight

  static constexpr uint32_t kPartBytes = 256;  // of scratch: each part takes a multiple of them

  // Of every level of the merge but the last, which is the output; bytes into scratch.
  struct Level {
    uint64_t arrivals = 0;  // u32 [columns, n_kv_heads, nodes of the next level]
    uint64_t states = 0;    // f32 [columns, n_kv_heads, nodes, group, 2]: the largest score and the sum of the weights
    uint64_t values = 0;    // f32 [columns, n_kv_heads, nodes, group, head_dim]: the values, weighted and summed
  };

  explicit AttentionPlan(const AttentionSpec& spec);  // throws Error for a spec that no kernel can have
  std::string name() const;
  // Whether a page's values are asked for with its keys: where registers are left.
  bool has_values_ahead() const { return groups * planes() <= kGroupsAhead; }
  // Halves that a key or a value is multiplied as: those of f32 take the more registers.
  uint32_t planes() const { return KvTypes{spec.k_type, spec.v_type}.has_f32() ? 2 : 1; }
  uint32_t split_positions() const { return spec.pages_per_block * kPagePositions; }
  uint32_t pages_at_once() const { return spec.pages_per_block > 1 ? 2 : 1; }  // whose scores lie in shared memory
  // Whether all queries of a group lie in shared memory, so that a team that keeps to its KV head turns them once.
  bool turns_once() const { return group <= kHeadsAtOnce; }

  AttentionSpec spec;           // with its scale
  uint32_t group;               // query heads of a KV head
  uint32_t groups;              // of dimensions, the last of which may be smaller
  uint32_t turns;               // in which a warp goes over every other group of the values
  std::vector<uint32_t> nodes;  // of each level, for a column and KV head: [0] are the splits, the last is 1
  std::vector<Level> levels;    // nodes.size() - 1
  uint64_t scratch_bytes;
};

}  // namespace warpchat
