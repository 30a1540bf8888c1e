// The columns of an input as 16-bit integers, once for all products of quantised weights that read several of them
// (kernels/gemv.h): normalised where RMSNorm comes first. The integers are those that a product of one column makes
// itself, to the bit (kernels/integer_unit.h).
#pragma once
#include <cstdint>
#include <string>

#include "ptx/kernel.h"

namespace warpchat {

// A kernel for every k that is a multiple of 32; for columns that are normalised, or not.
struct IntegerColumnsSpec {
  float eps = 0;  // of RMSNorm; not part of the name, as a model has but one
};

// Eight columns lie together, unit by unit of 32 values: their planes as mma's second operand has them, then numbers of
// each column. Where lane 4 c + t reads words t and t + 4 of column c, those of the high plane before the low one's:
//   planes  b32 [8 columns, 4 lanes, 2 planes, 2 words]
//   scales  f32 [8]
//   sums    s32 [3, 8]: of all integers of the unit, of its first 16, of its last 16
struct ColumnsLayout {
  static constexpr uint32_t kColumns = 8;
  static constexpr uint32_t kScales = 128, kSums = 136, kFirstSums = 144, kLastSums = 152, kUnit = 160;  // words
};

inline constexpr uint32_t kMostIntegerColumnValues = 1 << 17;  // of a column
constexpr uint64_t integer_columns_words(uint64_t k, uint64_t n_columns) {
  return (n_columns + 7) / ColumnsLayout::kColumns * (k / 32) * ColumnsLayout::kUnit;
}

// Parameters in order:
//   x          f32 [n_columns, k], 16-byte aligned
//   gamma      f32 [k], or null: not normalised
//   integers   b32 [integer_columns_words(k, n_columns)], 16-byte aligned; columns beyond n_columns are zero
//   factors    f32 [n_columns, rounded up to eight]: the column is this times its integers times their scales
//   k          u32, a multiple of 32, from 32 to kMostIntegerColumnValues
//   n_columns  u32, at least 1
// To be launched with a block for each of integer_column_blocks(n_columns). A value that is no number, or infinite,
// makes its unit's scale none.
ptx::Kernel integer_columns(const IntegerColumnsSpec& spec, ptx::Target target);
std::string name_of(const IntegerColumnsSpec& spec);  // integer_columns
constexpr uint32_t integer_column_blocks(uint32_t n_columns) { return (n_columns + 7) / 8 * 8; }
uint64_t integer_columns_bytes(uint32_t k, bool normalises, uint64_t n_columns);

// How a block goes over its column: each warp takes rounds of so many values, eight units of 32.
inline constexpr uint32_t kIntegerColumnWarps = 16, kIntegerColumnRound = 256;
inline constexpr uint32_t kIntegerColumnBlocksPerSm = 2;  // for which there are registers

}  // namespace warpchat
