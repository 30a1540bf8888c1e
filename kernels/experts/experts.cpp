#include "kernels/experts/experts.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <limits>
#include <optional>
#include <vector>

#include "kernels/common/columns.h"
#include "kernels/common/logit_order.h"
#include "kernels/common/sigmoid.h"
#include "kernels/common/spec_check.h"
#include "kernels/common/warp_sums.h"
#include "kernels/experts/experts_body.h"
#include "kernels/matmul/product.h"

namespace warpchat {

using namespace ptx;

namespace {

constexpr uint32_t kMaxExperts = 1024;  // limit: one warp holds all scores
constexpr uint32_t kSumThreads = 128;
constexpr float kMinSum = 0x1p-14f;  // lower bound of the weights' sum before dividing by it

// Upper word: increases with the score, never 0. Lower word: decreases with the index.
Reg<u64> ranked(Builder& b, const Reg<f32>& score, const Reg<u32>& index) {
  return b.join<u64>(~index, b.max(ordered_bits(score), 1u));
}

std::string columns_part(uint32_t columns) { return "_c" + std::to_string(columns); }

}  // namespace

std::string name_of(const RouteSpec& s) {
  char scale[16];
  std::snprintf(scale, sizeof scale, "_s%08x", std::bit_cast<uint32_t>(s.scale));
  return "route_" + std::to_string(s.n) + "_u" + std::to_string(s.n_used) + (s.normalises ? "_normalised" : "") +
         (s.scale == 1 ? "" : scale) + columns_part(s.columns);
}

// One warp per column. A lane holds every 32nd score, and lane i the i-th choice.
void route_body(Builder& b, const RouteSpec& s, const RouteAddresses& at, const VirtualBlock& block) {
  Reg<u32> column = block.block(Axis::kY).named("column");
  leave_beyond_columns(b, at.n_columns, column);
  Global<f32> row = at.scores + wide(column) * s.n;

  std::vector<Var<f32>> held;
  std::vector<Var<u64>> left;  // 0: already chosen, or out of range
  for (uint32_t first = 0; first < s.n; first += kWarpSize) {
    Reg<u32> index = b.lane() + first;
    if (first + kWarpSize <= s.n) {
      held.push_back(b.var("score", row.load(index)));
      left.push_back(b.var("left", ranked(b, held.back(), index)));
      continue;
    }
    held.push_back(b.var("score", -std::numeric_limits<float>::infinity()));
    left.push_back(b.var("left", uint64_t{0}));
    b.if_(index < s.n, [&] {
      held.back() = row.load(index);
      left.back() = ranked(b, held.back(), index);
    });
  }
  Var<f32> highest = b.var("highest", 0.0f), own = b.var("own", 0.0f), of_used = b.var("of_used", 0.0f);
  Var<u32> own_expert = b.var("own_expert", 0u);
  b.for_("choice", 0, s.n_used, 1, [&](Reg<u32> choice) {
    Var<u64> best = b.var("best", left[0]);
    for (size_t j = 1; j < left.size(); ++j) best = b.max(best, left[j]);
    Reg<u64> chosen = warp_max(b, best);
    for (Var<u64>& one : left) one = b.select(one == chosen, uint64_t{0}, one);
    Reg<u32> expert = ~b.convert<u32>(chosen);
    Reg<f32> score = row.load(expert);
    b.if_(choice == 0, [&] { highest = score; });
    Reg<f32> share = exponential(b, score - highest);
    of_used += share;
    b.if_(b.lane() == choice, [&] {
      own = share;
      own_expert = expert;
    });
  });
  Var<f32> of_all = b.var("of_all", 0.0f);
  for (const Var<f32>& score : held) of_all += exponential(b, score - highest);
  Reg<f32> total = warp_sum(b, of_all);
  Reg<f32> divisor = s.normalises ? b.max(of_used, total * kMinSum) : total;
  b.if_(b.lane() < s.n_used, [&] {
    Reg<u32> use = column * s.n_used + b.lane();
    at.experts.store(use, own_expert);
    at.weights.store(use, b.div_full(own, divisor) * s.scale);
  });
}

Kernel route_kernel(const RouteSpec& s, Target target, const BodyOf<RouteAddresses>& body) {
  require_between(1, kMaxExperts, "route", "n", s.n);
  require_between(1, std::min(s.n, kWarpSize), "route", "n_used", s.n_used);
  require_between(1, kMaxBlocksInY, "route", "columns", s.columns);
  Builder b(name_of(s), target);
  Global<f32> scores = b.global<f32>("scores", uint64_t{s.columns} * s.n);
  Global<u32> experts = b.global<u32>("experts", uint64_t{s.columns} * s.n_used);
  Global<f32> weights = b.global<f32>("weights", uint64_t{s.columns} * s.n_used);
  body(b, {scores, experts, weights, declare_columns(b, s.columns)}, VirtualBlock(b));
  return b.finish(Launch{{1, s.columns}, kWarpSize},
                  {.bytes = uint64_t{s.columns} * (s.n + 2 * s.n_used) * 4, .flops = uint64_t{s.columns} * s.n * 4});
}

Kernel route(const RouteSpec& spec, Target target) {
  return route_kernel(spec, target, [&](Builder& b, const RouteAddresses& at, const VirtualBlock& block) {
    route_body(b, spec, at, block);
  });
}

std::string name_of(const ExpertProductSpec& s) {
  return "experts_" + name_of(s.product) + "_u" + std::to_string(s.n_used) + (s.by_column ? "_by_column" : "") +
         columns_part(s.columns);
}

std::vector<Global<u8>> matrices_of_expert(const GemvPlan& plan, const std::vector<Global<u8>>& matrices,
                                           const Reg<u32>& expert) {
  std::vector<Global<u8>> own;
  for (size_t m = 0; m < plan.matrices.size(); ++m)
    own.push_back(matrices[m] + wide(expert) * (plan.matrices[m].row_bytes * plan.spec.rows));
  return own;
}

Kernel expert_product_kernel(const ExpertProductSpec& s, Target target, const BodyOf<GemvAddresses>& body) {
  require_between(1, kMaxBlocksInY, "expert_product", "uses", uint64_t{s.columns} * s.n_used);
  require_spec(s.by_column || s.product.k % 4 == 0, "expert_product", "k", s.product.k, "a multiple of 4");
  const GemvPlan plan = plan_of(s.product);
  const GemvSpec& product = plan.spec;
  const uint64_t n_assignments = uint64_t{s.columns} * s.n_used;
  Builder b(name_of(s), target);
  b.min_blocks_per_sm(plan.blocks_per_sm());
  std::vector<Global<u8>> matrices = declare_matrices(b, plan.matrices, 0);
  Global<f32> x = b.global<f32>("x", (s.by_column ? s.columns : n_assignments) * product.k);
  std::optional<Global<f32>> gamma;
  if (plan.normalises()) gamma.emplace(b.global<f32>("gamma", product.k));
  Global<u32> experts = b.global<u32>("experts", n_assignments);
  Global<f32> y = b.global<f32>("y", n_assignments * product.rows);
  const ColumnCount n_columns = declare_columns(b, s.columns);
  const VirtualBlock block(b);
  Reg<u32> use = block.block(Axis::kY).named("use");
  Reg<u32> column = use / s.n_used;
  leave_beyond_columns(b, n_columns, column);
  Reg<u32> expert = block.load_uniform(experts, use);
  const Global<f32> input = x + wide(s.by_column ? column : use) * product.k;
  body(b, {matrices_of_expert(plan, matrices, expert), input, gamma, {}, y + wide(use) * product.rows, {}, {}, {}},
       block);
  Cost cost = product_cost(product, plan.matrices, 1);
  cost.bytes *= n_assignments, cost.flops *= n_assignments;
  return b.finish(Launch{{plan.n_blocks, static_cast<uint32_t>(n_assignments)}, plan.threads()}, cost);
}

Kernel expert_product(const ExpertProductSpec& spec, Target target) {
  return expert_product_kernel(spec, target, [&](Builder& b, const GemvAddresses& at, const VirtualBlock& block) {
    gemv_body(b, plan_of(spec.product), at, block);
  });
}

std::string name_of(const ExpertSumSpec& s) {
  return "expert_sum_" + std::to_string(s.hidden) + "_u" + std::to_string(s.n_used) + (s.has_shared ? "_shared" : "") +
         columns_part(s.columns);
}

Launch expert_sum_launch(const ExpertSumSpec& s) {
  return Launch{{ceil_div(s.hidden, kSumThreads), s.columns}, kSumThreads};
}

void expert_sum_body(Builder& b, const ExpertSumSpec& s, const ExpertSumAddresses& at, const VirtualBlock& block) {
  Reg<u32> column = block.block(Axis::kY).named("column");
  leave_beyond_columns(b, at.n_columns, column);
  Reg<u32> i = (block.block() * kSumThreads + block.thread()).named("i");
  b.return_if(i >= s.hidden);
  Global<f32> of_assignments = at.outputs + wide(column * s.n_used) * s.hidden + i;
  Var<f32> sum = b.var("sum", 0.0f);
  if (s.has_shared) sum = switched(b, at.shared->load(wide(column) * s.hidden + wide(i)), at.switches->load(column));
  for (uint32_t use = 0; use < s.n_used; ++use)
    sum = b.fma(at.weights.load(column * s.n_used + use), of_assignments.load(uint64_t{use} * s.hidden), sum);
  Global<f32> to = at.y + wide(column) * s.hidden + i;
  to.store(0, to.load() + sum);
}

Kernel expert_sum_kernel(const ExpertSumSpec& s, Target target, const BodyOf<ExpertSumAddresses>& body) {
  require_between(1, INT32_MAX, "expert_sum", "hidden", s.hidden);
  require_between(1, kWarpSize, "expert_sum", "n_used", s.n_used);
  require_between(1, kMaxBlocksInY, "expert_sum", "columns", s.columns);
  const uint64_t n_assignments = uint64_t{s.columns} * s.n_used, n_values = uint64_t{s.columns} * s.hidden;
  Builder b(name_of(s), target);
  Global<f32> outputs = b.global<f32>("outputs", n_assignments * s.hidden),
              weights = b.global<f32>("weights", n_assignments);
  std::optional<Global<f32>> shared, switches;
  if (s.has_shared) {
    shared.emplace(b.global<f32>("shared", n_values));
    switches.emplace(b.global<f32>("switches", s.columns));
  }
  Global<f32> y = b.global<f32>("y", n_values);
  const ColumnCount n_columns = declare_columns(b, s.columns);
  body(b, {outputs, weights, shared, switches, y, n_columns}, VirtualBlock(b));
  const uint64_t read = n_assignments * (s.hidden + 1) + (s.has_shared ? n_values + s.columns : 0);
  return b.finish(expert_sum_launch(s), {.bytes = 4 * (read + 2 * n_values), .flops = 2 * n_assignments * s.hidden});
}

Kernel expert_sum(const ExpertSumSpec& spec, Target target) {
  return expert_sum_kernel(spec, target, [&](Builder& b, const ExpertSumAddresses& at, const VirtualBlock& block) {
    expert_sum_body(b, spec, at, block);
  });
}

}  // namespace warpchat
