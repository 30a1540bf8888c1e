// One head of a column's projections on its way to attention, by a warp: QK norm where the model has it, RoPE, and keys
// and values into the cache.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "kernels/kv_rows.h"
#include "kernels/kv_scatter.h"

namespace warpchat {

struct HeadAddresses {  // as the parameters of kv_scatter
  ptx::Global<ptx::f32> q, k, v;
  std::vector<ptx::Global<ptx::f32>> gamma;  // of q and k, with qk_norm
  ptx::Global<ptx::u8> k_pages, v_pages;
  ptx::Reg<ptx::u32> n_pages;
  ptx::Global<ptx::u32> error;
};

// A query in shared memory for products on tensor cores: its values times `scale` and a power of two, which `factor`
// takes back, as halves and what they leave. So no value is too large for halves, nor lost for being small.
struct QueryPlanes {
  ptx::Shared<ptx::f16> high, low;  // [head_dim]
  ptx::Shared<ptx::f32> factor;
  float scale;
};
// By a warp. query: [head_dim]
void split_query(ptx::Builder& b, const ptx::Global<ptx::f32>& query, uint32_t head_dim, const QueryPlanes& to);

class HeadScatter {
 public:
  // specs: one, or several that differ in their rotations alone, of which `rope` says whose it is. page: of the
  // column's position. staging: [head_dim] of this warp, if keys become codes: stages().
  HeadScatter(ptx::Builder& b, std::span<const KvScatterSpec> specs, const std::optional<ptx::Reg<ptx::u32>>& rope,
              const HeadAddresses& at, const ptx::Reg<ptx::u32>& column, const ptx::Reg<ptx::u32>& position,
              const ptx::Reg<ptx::u32>& page, const std::optional<ptx::Shared<ptx::f32>>& staging);

  // head: first those of the queries, then the keys', then the values'; less than all of them. A query goes to
  // `query`, or back to where it was; a page that the cache has not is told of, and nothing written.
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
