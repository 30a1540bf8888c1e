// The body of attention.h.
#pragma once
#include <optional>
#include <variant>
#include <vector>

#include "kernels/attention/attention.h"
#include "kernels/common/body.h"

namespace warpchat {

struct ProjectionAddresses {
  ptx::Global<ptx::f32> k, v;
  std::vector<ptx::Global<ptx::f32>> gamma;  // q's and k's, with QK norm
  ptx::Reg<ptx::u32> n_pages;
  std::optional<ptx::Reg<ptx::u32>> rope;     // with several scatters
  std::optional<ptx::Reg<ptx::u32>> rotated;  // KV head whose rotated queries shared memory still holds
};
inline constexpr uint32_t kNoneRotated = UINT32_MAX;
struct HalfColumnAddresses {  // layout: kernels/matmul/f16_activations.h
  ptx::Global<ptx::b32> halves;
  ptx::Global<ptx::f32> factors;
};
struct AttentionAddresses {
  ptx::Global<ptx::f32> q;
  ptx::Global<ptx::u8> k_pages, v_pages;
  ptx::Global<ptx::u32> page_table;  // of this column
  ptx::Reg<ptx::u32> length;         // of this column; or its position
  std::variant<ptx::Global<ptx::f32>, HalfColumnAddresses> out;
  ptx::Global<ptx::u8> scratch;
  ptx::Global<ptx::u32> error;
  std::optional<ptx::Global<ptx::f32>> gate;       // with gated
  std::optional<ProjectionAddresses> projections;  // with scatters
};
// Blocks as in attention_grid; a block whose split lies beyond the column's keys returns.
void attention_body(ptx::Builder& b, const AttentionSpec& spec, const AttentionAddresses& at,
                    const VirtualBlock& block);
uint32_t attention_warps();  // per block
ptx::Kernel attention_kernel(const AttentionSpec& spec, ptx::Target target, const BodyOf<AttentionAddresses>& body);

}  // namespace warpchat
