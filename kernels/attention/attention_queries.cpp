#include "kernels/attention/attention_queries.h"

#include <algorithm>
#include <numbers>

namespace warpchat {

using namespace ptx;

uint32_t AttentionQueries::plane_size() const { return std::min(plan_.group, AttentionPlan::kHeadsAtOnce) * stride(); }

QueryPlanes AttentionQueries::planes_of(const Reg<u32>& item) const {
  const Shared<ptx::f16> high = planes_ + item * stride();
  return {high, high + plane_size(), factors_ + item, plan_.spec.scale * std::numbers::log2e_v<float>};
}

AttentionQueries::AttentionQueries(Builder& b, const AttentionPlan& plan, const VirtualBlock& block,
                                   const AttentionAddresses& at, const Reg<u32>& column, const Reg<u32>& kv_head,
                                   const Reg<u32>& position, const Reg<u32>& page, const Pred& is_own)
    : b_(b),
      plan_(plan),
      block_(block),
      q_(at.q + wide(column) * (uint64_t{plan.spec.n_heads} * plan.spec.head_dim)),
      kv_head_(kv_head),
      rotated_(at.projections && at.projections->rotated ? *at.projections->rotated : b.var("turned", kNoneRotated)),
      is_own_(is_own),
      planes_(block.shared<ptx::f16>("queries", uint64_t{2} * plane_size())),
      factors_(block.shared<f32>("factors", AttentionPlan::kHeadsAtOnce)) {
  if (!at.projections) return;
  const ProjectionAddresses& p = *at.projections;
  std::optional<Shared<f32>> staging;  // only in the warp that has the key
  if (HeadScatter::stages(plan.spec.scatters[0])) staging.emplace(block.shared<f32>("key", plan.spec.head_dim));
  const HeadAddresses heads{at.q, p.k, p.v, p.gamma, at.k_pages, at.v_pages, p.n_pages, at.error};
  scatter_.emplace(b, plan.spec.scatters, p.rope, heads, column, position, page, staging);
}

void AttentionQueries::fill(const Reg<u32>& first_head, uint32_t heads) const {
  const AttentionSpec& s = plan_.spec;
  const Reg<u32> first = kv_head_ * plan_.group + first_head;
  if (!scatter_) {
    b_.for_("item", block_.warp(), heads, kWarps,
            [&](Reg<u32> item) { split_query(b_, q_ + (first + item) * s.head_dim, s.head_dim, planes_of(item)); });
    return block_.barrier();
  }
  const auto turn = [&](const Pred& with_key) {
    Reg<u32> n = b_.select(with_key, In<u32>(heads + 2), In<u32>(heads));
    b_.for_("item", block_.warp(), n, kWarps, [&](Reg<u32> item) {
      Reg<u32> row = (item - heads) * s.n_kv_heads + kv_head_ + s.n_heads;
      scatter_->run(b_.select(item < heads, first + item, row), planes_of(item));
    });
    block_.barrier();
  };
  if (!plan_.rotates_once()) return turn(is_own_ && first_head == 0);
  b_.if_(is_own_ || rotated_ != kv_head_, [&] { b_.region("turn", [&] { turn(is_own_); }); });
}

}  // namespace warpchat
