// Everything derived from an AttentionSpec: how lanes share keys, the merge tree, and the layout of scratch.
#pragma once
#include <string>
#include <vector>

#include "kernels/attention/attention.h"

namespace warpchat {

struct AttentionPlan {
  static constexpr uint32_t kMaxPages = ptx::kWarpSize;  // per block: each lane holds one page number
  static constexpr uint32_t kWarps = 8;
  static constexpr uint32_t kGroup = 32;       // dimensions that share one scale in q8_0
  static constexpr uint32_t kGroupsAhead = 4;  // groups whose keys and values fit registers together
  static constexpr uint32_t kHeadsAtOnce = 8;  // rows of an mma for the high f16 parts; as many more for the low parts
  static constexpr uint32_t kFanIn = 32;       // children of a merge node
  static constexpr uint32_t kMergeAhead = 8;   // children loaded at once

  static constexpr uint32_t kPartBytes = 256;  // alignment of each scratch array

  // Byte offsets into scratch, for every merge level except the last, which is the output.
  struct Level {
    uint64_t arrivals = 0;  // u32 [columns, n_kv_heads, nodes of the next level]
    uint64_t states = 0;    // f32 [columns, n_kv_heads, nodes, group, 2]: top score and sum of weights
    uint64_t values = 0;    // f32 [columns, n_kv_heads, nodes, group, head_dim]: weighted sum of values
  };

  explicit AttentionPlan(const AttentionSpec& spec);  // throws Error for an unsupported spec
  std::string name() const;
  // Whether a page's values are loaded together with its keys, if registers allow.
  bool has_values_ahead() const { return groups * planes() <= kGroupsAhead; }
  // f16 planes per key or value: f32 needs two.
  uint32_t planes() const { return KvTypes{spec.k_type, spec.v_type}.has_f32() ? 2 : 1; }
  uint32_t split_positions() const { return spec.pages_per_block * kPagePositions; }
  uint32_t pages_at_once() const { return spec.pages_per_block > 1 ? 2 : 1; }  // score buffers in shared memory
  // Whether shared memory holds all queries of a group, so a team that stays with its KV head rotates them once.
  bool rotates_once() const { return group <= kHeadsAtOnce; }

  AttentionSpec spec;           // with its scale
  uint32_t group;               // query heads per KV head
  uint32_t groups;              // of kGroup dimensions; the last may be smaller
  uint32_t turns;               // rounds in which a warp covers every other group of the values
  std::vector<uint32_t> nodes;  // per level, for a column and KV head: [0] is the number of splits, the last is 1
  std::vector<Level> levels;    // nodes.size() - 1
  uint64_t scratch_bytes;
};

}  // namespace warpchat
