// The queries of a block of incremental attention in shared memory, turned on their way where they are projections.
#pragma once
#include <optional>

#include "kernels/attention_plan.h"
#include "kernels/bodies.h"
#include "kernels/head_scatter.h"

namespace warpchat {

// The queries of some heads of a group in shared memory, as halves and what they leave.
class AttentionQueries {
 public:
  // page: of the column's position, in its own split. is_own: that split.
  AttentionQueries(ptx::Builder& b, const AttentionPlan& plan, const VirtualBlock& block, const AttentionAddresses& at,
                   const ptx::Reg<ptx::u32>& column, const ptx::Reg<ptx::u32>& kv_head,
                   const ptx::Reg<ptx::u32>& position, const ptx::Reg<ptx::u32>& page, const ptx::Pred& is_own);

  // By the whole block: `heads` of the group from first_head on, turned where they are projections; with the group's
  // first ones then, in the own split, its key and value go to the cache.
  void fill(const ptx::Reg<ptx::u32>& first_head, uint32_t heads) const;
  // The halves of a head from a dimension on, and those of what they leave.
  ptx::Shared<ptx::f16x2> plane(uint32_t which, const ptx::Reg<ptx::u32>& head, const ptx::Reg<ptx::u32>& dim) const {
    return (planes_ + (head * stride() + dim + which * plane_size())).as<ptx::f16x2>();
  }
  ptx::Reg<ptx::f32> factor(const ptx::Reg<ptx::u32>& head) const { return factors_.load(head); }  // that scores need
  bool are_projections() const { return scatter_.has_value(); }

 private:
  static constexpr uint32_t kGroup = AttentionPlan::kGroup, kWarps = AttentionPlan::kWarps;
  uint32_t stride() const { return plan_.groups * kGroup + kGroup; }  // so that two heads lie in other banks
  uint32_t plane_size() const;
  QueryPlanes planes_of(const ptx::Reg<ptx::u32>& item) const;

  ptx::Builder& b_;
  const AttentionPlan& plan_;
  const VirtualBlock& block_;
  ptx::Global<ptx::f32> q_;  // of the column
  std::optional<HeadScatter> scatter_;
  ptx::Reg<ptx::u32> kv_head_, turned_;
  ptx::Pred is_own_;
  ptx::Shared<ptx::f16> planes_;
  ptx::Shared<ptx::f32> factors_;
};

}  // namespace warpchat
