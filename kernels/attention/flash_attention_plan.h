// Everything derived from a FlashAttentionSpec and a target: tiles of rows and keys, and the shared memory for them. A
// row is one head of one query; a KV head's rows are its group's heads of the first query, then of the second...
#pragma once
#include <string>

#include "kernels/attention/flash_attention.h"

namespace warpchat {

struct FlashAttentionPlan {
  static constexpr uint32_t kWarpRows = 16;  // rows of mma's first operand
  static constexpr uint32_t kCopy = 16;      // bytes per copy from a cache to shared memory
  static constexpr uint32_t kPadding = 8;    // f16 after each key: pieces of eight keys then cover all banks

  FlashAttentionPlan(const FlashAttentionSpec& spec, ptx::Target target);  // throws Error for a spec out of bounds

  KvLayout cache(KvType type) const { return {type, spec.n_kv_heads, spec.head_dim}; }
  uint32_t threads() const { return warps * ptx::kWarpSize; }
  uint32_t rows() const { return warps * kWarpRows; }  // per block
  uint32_t key_stride() const { return spec.head_dim + kPadding; }
  uint32_t dim_steps() const { return spec.head_dim / 16; }  // mma steps of 16 dimensions
  uint64_t tile_halves() const { return uint64_t{keys} * key_stride(); }
  uint64_t query_words() const {
    return queries_in_shared ? uint64_t{warps} * 2 * dim_steps() * 4 * ptx::kWarpSize : 0;
  }
  // Codes and floats are staged in shared memory until they are converted to f16; each piece of codes is stored beside
  // the word with its scale.
  bool stages(KvType type) const { return type != KvType::kF16 && copies_async && !queries_in_shared; }
  uint32_t pieces(KvType type) const { return cache(type).cells_bytes() / kCopy; }  // per key
  uint32_t staged_pieces() const;
  uint32_t staged_scales() const;                                              // one per piece of codes
  uint64_t key_scales() const;                                                 // f32, if keys are codes
  uint32_t key_planes() const { return spec.k_type == KvType::kF32 ? 2 : 1; }  // f16 planes per key
  uint64_t shared_bytes() const {
    return (key_planes() + 1) * tile_halves() * 2 + 4 * query_words() + kCopy * staged_pieces() + 4 * staged_scales() +
           4 * key_scales();
  }

  FlashAttentionSpec spec;  // with its scale resolved
  uint32_t group;           // query heads per KV head
  bool queries_in_shared;   // else in registers
  uint32_t warps;
  uint32_t keys;  // per tile; a page holds whole tiles
  bool copies_async;
  uint32_t blocks_per_sm;  // limited by registers
};

}  // namespace warpchat
