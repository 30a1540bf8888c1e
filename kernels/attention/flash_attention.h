// Flash attention for prefill: many query tokens of one sequence on tensor cores, after their keys and values are in
// the cache. Grouped-query, causal or full, over any number of past positions, with an fp32 online softmax. Queries and
// f32 keys are split into two f16 each: scores keep full fp32 accuracy with f16 and q8_0 keys, 22 bits with f32 keys.
// Weights are rounded to f16 and divided by the sum of the rounded weights. The error is at most 2e-4 of the output's
// norm and 4e-4 of a single row's, whatever the scores. Values in q8_0 and f32 are rounded to f16 as well: up to 4e-4
// and 8e-4. f32 keys and values beyond 65,504 are clamped to it, where an f16 cache holds infinity. A query's result
// depends on it and its keys alone: it is bit-identical for every grid, schedule and number of other queries.
#pragma once
#include <cstdint>
#include <string>

#include "kernels/attention/kv_cache.h"
#include "ptx/kernel.h"

namespace warpchat {

struct FlashAttentionSpec {
  uint32_t n_heads, n_kv_heads;  // n_heads is a multiple of n_kv_heads, at most 128 times it
  uint32_t head_dim;             // 64 to 256, a multiple of 16
  uint32_t max_positions;        // of the sequence
  bool causal = true;            // a query attends to the keys up to its own position; else to all
  float scale = 0;               // factor on scores; 0: 1 / sqrt(head_dim)
  KvType k_type = KvType::kF16, v_type = KvType::kF16;
  bool gated = false;  // the output is multiplied by sigmoid(gate)
};

// Name: flash_attention_causal_h14_kv2_d64_s32768, or flash_attention_full_...; "_gated", "_kq8", "_vq8", "_kf32",
// "_vf32". Parameters in order:
//   q                   f32 [n_queries, n_heads * head_dim]
//   k_pages, v_pages    the layer's pages as in kernels/attention/kv_cache.h; attended cells must be finite
//   page_tables         u64 [1 or more]: the first is the address of the sequence's page table, u32 [pages_of(keys) or
//                       more]; what it names is not checked
//   positions           u32 [1 or more]: the first is the first query's position; the others follow it. The keys are
//                       those of all positions up to the last query's
//   out                 f32 [n_queries, n_heads * head_dim]; not q
//   gate                f32, as out; only if gated
//   error               u32 [4]: kernels/common/error_word.h. If a query's position is max_positions or more, the first
//   such
//                       is reported, with its query as the column, and nothing is written
//   n_queries           u32
// While it runs, nothing else may write q, gate, pages, tables or positions. Throws Error for a spec outside the bounds
// above.
ptx::Kernel flash_attention(const FlashAttentionSpec& spec, ptx::Target target);
std::string name_of(const FlashAttentionSpec& spec);

// Grid for n_queries. Any grid with n_kv_heads blocks in y computes all queries; the kernel's own launch is for
// max_positions queries.
ptx::Dimensions flash_attention_grid(const FlashAttentionSpec& spec, uint32_t n_queries);

// Counts each key and value once. The kernel's own cost is for max_positions queries from position 0.
ptx::Cost flash_attention_cost(const FlashAttentionSpec& spec, uint32_t n_queries, uint32_t first_position);

}  // namespace warpchat
