#include "kernels/attention/flash_attention_plan.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/common/columns.h"
#include "kernels/common/spec_check.h"
#include "ptx/target.h"

namespace warpchat {
namespace {

constexpr uint32_t kMaxDimsInRegisters = 128;  // queries, next to the sums
constexpr uint32_t kRowsOfGrid = 64;

void check(const FlashAttentionSpec& s) {
  const std::string family = "flash_attention";
  require_heads(family, s.n_heads, s.n_kv_heads);
  require_spec(s.head_dim >= 64 && s.head_dim <= 256 && s.head_dim % 16 == 0, family, "head_dim", s.head_dim,
               "a multiple of 16 from 64 to 256");
  require_between(1, INT32_MAX / (s.n_heads / s.n_kv_heads), family, "max_positions", s.max_positions);
  if (!std::isfinite(s.scale)) throw Error(family + ": the scale is not finite");
}

float default_scale(const FlashAttentionSpec& s) { return 1 / std::sqrt(static_cast<float>(s.head_dim)); }

}  // namespace

FlashAttentionPlan::FlashAttentionPlan(const FlashAttentionSpec& given, ptx::Target target) : spec(given) {
  check(spec);
  if (spec.scale == 0) spec.scale = default_scale(spec);
  group = spec.n_heads / spec.n_kv_heads;
  copies_async = ptx::runs(target, ptx::sm_80);
  queries_in_shared = spec.head_dim > kMaxDimsInRegisters;
  const bool is_tight = queries_in_shared && !copies_async;  // sm_75 has 64 KiB of shared memory
  warps = is_tight ? 2 : 4;
  keys = is_tight ? 16 : (queries_in_shared ? 32 / key_planes() : 64);
  blocks_per_sm = spec.head_dim == 64 ? 3 : (queries_in_shared ? 1 : 2);
}

uint32_t FlashAttentionPlan::staged_pieces() const {
  const auto of = [&](KvType type) { return stages(type) ? keys * pieces(type) : 0; };
  return std::max(of(spec.k_type), of(spec.v_type));
}

uint32_t FlashAttentionPlan::staged_scales() const {
  const bool has_codes = spec.k_type == KvType::kQ8_0 || spec.v_type == KvType::kQ8_0;
  return has_codes && stages(KvType::kQ8_0) ? keys * pieces(KvType::kQ8_0) : 0;
}

uint64_t FlashAttentionPlan::key_scales() const { return uint64_t{keys} * cache(spec.k_type).scales_per_row(); }

std::string name_of(const FlashAttentionSpec& s) {
  check(s);
  std::string name = s.causal ? "flash_attention_causal" : "flash_attention_full";
  const auto add = [&](const char* letter, uint32_t n) { name += letter + std::to_string(n); };
  add("_h", s.n_heads), add("_kv", s.n_kv_heads), add("_d", s.head_dim), add("_s", s.max_positions);
  if (s.gated) name += "_gated";
  name += kv_suffix(s.k_type, s.v_type);
  if (s.scale != 0 && s.scale != default_scale(s)) add("_scale", std::bit_cast<uint32_t>(s.scale));
  return name;
}

ptx::Dimensions flash_attention_grid(const FlashAttentionSpec& spec, uint32_t n_queries) {
  check(spec);
  const uint32_t rows = std::clamp(n_queries, 1u, spec.max_positions) * (spec.n_heads / spec.n_kv_heads);
  return {ceil_div(rows, kRowsOfGrid), spec.n_kv_heads};
}

ptx::Cost flash_attention_cost(const FlashAttentionSpec& spec, uint32_t n_queries, uint32_t first_position) {
  const uint64_t n = n_queries, n_keys = first_position + n;
  const uint64_t pairs = spec.causal ? n * first_position + n * (n + 1) / 2 : n * n_keys;
  const KvLayout k{spec.k_type, 1, spec.head_dim}, v{spec.v_type, 1, spec.head_dim};
  return {
      .bytes = n_keys * spec.n_kv_heads * (k.row_bytes() + v.row_bytes()) + n * spec.n_heads * spec.head_dim * 4 * 2,
      .flops = pairs * spec.n_heads * spec.head_dim * 4};
}

}  // namespace warpchat
