// Attention of many query tokens of one sequence at once, on tensor cores: what prefill runs after its keys and values
// are in the cache. Grouped-query, causal or full, over any number of past positions, with the online softmax in fp32.
// A query enters as two halves to an element, the second what the first rounds away, so that scores are exact to fp32;
// the weights are rounded to halves, and divided by the sum of what they were rounded to. That makes an error of up to
// 2e-4 of the output's norm, 4e-4 of a single row's, whatever the scores. Keys in q8_0 are exact, too, and keys in f32
// enter as two halves, so that scores keep 22 bits of them; values in q8_0 and f32 are rounded to halves, as the
// weights are: up to 4e-4 and 8e-4. Keys and values in f32 beyond 65,504 count as that, where f16 caches have infinity.
// A query's result follows from it and its keys alone: it is the same to the bit for every grid, schedule and number of
// queries beside it.
#pragma once
#include <cstdint>
#include <string>

#include "kernels/kv_cache.h"
#include "ptx/kernel.h"

namespace warpchat {

struct FlashAttentionSpec {
  uint32_t n_heads, n_kv_heads;  // the first a multiple of the second, up to 128 for each
  uint32_t head_dim;             // 64 to 256, a multiple of 16
  uint32_t max_positions;        // of the sequence
  bool causal = true;            // a query attends to the keys up to its own position; else to all
  float scale = 0;               // of the scores; 0: 1 / sqrt(head_dim)
  KvType k_type = KvType::kF16, v_type = KvType::kF16;
  bool gated = false;  // what goes out is multiplied by the sigmoid of a gate
};

// Name: flash_attention_causal_h14_kv2_d64_s32768, or flash_attention_full_...; "_gated", "_kq8", "_vq8", "_kf32",
// "_vf32". Parameters in order:
//   q                   f32 [n_queries, n_heads * head_dim]
//   k_pages, v_pages    the layer's pages as in kernels/kv_cache.h, finite as far as they are attended to
//   page_tables         u64 [1 or more]: the first is the address of the sequence's page table, u32 [pages_of(keys) or
//                       more]; what it names is not checked
//   positions           u32 [1 or more]: the first is the first query's position; the others follow it. The keys are
//                       those of all positions up to the last query's
//   out                 f32 [n_queries, n_heads * head_dim]; not q
//   gate                f32, as out; only if gated
//   error               u32 [4]: kernels/error_word.h. If a query's position is max_positions or more, the first such
//                       is reported, its query as the column, and nothing is written
//   n_queries           u32
// Nothing else may write q, gate, pages, tables or positions while it runs. Throws Error for a spec outside the bounds
// above.
ptx::Kernel flash_attention(const FlashAttentionSpec& spec, ptx::Target target);
std::string name_of(const FlashAttentionSpec& spec);

// The blocks for so many queries. Any grid with n_kv_heads blocks in y computes all queries; the kernel's own launch is
// that of max_positions queries.
ptx::Dimensions flash_attention_grid(const FlashAttentionSpec& spec, uint32_t n_queries);

// Each key and value counted once. The kernel's own cost is that of max_positions queries from position 0.
ptx::Cost flash_attention_cost(const FlashAttentionSpec& spec, uint32_t n_queries, uint32_t first_position);

}  // namespace warpchat
