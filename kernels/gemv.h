// y[column, row] = epilogue(W[row, :] . prologue(x[column, :])) for a few columns, up to 8 a block: the one product of
// decoding.
// Quantised weights meet activations as 16-bit integers in two int8 planes with a scale for every 32 values: the sums
// of dp4a, or for several columns of tensor cores (kernels/gemv_columns.h), are exact, the combination is fp32. Float
// weights meet fp32 activations. The error is below 3e-4 of the output's norm. The order of every sum follows from the
// spec: results are the same to the bit on every run, and a column's are those that it has by itself.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "models/tensor_type.h"
#include "ptx/kernel.h"

namespace warpchat {

// Their prefix keeps them apart from the CPU backend's Epilogue.
enum class GemvPrologue : uint8_t {
  kNone,
  kRmsNorm,  // x * rsqrt(mean(x^2) + eps) * gamma
};
enum class GemvEpilogue : uint8_t {
  kStore,
  kBias,      // + bias[row]
  kResidual,  // y += the product
  kSwiglu,    // silu(weights . x) * (up . x)
};

struct GemvSpec {
  TensorType weights;
  uint32_t rows, k;  // k as is_packable (kernels/weight_layout.h) asks
  // 1 to 8, of a block; more than one: of each of as many as the launch has in y, eight each where there are several.
  uint32_t columns = 1;
  GemvPrologue prologue = GemvPrologue::kNone;
  GemvEpilogue epilogue = GemvEpilogue::kStore;
  float eps = 0;                      // of the prologue; not part of the name, as a model has but one
  std::optional<TensorType> up = {};  // of the up matrix, with kSwiglu: as `weights` if empty
  // How the work is shared out. A block of `warps` warps takes rows_per_block rows, a warp rows_per_warp at a time for
  // each of its 32 / lanes_per_row groups of lanes. lanes_per_row: a power of two up to 32. 0: chosen from the shape.
  // Of several columns of quantised weights lanes_per_row alone counts, as the order of sums.
  uint32_t warps = 16, rows_per_warp = 0, lanes_per_row = 0, rows_per_block = 0;
};

// Parameters in order, those that apply:
//   weights    packed_bytes_per_row(weights, k) * rows bytes, 16-byte aligned: kernels/weight_layout.h
//   up         likewise, with kSwiglu
//   x          f32 [columns, k], 16-byte aligned; columns: of all blocks
//   gamma      f32 [k], with kRmsNorm
// or instead of these two, for several columns of quantised weights:
//   integers   b32 [integer_columns_words(k, columns)], and
//   factors    f32 [columns, rounded up to eight]: as kernels/integer_columns.h has them, normalised with kRmsNorm
//   bias       f32 [rows], with kBias
//   y          f32 [columns, rows]; not x
//   n_columns  u32, only if columns > 1: 1 to those of all blocks; what lies beyond is neither read nor written
// x is read once a block; RMSNorm's factor is applied to the products, which are linear in it. An input that is no
// number makes its column's outputs none. Throws Error for a spec outside the bounds above.
ptx::Kernel gemv(const GemvSpec& spec, ptx::Target target);

// gemv_q4k_2048x11008_rmsnorm_swiglu_c8_w16: formats, rows x k, prologue, epilogue, columns, warps; with _r, _l, _b for
// what else of the sharing is given.
std::string name_of(const GemvSpec& spec);

}  // namespace warpchat
