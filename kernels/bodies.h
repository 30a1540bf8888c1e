// Kernel bodies of decoding, without their parameters. A body takes a spec, the addresses that the kernel's header
// documents as parameters, and the block to compute. A single-operation kernel calls its body once; the persistent
// decoder plays many blocks with the same bodies.
#pragma once
#include <functional>
#include <optional>
#include <variant>
#include <vector>

#include "kernels/attention.h"
#include "kernels/delta_net.h"
#include "kernels/embedding.h"
#include "kernels/experts.h"
#include "kernels/gemv.h"
#include "kernels/gemv_plan.h"
#include "kernels/virtual_block.h"

namespace warpchat {

// Emits a kernel's work: the body itself, or a call of a device function that contains it.
template <class Addresses>
using BodyOf = std::function<void(ptx::Builder& b, const Addresses& at, const VirtualBlock& block)>;

// Number of columns in this launch, if the spec allows several.
using ColumnCount = std::optional<ptx::Reg<ptx::u32>>;

struct EmbeddingAddresses {
  ptx::Global<ptx::u8> weights;
  ptx::Global<ptx::u32> tokens;
  ptx::Global<ptx::f32> out;
  ptx::Global<ptx::u32> error;
  ColumnCount n_columns;
};
ptx::Launch embedding_launch(const EmbeddingSpec& spec);  // blocks: parts of a row, columns
void embedding_body(ptx::Builder& b, const EmbeddingSpec& spec, const EmbeddingAddresses& at,
                    const VirtualBlock& block);
// embedding() with the body given. The other *_kernel functions below work alike.
ptx::Kernel embedding_kernel(const EmbeddingSpec& spec, ptx::Target target, const BodyOf<EmbeddingAddresses>& body);

struct GemvAddresses {
  std::vector<ptx::Global<ptx::u8>> matrices;  // weights, and up with kSwiglu
  ptx::Global<ptx::f32> x;
  std::optional<ptx::Global<ptx::f32>> gamma, bias;
  ptx::Global<ptx::f32> y;
  ColumnCount n_columns;
  // Only in a body that serves several products: this product's rows, at least the plan's rows_per_step, and whether it
  // has a bias. None: rows and bias as in the plan.
  std::optional<ptx::Reg<ptx::u32>> rows;
  std::optional<ptx::Pred> has_bias;
};
// A block computes every block of the grid with the same index modulo `blocks()`, so any grid computes the whole
// product.
void gemv_body(ptx::Builder& b, const GemvPlan& plan, const GemvAddresses& at, const VirtualBlock& block);
// A played block with plans[which]; `which` is uniform in the team. The plans differ only in weights and rows, so
// shared code is emitted once.
void gemv_body(ptx::Builder& b, std::vector<GemvPlan> plans, const ptx::Reg<ptx::u32>& which, const GemvAddresses& at,
               const VirtualBlock& block);
ptx::Kernel gemv_kernel(const GemvSpec& spec, ptx::Target target, const BodyOf<GemvAddresses>& body);

struct ProjectionAddresses {
  ptx::Global<ptx::f32> k, v;
  std::vector<ptx::Global<ptx::f32>> gamma;  // q's and k's, with QK norm
  ptx::Reg<ptx::u32> n_pages;
  std::optional<ptx::Reg<ptx::u32>> rope;    // with several scatters
  std::optional<ptx::Reg<ptx::u32>> rotated;  // KV head whose rotated queries shared memory still holds
};
inline constexpr uint32_t kNoneRotated = UINT32_MAX;
struct HalfColumnAddresses {  // layout: kernels/f16_activations.h
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

struct StateAddresses {  // of delta nets
  ptx::Global<ptx::u64> states;
  ptx::Global<ptx::u32> positions;
  ptx::Reg<ptx::u32> layer;
};
struct ConvAddresses {
  ptx::Global<ptx::f32> qkv, conv;
  StateAddresses state;
  ColumnCount n_columns;
};
ptx::Launch conv_launch(const DeltaNetSpec& spec);  // blocks: channels, sequences
void conv_body(ptx::Builder& b, const DeltaNetSpec& spec, const ConvAddresses& at, const VirtualBlock& block);
ptx::Kernel conv_kernel(const DeltaNetSpec& spec, ptx::Target target, const BodyOf<ConvAddresses>& body);

struct DeltaAddresses {
  ptx::Global<ptx::f32> qkv, z, alpha, beta, dt_bias, decay, norm;
  StateAddresses state;
  ptx::Global<ptx::f32> out;
  ColumnCount n_columns;
};
ptx::Launch delta_launch(const DeltaNetSpec& spec);  // blocks: value heads, sequences
void delta_body(ptx::Builder& b, const DeltaNetSpec& spec, const DeltaAddresses& at, const VirtualBlock& block);
ptx::Kernel delta_kernel(const DeltaNetSpec& spec, ptx::Target target, const BodyOf<DeltaAddresses>& body);

struct RouteAddresses {
  ptx::Global<ptx::f32> scores;
  ptx::Global<ptx::u32> experts;
  ptx::Global<ptx::f32> weights;
  ColumnCount n_columns;
};
// One warp per block; grid: 1, columns.
void route_body(ptx::Builder& b, const RouteSpec& spec, const RouteAddresses& at, const VirtualBlock& block);
ptx::Kernel route_kernel(const RouteSpec& spec, ptx::Target target, const BodyOf<RouteAddresses>& body);

// The matrices of one expert, from the arrays of all experts.
std::vector<ptx::Global<ptx::u8>> matrices_of_expert(const GemvPlan& plan,
                                                     const std::vector<ptx::Global<ptx::u8>>& matrices,
                                                     const ptx::Reg<ptx::u32>& expert);
// The body computes one assignment's product; the addresses are already those of its expert.
ptx::Kernel expert_product_kernel(const ExpertProductSpec& spec, ptx::Target target, const BodyOf<GemvAddresses>& body);

struct ExpertSumAddresses {
  ptx::Global<ptx::f32> outputs, weights;
  std::optional<ptx::Global<ptx::f32>> shared, switches;
  ptx::Global<ptx::f32> y;
  ColumnCount n_columns;
};
ptx::Launch expert_sum_launch(const ExpertSumSpec& spec);  // blocks: parts of y, columns
void expert_sum_body(ptx::Builder& b, const ExpertSumSpec& spec, const ExpertSumAddresses& at,
                     const VirtualBlock& block);
ptx::Kernel expert_sum_kernel(const ExpertSumSpec& spec, ptx::Target target, const BodyOf<ExpertSumAddresses>& body);

}  // namespace warpchat
