// Moves a token's projections to the cache: optional QK norm, RoPE on q and k, then k and v as f16, q8_0 or f32.
// Positions are read from device memory, so a captured graph replays correctly.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/attention/kv_cache.h"
#include "models/model_config.h"
#include "ptx/kernel.h"

namespace warpchat {

struct KvScatterSpec {
  uint32_t n_heads, n_kv_heads;
  uint32_t head_dim;   // a multiple of 8, at most 256
  uint32_t rope_dims;  // rotated dimensions per head, even; the others are unchanged
  RopePairing pairing;
  uint32_t max_positions;     // per sequence
  uint32_t columns = 1;       // sequences, or positions of one sequence
  bool one_sequence = false;  // all columns share the first page table
  bool qk_norm = false;       // q, k = x * rsqrt(mean(x^2) + eps) * gamma, head by head, before RoPE
  float eps = 0;
  double rope_magnitude = 1;        // factor on cosine and sine
  std::vector<double> frequencies;  // [rope_dims / 2] radians per position, finite
  KvType k_type = KvType::kF16, v_type = KvType::kF16;
  bool operator==(const KvScatterSpec&) const = default;
};

// Name: kv_scatter_h14_kv2_d64_s32768_c1. Suffixes: "_one" for one sequence, "_norm" for QK norm, "_kq8" and "_vq8" for
// q8_0 caches, "_kf32" and "_vf32" for f32 caches, and a hash of the rotation.
// Parameters in order:
//   q                   f32 [columns, n_heads * head_dim], normalised and rotated in place
//   k, v                f32 [columns, n_kv_heads * head_dim]
//   q_gamma, k_gamma    f32 [head_dim], only with qk_norm
//   positions           u32 [columns]
//   k_pages, v_pages    the layer's pages as in kernels/attention/kv_cache.h
//   page_tables         u64 [columns], or [1 or more] for one sequence: addresses of each column's page table, u32
//                       [pages_of(position + 1) or more]
//   n_pages             u32: of k_pages, and of v_pages
//   error               u32 [4]: kernels/common/error_word.h. A position of max_positions or more sets it, and nothing
//   is
//                       written for that column, not even q. A page of n_pages or more sets it, and no key or value
//                       is written
//   n_columns           u32, only if columns > 1: at most `columns`; columns beyond are neither read nor written
// Columns of one sequence must have different positions. Angles are exact to 1e-6 at every position: they are computed
// in 2^-64 turns, which wrap exactly. A q8_0 row depends only on its own values; magnitudes above 65,024 are clamped,
// and a NaN makes its group's scale NaN. Throws Error for a spec outside the bounds above.
ptx::Kernel kv_scatter(const KvScatterSpec& spec, ptx::Target target);
std::string name_of(const KvScatterSpec& spec);
ptx::Launch kv_scatter_launch(const KvScatterSpec& spec);  // blocks: some heads each, columns

}  // namespace warpchat
