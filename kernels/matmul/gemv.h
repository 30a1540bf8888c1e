// y[column, row] = epilogue(W[row, :] . prologue(x[column, :])) for a few columns, up to 8 per block: the matrix
// product of decoding.
// Quantised weights multiply 16-bit integer activations: two int8 planes with a scale per 32 values. Sums by dp4a, or
// by tensor cores for several columns (kernels/matmul/gemv_columns.h), are exact; they are combined in fp32. Float
// weights multiply fp32 activations. The error is below 3e-4 of the output's norm. The order of every sum depends only
// on the spec: results are bit-identical on every run, and a column's equal those of a single-column launch.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "models/tensor_type.h"
#include "ptx/kernel.h"

namespace warpchat {

// The prefix distinguishes them from the CPU backend's Epilogue.
enum class GemvPrologue : uint8_t {
  kNone,
  kRmsNorm,  // x * rsqrt(mean(x^2) + eps) * gamma
};
enum class GemvEpilogue : uint8_t {
  kStore,
  kBias,          // + bias[row]
  kResidual,      // y += the product
  kSwiglu,        // silu(weights . x) * (up . x)
  kBiasResidual,  // y += the product + bias[row]
  kBiasSwiglu,    // silu(weights . x + bias[row, 0]) * (up . x + bias[row, 1])
};
constexpr bool adds_bias(GemvEpilogue epilogue) {
  return epilogue == GemvEpilogue::kBias || epilogue == GemvEpilogue::kBiasResidual ||
         epilogue == GemvEpilogue::kBiasSwiglu;
}
constexpr bool adds_residual(GemvEpilogue epilogue) {
  return epilogue == GemvEpilogue::kResidual || epilogue == GemvEpilogue::kBiasResidual;
}
constexpr bool is_swiglu(GemvEpilogue epilogue) {
  return epilogue == GemvEpilogue::kSwiglu || epilogue == GemvEpilogue::kBiasSwiglu;
}

struct GemvSpec {
  TensorType weights;
  uint32_t rows, k;  // k as is_packable (kernels/matmul/weight_layout.h) requires
  // Columns per block, 1 to 8. With several blocks of columns (the grid's y) it is 8.
  uint32_t columns = 1;
  GemvPrologue prologue = GemvPrologue::kNone;
  GemvEpilogue epilogue = GemvEpilogue::kStore;
  float eps = 0;                      // for the prologue; not part of the name, as it is constant in a model
  std::optional<TensorType> up = {};  // up matrix's type, if is_swiglu; empty: as `weights`
  // Work distribution. A block of `warps` warps takes rows_per_block rows; a warp processes rows_per_warp at a time for
  // each of its 32 / lanes_per_row lane groups. lanes_per_row: a power of two up to 32. 0: chosen from the shape. With
  // several columns of quantised weights only lanes_per_row matters, for the summation order.
  uint32_t warps = 16, rows_per_warp = 0, lanes_per_row = 0, rows_per_block = 0;
};

// Parameters in order, those that apply:
//   weights    packed_bytes_per_row(weights, k) * rows bytes, 16-byte aligned: kernels/matmul/weight_layout.h
//   up         as weights, if is_swiglu
//   x          f32 [columns, k], 16-byte aligned; columns: over all blocks
//   gamma      f32 [k], with kRmsNorm
// or instead of these two, for several columns of quantised weights:
//   integers   b32 [int_activations_words(k, columns)], and
//   factors    f32 [columns, rounded up to eight]: as kernels/matmul/int_activations.h has them, normalised with
//   kRmsNorm bias       f32 [rows], if adds_bias; with kBiasSwiglu [rows, 2]: of weights and of up y          f32
//   [columns, rows]; not x n_columns  u32, only if columns > 1: 1 to the columns of all blocks; columns beyond are
//   neither read nor written
// A block reads x once and applies RMSNorm's factor to the products, which are linear in it. A NaN input makes every
// output of its column NaN. Throws Error for a spec outside the bounds above.
ptx::Kernel gemv(const GemvSpec& spec, ptx::Target target);

// gemv_q4k_2048x11008_rmsnorm_swiglu_c8_w16: formats, rows x k, prologue, epilogue, columns, warps; _r, _l, _b for
// other distribution fields that are set.
std::string name_of(const GemvSpec& spec);

}  // namespace warpchat
