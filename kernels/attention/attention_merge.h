// The last step of incremental attention. A single split writes the output directly. Otherwise results go to scratch,
// and the last to arrive of up to kFanIn neighbours merges them, level by level up a tree. Children are merged in index
// order, whichever block does it.
#pragma once
#include <array>
#include <functional>
#include <optional>
#include <variant>

#include "kernels/attention/attention_plan.h"
#include "kernels/common/virtual_block.h"
#include "kernels/matmul/half_quad.h"

namespace warpchat {

// Destination of one column and KV head: fp32, or the f16 column with its means (kernels/matmul/f16_activations.h).
struct HalfResults {
  ptx::Global<ptx::b32> column;
  ptx::Reg<ptx::u32> kv_head;
};
using AttentionResults = std::variant<ptx::Global<ptx::f32>, HalfResults>;

// Online softmax over some keys, for four dimensions of one head. values: sum of 2^(score - top) * value.
struct SoftmaxState {
  ptx::Reg<ptx::f32> top, sum;
  ptx::Vec<ptx::f32, 4> values;
};

class SplitMerge {
 public:
  // out, gate: [group, head_dim] of this column and KV head. n_splits: for the column's length, in [1, plan.nodes[0]].
  SplitMerge(ptx::Builder& b, const AttentionPlan& plan, const VirtualBlock& block, const ptx::Global<ptx::u8>& scratch,
             const AttentionResults& out, const std::optional<ptx::Global<ptx::f32>>& gate,
             const ptx::Reg<ptx::u32>& kv_cell, const ptx::Reg<ptx::u32>& n_splits);

  // Calls body(head, dim) for every four dimensions of `heads` heads, distributed over the block's threads. For f16
  // output no branch diverges within a warp.
  using Item = std::function<void(const ptx::Reg<ptx::u32>& head, const ptx::Reg<ptx::u32>& dim)>;
  void for_items(uint32_t heads, const Item& body) const;

  // Result of the split for these dimensions of a head; call it for every head and dimension before finish().
  void put(const ptx::Reg<ptx::u32>& split, const ptx::Reg<ptx::u32>& head, const ptx::Reg<ptx::u32>& dim,
           const SoftmaxState& state) const;
  void put_zeros() const;  // output of a column without keys
  // Arrives; the last block of the column and KV head writes the output.
  void finish(const ptx::Reg<ptx::u32>& split) const;

 private:
  // One level of the tree (AttentionPlan::Level) and its number of nodes.
  struct Level {
    ptx::Global<ptx::u32> arrivals;
    ptx::Global<ptx::f32> states, values;
    ptx::Reg<ptx::u64> n_nodes;
  };
  static constexpr uint32_t kLevelWords = 4;
  Level load_level(const ptx::Const<ptx::u64>& row) const;
  using Four = std::array<ptx::Reg<ptx::f32>, 4>;
  Four gated(const ptx::Vec<ptx::f32, 4>& values, const ptx::Reg<ptx::u32>& place) const;
  void put_out(const ptx::Reg<ptx::u32>& head, const ptx::Reg<ptx::u32>& dim, const SoftmaxState& state) const;
  void store_out(const ptx::Reg<ptx::u32>& place, const Four& values) const;
  void store_halves(const ptx::Reg<ptx::u32>& place, const HalfQuad& quad) const;
  void put_node(const Level& level, const ptx::Reg<ptx::u32>& node, const ptx::Reg<ptx::u32>& head,
                const ptx::Reg<ptx::u32>& dim, const SoftmaxState& state) const;
  ptx::Global<ptx::f32> states(const Level& level, const ptx::Reg<ptx::u32>& node,
                               const ptx::Reg<ptx::u32>& head) const;
  ptx::Global<ptx::f32> values(const Level& level, const ptx::Reg<ptx::u32>& node, const ptx::Reg<ptx::u32>& head,
                               const ptx::Reg<ptx::u32>& dim) const;
  ptx::Pred is_last_child(const Level& level, const ptx::Reg<ptx::u64>& n_parents, const ptx::Reg<ptx::u32>& parent,
                          const ptx::Reg<ptx::u32>& children) const;
  SoftmaxState merged(const Level& level, const ptx::Reg<ptx::u32>& first, const ptx::Reg<ptx::u32>& children,
                      const ptx::Reg<ptx::u32>& head, const ptx::Reg<ptx::u32>& dim) const;

  ptx::Builder& b_;
  const AttentionPlan& plan_;
  const VirtualBlock& block_;
  ptx::Global<ptx::u8> scratch_;
  AttentionResults out_;
  std::optional<ptx::Global<ptx::f32>> gate_;
  ptx::Reg<ptx::u32> kv_cell_, n_splits_;
  ptx::Shared<ptx::u32> arrived_;               // arrival count seen by the block's first thread
  std::optional<ptx::Const<ptx::u64>> levels_;  // kLevelWords per level, and one row for the output's single node
};

}  // namespace warpchat
