// What follows from a FlashAttentionSpec and a target: the tiles of rows and keys, and the shared memory they take.
// A row is one head of one query; the rows of a KV head are its group's heads of the first query, then of the second...
#pragma once
#include <string>

#include "kernels/flash_attention.h"

namespace warpchat {

struct FlashAttentionPlan {
  static constexpr uint32_t kWarpRows = 16;  // of mma's first operand
  static constexpr uint32_t kCopy = 16;      // bytes at a time from a cache to shared memory
  static constexpr uint32_t kPadding = 8;    // halves behind a key, with which eight keys' pieces lie in all banks

  FlashAttentionPlan(const FlashAttentionSpec& spec, ptx::Target target);  // throws Error for a spec out of bounds

  KvLayout cache(KvType type) const { return {type, spec.n_kv_heads, spec.head_dim}; }
  uint32_t threads() const { return warps * ptx::kWarpSize; }
  uint32_t rows() const { return warps * kWarpRows; }  // of a block
  uint32_t key_stride() const { return spec.head_dim + kPadding; }
  uint32_t dim_steps() const { return spec.head_dim / 16; }  // of 16 dimensions, mma's k
  uint64_t tile_halves() const { return uint64_t{keys} * key_stride(); }
  uint64_t query_words() const {
    return queries_in_shared ? uint64_t{warps} * 2 * dim_steps() * 4 * ptx::kWarpSize : 0;
  }
  // Codes and floats wait in shared memory until they become halves, each piece of codes beside the word that holds its
  // scale.
  bool stages(KvType type) const { return type != KvType::kF16 && copies_async && !queries_in_shared; }
  uint32_t pieces(KvType type) const { return cache(type).cells_bytes() / kCopy; }  // of a key
  uint32_t staged_pieces() const;
  uint32_t staged_scales() const;                                              // pieces of codes, that is
  uint64_t key_scales() const;                                                 // floats, of keys that are codes
  uint32_t key_planes() const { return spec.k_type == KvType::kF32 ? 2 : 1; }  // halves of a key, and what they leave
  uint64_t shared_bytes() const {
    return (key_planes() + 1) * tile_halves() * 2 + 4 * query_words() + kCopy * staged_pieces() + 4 * staged_scales() +
           4 * key_scales();
  }

  FlashAttentionSpec spec;  // with its scale
  uint32_t group;           // query heads of a KV head
  bool queries_in_shared;   // else in registers
  uint32_t warps;
  uint32_t keys;  // of a tile; a page holds whole tiles
  bool copies_async;
  uint32_t blocks_per_sm;  // for which there are registers
};

}  // namespace warpchat
