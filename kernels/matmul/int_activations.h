// 16-bit integer activations, quantised once for all GEMVs of several columns that read them (kernels/matmul/gemv.h),
// with optional RMSNorm. The integers are bit-identical to those of a single-column product
// (kernels/matmul/integer_unit.h).
#pragma once
#include <cstdint>
#include <string>

#include "ptx/kernel.h"

namespace warpchat {

// One kernel for every k that is a multiple of 32, with or without RMSNorm.
struct IntActivationsSpec {
  float eps = 0;  // for RMSNorm; not part of the name, as it is constant in a model
};

// Eight columns are stored together, in units of 32 values: planes in the layout of mma's second operand, then the
// numbers of each column. Lane 4 c + t reads words t and t + 4 of column c, first from the high plane, then from the
// low one:
//   planes  b32 [8 columns, 4 lanes, 2 planes, 2 words]
//   scales  f32 [8]
//   sums    s32 [3, 8]: over the unit, its first 16 and its last 16 integers
struct ColumnsLayout {
  static constexpr uint32_t kColumns = 8;
  static constexpr uint32_t kScales = 128, kSums = 136, kFirstSums = 144, kLastSums = 152, kUnit = 160;  // words
};

inline constexpr uint32_t kMaxIntActivationValues = 1 << 17;  // per column
constexpr uint64_t int_activations_words(uint64_t k, uint64_t n_columns) {
  return (n_columns + 7) / ColumnsLayout::kColumns * (k / 32) * ColumnsLayout::kUnit;
}

// Parameters in order:
//   x          f32 [n_columns, k], 16-byte aligned
//   gamma      f32 [k], or null for no RMSNorm
//   integers   b32 [int_activations_words(k, n_columns)], 16-byte aligned; columns beyond n_columns are zero
//   factors    f32 [n_columns, rounded up to eight]: column = factor * integers * scales
//   k          u32, a multiple of 32, from 32 to kMaxIntActivationValues
//   n_columns  u32, at least 1
// Launch int_activation_blocks(n_columns) blocks. A NaN or infinite value makes its unit's scale NaN.
ptx::Kernel int_activations(const IntActivationsSpec& spec, ptx::Target target);
std::string name_of(const IntActivationsSpec& spec);  // int_activations
constexpr uint32_t int_activation_blocks(uint32_t n_columns) { return (n_columns + 7) / 8 * 8; }
uint64_t int_activations_bytes(uint32_t k, bool normalises, uint64_t n_columns);

// Values per round of a warp: eight units of 32.
inline constexpr uint32_t kIntegerColumnWarps = 16, kIntegerColumnRound = 256;
inline constexpr uint32_t kIntegerColumnBlocksPerSm = 2;  // limited by registers

}  // namespace warpchat
