// Attention of a block of query rows over a stretch of the cache, tile by tile with a running maximum and sum.
// Source: Milakov and Gimelshein, Online normalizer calculation for softmax (2018).
#pragma once
#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/kernels/simd.h"

namespace warpchat {
namespace {

WARPCHAT_INLINE Floats load_element(const float* from) { return load<Floats>(from); }
WARPCHAT_INLINE Floats load_element(const uint16_t* from) { return load_halves(from); }

// c[r][v] (+)= sum over i < depth of a[r * a_stride + i] * b[v][i * b_stride ..]: kRows rows, kVectors vectors of
// lanes, the accumulators in registers.
template <int kRows, int kVectors, class Element>
WARPCHAT_INLINE void outer_products(const float* a, size_t a_stride, const Element* const (&b)[kVectors],
                                    size_t b_stride, uint32_t depth, float* c, size_t c_stride, bool add) {
  Floats sums[kRows][kVectors] = {};
  for (uint32_t i = 0; i < depth; ++i) {
    Floats column[kVectors];
    WARPCHAT_UNROLL
    for (int v = 0; v < kVectors; ++v) column[v] = load_element(b[v] + i * b_stride);
    WARPCHAT_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const Floats factor = splat(a[r * a_stride + i]);
      WARPCHAT_UNROLL
      for (int v = 0; v < kVectors; ++v) sums[r][v] = fma(factor, column[v], sums[r][v]);
    }
  }
  WARPCHAT_UNROLL
  for (int r = 0; r < kRows; ++r) WARPCHAT_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    float* to = c + r * c_stride + v * kLanes;
    store(to, add ? load<Floats>(to) + sums[r][v] : sums[r][v]);
  }
}

// All rows: as many at once as registers allow.
template <int kVectors, class Element>
WARPCHAT_INLINE void multiply_rows(uint32_t rows, const float* a, size_t a_stride, const Element* const (&b)[kVectors],
                                   size_t b_stride, uint32_t depth, float* c, size_t c_stride, bool add) {
  constexpr uint32_t kMost = kRegisters == 32 ? 6 : 3;
  uint32_t r = 0;
  for (; r + kMost <= rows; r += kMost)
    outer_products<kMost, kVectors>(a + r * a_stride, a_stride, b, b_stride, depth, c + r * c_stride, c_stride, add);
  for (; r + 3 <= rows; r += 3)
    outer_products<3, kVectors>(a + r * a_stride, a_stride, b, b_stride, depth, c + r * c_stride, c_stride, add);
  for (; r < rows; ++r)
    outer_products<1, kVectors>(a + r * a_stride, a_stride, b, b_stride, depth, c + r * c_stride, c_stride, add);
}

constexpr int kAttentionVectors = kRegisters == 32 ? 4 : 2;  // of the lanes that a call of multiply_rows fills

// scores[row, position] for the tile's 64 positions; keys: its first block, in fp16 or widened.
template <class Element>
WARPCHAT_INLINE void score_tile(const Attend& a, const Element* keys, float* scores) {
  constexpr int kStep = kAttentionVectors * kLanes;
  for (uint32_t p = 0; p < kKeyTile; p += kStep) {
    const Element* b[kAttentionVectors];
    for (int v = 0; v < kAttentionVectors; ++v) {
      const uint32_t position = p + v * kLanes;
      b[v] = keys + uint64_t{position / kKeyBlock} * kKeyBlock * a.cache.first.head_dim + position % kKeyBlock;
    }
    multiply_rows(a.rows, a.queries, a.cache.first.head_dim, b, kKeyBlock, a.cache.first.head_dim, scores + p, kKeyTile,
                  false);
  }
}

// out[row, :] += sum over the tile's first n positions of weights[row, position] * values[position, :]
template <class Element>
WARPCHAT_INLINE void mix_tile(const Attend& a, const Element* values, uint32_t n, const float* weights) {
  const uint32_t width = a.cache.first.value_stride;
  uint32_t d = 0;
  for (; d + kAttentionVectors * kLanes <= width; d += kAttentionVectors * kLanes) {
    const Element* b[kAttentionVectors];
    for (int v = 0; v < kAttentionVectors; ++v) b[v] = values + d + v * kLanes;
    multiply_rows(a.rows, weights, kKeyTile, b, width, n, a.to.out + d, width, true);
  }
  for (; d < width; d += kLanes) {
    const Element* b[1] = {values + d};
    multiply_rows(a.rows, weights, kKeyTile, b, width, n, a.to.out + d, width, true);
  }
}

// Turns a row's scores into weights exp(score - highest), after raising the row's maximum and shrinking what it has
// summed so far by the same factor. visible: positions of the tile that the row sees.
WARPCHAT_INLINE void weigh_row(const Attend& a, uint32_t row, uint32_t visible, float* scores) {
  const float unseen = -__builtin_inff();
  for (uint32_t i = visible; i < kKeyTile; ++i) scores[i] = unseen;
  Floats most = splat(a.to.highest[row]);
  for (uint32_t i = 0; i < kKeyTile; i += kLanes) most = maximum(most, load<Floats>(scores + i));
  const float highest = maximum_of(most);
  if (highest == unseen) {  // nothing seen yet
    for (uint32_t i = 0; i < kKeyTile; ++i) scores[i] = 0;
    return;
  }
  Floats sums = {};
  for (uint32_t i = 0; i < kKeyTile; i += kLanes) {
    const Floats score = load<Floats>(scores + i);
    const Floats weight = score == unseen ? Floats{} : exponential(score - highest);
    store(scores + i, weight);
    sums += weight;
  }
  const float shrink = a.to.highest[row] == unseen ? 0.0f : exponential(splat(a.to.highest[row] - highest))[0];
  a.to.sum[row] = a.to.sum[row] * shrink + sum_of(sums);
  if (a.to.highest[row] == highest) return;
  a.to.highest[row] = highest;
  const uint32_t width = a.cache.first.value_stride;
  float* out = a.to.out + uint64_t{row} * width;
  for (uint32_t d = 0; d < width; d += kLanes) store(out + d, load<Floats>(out + d) * shrink);
}

WARPCHAT_INLINE void widen(const uint16_t* from, uint64_t n, float* to) {
  for (uint64_t i = 0; i < n; i += kLanes) store(to + i, load_halves(from + i));
}

WARPCHAT_INLINE HeadTile tile_of(const HeadCache& cache, uint32_t page) {
  const uint64_t offset = cache.page_bytes * cache.pages[page];
  const auto moved = [offset](auto* pointer) {
    return pointer == nullptr ? nullptr
                              : reinterpret_cast<decltype(pointer)>(reinterpret_cast<uint8_t*>(pointer) + offset);
  };
  HeadTile tile = cache.first;
  tile.keys = moved(tile.keys), tile.values = moved(tile.values);
  tile.key_codes = {moved(tile.key_codes.codes), moved(tile.key_codes.scales)};
  tile.value_codes = {moved(tile.value_codes.codes), moved(tile.value_codes.scales)};
  return tile;
}

WARPCHAT_INLINE Floats load_codes(const int8_t* from) {
  return to_floats(reinterpret_cast<Ints>(load_narrow<SignedBytes>(from)));
}

// The keys of a tile, and its first n values, as floats.
WARPCHAT_INLINE void widen_keys(const HeadTile& tile, float* to) {
  if (tile.keys != nullptr) return widen(tile.keys, uint64_t{kKeyTile} * tile.head_dim, to);
  for (uint64_t block = 0; block < kKeyTile / kKeyBlock; ++block) {
    for (uint32_t d = 0; d < tile.head_dim; ++d, to += kKeyBlock) {
      const float* scales = tile.key_codes.scales + (block * code_groups(tile.head_dim) + d / kCodeGroup) * kKeyBlock;
      const int8_t* codes = tile.key_codes.codes + (block * tile.head_dim + d) * kKeyBlock;
      for (uint32_t i = 0; i < kKeyBlock; i += kLanes) store(to + i, load_codes(codes + i) * load<Floats>(scales + i));
    }
  }
}

WARPCHAT_INLINE void widen_values(const HeadTile& tile, uint32_t n, float* to) {
  const uint32_t width = tile.value_stride;
  if (tile.values != nullptr) return widen(tile.values, uint64_t{n} * width, to);
  for (uint64_t position = 0; position < n; ++position) {
    const float* scales = tile.value_codes.scales + position * code_groups(tile.head_dim);
    const int8_t* codes = tile.value_codes.codes + position * width;
    for (uint32_t d = 0; d < width; d += kLanes, to += kLanes)
      store(to, load_codes(codes + d) * splat(scales[d / kCodeGroup]));
  }
}

void attend(const Attend& a) {
  constexpr uint32_t kFewRows = 6;  // up to here widening a tile first costs more than it saves
  const uint32_t width = a.cache.first.value_stride;
  float *scores = a.scratch, *keys = scores + kAttentionRows * kKeyTile, *values = keys + uint64_t{kKeyTile} * width;
  for (uint32_t r = 0; r < a.rows; ++r) {
    a.to.highest[r] = -__builtin_inff();
    a.to.sum[r] = 0;
  }
  __builtin_memset(a.to.out, 0, uint64_t{a.rows} * width * sizeof(float));
  for (uint32_t p = a.first; p < a.end; p += kKeyTile) {
    const HeadTile tile = tile_of(a.cache, p / kKeyTile);
    const uint32_t n = a.end - p < kKeyTile ? a.end - p : kKeyTile;
    if (a.rows <= kFewRows && tile.keys != nullptr) {
      score_tile(a, tile.keys, scores);
    } else {
      widen_keys(tile, keys);
      score_tile(a, keys, scores);
    }
    for (uint32_t r = 0; r < a.rows; ++r) {
      const uint32_t seen = a.limits[r] > p ? a.limits[r] - p : 0;
      weigh_row(a, r, seen < n ? seen : n, scores + r * kKeyTile);
    }
    if (a.rows <= kFewRows && tile.values != nullptr) {
      mix_tile(a, tile.values, n, scores);
    } else {
      widen_values(tile, n, values);
      mix_tile(a, values, n, scores);
    }
  }
}

void add_sums(const AttendSums& to, const AttendSums& of, uint32_t rows, uint32_t value_stride) {
  for (uint32_t r = 0; r < rows; ++r) {
    if (of.highest[r] == -__builtin_inff()) continue;
    const float highest = to.highest[r] > of.highest[r] ? to.highest[r] : of.highest[r];
    const float keep = exponential(splat(to.highest[r] - highest))[0];  // of nothing, where nothing was seen
    const float gain = exponential(splat(of.highest[r] - highest))[0];
    to.highest[r] = highest;
    to.sum[r] = to.sum[r] * keep + of.sum[r] * gain;
    float* out = to.out + uint64_t{r} * value_stride;
    const float* more = of.out + uint64_t{r} * value_stride;
    for (uint32_t d = 0; d < value_stride; d += kLanes)
      store(out + d, fma(load<Floats>(more + d), splat(gain), load<Floats>(out + d) * keep));
  }
}

void store_head(const HeadTile& tile, uint32_t position, const float* key, const float* value) {
  const uint64_t first_key = uint64_t{position / kKeyBlock} * kKeyBlock * tile.head_dim + position % kKeyBlock;
  const uint64_t first_value = uint64_t{position} * tile.value_stride;
  for (uint32_t d = 0; d < tile.head_dim; d += kLanes) {
    const uint32_t n = tile.head_dim - d < kLanes ? tile.head_dim - d : kLanes;
    uint16_t halves[kLanes];
    if (tile.keys != nullptr) {
      store_halves(halves, n == kLanes ? load<Floats>(key + d) : load_some(key + d, n));
      for (uint32_t i = 0; i < n; ++i) tile.keys[first_key + uint64_t{d + i} * kKeyBlock] = halves[i];
    }
    if (tile.values == nullptr) continue;
    store_halves(halves, n == kLanes ? load<Floats>(value + d) : load_some(value + d, n));
    __builtin_memcpy(tile.values + first_value + d, halves, n * sizeof(uint16_t));
  }
}

}  // namespace
}  // namespace warpchat
