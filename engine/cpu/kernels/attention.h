// Attention of a block of query rows over a stretch of the cache, tile by tile with a running maximum and sum.
// Source: Milakov and Gimelshein, Online normalizer calculation for softmax (2018).
#pragma once
#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/kernels/simd.h"

namespace warpchat {
namespace {

// Loads cached elements as floats. Elements are floats, f16, or codes, whose scale is applied to sums or rows.
WARPCHAT_INLINE Floats load_element(const float* from) { return load<Floats>(from); }
WARPCHAT_INLINE Floats load_element(const uint16_t* from) { return load_halves(from); }
WARPCHAT_INLINE Floats load_element(const int8_t* from) {
  return to_floats(reinterpret_cast<Ints>(load_narrow<SignedBytes>(from)));
}

// kVectors vectors of a tile; `depth` elements, `stride` apart. scales: one per lane and vector, or null.
template <int kVectors, class Element>
struct Vectors {
  const Element* at[kVectors];
  size_t stride;
  uint32_t depth;
  const float* scales[kVectors];
};
struct RowsIn {
  const float* at;
  size_t stride;
};
struct RowsOut {
  float* at;
  size_t stride;
  bool add;
};

// out[r][v] (+)= sum over i of a[r][i] * b[v][i], with sums in registers.
template <int kRows, int kVectors, class Element>
WARPCHAT_INLINE void outer_products(const RowsIn& a, const Vectors<kVectors, Element>& b, const RowsOut& out) {
  Floats sums[kRows][kVectors] = {};
  for (uint32_t i = 0; i < b.depth; ++i) {
    Floats column[kVectors];
    WARPCHAT_UNROLL
    for (int v = 0; v < kVectors; ++v) column[v] = load_element(b.at[v] + i * b.stride);
    WARPCHAT_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const Floats factor = splat(a.at[r * a.stride + i]);
      WARPCHAT_UNROLL
      for (int v = 0; v < kVectors; ++v) sums[r][v] = fma(factor, column[v], sums[r][v]);
    }
  }
  const auto each = [&](const auto& body) __attribute__((always_inline)) {
    WARPCHAT_UNROLL
    for (int r = 0; r < kRows; ++r) WARPCHAT_UNROLL
    for (int v = 0; v < kVectors; ++v) body(sums[r][v], v, out.at + r * out.stride + v * kLanes);
  };
  if (b.scales[0] != nullptr) each([&](Floats& sum, int v, float*) { sum *= load<Floats>(b.scales[v]); });
  if (out.add) each([](Floats& sum, int, const float* to) { sum += load<Floats>(to); });
  each([](Floats sum, int, float* to) { store(to, sum); });
}

template <int kRows, int kVectors, class Element>
WARPCHAT_INLINE void multiply_some_rows(uint32_t rows, const RowsIn& a, const Vectors<kVectors, Element>& b,
                                        const RowsOut& out) {
  if constexpr (kRows > 1)
    if (rows < kRows) return multiply_some_rows<kRows - 1>(rows, a, b, out);
  outer_products<kRows>(a, b, out);
}
constexpr uint32_t kRowsAtOnce = 6;
// Processes all rows, kRowsAtOnce at a time to fit the registers.
template <int kVectors, class Element>
WARPCHAT_INLINE void multiply_rows(uint32_t rows, RowsIn a, const Vectors<kVectors, Element>& b, RowsOut out) {
  for (uint32_t turns = (rows + kRowsAtOnce - 1) / kRowsAtOnce; turns > 0; --turns) {
    const uint32_t n = (rows + turns - 1) / turns;
    multiply_some_rows<kRowsAtOnce>(n, a, b, out);
    rows -= n, a.at += n * a.stride, out.at += n * out.stride;
  }
}

constexpr int kAttentionVectors = kRegisters == 32 ? 4 : 2;  // vectors per call of multiply_rows

// scores[row, position] for the tile's 64 positions, from codes with one scale per group of dimensions.
template <class Element>
WARPCHAT_INLINE void score_tile(const Attend& a, const Element* keys, const float* scales, float* scores) {
  const uint32_t head_dim = a.cache.first.head_dim, groups = code_groups(head_dim);
  const uint32_t at_once = scales == nullptr ? head_dim : kCodeGroup;
  for (uint32_t p = 0; p < kKeyTile; p += kAttentionVectors * kLanes)
    for (uint32_t d = 0; d < head_dim; d += at_once) {
      Vectors<kAttentionVectors, Element> b{
          .at = {}, .stride = kKeyBlock, .depth = head_dim - d < at_once ? head_dim - d : at_once, .scales = {}};
      for (int v = 0; v < kAttentionVectors; ++v) {
        const uint32_t position = p + v * kLanes, lane = position % kKeyBlock;
        const uint64_t block = position / kKeyBlock;
        b.at[v] = keys + (block * head_dim + d) * kKeyBlock + lane;
        if (scales != nullptr) b.scales[v] = scales + (block * groups + d / kCodeGroup) * kKeyBlock + lane;
      }
      multiply_rows(a.rows, {a.queries + d, head_dim}, b, {scores + p, kKeyTile, d > 0});
    }
}

// out[row, d] += sum over the tile's first n positions of weights[row, position] * values[position, d], for dimensions
// from `first` to `end`.
template <int kVectors, class Element>
WARPCHAT_INLINE void mix_dimensions(const Attend& a, const Element* values, uint32_t n, const float* weights,
                                    uint32_t first, uint32_t end) {
  const uint32_t width = a.cache.first.value_stride;
  const auto mix = [&](auto vectors, uint32_t d) {
    vectors.stride = width, vectors.depth = n;
    for (int v = 0; v < static_cast<int>(sizeof vectors.at / sizeof vectors.at[0]); ++v)
      vectors.at[v] = values + d + v * kLanes;
    multiply_rows(a.rows, {weights, kKeyTile}, vectors, {a.to.out + d, width, true});
  };
  uint32_t d = first;
  for (; d + kVectors * kLanes <= end; d += kVectors * kLanes) mix(Vectors<kVectors, Element>{}, d);
  for (; d < end; d += kLanes) mix(Vectors<1, Element>{}, d);
}
template <class Element>
WARPCHAT_INLINE void mix_codes(const Attend& a, const Element* codes, const float* all_scales, uint32_t n,
                               const float* weights) {
  const uint32_t width = a.cache.first.value_stride, groups = code_groups(a.cache.first.head_dim);
  float* scaled = a.scratch + kAttentionRows * kKeyTile;
  for (uint32_t group = 0; group < groups; ++group) {
    alignas(64) float scales[kKeyTile] = {};
    for (uint64_t p = 0; p < n; ++p) scales[p] = all_scales[p * groups + group];
    for (uint32_t i = 0; i < a.rows * kKeyTile; i += kLanes)
      store(scaled + i, load<Floats>(weights + i) * load<Floats>(scales + i % kKeyTile));
    const uint32_t first = group * kCodeGroup, end = group + 1 < groups ? first + kCodeGroup : width;
    constexpr int kVectors = kAttentionVectors * kLanes > kCodeGroup ? kCodeGroup / kLanes : kAttentionVectors;
    mix_dimensions<kVectors>(a, codes, n, scaled, first, end);
  }
}

// Turns a row's scores into weights exp(score - highest), after raising the row's maximum and rescaling its sums by the
// same factor. visible: positions of the tile that the row sees.
WARPCHAT_INLINE void weigh_row(const Attend& a, uint32_t row, uint32_t visible, float* scores) {
  const float unseen = -__builtin_inff();
  for (uint32_t i = visible; i < kKeyTile; ++i) scores[i] = unseen;
  Floats max = splat(a.to.highest[row]);
  for (uint32_t i = 0; i < kKeyTile; i += kLanes) max = maximum(max, load<Floats>(scores + i));
  const float highest = maximum_of(max);
  if (highest == unseen) {  // no position visible so far
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
  tile.key_floats = moved(tile.key_floats), tile.value_floats = moved(tile.value_floats);
  return tile;
}

// Calls body(n elements of a tile). Without a conversion instruction, many rows share one widened copy.
#if defined(__AVX2__) || defined(__aarch64__)
constexpr bool kWidensOnce = false;
#else
constexpr bool kWidensOnce = true;
#endif
template <class Element, class Body>
WARPCHAT_INLINE void with_elements(const Attend& a, const Element* from, uint64_t n, const Body& body) {
  if constexpr (kWidensOnce)
    if (a.rows > kRowsAtOnce) {
      float* widened = a.scratch + 2 * kAttentionRows * kKeyTile;
      for (uint64_t i = 0; i < n; i += kLanes) store(widened + i, load_element(from + i));
      return body(widened);
    }
  body(from);
}

void attend(const Attend& a) {
  const uint32_t width = a.cache.first.value_stride;
  float* scores = a.scratch;
  for (uint32_t r = 0; r < a.rows; ++r) {
    a.to.highest[r] = -__builtin_inff();
    a.to.sum[r] = 0;
  }
  __builtin_memset(a.to.out, 0, uint64_t{a.rows} * width * sizeof(float));
  for (uint32_t p = a.first; p < a.end; p += kKeyTile) {
    const HeadTile tile = tile_of(a.cache, p / kKeyTile);
    const uint32_t n = a.end - p < kKeyTile ? a.end - p : kKeyTile;
    if (tile.keys != nullptr)
      with_elements(a, tile.keys, uint64_t{kKeyTile} * tile.head_dim,
                    [&](const auto* keys) { score_tile(a, keys, nullptr, scores); });
    else if (tile.key_floats != nullptr)
      score_tile(a, tile.key_floats, nullptr, scores);
    else
      with_elements(a, tile.key_codes.codes, uint64_t{kKeyTile} * tile.head_dim,
                    [&](const auto* keys) { score_tile(a, keys, tile.key_codes.scales, scores); });
    for (uint32_t r = 0; r < a.rows; ++r) {
      const uint32_t seen = a.limits[r] > p ? a.limits[r] - p : 0;
      weigh_row(a, r, seen < n ? seen : n, scores + r * kKeyTile);
    }
    if (tile.values != nullptr)
      with_elements(a, tile.values, uint64_t{n} * width,
                    [&](const auto* values) { mix_dimensions<kAttentionVectors>(a, values, n, scores, 0, width); });
    else if (tile.value_floats != nullptr)
      mix_dimensions<kAttentionVectors>(a, tile.value_floats, n, scores, 0, width);
    else
      with_elements(a, tile.value_codes.codes, uint64_t{n} * width,
                    [&](const auto* values) { mix_codes(a, values, tile.value_codes.scales, n, scores); });
  }
}

void add_sums(const AttendSums& to, const AttendSums& of, uint32_t rows, uint32_t value_stride) {
  for (uint32_t r = 0; r < rows; ++r) {
    if (of.highest[r] == -__builtin_inff()) continue;
    const float highest = to.highest[r] > of.highest[r] ? to.highest[r] : of.highest[r];
    const float keep = exponential(splat(to.highest[r] - highest))[0];  // 0 if nothing was seen
    const float gain = exponential(splat(of.highest[r] - highest))[0];
    to.highest[r] = highest;
    to.sum[r] = to.sum[r] * keep + of.sum[r] * gain;
    float* out = to.out + uint64_t{r} * value_stride;
    const float* more = of.out + uint64_t{r} * value_stride;
    for (uint32_t d = 0; d < value_stride; d += kLanes)
      store(out + d, fma(load<Floats>(more + d), splat(gain), load<Floats>(out + d) * keep));
  }
}

// Codes are stored by engine/cpu/kv_codes.h.
void store_head(const HeadTile& tile, uint32_t position, const float* key, const float* value) {
  const uint64_t first_key = uint64_t{position / kKeyBlock} * kKeyBlock * tile.head_dim + position % kKeyBlock;
  const uint64_t first_value = uint64_t{position} * tile.value_stride;
  for (uint32_t d = 0; tile.key_floats != nullptr && d < tile.head_dim; ++d)
    tile.key_floats[first_key + uint64_t{d} * kKeyBlock] = key[d];
  if (tile.value_floats != nullptr)
    __builtin_memcpy(tile.value_floats + first_value, value, tile.head_dim * sizeof(float));
  if (tile.keys == nullptr && tile.values == nullptr) return;
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
