// Moves one head of a column's projections to attention, by one warp: optional QK norm, RoPE, and keys and values to
// the cache.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "kernels/attention/kv_rows.h"
#include "kernels/attention/kv_scatter.h"

namespace warpchat {

struct HeadAddresses {  // as kv_scatter's parameters
  ptx::Global<ptx::f32> q, k, v;
  std::vector<ptx::Global<ptx::f32>> gamma;  // q's and k's, with qk_norm
  ptx::Global<ptx::u8> k_pages, v_pages;
  ptx::Reg<ptx::u32> n_pages;
  ptx::Global<ptx::u32> error;
};

// A query in shared memory for tensor cores: its values times `scale` and a power of two, split into high and low f16.
// The power keeps values in f16 range; `factor` undoes it.
struct QueryPlanes {
  ptx::Shared<ptx::f16> high, low;  // [head_dim]
  ptx::Shared<ptx::f32> factor;
  float scale;
};
// Called by a warp. query: [head_dim]
void split_query(ptx::Builder& b, const ptx::Global<ptx::f32>& query, uint32_t head_dim, const QueryPlanes& to);

class HeadScatter {
 public:
  // specs: one, or several that differ only in their rotations, with `rope` the index of the one to use. page: page
  // number of the column's position. staging: [head_dim] per warp, if stages().
  HeadScatter(ptx::Builder& b, std::span<const KvScatterSpec> specs, const std::optional<ptx::Reg<ptx::u32>>& rope,
              const HeadAddresses& at, const ptx::Reg<ptx::u32>& column, const ptx::Reg<ptx::u32>& position,
              const ptx::Reg<ptx::u32>& page, const std::optional<ptx::Shared<ptx::f32>>& staging);

  // head: counts the query heads, then key heads, then value heads. A query goes to `query`, or back in place. A page
  // out of range sets the error word, and nothing is written.
  void run(const ptx::Reg<ptx::u32>& head, const std::optional<QueryPlanes>& query) const;
  static bool stages(const KvScatterSpec& spec) { return spec.k_type == KvType::kQ8_0; }

 private:
  ptx::Global<ptx::f32> projection(const ptx::Reg<ptx::u32>& head) const;
  KvRows row(KvType type, const ptx::Global<ptx::u8>& pages, const ptx::Reg<ptx::u32>& kv_head) const;

  ptx::Builder& b_;
  const KvScatterSpec& s_;
  HeadAddresses at_;
  ptx::Const<ptx::u64> turns_;
  ptx::Reg<ptx::f32> magnitude_;
  ptx::Reg<ptx::u32> column_, position_, page_;
  std::optional<ptx::Shared<ptx::f32>> staging_;
};

}  // namespace warpchat
