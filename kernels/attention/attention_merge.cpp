#include "kernels/attention/attention_merge.h"

#include <limits>

#include "kernels/common/arrivals.h"
#include "kernels/common/sigmoid.h"

namespace warpchat {

using namespace ptx;

SplitMerge::SplitMerge(Builder& b, const AttentionPlan& plan, const VirtualBlock& block, const Global<u8>& scratch,
                       const AttentionResults& out, const std::optional<Global<f32>>& gate, const Reg<u32>& kv_cell,
                       const Reg<u32>& n_splits)
    : b_(b),
      plan_(plan),
      block_(block),
      scratch_(scratch),
      out_(out),
      gate_(gate),
      kv_cell_(kv_cell),
      n_splits_(n_splits),
      arrived_(block.shared<u32>("arrived", 1)) {
  if (plan.levels.empty()) return;
  constexpr uint64_t kPart = AttentionPlan::kPartBytes;
  std::vector<uint64_t> table;
  for (size_t i = 0; i < plan.nodes.size(); ++i) {
    const AttentionPlan::Level level = i < plan.levels.size() ? plan.levels[i] : AttentionPlan::Level{};
    table.insert(table.end(), {level.arrivals / kPart, level.states / kPart, level.values / kPart, plan.nodes[i]});
  }
  levels_.emplace(b.constant<u64>("levels", table));
}

SplitMerge::Level SplitMerge::load_level(const Const<u64>& row) const {
  const auto part = [&](uint32_t word) { return scratch_ + row.load(word) * AttentionPlan::kPartBytes; };
  const Global<u8> arrivals = part(0), states = part(1), values = part(2);
  return {arrivals.as<u32>(), states.as<f32>(), values.as<f32>(), row.load(3)};
}

void SplitMerge::for_items(uint32_t heads, const Item& body) const {
  const uint32_t fours = plan_.spec.head_dim / 4;
  const auto run = [&](const Reg<u32>& item) {
    Reg<u32> head = item / fours, dim = (item - head * fours) * 4;
    body(head, dim);
  };
  if (!plan_.spec.writes_f16)
    return b_.for_("item", block_.thread(), heads * fours, AttentionPlan::kWarps * kWarpSize, run);
  const uint32_t n_warps = heads * fours / kWarpSize;  // all lanes have results: see can_write_f16()
  const auto run_own = [&] { run(block_.thread()); };
  n_warps == AttentionPlan::kWarps ? run_own() : b_.if_(block_.warp() < n_warps, run_own);
}

void SplitMerge::put(const Reg<u32>& split, const Reg<u32>& head, const Reg<u32>& dim,
                     const SoftmaxState& state) const {
  if (plan_.levels.empty()) return put_out(head, dim, state);
  b_.if_else(
      n_splits_ == 1, [&] { put_out(head, dim, state); },
      [&] { put_node(load_level(*levels_), split, head, dim, state); });
}

void SplitMerge::put_zeros() const {
  for_items(plan_.group, [&](const Reg<u32>& head, const Reg<u32>& dim) {
    Reg<u32> place = head * plan_.spec.head_dim + dim;
    if (const auto* floats = std::get_if<Global<f32>>(&out_))
      return (*floats + place).store(0, {0.0f, 0.0f, 0.0f, 0.0f});
    const Reg<b32> zero = b_.var<b32>("zero", 0);
    store_halves(place, {zero, zero, zero});
  });
}

void SplitMerge::finish(const Reg<u32>& split) const {
  if (plan_.levels.empty()) return;
  b_.return_if(n_splits_ == 1);
  Var<u32> node = b_.var("node", split), n_nodes = b_.var("n_nodes", n_splits_);
  const auto n_levels = static_cast<uint32_t>(plan_.levels.size());
  b_.for_("level", 0, n_levels, 1, [&](Reg<u32> index) {
    b_.region("merge", [&] {
      const Const<u64> row = *levels_ + index * kLevelWords;
      const Level level = load_level(row), next = load_level(row + kLevelWords);
      Reg<u32> parent = node / AttentionPlan::kFanIn, first = parent * AttentionPlan::kFanIn;
      Reg<u32> children = b_.min(n_nodes - first, AttentionPlan::kFanIn);
      b_.return_if(!is_last_child(level, next.n_nodes, parent, children));
      Pred only = n_nodes <= AttentionPlan::kFanIn;
      for_items(plan_.group, [&](const Reg<u32>& head, const Reg<u32>& dim) {
        const SoftmaxState state = merged(level, first, children, head, dim);
        if (n_levels == 1) return put_out(head, dim, state);
        b_.if_else(
            only, [&] { put_out(head, dim, state); }, [&] { put_node(next, parent, head, dim, state); });
      });
      b_.return_if(only);
      node = parent;
      n_nodes = (n_nodes + (AttentionPlan::kFanIn - 1)) / AttentionPlan::kFanIn;
    });
  });
}

SplitMerge::Four SplitMerge::gated(const Vec<f32, 4>& values, const Reg<u32>& place) const {
  if (!gate_) return {values[0], values[1], values[2], values[3]};
  const Vec<f32, 4> gate = (*gate_ + place).load<4>(0, block_.cache(kReadOnly));
  const auto one = [&](int i) { return switched(b_, values[i], gate[i]); };
  const Reg<f32> first = one(0), second = one(1), third = one(2);
  return {first, second, third, one(3)};
}

void SplitMerge::put_out(const Reg<u32>& head, const Reg<u32>& dim, const SoftmaxState& state) const {
  Reg<f32> share = b_.rcp_approx(state.sum);
  const Vec<f32, 4>& v = state.values;
  Reg<u32> place = head * plan_.spec.head_dim + dim;
  store_out(place, gated({v[0] * share, v[1] * share, v[2] * share, v[3] * share}, place));
}

// place: index of the first value within the KV head, a multiple of four.
void SplitMerge::store_out(const Reg<u32>& place, const Four& values) const {
  if (const auto* floats = std::get_if<Global<f32>>(&out_))
    return (*floats + place).store(0, {values[0], values[1], values[2], values[3]});
  store_halves(place, half_quad(b_, values));
}

void SplitMerge::store_halves(const Reg<u32>& place, const HalfQuad& quad) const {
  const auto& [halves, kv_head] = std::get<HalfResults>(out_);
  const AttentionSpec& s = plan_.spec;
  Reg<u32> of_column = kv_head * (plan_.group * s.head_dim) + place;
  // In each 32 values, octet t holds 4 t to 4 t + 3 and 16 + 4 t to 16 + 4 t + 3.
  Reg<u32> pairs = (of_column & ~31u) / 4 + (of_column & 12) / 2 + (of_column & 16) / 16;
  (halves + pairs * 2).store(0, {quad.first, quad.second});
  const auto n_pairs = static_cast<uint32_t>(f16_activation_values(uint64_t{s.n_heads} * s.head_dim) / 2);
  b_.if_((of_column & (kHalfMeanValues - 1)) == 0,
         [&] { halves.store(of_column / kHalfMeanValues + n_pairs, quad.mean); });
}

void SplitMerge::put_node(const Level& level, const Reg<u32>& node, const Reg<u32>& head, const Reg<u32>& dim,
                          const SoftmaxState& state) const {
  values(level, node, head, dim).store<4>(0, state.values);
  b_.if_(dim == 0, [&] { states(level, node, head).store(0, {state.top, state.sum}); });
}

Global<f32> SplitMerge::states(const Level& level, const Reg<u32>& node, const Reg<u32>& head) const {
  Reg<u64> cell = wide(kv_cell_) * level.n_nodes + wide(node);
  return level.states + (cell * plan_.group + wide(head)) * 2;
}

Global<f32> SplitMerge::values(const Level& level, const Reg<u32>& node, const Reg<u32>& head,
                               const Reg<u32>& dim) const {
  Reg<u64> cell = wide(kv_cell_) * level.n_nodes + wide(node);
  return level.values + ((cell * plan_.group + wide(head)) * plan_.spec.head_dim + wide(dim));
}

Pred SplitMerge::is_last_child(const Level& level, const Reg<u64>& n_parents, const Reg<u32>& parent,
                               const Reg<u32>& children) const {
  const Global<u32> arrivals = level.arrivals + (wide(kv_cell_) * n_parents + wide(parent));
  return last_to_arrive(b_, block_, arrivals, children, arrived_);
}

// Merges a few children at a time, repeating the last one with weight zero. Both sums are rescaled to the larger top
// score, so no weight exceeds 1.
SoftmaxState SplitMerge::merged(const Level& level, const Reg<u32>& first, const Reg<u32>& children,
                                const Reg<u32>& head, const Reg<u32>& dim) const {
  constexpr uint32_t kAhead = AttentionPlan::kMergeAhead;
  const Global<f32> first_state = states(level, first, head), first_values = values(level, first, head, dim);
  const uint32_t state_stride = plan_.group * 2, value_stride = plan_.group * plan_.spec.head_dim;
  Var<f32> top = b_.var("top", -std::numeric_limits<float>::infinity()), sum = b_.var("sum", 0.0f);
  VarVec<f32, 4> total = b_.vars<f32, 4>("total", 0.0f);
  b_.for_("child", 0, children, kAhead, [&](Reg<u32> begin) {
    std::vector<Vec<f32, 2>> states;
    std::vector<Vec<f32, 4>> parts;
    for (uint32_t i = 0; i < kAhead; ++i) {
      Reg<u32> child = b_.min(begin + i, children - 1);
      states.push_back(first_state.load<2>(child * state_stride));
      parts.push_back(first_values.load<4>(child * value_stride));
    }
    Var<f32> new_top = b_.var("new_top", top);
    for (const Vec<f32, 2>& state : states) new_top = b_.max(new_top, state[0]);
    Reg<f32> kept = b_.ex2(top - new_top);
    sum *= kept;
    for (int i = 0; i < 4; ++i) total[i] *= kept;
    for (uint32_t i = 0; i < kAhead; ++i) {
      Reg<f32> weight = b_.select(begin + i < children, b_.ex2(states[i][0] - new_top), 0.0f);
      sum = b_.fma(weight, states[i][1], sum);
      for (int j = 0; j < 4; ++j) total[j] = b_.fma(weight, parts[i][j], total[j]);
    }
    top = new_top;
  });
  return {top, sum, Vec<f32, 4>(Reg<f32>(total[0]), Reg<f32>(total[1]), Reg<f32>(total[2]), Reg<f32>(total[3]))};
}

}  // namespace warpchat
