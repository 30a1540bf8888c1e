// Incremental attention: one query token of each column against its own key-value cache, grouped-query. A block takes
// the keys of one page, or of several, a split, for all query heads of one KV head, so that each byte of the cache is
// read once; the last block to arrive merges the splits' online-softmax states in index order. Products run on tensor
// cores, with queries and weights as two halves each, which keep 22 bits of them, and keys and values in f32 likewise;
// sums are fp32. What is added to what follows from the spec and the length alone: results are the same to the bit for
// every grid and schedule. Where a column is a token of its own sequence, what kv_scatter does is part of it: the
// blocks turn their queries, and the one of the token's own split puts its key and value into the cache first.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/kv_scatter.h"
#include "ptx/kernel.h"

namespace warpchat {

struct AttentionSpec {
  uint32_t n_heads, n_kv_heads;  // the first a multiple of the second, up to 128 for each
  uint32_t head_dim;             // a multiple of 8, at most 256
  uint32_t max_positions;        // of a sequence
  uint32_t columns = 1;          // sequences, or positions of one sequence
  float scale = 0;               // of the scores; 0: 1 / sqrt(head_dim)
  // The array of lengths holds positions, the one that kv_scatter reads too: the keys to attend to are one more.
  bool lengths_are_positions = false;
  bool one_sequence = false;  // all columns share the first page table
  KvType k_type = KvType::kF16, v_type = KvType::kF16;
  bool gated = false;  // what goes out is multiplied by the sigmoid of a gate
  // Neighbouring pages that a block goes over, at most 32; with 1 it has a page alone. More only where
  // takes_several_pages(): a block then keeps what it adds up in registers.
  uint32_t pages_per_block = 1;
  // What goes out are halves: a factor of 1 fits them, as they are means of the cache's values. Only where
  // can_write_halves().
  bool writes_halves = false;
  // q, k and v are projections: they go through one of these first, which differ in their rotations alone, and in
  // nothing from this spec. Lengths are positions then, and no two columns are of one sequence.
  std::vector<KvScatterSpec> scatters = {};
  bool operator==(const AttentionSpec&) const = default;
};

// Name: incremental_attention_h14_kv2_d64_s32768_c1, "_p8" for eight pages a block, "_one" for one sequence, "_gated",
// "_halves", "_kq8" and "_vq8" for caches in q8_0, "_kf32" and "_vf32" in f32, which are as exact, "_scatter" and a
// hash of the rotations. Parameters in order:
//   q                   f32 [columns, n_heads * head_dim]
//   k, v                f32 [columns, n_kv_heads * head_dim]; only with scatters, as the next two
//   q_gamma, k_gamma    f32 [head_dim], only with QK norm
//   k_pages, v_pages    the layer's pages as in kernels/kv_cache.h
//   page_tables         u64 [columns], or [1 or more] for one sequence: addresses of each column's page table, u32
//                       [pages_of(length) or more]; what it names is not checked but with scatters
//   n_pages             u32: those of the cache; only with scatters. A page beyond sets the error word, and the column
//                       gets what another page holds
//   rope                u32: whose rotation it is; only with several scatters
//   lengths             u32 [columns]: how many keys to attend to, from the first; 0 gives zeros
//   out                 f32 [columns, n_heads * head_dim]; or f16 [columns, half_column_size(n_heads * head_dim)], as
//                       kernels/half_columns.h has them
//   out_factors         f32 [columns], which become 1; only with halves
//   gate                f32 [columns, n_heads * head_dim]; only if gated
//   scratch             u8 [attention_scratch_bytes]: all zeros before the first launch; a launch leaves it ready
//   error               u32 [4]: kernels/error_word.h. A length above max_positions, or above what the grid covers,
//                       sets it and leaves the column's out as it was
//   n_columns           u32, only if columns > 1: at most `columns`; what lies beyond is neither read nor written
// Nothing else may write q, gate, pages, tables or lengths while it runs, and two launches that may run at the same
// time need a scratch each. Throws Error for a spec outside the bounds above.
ptx::Kernel incremental_attention(const AttentionSpec& spec, ptx::Target target);
std::string name_of(const AttentionSpec& spec);

// Whether a block can take several pages: with at most eight query heads a KV head, and heads whose keys and values
// registers hold at the same time, which those in f32 do not.
bool takes_several_pages(const AttentionSpec& spec);
// Whether results can be halves: likewise, and where a KV head's are whole steps of them, so that warps have four each
// of all lanes or of none.
bool can_write_halves(const AttentionSpec& spec);

uint64_t attention_scratch_bytes(const AttentionSpec& spec);

// The blocks for keys up to `longest_length` (at most max_positions): what a launcher that knows the lengths may use in
// place of the kernel's own launch, which covers max_positions.
ptx::Dimensions attention_grid(const AttentionSpec& spec, uint32_t longest_length);

// `keys`: summed over the columns. The kernel's own cost is that of full caches.
ptx::Cost attention_cost(const AttentionSpec& spec, uint64_t keys);

}  // namespace warpchat
