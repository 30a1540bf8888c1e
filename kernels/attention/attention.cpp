#include "kernels/attention/attention.h"

#include "kernels/attention/attention_body.h"
#include "kernels/attention/attention_merge.h"
#include "kernels/attention/attention_plan.h"
#include "kernels/attention/attention_queries.h"
#include "kernels/attention/attention_split.h"
#include "kernels/attention/kv_rows.h"
#include "kernels/common/columns.h"
#include "kernels/common/error_word.h"
#include "kernels/matmul/f16_activations.h"

namespace warpchat {

using namespace ptx;

namespace {

// Number of keys of the column, checked against cache and grid. If it is too large, the column's threads exit and one
// sets the error word.
Reg<u32> checked_length(Builder& b, const AttentionSpec& s, const AttentionAddresses& at, const VirtualBlock& block,
                        const Reg<u32>& column) {
  const Reg<u32>& given = at.length;
  const AttentionPlan plan(s);
  Reg<u32> covered = b.min(b.min(block.blocks(), plan.nodes[0]) * plan.split_positions(), s.max_positions);
  Pred outside = s.lengths_are_positions ? given >= covered : given > covered;
  b.if_(outside, [&] {
    b.if_((block.block() | block.block(Axis::kY) | block.thread()) == 0, [&] {
      const auto code = s.lengths_are_positions ? KernelError::kPositionOutOfRange : KernelError::kLengthOutOfRange;
      report_error(b, at.error, code, given, covered, column);
    });
    b.return_();
  });
  return (given + (s.lengths_are_positions ? 1 : 0)).named("length");
}

// Destination of a column and KV head, `before` floats from the start. f16 results always have a factor of 1.
AttentionResults results_of(Builder& b, const AttentionPlan& plan, const VirtualBlock& block,
                            const AttentionAddresses& at, const Reg<u64>& before, const Reg<u32>& kv_head) {
  if (const auto* floats = std::get_if<Global<f32>>(&at.out)) return *floats + before;
  const uint64_t width = uint64_t{plan.spec.n_heads} * plan.spec.head_dim;
  const HalfColumnAddresses& out = std::get<HalfColumnAddresses>(at.out);
  Reg<u32> column = block.block(Axis::kZ);
  b.if_((kv_head | block.block() | block.thread()) == 0, [&] { out.factors.store(column, 1.0f); });
  return HalfResults{out.halves + wide(column) * (f16_activation_size(width) / 2), kv_head};
}

struct Pages {
  Reg<u32> numbers, last;  // one per lane; the last page's
};

Pages pages_of_split(Builder& b, const AttentionSpec& s, const AttentionAddresses& at, const Reg<u32>& split,
                     const Reg<u32>& n_keys) {
  if (s.pages_per_block == 1) {
    Reg<u32> page = at.page_table.load(split, kReadOnly).named("page");
    return {page, page};
  }
  Reg<u32> last = (n_keys - 1) / kPagePositions;
  Reg<u32> own = at.page_table.load(split * s.pages_per_block + b.min(b.lane(), last), kReadOnly).named("page");
  return {own, b.shuffle(own, last)};
}

std::variant<Global<f32>, HalfColumnAddresses> out_of(Builder& b, const AttentionSpec& s) {
  const uint64_t width = uint64_t{s.n_heads} * s.head_dim;
  if (!s.writes_f16) return b.global<f32>("out", s.columns * width);
  const Global<b32> halves = b.global<ptx::f16>("out", s.columns * f16_activation_size(width)).as<b32>();
  return HalfColumnAddresses{halves, b.global<f32>("out_factors", s.columns)};
}

}  // namespace

uint32_t attention_warps() { return AttentionPlan::kWarps; }

void attention_body(Builder& b, const AttentionSpec& spec, const AttentionAddresses& at, const VirtualBlock& block) {
  const AttentionPlan plan(spec);
  const AttentionSpec& s = plan.spec;
  const uint64_t group_width = uint64_t{plan.group} * s.head_dim;
  Reg<u32> split = block.block().named("split"), kv_head = block.block(Axis::kY).named("kv_head");
  Reg<u32> column = block.block(Axis::kZ).named("column");
  Reg<u32> length = checked_length(b, s, at, block, column);

  Reg<u32> kv_cell = (column * s.n_kv_heads + kv_head).named("kv_cell");
  Reg<u32> n_splits = (length + (plan.split_positions() - 1)) / plan.split_positions();
  Reg<u64> of_group = wide(kv_cell) * group_width;
  std::optional<Global<f32>> gate;
  if (at.gate) gate.emplace(*at.gate + of_group);
  SplitMerge merge(b, plan, block, at.scratch, results_of(b, plan, block, at, of_group, kv_head), gate, kv_cell,
                   n_splits);
  b.if_((length | split) == 0, [&] { merge.put_zeros(); });
  b.return_if(split >= n_splits);

  Reg<u32> n_keys = b.min(length - split * plan.split_positions(), plan.split_positions());
  const Pages pages = pages_of_split(b, s, at, split, n_keys);
  const AttentionQueries queries(b, plan, block, at, column, kv_head, length - 1, pages.last, split == n_splits - 1);
  // A page out of range has been reported; clamping keeps the reads inside the cache.
  Reg<u32> numbers = at.projections ? b.min(pages.numbers, at.projections->n_pages - 1) : pages.numbers;
  const KvRows keys(b, {s.k_type, s.n_kv_heads, s.head_dim}, at.k_pages, kv_head);
  const KvRows values(b, {s.v_type, s.n_kv_heads, s.head_dim}, at.v_pages, kv_head);
  AttentionSplit(b, plan, block, queries, {keys, values, numbers, n_keys}).attend(merge, split);
  merge.finish(split);
}

Kernel attention_kernel(const AttentionSpec& s, Target target, const BodyOf<AttentionAddresses>& body) {
  const AttentionPlan plan(s);
  const uint64_t q_width = uint64_t{s.n_heads} * s.head_dim;
  Builder b(plan.name(), target);
  b.min_blocks_per_sm(2);
  const uint64_t kv_width = uint64_t{s.n_kv_heads} * s.head_dim;
  Global<f32> q = b.global<f32>("q", s.columns * q_width);
  const auto add = [&](const char* name, uint64_t n) { return b.global<f32>(name, n); };
  std::vector<Global<f32>> rows, gamma;
  if (!s.scatters.empty())
    for (const char* name : {"k", "v"}) rows.push_back(add(name, s.columns * kv_width));
  if (!s.scatters.empty() && s.scatters[0].qk_norm)
    for (const char* name : {"q_gamma", "k_gamma"}) gamma.push_back(add(name, s.head_dim));
  Global<u8> k_pages = b.global<u8>("k_pages"), v_pages = b.global<u8>("v_pages");
  Global<u64> page_tables = b.global<u64>("page_tables", s.one_sequence ? 1 : s.columns);
  std::optional<ProjectionAddresses> projections;
  if (!s.scatters.empty()) {
    projections.emplace(ProjectionAddresses{rows[0], rows[1], gamma, b.param<u32>("n_pages"), {}, {}});
    if (s.scatters.size() > 1) projections->rope.emplace(b.param<u32>("rope"));
  }
  Global<u32> lengths = b.global<u32>("lengths", s.columns);
  const auto out = out_of(b, s);
  std::optional<Global<f32>> gate;
  if (s.gated) gate.emplace(b.global<f32>("gate", s.columns * q_width));
  Global<u8> scratch = b.global<u8>("scratch", plan.scratch_bytes);
  Global<u32> error = b.global<u32>("error", kErrorWords);
  const ColumnCount n_columns = declare_columns(b, s.columns);
  const VirtualBlock block(b);
  Reg<u32> column = block.block(Axis::kZ).named("column");
  leave_beyond_columns(b, n_columns, column);
  const Global<u32> table = page_table(b, page_tables, s.one_sequence ? Index(0) : Index(column));
  Reg<u32> length = block.load_uniform(lengths, column);
  body(b, {q, k_pages, v_pages, table, length, out, scratch, error, gate, projections}, block);
  return b.finish(Launch{attention_grid(s, s.max_positions), AttentionPlan::kWarps * kWarpSize},
                  attention_cost(s, uint64_t{s.columns} * s.max_positions));
}

Kernel incremental_attention(const AttentionSpec& spec, Target target) {
  return attention_kernel(spec, target, [&](Builder& b, const AttentionAddresses& at, const VirtualBlock& block) {
    attention_body(b, spec, at, block);
  });
}

}  // namespace warpchat
