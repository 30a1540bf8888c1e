#include "kernels/attention/attention_plan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>

#include "kernels/common/columns.h"
#include "kernels/common/name_hash.h"
#include "kernels/common/spec_check.h"
#include "kernels/matmul/f16_activations.h"
#include "ptx/target.h"

namespace warpchat {
namespace {

void check(const AttentionSpec& s) {
  const std::string family = "incremental_attention";
  require_heads(family, s.n_heads, s.n_kv_heads);
  require_spec(s.head_dim > 0 && s.head_dim <= kMaxHeadDim && s.head_dim % 8 == 0, family, "head_dim", s.head_dim,
               "a multiple of 8 up to " + std::to_string(kMaxHeadDim));
  require_between(1, INT32_MAX, family, "max_positions", s.max_positions);
  require_between(1, kMaxBlocksInY, family, "columns", s.columns);
  const uint32_t max_pages = takes_several_pages(s) ? AttentionPlan::kMaxPages : 1;
  require_between(1, max_pages, family, "pages_per_block", s.pages_per_block);
  if (s.writes_f16 && !can_write_f16(s)) throw Error(family + ": it cannot write f16");
  if (!std::isfinite(s.scale)) throw Error(family + ": the scale is not finite");
  for (const KvScatterSpec& scatter : s.scatters) {
    const bool fits = scatter.n_heads == s.n_heads && scatter.n_kv_heads == s.n_kv_heads &&
                      scatter.head_dim == s.head_dim && scatter.max_positions == s.max_positions &&
                      scatter.columns == s.columns && scatter.k_type == s.k_type && scatter.v_type == s.v_type;
    if (!fits || s.one_sequence || !s.lengths_are_positions)
      throw Error(family + ": a scatter has other heads, another cache or other columns");
  }
}

// Allocates arrays in scratch.
class Parts {
 public:
  static constexpr uint64_t kPart = AttentionPlan::kPartBytes;
  uint64_t allocate(uint64_t cells) {
    const uint64_t start = bytes_;
    bytes_ += (4 * cells + kPart - 1) / kPart * kPart;
    return start;
  }
  uint64_t bytes() const { return bytes_; }

 private:
  uint64_t bytes_ = 0;
};

}  // namespace

AttentionPlan::AttentionPlan(const AttentionSpec& given) : spec(given) {
  check(spec);
  if (spec.scale == 0) spec.scale = 1 / std::sqrt(static_cast<float>(spec.head_dim));
  group = spec.n_heads / spec.n_kv_heads;
  groups = ceil_div(spec.head_dim, kGroup);
  turns = ceil_div(groups, 2u);

  nodes = {ceil_div(pages_of(spec.max_positions), spec.pages_per_block)};
  while (nodes.back() > 1) nodes.push_back(ceil_div(nodes.back(), kFanIn));
  levels.resize(nodes.size() - 1);
  Parts parts;
  const uint64_t kv_heads = uint64_t{spec.columns} * spec.n_kv_heads;
  for (size_t i = 0; i < levels.size(); ++i) {
    levels[i].arrivals = parts.allocate(kv_heads * nodes[i + 1]);
    levels[i].states = parts.allocate(kv_heads * nodes[i] * group * 2);
    levels[i].values = parts.allocate(kv_heads * nodes[i] * group * spec.head_dim);
  }
  scratch_bytes = std::max<uint64_t>(parts.bytes(), kPartBytes);  // never empty: there is always a buffer to pass
}

std::string AttentionPlan::name() const {
  std::string result = "incremental_attention";
  const auto add = [&](const char* letter, uint32_t n) { result += letter + std::to_string(n); };
  add("_h", spec.n_heads), add("_kv", spec.n_kv_heads), add("_d", spec.head_dim), add("_s", spec.max_positions);
  add("_c", spec.columns);
  if (spec.pages_per_block > 1) add("_p", spec.pages_per_block);
  if (spec.one_sequence) result += "_one";
  if (spec.lengths_are_positions) result += "_positions";
  if (spec.gated) result += "_gated";
  if (spec.writes_f16) result += "_halves";
  result += kv_suffix(spec.k_type, spec.v_type);
  if (!spec.scatters.empty()) {
    std::string rotations;
    for (const KvScatterSpec& scatter : spec.scatters) rotations += name_of(scatter);
    char hash[16];
    std::snprintf(hash, sizeof hash, "_%08x", name_hash(rotations));
    result += (spec.scatters[0].qk_norm ? "_norm_scatter" : "_scatter") + std::string(hash);
  }
  if (spec.scale != 1 / std::sqrt(static_cast<float>(spec.head_dim)))
    add("_scale", std::bit_cast<uint32_t>(spec.scale));
  return result;
}

std::string name_of(const AttentionSpec& spec) { return AttentionPlan(spec).name(); }

bool takes_several_pages(const AttentionSpec& spec) {
  return !KvTypes{spec.k_type, spec.v_type}.has_f32() &&
         spec.n_heads / spec.n_kv_heads <= AttentionPlan::kHeadsAtOnce &&
         spec.head_dim <= AttentionPlan::kGroupsAhead * AttentionPlan::kGroup;
}

bool can_write_f16(const AttentionSpec& spec) {
  return takes_several_pages(spec) && spec.n_heads / spec.n_kv_heads * spec.head_dim % kF16ActivationStep == 0;
}

uint64_t attention_scratch_bytes(const AttentionSpec& spec) { return AttentionPlan(spec).scratch_bytes; }

ptx::Dimensions attention_grid(const AttentionSpec& spec, uint32_t longest_length) {
  const uint32_t n_pages = pages_of(std::clamp(longest_length, 1u, spec.max_positions));
  return {ceil_div(n_pages, spec.pages_per_block), spec.n_kv_heads, spec.columns};
}

// Every key, value, query, gate and result moves once; a multiply and an add each for score and value.
ptx::Cost attention_cost(const AttentionSpec& spec, uint64_t keys) {
  const uint64_t width = uint64_t{spec.n_heads} * spec.head_dim;
  const uint64_t of_column =
      width * 4 * (spec.gated ? 2 : 1) + (spec.writes_f16 ? f16_activation_size(width) * 2 + 4 : width * 4);
  const KvLayout k{spec.k_type, 1, spec.head_dim}, v{spec.v_type, 1, spec.head_dim};
  return {.bytes = keys * spec.n_kv_heads * (k.row_bytes() + v.row_bytes()) + spec.columns * of_column,
          .flops = keys * spec.n_heads * spec.head_dim * 4};
}

}  // namespace warpchat
