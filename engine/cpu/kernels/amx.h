// Products of many columns with tile registers. Four codes of each of 16 rows, as packing has laid them, are a row of a
// tile; the other factor are the high and the low bytes of 16 columns. Both products are exact; what is made of them
// are the narrow tiles' sums, in their order: so a column's bits do not tell which way it went.
#pragma once
#include "engine/cpu/kernels/multiply.h"
#include WARPCHAT_TILES

namespace warpchat {
namespace {

static_assert(kLanes == 16);
constexpr int kWideColumns = 16;

struct InputRows {  // as InputBlock has them
  static constexpr int kColumns = kWideColumns;
  struct {
    int8_t highs[32], lows[32];  // input = 256 * high + low
  } rows[kInputBlock / 32][kColumns];
  int32_t sums[kInputBlock / 32][kColumns], half_sums[kInputBlock / 16][kColumns];
  float scale[kColumns];
  WARPCHAT_INLINE void set(uint32_t column, int first, Ints integers) {
    const auto [highs, lows] = two_bytes(integers);
    store(rows[first / 32][column].highs + first % 32, highs);
    store(rows[first / 32][column].lows + first % 32, lows);
  }
};
static_assert(sizeof(InputRows) == kWideColumns * kInputBlockBytes);
constexpr size_t kInputRowBytes = sizeof(InputRows{}.rows[0][0]);

// What ldtilecfg reads.
struct TileConfig {
  uint8_t palette = 1, first_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};
static_assert(sizeof(TileConfig) == 64);

// The registers: sums of high and low bytes, and codes, each twice, so that a product need not wait until the sums of
// the one before are stored; and the inputs.
constexpr int kFirstSums = 0, kHighs = 4, kLows = 5, kFirstCodes = 6;

template <class Format>
constexpr TileConfig kTileConfig = [] {
  TileConfig c;
  for (int sums = kFirstSums; sums < kFirstSums + 4; ++sums)
    c.rows[sums] = kWideColumns, c.row_bytes[sums] = 4 * kLanes;
  for (int inputs : {kHighs, kLows}) c.rows[inputs] = kWideColumns, c.row_bytes[inputs] = Format::kScaled;
  for (int codes = kFirstCodes; codes < kFirstCodes + 2; ++codes)
    c.rows[codes] = Format::kScaled / 4, c.row_bytes[codes] = 4 * kLanes;
  return c;
}();

// Up to 256 weights of a group: their codes as bytes, and what makes them weights, sub-block by sub-block in the order
// in which they are added.
constexpr uint32_t kUnpacked = 256;
template <class Block>
struct Unpacked {
  using Format = warpchat::Format<Block>;
  static constexpr int kSubs = Format::kWeights / Format::kScaled;  // of a block
  static constexpr int kBlocks = kUnpacked / Format::kWeights;
  alignas(64) Words codes[kBlocks * kSubs][Format::kScaled / 4];
  ScaleAndLowest scaled[kBlocks * kSubs];

  static WARPCHAT_INLINE int sub_of(int index) { return index / kSubs * kSubs + sub_at<Block>(index % kSubs); }
  WARPCHAT_INLINE void fill(const uint8_t* group, int n_blocks) {
    WARPCHAT_LOOP
    for (int block = 0; block < n_blocks; ++block, group += kBlockBytes<Block>) {
      const Format format(group);
      WARPCHAT_UNROLL_BLOCK
      for (int turn = 0; turn < kSubs; ++turn) {
        const int sub = sub_at<Block>(turn);
        Words(&to)[Format::kScaled / 4] = codes[block * kSubs + turn];
        WARPCHAT_UNROLL
        for (int quad = 0; quad < Format::kScaled / 4; ++quad) to[quad] = format.codes(sub, quad);
        scaled[block * kSubs + turn] = scale_and_lowest(format, sub);
        prefetch(group, kBlockBytes<Block>, to[0], turn, kSubs);
      }
    }
  }
};

struct WideDots {  // of a sub-block: [columns][rows]
  alignas(64) Ints highs[kWideColumns], lows[kWideColumns];
};

template <int kTurn, class Block>
WARPCHAT_INLINE void multiply_sub(const Unpacked<Block>& weights, int index, const InputRows* x, WideDots& dots) {
  constexpr int kScaled = Unpacked<Block>::Format::kScaled;
  constexpr int kHighSums = kFirstSums + 2 * kTurn, kLowSums = kHighSums + 1, kCodes = kFirstCodes + kTurn;
  const uint32_t first_input = static_cast<uint32_t>(Unpacked<Block>::sub_of(index) * kScaled),
                 first = first_input % 32;
  const auto& row = x[first_input / kInputBlock].rows[first_input % kInputBlock / 32][0];
  load_tile<kCodes>(weights.codes[index], sizeof(Words));
  zero_tile<kHighSums>();
  load_tile<kHighs>(row.highs + first, kInputRowBytes);
  multiply_tiles<kHighSums, kHighs, kCodes>();
  zero_tile<kLowSums>();
  load_tile<kLows>(row.lows + first, kInputRowBytes);
  multiply_tiles<kLowSums, kLows, kCodes>();
  store_tile<kHighSums>(dots.highs, sizeof(Ints));
  store_tile<kLowSums>(dots.lows, sizeof(Ints));
}

// Adds the first n_subs sub-blocks to sums, [columns][rows]. x: the inputs that the first of them meets. The tile unit
// is a sub-block ahead of the vectors' arithmetic.
template <class Block>
void add_unpacked(const Unpacked<Block>& weights, int n_subs, const InputRows* x, float* sums) {
  using Format = warpchat::Format<Block>;
  constexpr uint32_t kSubs = kInputBlock / Format::kScaled;  // that meet a block of inputs
  Floats block_sums[kWideColumns] = {};
  const auto add = [&](int index, const WideDots& dots) __attribute__((always_inline)) {
    const uint32_t first = static_cast<uint32_t>(Unpacked<Block>::sub_of(index) * Format::kScaled);
    const InputRows& inputs = x[first / kInputBlock];
    add_scaled<Format>(
        weights.scaled[index], input_sums_of<Format::kScaled>(inputs, first % kInputBlock),
        [&](int c) __attribute__((always_inline)) { return (dots.highs[c] << 8) + dots.lows[c]; }, block_sums);
    if ((index + 1) % kSubs != 0 && index + 1 < n_subs) return;
    WARPCHAT_UNROLL
    for (int c = 0; c < kWideColumns; ++c) {
      store(sums + c * kLanes, fma(block_sums[c], splat(inputs.scale[c]), load<Floats>(sums + c * kLanes)));
      block_sums[c] = Floats{};
    }
  };
  WideDots even, odd;
  multiply_sub<0>(weights, 0, x, even);
  WARPCHAT_LOOP
  for (int i = 0; i < n_subs; i += 2) {
    if (i + 1 < n_subs) multiply_sub<1>(weights, i + 1, x, odd);
    add(i, even);
    if (i + 2 < n_subs) multiply_sub<0>(weights, i + 2, x, even);
    if (i + 1 < n_subs) add(i + 1, odd);
  }
}

// A group's weights are unpacked once for this many tiles, whose sums take 16 KiB.
constexpr uint32_t kTilesAtOnce = 16;

// One group times some columns, at most those of kTilesAtOnce tiles.
template <class Block>
void multiply_at_once(const MultiplyTiles& m, const uint8_t* group, uint32_t row, const InputRows* x,
                      uint32_t first_column, uint32_t columns) {
  constexpr uint32_t kWeights = Format<Block>::kWeights;
  const uint32_t n_tiles = (columns + kWideColumns - 1) / kWideColumns,
                 x_blocks = (m.k + kInputBlock - 1) / kInputBlock;
  alignas(64) float sums[kTilesAtOnce][kWideColumns * kLanes];
  __builtin_memset(sums, 0, n_tiles * sizeof sums[0]);
  Unpacked<Block> weights;
  for (uint32_t first = 0; first < m.k; first += kUnpacked) {
    const uint32_t left = m.k - first, n_blocks = (left < kUnpacked ? left : kUnpacked) / kWeights;
    weights.fill(group, static_cast<int>(n_blocks));
    group += n_blocks * kBlockBytes<Block>;
    for (uint32_t tile = 0; tile < n_tiles; ++tile)
      add_unpacked(weights, static_cast<int>(n_blocks) * Unpacked<Block>::kSubs,
                   x + tile * x_blocks + first / kInputBlock, sums[tile]);
  }
  for (uint32_t c = 0; c < columns; c += kWideColumns)
    finish(m, row, first_column + c, columns - c < kWideColumns ? columns - c : kWideColumns, sums[c / kWideColumns]);
}

template <class Block>
void multiply_wide(const MultiplyTiles& m) {
  constexpr uint32_t kAtOnce = kTilesAtOnce * kWideColumns;
  const uint32_t x_blocks = (m.k + kInputBlock - 1) / kInputBlock;
  const auto* x = reinterpret_cast<const InputRows*>(m.tiles);
  const uint8_t* group = m.groups;
  configure_tiles(&kTileConfig<Format<Block>>);
  for (uint32_t row = m.first_row; row < m.end_row; row += kLanes, group += m.group_bytes)
    for (uint32_t c = 0; c < m.columns; c += kAtOnce)
      multiply_at_once<Block>(m, group, row, x + uint64_t{c / kWideColumns} * x_blocks, c,
                              m.columns - c < kAtOnce ? m.columns - c : kAtOnce);
  release_tiles();
}

template <class Traits>
constexpr MultiplyFunction wide_product_of(Traits) {
  using Block = typename Traits::Block;
  if constexpr (kHasCodes<Block>)
    return multiply_wide<Block>;
  else
    return nullptr;
}

}  // namespace

const WideKernels& WARPCHAT_KERNELS() {
  static constexpr WideKernels kTable = {
      .columns = kWideColumns,
      .prepare = prepare_tile<InputRows>,
      .multiply = KernelBlocks::table([](auto format) { return wide_product_of(format); }),
  };
  return kTable;
}

}  // namespace warpchat
