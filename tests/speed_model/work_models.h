// The work models of the generated kernels. A change of a kernel's loads, shares or barriers needs the same change
// here; the constants come from the kernels' headers.
#pragma once
#include <cstdint>

#include "kernels/attention/attention.h"
#include "kernels/attention/flash_attention.h"
#include "kernels/attention/kv_scatter.h"
#include "kernels/delta_net/delta_net.h"
#include "kernels/experts/expert_order.h"
#include "kernels/experts/experts.h"
#include "kernels/matmul/embedding.h"
#include "kernels/matmul/gemm.h"
#include "kernels/matmul/gemv_columns.h"
#include "kernels/matmul/gemv_plan.h"
#include "kernels/persistent/phase_program.h"
#include "kernels/sampling/sampling.h"
#include "ptx/target.h"
#include "tests/speed_model/work_model.h"

namespace warpchat {

// Inputs. A piece is a block's part of a row; for conversions to f16 or integers, a column.
WorkModel embedding_work_model(const EmbeddingSpec& spec);
WorkModel f16_activations_work_model(uint32_t k, bool normalises, uint32_t n_columns);
WorkModel int_activations_work_model(uint32_t k, bool normalises, uint32_t n_columns);

// Products. A piece is a warp's step, in its own block or in a share of rows of a larger kernel; on tensor cores, a
// block. Experts have equal shares of the columns.
WorkModel gemv_work_model(const GemvPlan& plan);
WorkModel fused_gemv_work_model(const FusedGemv& spec);
WorkModel gemm_work_model(GemmProducts products, ptx::Target target, uint32_t n_columns);

// Attention. A piece is a block's heads; a split of a column with `keys` keys, ended by the merge; a block of queries
// with the average number of keys.
WorkModel kv_scatter_work_model(const KvScatterSpec& spec);
WorkModel attention_work_model(const AttentionSpec& spec, uint32_t keys);
WorkModel flash_attention_work_model(const FlashAttentionSpec& spec, ptx::Target target, uint32_t n_queries,
                                     uint32_t first_position);
// Average number of key tiles per block of flash attention.
double flash_attention_tiles(const FlashAttentionSpec& spec, ptx::Target target, uint32_t n_queries,
                             uint32_t first_position);

// Delta nets. A piece is a block's channels of one column, or of all columns of a prompt; a head of a column; a block.
WorkModel conv_step_work_model(const DeltaNetSpec& spec);
WorkModel conv_prompt_work_model(const DeltaNetSpec& spec);
WorkModel delta_step_work_model(const DeltaNetSpec& spec);
WorkModel delta_prepare_work_model(const DeltaNetSpec& spec);
WorkModel delta_scan_work_model(const DeltaNetSpec& spec);
WorkModel delta_finish_work_model(const DeltaNetSpec& spec);

// Experts. A piece is a column; the only block; a warp's step, for all assignments at once; a block's part of a column.
WorkModel route_work_model(const RouteSpec& spec);
WorkModel expert_order_work_model(const ExpertOrderSpec& spec);
WorkModel expert_product_work_model(const ExpertProductSpec& spec);
WorkModel expert_sum_work_model(const ExpertSumSpec& spec);

// Sampling. A piece is a slot of a column, by one warp. The end is the choice, by a block of `threads` threads:
// spec.threads, or those of another kernel. top_k and has_top_p come from the states; 0 and false: greedy.
WorkModel sample_work_model(const SampleSpec& spec, uint32_t threads, uint32_t top_k = 0, bool has_top_p = false);

// What a phase of the persistent decoder waits for between its barrier and its kernels' pieces. For kPublish, this is
// everything.
LatencyCounts phase_entry_latency(PhaseKind phase);

// What the last block at a grid barrier waits for besides all blocks' arrivals at one word. Its stores and its arrival
// go out, and a poll in flight misses the arrival before the next one sees it.
inline constexpr LatencyCounts kGridBarrierLatency{.l2 = 2.5, .local = 2};

}  // namespace warpchat
