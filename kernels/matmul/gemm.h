// y[column, row] = epilogue(W[row, :] . x[column, :]) for many columns, on tensor cores: the matrix product of prefill.
// Quantised codes are exact in f16; their scales multiply fp32 sums of 32 or 16 products. The error is that of the f16
// activations (kernels/matmul/f16_activations.h), below 5e-4 of the output's norm for any x. A column's results do not
// depend on other columns, nor on the work distribution except split-K, and are bit-identical on every run. Products of
// one input can share a launch if the kernel supports several: blocks of the first product's rows, then of the next's.
// With `experts` this is a grouped GEMM: columns are a layer's expert assignments, in tiles of one expert
// (kernels/experts/expert_order.h), and a block multiplies one tile.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/matmul/gemv.h"

namespace warpchat {

// A product. One kernel serves all products that differ only in rows or k; without experts, also in bias or residual;
// with `formats`, also in weight format.
struct GemmSpec {
  TensorType weights;  // every type that gemv reads except F32 and BF16, whose values f16 cannot hold exactly
  uint32_t rows, k;    // rows: at least 16; k: up to 2^24, as is_packable (kernels/matmul/weight_layout.h) requires
  GemvEpilogue epilogue = GemvEpilogue::kStore;
  std::optional<TensorType> up = {};  // up matrix's type, if is_swiglu; empty: as `weights`
  // Warps per block (with two matrices, half of them for each), rows per warp (16 or 32) and columns per block (8 to
  // 64, a multiple of 8). 0: chosen automatically.
  uint32_t warps = 0, rows_per_warp = 0, columns_per_block = 0;
  // Split-K: number of blocks (up to 8) that share a tile's k; only one matrix, without experts. Small matrices then
  // fill the GPU. At most k / 128; the name only says whether it is above 1. 0, 1: no split.
  uint32_t split_k = 0;
  uint32_t experts = 0;                // consecutive matrices; not part of the name. 0: one matrix for all columns
  uint32_t assignments_per_input = 1;  // with experts: assignment i multiplies x[i / assignments_per_input]
  // Formats that the kernel supports, including `weights`; without experts, one matrix. A launch then has up to
  // kMaxGemmProducts products, each in any of these. Empty: one product, in `weights`.
  std::vector<TensorType> formats = {};
};
inline constexpr uint32_t kMaxGemmProducts = 4;

// Fused GEMM: products of one input in one launch, with the same kernel, k and split-K.
struct FusedGemm {
  std::vector<GemmSpec> products;
};
// The products of a launch: one or several.
struct GemmProducts : std::span<const GemmSpec> {
  GemmProducts(const GemmSpec& one) : span(&one, 1) {}
  GemmProducts(const FusedGemm& all) : span(all.products) {}
};

// Whether this GEMM supports the weight type; gemv handles the others.
bool has_gemm(TensorType weights);

// Parameters in order, those that apply:
//   up         as weights, if is_swiglu
//   halves     f16 [n_columns, f16_activation_size(k)]: x as in kernels/matmul/f16_activations.h
//   factors    f32 [n_columns]: likewise. With experts, both have n_columns / assignments_per_input columns
//   bias       f32 [rows], or null unless adds_bias; absent, like residual, with experts or kSwiglu; with kBiasSwiglu,
//              where residual is absent, f32 [rows, 2] as in gemv
//   residual   f32 [n_columns, rows], may alias y; or null unless adds_residual
//   order, tiles  only with experts: tiles of columns_per_block, as in kernels/experts/expert_order.h
//   scratch    u8 [gemm_scratch_bytes], only with split-K: zeroed once before the first launch; a launch leaves it
//              ready for the next that does not overlap
//   rows, k    u32 each, of this product: the spec's, or another one's with this kernel
//   n_columns  u32, at least 1; not with experts
// With formats: weights, bias, residual, y for each of kMaxGemmProducts products (null for absent ones, which come
// last); halves, factors, scratch; rows of each product (0 if absent) and, with several formats, its format number; k,
// n_columns.
// Launch with gemm_grid's blocks; the kernel's own launch and cost are for the spec's rows and k and one block of
// columns. A NaN input makes every output of its column NaN. Throws Error for a spec outside the bounds above.
ptx::Kernel gemm(const GemmSpec& spec, ptx::Target target);
ptx::Dimensions gemm_grid(GemmProducts products, uint32_t n_columns);
uint32_t format_number(const GemmSpec& spec);  // index of its weights' type in `formats`
// Counts every matrix once per block of columns; with experts, each matrix that the columns can select.
ptx::Cost gemm_cost(GemmProducts products, uint32_t n_columns);
uint64_t input_bytes(const GemmSpec& spec, uint64_t n_columns);
uint64_t gemm_scratch_bytes(GemmProducts products, uint32_t n_columns);  // 0 without split-K
bool has_addends(const GemmSpec& spec);                                  // has the parameters bias and residual

// gemm_q4k, gemm_q4k_swiglu; _w, _r, _c, _p mark a non-default distribution. experts_gemm_q4k_swiglu_u8_c64: eight
// assignments per input. gemms_q4k_q6k: these formats.
std::string name_of(const GemmSpec& spec);
std::string name_of(const FusedGemm& spec);

}  // namespace warpchat
