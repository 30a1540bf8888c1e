// Products of all columns: by tiles that read the weights' codes as they come, or of weights that are unpacked once for
// many tiles. Then all formats are alike, and the loop over a tile's columns is one for all of them.
#pragma once
#include "engine/cpu/kernels/multiply.h"

namespace warpchat {
namespace {

// Up to 256 weights of a group: their codes, and what makes them weights, sub-block by sub-block in the order in which
// they are added.
constexpr uint32_t kUnpacked = 256;
template <int kScaled>
struct Unpacked {
  static constexpr int kSubs = kUnpacked / kScaled;
  alignas(64) Operand codes[kSubs][kScaled / 4];
  ScaleAndLowest scaled[kSubs];
  uint32_t first_inputs[kSubs];  // the first of those that a sub-block meets; those of an input block lie together
};

// Where products take signed codes, those have become one with the lowest.
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
WARPCHAT_INLINE void unpack(const uint8_t* group, int n_blocks, Unpacked<Format<Block>::kScaled>& to) {
  using Format = warpchat::Format<Block>;
  constexpr int kSubs = Format::kWeights / Format::kScaled;  // of a block
  WARPCHAT_LOOP
  for (int block = 0; block < n_blocks; ++block, group += kBlockBytes<Block>) {
    const Format format(group);
    WARPCHAT_UNROLL_BLOCK
    for (int turn = 0; turn < kSubs; ++turn) {
      const int sub = sub_at<Block>(turn), index = block * kSubs + turn;
      WARPCHAT_UNROLL
      for (int quad = 0; quad < Format::kScaled / 4; ++quad)
        to.codes[index][quad] = unpacked_operand(format, sub, quad);
      to.scaled[index] = scale_and_lowest(format, sub);
      to.first_inputs[index] = static_cast<uint32_t>(block * Format::kWeights + sub * Format::kScaled);
      prefetch(group, kBlockBytes<Block>, to.scaled[index].scale, turn, kSubs);
    }
  }
}

// Adds the first n_subs sub-blocks to sums, [columns][rows]. x: the inputs that the first of them meets.
template <Lowest kLowest, bool kInOrder, int kScaled, int kColumns>
void add_unpacked(const Unpacked<kScaled>& weights, int n_subs, int lowest_code, const InputBlock<kColumns>* x,
                  float* sums) {
  constexpr int kSubs = kInputBlock / kScaled;  // that meet a block of inputs
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

// A group's weights are unpacked once for this many columns, whose sums take 8 or 16 KiB.
constexpr uint32_t kColumnsAtOnce = 256;

// One group times the first `columns` columns in tiles, the last of which may have some that do not count. Inputs: a
// block of a tile.
template <class Block, class Inputs>
void multiply_unpacked(const MultiplyTiles& m, const uint8_t* group, uint32_t row, uint32_t columns) {
  using Format = warpchat::Format<Block>;
  constexpr uint32_t kColumns = Inputs::kColumns;
  const uint32_t x_blocks = (m.k + kInputBlock - 1) / kInputBlock;
  for (uint32_t first_column = 0; first_column < columns; first_column += kColumnsAtOnce) {
    const uint32_t left = columns - first_column, n = left < kColumnsAtOnce ? left : kColumnsAtOnce,
                   n_tiles = (n + kColumns - 1) / kColumns;
    const auto* x = reinterpret_cast<const Inputs*>(m.tiles) + uint64_t{first_column / kColumns} * x_blocks;
    alignas(64) float sums[kColumnsAtOnce / kColumns][kColumns * kLanes];
    __builtin_memset(sums, 0, n_tiles * sizeof sums[0]);
    Unpacked<Format::kScaled> weights;
    const uint8_t* at = group;
    for (uint32_t first = 0; first < m.k; first += kUnpacked) {
      const uint32_t n_weights = m.k - first < kUnpacked ? m.k - first : kUnpacked,
                     n_blocks = n_weights / Format::kWeights;
      unpack<Block>(at, static_cast<int>(n_blocks), weights);
      at += n_blocks * kBlockBytes<Block>;
      for (uint32_t tile = 0; tile < n_tiles; ++tile)
        add_unpacked<kLowestUnpacked<Format>, kInOrder<Block>>(weights, static_cast<int>(n_weights / Format::kScaled),
                                                               kLowestCode<Format>,
                                                               x + tile * x_blocks + first / kInputBlock, sums[tile]);
    }
    for (uint32_t c = 0; c < n; c += kColumns)
      finish(m, row, first_column + c, n - c < kColumns ? n - c : kColumns, sums[c / kColumns]);
  }
}

// With 32 registers codes are unpacked beside the products, and it would take longer to store them.
constexpr bool kUnpacksOnce = kRegisters == 16;

template <class Block>
void multiply(const MultiplyTiles& m) {
  const uint32_t n_blocks = (m.k + kInputBlock - 1) / kInputBlock;
  const uint64_t column_bytes =
      kHasCodes<Block> ? uint64_t{n_blocks} * kInputBlockBytes : uint64_t{m.k} * sizeof(float);
  const uint32_t n_tiles = (m.columns + kTileColumns - 1) / kTileColumns;
  const uint32_t lines_at_once = static_cast<uint32_t>(m.group_bytes / 64 / (uint64_t{n_tiles} * n_blocks)) + 1;
  const uint32_t rest = m.columns % kTileColumns, whole = rest > kNarrowColumns ? m.columns : m.columns - rest;
  const uint8_t* group = m.groups;
  for (size_t at = 0; at < kPrefetchBytes / 2; at += 64)  // what nobody has asked for yet
    __builtin_prefetch(group + at, /*write=*/0, /*to the second-level cache=*/2);
  for (uint32_t row = m.first_row; row < m.end_row; row += kLanes, group += m.group_bytes) {
    NextGroup next{group + m.group_bytes, lines_at_once};
    uint32_t c = 0;
    if constexpr (kHasCodes<Block> && kUnpacksOnce) {
      if (whole > 0) multiply_unpacked<Block, InputBlock<kTileColumns>>(m, group, row, whole);
      c = whole;
    }
    for (; c < m.columns; c += kTileColumns) {
      const uint32_t left = m.columns - c;
      const uint8_t* tile = m.tiles + c * column_bytes;
      if (left > kNarrowColumns) {
        multiply_tile<Block, kTileColumns>(m, group, row, tile, c, left < kTileColumns ? left : kTileColumns, next);
      } else if (left > 1) {
        multiply_tile<Block, kNarrowColumns>(m, group, row, tile, c, left, next);
      } else {
        multiply_tile<Block, 1>(m, group, row, tile, c, 1, next);
      }
    }
  }
}

}  // namespace
}  // namespace warpchat
