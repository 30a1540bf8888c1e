// Incremental attention: one query token per column against that column's KV cache, grouped-query. A block handles one
// split (one or several pages) for all query heads of one KV head, so each cache byte is read once. The last block to
// arrive merges the splits' online-softmax states in index order. Products run on tensor cores. Queries, weights, and
// f32 keys and values are split into two f16 each, which keeps 22 bits; sums are fp32. The order of every sum depends
// only on the spec and the length, so results are bit-identical for every grid and schedule. If each column belongs to
// a different sequence, kv_scatter is fused in: blocks rotate their queries, and the block of the token's own split
// first writes its key and value to the cache.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/attention/kv_scatter.h"
#include "ptx/kernel.h"

namespace warpchat {

struct AttentionSpec {
  uint32_t n_heads, n_kv_heads;  // n_heads is a multiple of n_kv_heads, at most 128 times it
  uint32_t head_dim;             // a multiple of 8, at most 256
  uint32_t max_positions;        // per sequence
  uint32_t columns = 1;          // sequences, or positions of one sequence
  float scale = 0;               // factor on scores; 0: 1 / sqrt(head_dim)
  // `lengths` holds positions (kv_scatter's parameter), so a column attends to one key more than its entry.
  bool lengths_are_positions = false;
  bool one_sequence = false;  // all columns share the first page table
  KvType k_type = KvType::kF16, v_type = KvType::kF16;
  bool gated = false;  // the output is multiplied by sigmoid(gate)
  // Neighbouring pages per block, at most 32. More than 1 only if takes_several_pages(): the block then accumulates in
  // registers.
  uint32_t pages_per_block = 1;
  // The output is f16 with a factor of 1, since averages of the cache's values fit f16. Only if can_write_f16().
  bool writes_f16 = false;
  // q, k and v are raw projections. One of these scatters, which match this spec and differ only in their rotations, is
  // applied to them first. Lengths are then positions, and no two columns share a sequence.
  std::vector<KvScatterSpec> scatters = {};
  bool operator==(const AttentionSpec&) const = default;
};

// Name: incremental_attention_h14_kv2_d64_s32768_c1. Suffixes: "_p8" for eight pages per block, "_one" for one
// sequence, "_gated", "_halves", "_kq8" and "_vq8" for q8_0 caches, "_kf32" and "_vf32" for f32 caches, "_scatter" and
// a hash of the rotations. Parameters in order:
//   q                   f32 [columns, n_heads * head_dim]
//   k, v                f32 [columns, n_kv_heads * head_dim]; only with scatters, as the next two parameters
//   q_gamma, k_gamma    f32 [head_dim], only with QK norm
//   k_pages, v_pages    the layer's pages as in kernels/attention/kv_cache.h
//   page_tables         u64 [columns], or [1 or more] for one sequence: addresses of each column's page table, u32
//                       [pages_of(length) or more]; what it names is not checked but with scatters
//   n_pages             u32: pages in the cache; only with scatters. A page out of range sets the error word, and
//                       the column's results are meaningless
//   rope                u32: index of the scatter whose rotation applies; only with several scatters
//   lengths             u32 [columns]: how many keys to attend to, from the first; 0 gives zeros
//   out                 f32 [columns, n_heads * head_dim]; or f16 [columns, f16_activation_size(n_heads * head_dim)],
//   as
//                       kernels/matmul/f16_activations.h has them
//   out_factors         f32 [columns], which become 1; only with halves
//   gate                f32 [columns, n_heads * head_dim]; only if gated
//   scratch             u8 [attention_scratch_bytes]: zeroed once before the first launch; a launch leaves it ready
//   error               u32 [4]: kernels/common/error_word.h. A length above max_positions, or above what the grid
//   covers,
//                       sets it and leaves the column's out unchanged
//   n_columns           u32, only if columns > 1: at most `columns`; what lies beyond is neither read nor written
// While it runs, nothing else may write q, gate, pages, tables or lengths. Launches that may overlap need separate
// scratch. Throws Error for a spec outside the bounds above.
ptx::Kernel incremental_attention(const AttentionSpec& spec, ptx::Target target);
std::string name_of(const AttentionSpec& spec);

// Whether a block can handle several pages: at most eight query heads per KV head, and a head's keys and values fit
// registers together (never in f32).
bool takes_several_pages(const AttentionSpec& spec);
// Whether the output can be f16: takes_several_pages(), and each KV head's results are a multiple of the f16 layout's
// step, so every lane of a warp has four of them or none has.
bool can_write_f16(const AttentionSpec& spec);

uint64_t attention_scratch_bytes(const AttentionSpec& spec);

// Grid for lengths up to `longest_length` (at most max_positions). A launcher that knows the lengths may use it instead
// of the kernel's own launch, which covers max_positions.
ptx::Dimensions attention_grid(const AttentionSpec& spec, uint32_t longest_length);

// keys: summed over columns. The kernel's own cost assumes full caches.
ptx::Cost attention_cost(const AttentionSpec& spec, uint64_t keys);

}  // namespace warpchat
