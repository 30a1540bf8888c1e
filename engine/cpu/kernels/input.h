// Input tiles: optional RMSNorm, then 16-bit integers with one scale per 128 values, or floats.
#pragma once
#include "engine/cpu/kernels/exact_dot.h"
#include "engine/cpu/kernels/kernels.h"

namespace warpchat {
namespace {

// As many columns as registers can hold integer sums for. For float sums, which are rarer, only with enough registers.
#if defined(__AVX2__) || defined(__ARM_FEATURE_DOTPROD)
constexpr int kTileColumns = 8;
#else
constexpr int kTileColumns = 4;
#endif

template <int kWidth>
struct InputBlock {  // 128 values per column, fewer at its end; x = scale * integer
  static constexpr int kColumns = kWidth;
  Quad quads[kInputBlock / 4][kColumns];
  int32_t sums[kInputBlock / 32][kColumns], half_sums[kInputBlock / 16][kColumns];  // sums of 32 and of 16 integers
  float scale[kColumns];
  WARPCHAT_INLINE void set(uint32_t column, int first, Ints integers) {
    store_quads(&quads[0][column], kColumns, first / 4, integers);
  }
};
static_assert(sizeof(InputBlock<1>) == kInputBlockBytes && sizeof(InputBlock<8>) == 8 * kInputBlockBytes);

WARPCHAT_INLINE float inverse_rms(const float* x, uint32_t k, float eps) {
  Floats squares[4] = {};
  uint32_t i = 0;
  for (; i + 4 * kLanes <= k; i += 4 * kLanes)
    for (int j = 0; j < 4; ++j) {
      const Floats v = load<Floats>(x + i + j * kLanes);
      squares[j] = fma(v, v, squares[j]);
    }
  float rest = 0;
  for (; i < k; ++i) rest += x[i] * x[i];
  const double sum = double{sum_of((squares[0] + squares[1]) + (squares[2] + squares[3]))} + rest;
  return static_cast<float>(1.0 / __builtin_sqrt(sum / k + eps));
}

// values: 128 of them, zero-padded. Writes column `column` of the block.
template <class Block>
WARPCHAT_INLINE void quantise_block(const float* values, uint32_t column, Block& block) {
  Floats largest = {}, zeros = {};
  for (uint32_t i = 0; i < kInputBlock; i += kLanes) {
    const Floats v = load<Floats>(values + i);
    largest = maximum(largest, maximum(v, -v));
    zeros += v * 0.0f;
  }
  const float poison = sum_of(zeros);  // NaN if a value is not finite; the scale, and so every product, is then NaN
  const bool is_finite = poison == 0;  // non-finite values have no integer form
  const float limit = maximum_of(largest);
  const bool vanishes = limit < 1e-30f;  // its inverse would overflow
  const float inverse = vanishes ? 0.0f : kLargestInput / limit;
  block.scale[column] = (vanishes ? 0.0f : limit / kLargestInput) + poison;
  for (uint32_t run = 0; run < kInputBlock / 16; ++run) {
    Ints sum = {};
    for (uint32_t i = run * 16; i < run * 16 + 16; i += kLanes) {
      const Ints n = is_finite ? nearest(load<Floats>(values + i) * inverse) : Ints{};
      block.set(column, static_cast<int>(i), n);
      sum += n;
    }
    block.half_sums[run][column] = sum_of(sum);
  }
  for (uint32_t run = 0; run < kInputBlock / 32; ++run)
    block.sums[run][column] = block.half_sums[2 * run][column] + block.half_sums[2 * run + 1][column];
}

template <class Block>
void prepare_tile(const PrepareInput& in) {
  constexpr int kColumns = Block::kColumns;
  auto* blocks = reinterpret_cast<Block*>(in.integers);
  const uint32_t n_blocks = (in.k + kInputBlock - 1) / kInputBlock;
  if (in.columns < kColumns) __builtin_memset(blocks, 0, n_blocks * sizeof *blocks);
  for (uint32_t column = 0; column < in.columns; ++column) {
    const float* x = in.x + column * in.stride;
    const float factor = in.gain != nullptr ? inverse_rms(x, in.k, in.eps) : 1.0f;
    for (uint32_t b = 0; b < n_blocks; ++b) {
      alignas(64) float normalised[kInputBlock];
      const uint32_t first = b * kInputBlock, n = in.k - first < kInputBlock ? in.k - first : kInputBlock;
      const float* values = x + first;
      if (in.gain != nullptr || n < kInputBlock) {
        for (uint32_t i = 0; i < n; ++i)
          normalised[i] = in.gain != nullptr ? values[i] * factor * in.gain[first + i] : values[i];
        for (uint32_t i = n; i < kInputBlock; ++i) normalised[i] = 0;
        values = normalised;
      }
      if (blocks != nullptr) quantise_block(values, column, blocks[b]);
      if (in.floats != nullptr)
        for (uint32_t i = 0; i < n; ++i) in.floats[uint64_t{first + i} * kColumns + column] = values[i];
    }
  }
}

}  // namespace
}  // namespace warpchat
