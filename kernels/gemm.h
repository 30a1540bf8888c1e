// y[column, row] = epilogue(W[row, :] . x[column, :]) for many columns, on tensor cores: the one product of prefill.
// Codes of quantised weights are exact in halves, and their scales meet the fp32 sums of 32 or 16 products. The columns
// are halves already, whose rounding is the error (kernels/half_columns.h): below 5e-4 of the output's norm for any x.
// A column's results do not depend on the columns beside it, nor on the sharing but for parts, and are the same to the
// bit on every run.
// Products of one input are one launch, where the kernel takes several: blocks of the first's rows, then of the next's.
// With `experts` each column has a matrix of its own, one of many: the columns are the uses of a layer's experts, in
// tiles of the same expert (kernels/expert_order.h), so that a block multiplies a tile.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/gemv.h"

namespace warpchat {

// A product. Its kernel is that of every product that differs only in rows, or in k; and without experts, in whether a
// bias or a residual comes last; and with `formats` in which of them it has.
struct GemmSpec {
  TensorType weights;  // all that gemv reads but F32 and BF16, whose values are not exact in halves
  uint32_t rows, k;    // rows: at least 16; k: up to 2^24, as is_packable (kernels/weight_layout.h) asks
  GemvEpilogue epilogue = GemvEpilogue::kStore;
  std::optional<TensorType> up = {};  // of the up matrix, with kSwiglu: as `weights` if empty
  // A block of `warps` warps, half of them for each of two matrices, takes rows_per_warp rows (16 or 32) a warp and
  // columns_per_block columns (8 to 64, a multiple of 8). 0: chosen.
  uint32_t warps = 0, rows_per_warp = 0, columns_per_block = 0;
  // In how many parts (up to 8; without experts and of one matrix), each of blocks of its own, k is gone over: a block
  // that has no other's rows to add to takes little of a GPU. Not more than k has 128s; not part of the name but that
  // there are several. 0, 1: one.
  uint32_t parts = 0;
  uint32_t experts = 0;         // matrices, one behind the other; not part of the name. 0: one matrix for all columns
  uint32_t uses_per_input = 1;  // with experts: use i multiplies x[i / uses_per_input]
  // That the kernel takes, `weights` among them, without experts and of one matrix: a launch then has up to
  // kMostGemmProducts products, each of any of them. Empty: one product, of `weights`.
  std::vector<TensorType> formats = {};
};
inline constexpr uint32_t kMostGemmProducts = 4;

// Products of one input in one launch: of the same kernel, k and parts.
struct GemmTogether {
  std::vector<GemmSpec> products;
};
// Those of a launch: one, or several.
struct GemmProducts : std::span<const GemmSpec> {
  GemmProducts(const GemmSpec& one) : span(&one, 1) {}
  GemmProducts(const GemmTogether& all) : span(all.products) {}
};

// Whether weights of this type can be multiplied here; gemv takes the others.
bool has_gemm(TensorType weights);

// Parameters in order, those that apply:
//   weights    packed_bytes_per_row(weights, k) * rows bytes, 16-byte aligned: kernels/weight_layout.h
//   up         likewise, with kSwiglu
//   halves     f16 [n_columns, half_column_size(k)], and
//   factors    f32 [n_columns]: x as kernels/half_columns.h has it; with experts of n_columns / uses_per_input columns
//   bias       f32 [rows], or null, without kBias; this and the next one neither with experts nor with kSwiglu
//   residual   f32 [n_columns, rows], which y may be, or null, without kResidual
//   order      with experts, and
//   tiles      of columns_per_block: as kernels/expert_order.h has them
//   scratch    u8 [gemm_scratch_bytes], only with parts: all zeros before the first launch; a launch leaves it ready
//              for any that does not run at the same time
//   y          f32 [n_columns, rows]; not x
//   rows, k    u32 each, of this product: the spec's, or another one's with this kernel
//   n_columns  u32, at least 1; not with experts
// With formats: weights, bias, residual, y of each of kMostGemmProducts products in turn, null for those that are not
// there, which come last; halves, factors, scratch; rows of each, 0 likewise, and where there are several formats the
// number of each's; k, n_columns.
//
// To be launched with gemm_grid's blocks; the kernel's own launch and cost are of the spec's rows and k and one block
// of columns. An input that is no number makes its column's outputs none. Throws Error for a spec outside the bounds
// above.
ptx::Kernel gemm(const GemmSpec& spec, ptx::Target target);
ptx::Dimensions gemm_grid(GemmProducts products, uint32_t n_columns);
uint32_t format_number(const GemmSpec& spec);  // of its weights, in `formats`
// Every matrix read once for each block of columns; with experts each matrix that the columns can have.
ptx::Cost gemm_cost(GemmProducts products, uint32_t n_columns);
uint64_t input_bytes(const GemmSpec& spec, uint64_t n_columns);
uint64_t gemm_scratch_bytes(GemmProducts products, uint32_t n_columns);  // 0 without parts
bool takes_addends(const GemmSpec& spec);                                // bias and residual, as parameters

// gemm_q4k, gemm_q4k_swiglu, with _w, _r, _c, _p for what of the sharing is not as usual.
// experts_gemm_q4k_swiglu_u8_c64: eight uses for each input. gemms_q4k_q6k: of these formats.
std::string name_of(const GemmSpec& spec);
std::string name_of(const GemmTogether& spec);

}  // namespace warpchat
