// Products of many columns in AMX tile registers. One tile row holds four codes of each of 16 rows, in packed order.
// The other factor is the high and low bytes of 16 columns. Both integer products are exact, and scaling follows the
// order of the narrow tiles, so a column's bits are the same either way.
#pragma once
#include "engine/cpu/kernels/many_columns.h"
#include WARPCHAT_TILES

namespace warpchat {
namespace {

static_assert(kLanes == 16);
constexpr int kWideColumns = 16;

struct InputRows {  // same layout as InputBlock
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

// Operand of ldtilecfg.
struct TileConfig {
  uint8_t palette = 1, first_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};
static_assert(sizeof(TileConfig) == 64);

// Tile registers: sums of high and low bytes, and codes, are doubled, so that a product need not wait until the
// previous sums are stored. The rest hold inputs.
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

struct WideDots {  // one sub-block: [columns][rows]
  alignas(64) Ints highs[kWideColumns], lows[kWideColumns];
};

template <int kTurn, int kScaled>
WARPCHAT_INLINE void multiply_sub(const Unpacked<kScaled>& weights, int index, const InputRows* x, WideDots& dots) {
  constexpr int kHighSums = kFirstSums + 2 * kTurn, kLowSums = kHighSums + 1, kCodes = kFirstCodes + kTurn;
  const uint32_t first_input = weights.first_inputs[index], first = first_input % 32;
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

// Adds the first n_subs sub-blocks to sums, [columns][rows]. x: inputs of the first one. The tile unit runs one
// sub-block ahead of the vector arithmetic.
template <Lowest kLowest, bool, int kScaled>
void add_unpacked(const Unpacked<kScaled>& weights, int n_subs, int lowest_code, const InputRows* x, float* sums) {
  constexpr int kSubs = kInputBlock / kScaled;  // per block of inputs
  Floats block_sums[kWideColumns] = {};
  const auto add = [&](int index, const WideDots& wide) __attribute__((always_inline)) {
    const uint32_t first = weights.first_inputs[index];
    const InputRows& inputs = x[first / kInputBlock];
    const Lows<kLowest, kWideColumns> lows(lowest_code, input_sums_of<kScaled>(inputs, first % kInputBlock));
    Ints dots[kWideColumns];
    WARPCHAT_UNROLL
    for (int c = 0; c < kWideColumns; ++c) dots[c] = (wide.highs[c] << 8) + wide.lows[c];
    add_scaled(weights.scaled[index], lows, dots, block_sums);
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

template <class Block>
void multiply_wide(const MultiplyTiles& m) {
  configure_tiles(&kTileConfig<Format<Block>>);
  multiply_tiles<Block, InputRows>(m, m.columns);
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
