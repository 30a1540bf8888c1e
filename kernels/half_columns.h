// The columns of an input as halves, once for all products that read it on tensor cores (kernels/gemm.h): normalised
// where RMSNorm comes first, each scaled by a power of two that follows its largest value, so that none overflows. The
// error is that of rounding to 11 bits, below 5e-4 of a column's norm.
#pragma once
#include <cstdint>
#include <string>

#include "ptx/kernel.h"

namespace warpchat {

// A kernel for every k that is a multiple of 4, or for any; for columns that are normalised, or not.
struct HalfColumnsSpec {
  float eps = 0;          // of RMSNorm; not part of the name, as a model has but one
  bool has_quads = true;  // every k is a multiple of 4
};

// A column is its halves, of which a multiple of 128 lies there, and their means over 16 each, for the formats whose
// weights have a lowest one: as two halves, the mean and what it leaves.
inline constexpr uint32_t kHalfColumnStep = 128, kHalfMeanValues = 16;
constexpr uint64_t half_column_values(uint64_t k) {
  return (k + kHalfColumnStep - 1) / kHalfColumnStep * kHalfColumnStep;
}
constexpr uint64_t half_column_size(uint64_t k) {  // with its means
  return half_column_values(k) + half_column_values(k) / kHalfMeanValues * 2;
}

// Of values that all fit into halves other kernels may write them, too, with factors of 1.
//
// Parameters in order:
//   x        f32 [n_columns, k], 16-byte aligned
//   gamma    f32 [k], or null: not normalised
//   halves   f16 [n_columns, half_column_size(k)], 16-byte aligned. The values are zero beyond k; of each 32 octet t
//   has
//            4 t to 4 t + 3 and 16 + 4 t to 16 + 4 t + 3: what lane t of four has of mma's second operand. Then come
//            the means of the halves as they are, not of x
//   factors  f32 [n_columns]: the column is this times its halves
//   k        u32, at least 1
// To be launched with a block for each column. A value that is no number, or infinite, stays so in its half.
ptx::Kernel half_columns(const HalfColumnsSpec& spec, ptx::Target target);
std::string name_of(const HalfColumnsSpec& spec);  // half_columns, half_columns_k1 for any k
uint64_t half_columns_bytes(uint32_t k, bool normalises, uint64_t n_columns);

// How a block goes over its column: in turns of so many values, three octets a thread.
inline constexpr uint32_t kHalfColumnThreads = 256, kHalfColumnTurn = kHalfColumnThreads * 3 * 8;
// Blocks for which there are registers; single values take more.
constexpr uint32_t half_column_blocks_per_sm(bool has_quads) { return has_quads ? 2 : 1; }

}  // namespace warpchat
