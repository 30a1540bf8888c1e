// Queries of an incremental-attention block in shared memory, rotated on load if they are raw projections.
#pragma once
#include <optional>

#include "kernels/attention/attention_body.h"
#include "kernels/attention/attention_plan.h"
#include "kernels/attention/head_scatter.h"

namespace warpchat {

// Queries of some heads of a group in shared memory, each split into a high and a low f16 plane.
class AttentionQueries {
 public:
  // page: page number of the column's position, if it lies in this split. is_own: whether it does.
  AttentionQueries(ptx::Builder& b, const AttentionPlan& plan, const VirtualBlock& block, const AttentionAddresses& at,
                   const ptx::Reg<ptx::u32>& column, const ptx::Reg<ptx::u32>& kv_head,
                   const ptx::Reg<ptx::u32>& position, const ptx::Reg<ptx::u32>& page, const ptx::Pred& is_own);

  // Called by the whole block: loads `heads` heads of the group from first_head on, rotating projections. With the
  // group's first heads, the split that owns the position also writes its key and value to the cache.
  void fill(const ptx::Reg<ptx::u32>& first_head, uint32_t heads) const;
  // One head from dimension `dim` on. which: 0 for the high plane, 1 for the low one.
  ptx::Shared<ptx::f16x2> plane(uint32_t which, const ptx::Reg<ptx::u32>& head, const ptx::Reg<ptx::u32>& dim) const {
    return (planes_ + (head * stride() + dim + which * plane_size())).as<ptx::f16x2>();
  }
  ptx::Reg<ptx::f32> factor(const ptx::Reg<ptx::u32>& head) const { return factors_.load(head); }  // factor on scores
  bool are_projections() const { return scatter_.has_value(); }

 private:
  static constexpr uint32_t kGroup = AttentionPlan::kGroup, kWarps = AttentionPlan::kWarps;
  uint32_t stride() const { return plan_.groups * kGroup + kGroup; }  // the padding moves heads to different banks
  uint32_t plane_size() const;
  QueryPlanes planes_of(const ptx::Reg<ptx::u32>& item) const;

  ptx::Builder& b_;
  const AttentionPlan& plan_;
  const VirtualBlock& block_;
  ptx::Global<ptx::f32> q_;  // of this column
  std::optional<HeadScatter> scatter_;
  ptx::Reg<ptx::u32> kv_head_, rotated_;
  ptx::Pred is_own_;
  ptx::Shared<ptx::f16> planes_;
  ptx::Shared<ptx::f32> factors_;
};

}  // namespace warpchat
