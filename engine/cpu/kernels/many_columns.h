// Products of many columns. Tiles either decode the weights on the fly, or share weights unpacked once. Unpacked
// weights look alike in all formats, so one loop over a tile's columns serves all.
#pragma once
#include "engine/cpu/kernels/multiply.h"

namespace warpchat {
namespace {

// Up to 256 weights of a group: codes, and their conversion to weights, by sub-block in order of addition.
constexpr uint32_t kUnpacked = 256;
template <int kScaled>
struct Unpacked {
  static constexpr int kSubs = kUnpacked / kScaled;
  alignas(64) Operand codes[kSubs][kScaled / 4];
  ScaleAndLowest scaled[kSubs];
  uint32_t first_inputs[kSubs];  // first input of each sub-block; sub-blocks of an input block are adjacent
};

// Where products accept signed codes, kOne's lowest value is already added to the codes.
template <class Format>
constexpr Lowest kLowestUnpacked = kTakesSigned&& kLowestOf<Format> == Lowest::kOne ? Lowest::kNone : kLowestOf<Format>;
template <class Format>
WARPCHAT_INLINE Operand unpacked_operand(const Format& format, int sub, int quad) {
  if constexpr (kLowestUnpacked<Format> != kLowestOf<Format>)
    return signed_operand(format.codes(sub, quad), kLowestCode<Format>);
  else
    return operand(format.codes(sub, quad));
}

template <class Block>
WARPCHAT_INLINE void unpack(const uint8_t* group, int n_blocks, const uint8_t* ahead,
                            Unpacked<Format<Block>::kScaled>& to) {
  using Format = warpchat::Format<Block>;
  constexpr int kSubs = Format::kWeights / Format::kScaled;  // per block
  WARPCHAT_LOOP
  for (int block = 0; block < n_blocks; ++block, group += kBlockBytes<Block>, ahead += kBlockBytes<Block>) {
    const Format format(group);
    WARPCHAT_UNROLL_BLOCK
    for (int turn = 0; turn < kSubs; ++turn) {
      const int sub = sub_at<Block>(turn), index = block * kSubs + turn;
      WARPCHAT_UNROLL
      for (int quad = 0; quad < Format::kScaled / 4; ++quad)
        to.codes[index][quad] = unpacked_operand(format, sub, quad);
      to.scaled[index] = scale_and_lowest(format, sub);
      to.first_inputs[index] = static_cast<uint32_t>(block * Format::kWeights + sub * Format::kScaled);
      prefetch(ahead, kBlockBytes<Block>, to.scaled[index].scale, turn, kSubs);
    }
  }
}

// Adds the first n_subs sub-blocks to sums, [columns][rows]. x: inputs of the first one.
template <Lowest kLowest, bool kInOrder, int kScaled, int kColumns>
void add_unpacked(const Unpacked<kScaled>& weights, int n_subs, int lowest_code, const InputBlock<kColumns>* x,
                  float* sums) {
  constexpr int kSubs = kInputBlock / kScaled;  // per block of inputs
  for (int first = 0; first < n_subs; first += kSubs, ++x) {
    const int end = n_subs - first < kSubs ? n_subs : first + kSubs;
    Floats block_sums[kColumns] = {};
    WARPCHAT_LOOP
    for (int index = first; index < end; ++index) {
      const uint32_t at =
          kInOrder ? static_cast<uint32_t>((index - first) * kScaled) : weights.first_inputs[index] % kInputBlock;
      const Lows<kLowest, kColumns> lows(lowest_code, input_sums_of<kScaled>(*x, at));
      Ints dots[kColumns];
      dot_products<kScaled / 4>([&](int quad) -> const Operand& { return weights.codes[index][quad]; },
                                x->quads + at / 4, dots);
      add_scaled(weights.scaled[index], lows, dots, block_sums);
    }
    WARPCHAT_UNROLL
    for (int c = 0; c < kColumns; ++c)
      store(sums + c * kLanes, fma(block_sums[c], splat(x->scale[c]), load<Floats>(sums + c * kLanes)));
  }
}

// Multiplies tiles with some groups, one stretch of weights after another. The stretch of inputs stays in a near cache
// however long a column is, and sums are kept in memory.
template <class Inputs>  // a block of a tile
struct Stretch {
  const uint8_t* groups;  // the stretch of the first group
  uint64_t group_bytes;
  uint32_t n_groups, n_weights;
  const Inputs* x;    // for the first tile
  uint32_t x_blocks;  // between tiles
  uint32_t n_tiles;
  float* sums;           // [n_groups][n_tiles][kColumns][kLanes]
  const uint8_t* ahead;  // for the first group: data to read next

  static constexpr uint32_t kColumns = Inputs::kColumns;
  float* sums_of(uint32_t group, uint32_t tile) const { return sums + (group * n_tiles + tile) * kColumns * kLanes; }
};

// Unpacks a group's stretch once for all tiles.
template <class Block, class Inputs>
void add_unpacked_stretch(const Stretch<Inputs>& s) {
  using Format = warpchat::Format<Block>;
  Unpacked<Format::kScaled> weights;
  for (uint32_t group = 0; group < s.n_groups; ++group) {
    unpack<Block>(s.groups + group * s.group_bytes, static_cast<int>(s.n_weights / Format::kWeights),
                  s.ahead + group * s.group_bytes, weights);
    for (uint32_t tile = 0; tile < s.n_tiles; ++tile)
      add_unpacked<kLowestUnpacked<Format>, kInOrder<Block>>(weights, static_cast<int>(s.n_weights / Format::kScaled),
                                                             kLowestCode<Format>, s.x + tile * s.x_blocks,
                                                             s.sums_of(group, tile));
  }
}

// Each tile decodes the groups' codes on the fly.
template <class Block, int kColumns>
void add_stretch(const Stretch<InputBlock<kColumns>>& s) {
  const uint32_t n_blocks = (s.n_weights + kInputBlock - 1) / kInputBlock;
  const uint64_t lines = s.n_weights / Format<Block>::kWeights * kBlockBytes<Block> / 64;
  const uint32_t lines_at_once = static_cast<uint32_t>(lines / (uint64_t{s.n_tiles} * n_blocks)) + 1;
  for (uint32_t tile = 0; tile < s.n_tiles; ++tile)
    for (uint32_t group = 0; group < s.n_groups; ++group) {
      NextWeights next{s.ahead + group * s.group_bytes + uint64_t{tile} * n_blocks * lines_at_once * 64, lines_at_once};
      float* to = s.sums_of(group, tile);
      Floats sums[kColumns];
      WARPCHAT_UNROLL
      for (int c = 0; c < kColumns; ++c) sums[c] = load<Floats>(to + c * kLanes);
      multiply_integers<Block>(s.groups + group * s.group_bytes, s.n_weights, s.x + tile * s.x_blocks, next, sums);
      WARPCHAT_UNROLL
      for (int c = 0; c < kColumns; ++c) store(to + c * kLanes, sums[c]);
    }
}

// With 32 registers, decoding runs beside the products and is faster than storing unpacked codes.
template <class Inputs>
constexpr bool kUnpacksOnce = kRegisters == 16 || !std::is_same_v<Inputs, InputBlock<kTileColumns>>;

// A single full tile without unpacking reads memory more evenly one whole group at a time.
constexpr uint32_t kFewestInStretches = kUnpacksOnce<InputBlock<kTileColumns>> ? kTileColumns : 2 * kTileColumns;

// Multiplies the first `columns` columns; the last tile may contain unused ones.
template <class Block, class Inputs>
void multiply_tiles(const MultiplyTiles& m, uint32_t columns) {
  constexpr uint32_t kWeights = kUnpacksOnce<Inputs> ? kUnpacked : 1024, kRows = kGroupsAtOnce * kLanes;
  alignas(64) float sums[kGroupsAtOnce * kColumnsAtOnce * kLanes];
  Stretch<Inputs> s{};
  s.group_bytes = m.group_bytes;
  s.x_blocks = (m.k + kInputBlock - 1) / kInputBlock;
  s.sums = sums;
  const uint8_t* groups = m.groups;
  for (uint32_t row = m.first_row; row < m.end_row; row += kRows, groups += kGroupsAtOnce * m.group_bytes) {
    s.n_groups = m.end_row - row < kRows ? (m.end_row - row + kLanes - 1) / kLanes : kGroupsAtOnce;
    for (uint32_t column = 0; column < columns; column += kColumnsAtOnce) {
      const uint32_t n = columns - column < kColumnsAtOnce ? columns - column : kColumnsAtOnce;
      s.n_tiles = (n + Inputs::kColumns - 1) / Inputs::kColumns;
      s.x = reinterpret_cast<const Inputs*>(m.tiles) + uint64_t{column / Inputs::kColumns} * s.x_blocks;
      __builtin_memset(sums, 0, s.n_groups * s.n_tiles * Inputs::kColumns * kLanes * sizeof(float));
      s.groups = groups;
      for (uint32_t first = 0; first < m.k; first += kWeights, s.x += kWeights / kInputBlock) {
        const bool is_last = m.k - first <= kWeights;
        s.n_weights = is_last ? m.k - first : kWeights;
        const uint8_t* end = s.groups + s.n_weights / Format<Block>::kWeights * kBlockBytes<Block>;
        s.ahead = is_last ? groups + kGroupsAtOnce * m.group_bytes : end;
        if constexpr (kUnpacksOnce<Inputs>)
          add_unpacked_stretch<Block>(s);
        else
          add_stretch<Block>(s);
        s.groups = end;
      }
      for (uint32_t group = 0; group < s.n_groups; ++group)
        finish(m, row + group * kLanes, column, n, s.sums_of(group, 0));
    }
  }
}

// One group times the tiles from first_column on, of at most kWidth columns.
template <class Block, uint32_t kWidth>
WARPCHAT_INLINE void multiply_rest(const MultiplyTiles& m, const uint8_t* group, uint32_t row, uint32_t first_column) {
  const uint64_t column_bytes = kHasCodes<Block> ? uint64_t{(m.k + kInputBlock - 1) / kInputBlock} * kInputBlockBytes
                                                 : uint64_t{m.k} * sizeof(float);
  for (; m.columns - first_column >= kWidth; first_column += kWidth)
    multiply_tile<Block, kWidth>(m, group, row, m.tiles + first_column * column_bytes, first_column);
  if constexpr (kWidth > 1) multiply_rest<Block, narrower_tile(kWidth)>(m, group, row, first_column);
}

template <class Block>
void multiply(const MultiplyTiles& m) {
  const uint8_t* group = m.groups;
  for (size_t at = 0; at < kPrefetchBytes / 2; at += 64)  // not prefetched earlier
    __builtin_prefetch(group + at, /*write=*/0, /*to the second-level cache=*/2);
  uint32_t first_column = 0;
  if constexpr (kHasCodes<Block>) {
    if (m.columns >= kFewestInStretches) first_column = m.columns - m.columns % kTileColumns;
    if (first_column > 0) multiply_tiles<Block, InputBlock<kTileColumns>>(m, first_column);
    if (first_column == m.columns) return;
  }
  constexpr uint32_t kWidest =
      kHasCodes<Block> && kFewestInStretches == kTileColumns ? narrower_tile(kTileColumns) : kTileColumns;
  for (uint32_t row = m.first_row; row < m.end_row; row += kLanes, group += m.group_bytes)
    multiply_rest<Block, kWidest>(m, group, row, first_column);
}

}  // namespace
}  // namespace warpchat
