// Matrix times input tiles: a group times a tile of few columns, and the epilogue. Lanes are rows, so sums need no
// reduction. A result depends on its row and column alone, not on how the work is split, nor on the tile's width.
#pragma once
#include <type_traits>

#include "engine/cpu/kernels/formats.h"
#include "engine/cpu/kernels/input.h"

namespace warpchat {
namespace {

constexpr size_t kPrefetchBytes = 16384;  // ahead of the weights in use; measured best of 4 to 32 KiB

// Conversion of codes to weights: w = scale * code, scale * (code + kLowest), or scale * code + lowest.
enum class Lowest { kNone, kOne, kOfEachScale };
template <class Format>
constexpr Lowest kLowestOf = [] {
  if constexpr (!requires { Format::kLowest; })
    return Lowest::kOfEachScale;
  else
    return Format::kLowest == 0 ? Lowest::kNone : Lowest::kOne;
}();
template <class Format>
constexpr int kLowestCode = [] {
  if constexpr (kLowestOf<Format> == Lowest::kOne) return Format::kLowest;
  return 0;
}();

struct ScaleAndLowest {
  Floats scale, lowest;  // lowest: kOfEachScale only
};
template <class Format>
WARPCHAT_INLINE ScaleAndLowest scale_and_lowest(const Format& format, int sub) {
  if constexpr (kLowestOf<Format> == Lowest::kOfEachScale)
    return {format.scale(sub), format.lowest(sub)};
  else
    return {format.scale(sub), Floats{}};
}

using FourInts = int32_t __attribute__((vector_size(16)));
using FourFloats = float __attribute__((vector_size(16)));

// Terms of the lowest weights: each column's sums of integers, times the lowest code if it is constant. Kept in memory,
// where a broadcast is free.
template <Lowest kLowest, int kColumns>
struct Lows {
  using Low = std::conditional_t<kLowest == Lowest::kOfEachScale, float, int32_t>;
  Low of[kColumns];
  WARPCHAT_INLINE Lows(int lowest_code, const int32_t* input_sums) {
    if constexpr (kLowest == Lowest::kNone) return;
    constexpr int kAtOnce = kColumns % 4 == 0 ? 4 : 1;
    WARPCHAT_UNROLL
    for (int c = 0; c < kColumns; c += kAtOnce) {
      if constexpr (kAtOnce == 1)
        of[c] = static_cast<Low>(kLowest == Lowest::kOne ? lowest_code * input_sums[c] : input_sums[c]);
      else if constexpr (kLowest == Lowest::kOne)
        store(of + c, load<FourInts>(input_sums + c) * lowest_code);
      else
        store(of + c, __builtin_convertvector(load<FourInts>(input_sums + c), FourFloats));
    }
    if constexpr (kColumns > 1) asm volatile("" : "+m"(of));
  }
};

// Adds the terms of codes that share a scale: dots (dot products with integer inputs) times the scale, and the lowest
// weight times the sums of inputs.
template <Lowest kLowest, int kColumns>
WARPCHAT_INLINE void add_scaled(const ScaleAndLowest& weights, const Lows<kLowest, kColumns>& lows,
                                const Ints (&dots)[kColumns], Floats (&sums)[kColumns]) {
  WARPCHAT_UNROLL
  for (int c = 0; c < kColumns; ++c) {
    if constexpr (kLowest == Lowest::kOfEachScale) sums[c] = fma(weights.lowest, splat(lows.of[c]), sums[c]);
    Ints dot = dots[c];
    if constexpr (kLowest == Lowest::kOne) dot += splat(lows.of[c]);
    sums[c] = fma(weights.scale, to_floats(dot), sums[c]);
  }
}

// Per column: sum of kScaled integers starting at number `first` of a block.
template <int kScaled, class Inputs>
WARPCHAT_INLINE const int32_t* input_sums_of(const Inputs& x, uint32_t first) {
  if constexpr (kScaled == 32)
    return x.sums[first / 32];
  else
    return x.half_sums[first / 16];
}

// Order of sub-blocks as packed, so that memory is read sequentially.
template <class Block>
constexpr bool kInOrder = !std::is_same_v<Block, BlockQ6K>;
template <class Block>
constexpr int sub_at(int turn) {
  return turn;
}
template <>
constexpr int sub_at<BlockQ6K>(int turn) {
  return turn / 8 * 8 + turn % 4 * 2 + turn / 4 % 2;
}

// Hardware prefetching stops at the end of a page. So full tiles prefetch some lines of the next weights with every
// block of inputs; together they cover all lines.
struct NextWeights {
  const uint8_t* line;
  uint32_t lines_at_once;
  WARPCHAT_INLINE void ask() {
    for (const uint8_t* end = line + uint64_t{lines_at_once} * 64; line < end; line += 64)
      __builtin_prefetch(line, /*write=*/0, /*to the second-level cache=*/2);
  }
};
// Narrow tiles keep pace with the memory and prefetch a little ahead.
template <int kColumns>
constexpr bool kIsNarrow = kColumns <= 4;
// Prefetches part `part` of n_parts of n_bytes, so that few lines are requested at a time and the core does not stall.
// Compilers would move all parts before the computation, so each is tied to a value and stays after its producer.
template <class Value>
WARPCHAT_INLINE void prefetch(const uint8_t* ahead, size_t n_bytes, Value& value, size_t part = 0, size_t n_parts = 1) {
  const size_t n_lines = (n_bytes + 63) / 64, end = n_lines * (part + 1) / n_parts;
  WARPCHAT_UNROLL
  for (size_t line = n_lines * part / n_parts; line < end; ++line)
    __builtin_prefetch(ahead + line * 64, /*write=*/0, /*to the second-level cache=*/2);
#if defined(__AVX2__)
  asm volatile("" : "+v"(value) : : "memory");
#elif defined(__aarch64__)
  asm volatile("" : "+w"(value) : : "memory");
#else
  (void)value;
#endif
}

// Processes kTurns sub-blocks from turn kFirst on, against inputs of block x from number `first` on.
template <int kFirst, int kTurns, class Block, int kColumns>
WARPCHAT_INLINE void add_part(const Format<Block>& format, const InputBlock<kColumns>& x, uint32_t first,
                              Floats (&sums)[kColumns]) {
  using Format = warpchat::Format<Block>;
  first -= static_cast<uint32_t>(kFirst * Format::kScaled);
  WARPCHAT_UNROLL_BLOCK
  for (int turn = kFirst; turn < kFirst + kTurns; ++turn) {
    const int sub = sub_at<Block>(turn);
    const uint32_t at = first + static_cast<uint32_t>(sub * Format::kScaled);
    if constexpr (kIsNarrow<kColumns>)
      prefetch(format.block + kPrefetchBytes, kBlockBytes<Block>, sums[0], turn, Format::kWeights / Format::kScaled);
    const Lows<kLowestOf<Format>, kColumns> lows(kLowestCode<Format>, input_sums_of<Format::kScaled>(x, at));
    Ints dots[kColumns];
    dot_products<Format::kScaled / 4>([&](int quad) { return operand(format.codes(sub, quad)); }, x.quads + at / 4,
                                      dots);
    add_scaled(scale_and_lowest(format, sub), lows, dots, sums);
  }
}

template <int kColumns>
WARPCHAT_INLINE void add_block_sums(const Floats (&block_sums)[kColumns], const float* input_scales,
                                    Floats (&sums)[kColumns]) {
  WARPCHAT_UNROLL
  for (int c = 0; c < kColumns; ++c) sums[c] = fma(block_sums[c], splat(input_scales[c]), sums[c]);
}

// Must be inlined: otherwise GCC 12 keeps the format's state in memory, at a third of the speed.
template <class Block, int kColumns>
WARPCHAT_INLINE void multiply_integers(const uint8_t* group, uint32_t k, const InputBlock<kColumns>* x,
                                       NextWeights& next, Floats (&sums)[kColumns]) {
  using Format = warpchat::Format<Block>;
  constexpr uint32_t kWeights = Format::kWeights;
  if constexpr (kWeights > kInputBlock) {  // one block of weights per two blocks of inputs
    static_assert(kWeights == 2 * kInputBlock);
    constexpr int kTurns = kInputBlock / Format::kScaled;
    for (uint32_t done = 0; done < k; done += kWeights, x += 2, group += kBlockBytes<Block>) {
      const Format format(group);
      Floats front[kColumns] = {}, back[kColumns] = {};
      if constexpr (!kIsNarrow<kColumns>) next.ask();
      add_part<0, kTurns>(format, x[0], 0, front);
      add_block_sums(front, x[0].scale, sums);
      if constexpr (!kIsNarrow<kColumns>) next.ask();
      add_part<kTurns, kTurns>(format, x[1], 0, back);
      add_block_sums(back, x[1].scale, sums);
    }
  } else {
    for (uint32_t done = 0; done < k; done += kInputBlock, ++x) {
      const uint32_t n = k - done > kInputBlock ? kInputBlock : k - done;
      if constexpr (!kIsNarrow<kColumns>) next.ask();
      Floats block_sums[kColumns] = {};
      for (uint32_t first = 0; first < n; first += kWeights, group += kBlockBytes<Block>)
        add_part<0, kWeights / Format::kScaled>(Format(group), *x, first, block_sums);
      add_block_sums(block_sums, x->scale, sums);
    }
  }
}

// Eight sums per column, each of every eighth run of 16 products: independent sums hide the latency of fma. A wide tile
// lacks registers for all at once, and a single column is limited by memory, which is fastest in order. Both process
// the sums one by one.
template <class Element, int kColumns>
WARPCHAT_INLINE void multiply_floats(const uint8_t* group, uint32_t k, const float* x, Floats (&sums)[kColumns]) {
  constexpr size_t kChains = 8, kAtOnce = kColumns == 1 || kColumns >= 8 ? 1 : 8 / kColumns, kInTurn = 16;
  Floats chains[kChains][kColumns] = {};
  const auto add = [&](size_t i, Floats(&chain)[kColumns]) {
    const Floats w = Format<Element>::weights(group, i);
    WARPCHAT_UNROLL
    for (int c = 0; c < kColumns; ++c) chain[c] = fma(w, splat(x[i * kColumns + c]), chain[c]);
  };
  size_t first = 0;
  const auto take_turns = [&](const auto in_turn) __attribute__((always_inline)) {
    for (size_t chain = 0; chain < kChains; chain += kAtOnce, first += kAtOnce * in_turn) {
      Floats now[kAtOnce][kColumns];
      __builtin_memcpy(now, chains[chain], sizeof now);
      for (size_t i = 0; i < in_turn; ++i) {
        constexpr size_t kBytes = kAtOnce * sizeof(Element) * kLanes;
        if constexpr (kIsNarrow<kColumns>)
          prefetch(group + kPrefetchBytes + first * sizeof(Element) * kLanes + i * kBytes, kBytes, now[0][0]);
        WARPCHAT_UNROLL
        for (size_t j = 0; j < kAtOnce; ++j) add(first + j * in_turn + i, now[j]);
      }
      __builtin_memcpy(chains[chain], now, sizeof now);
    }
  };
  while (k - first >= kChains) {
    const size_t left = (k - first) / kChains;
    if constexpr (kColumns == 1) {  // a constant length simplifies addresses; it would unroll a wide tile
      if (left >= kInTurn) {
        take_turns(std::integral_constant<size_t, kInTurn>());
        continue;
      }
    }
    take_turns(left < kInTurn ? left : kInTurn);
  }
  for (; first < k; ++first) add(first, chains[0]);
  WARPCHAT_UNROLL
  for (size_t j = 0; j < kChains; ++j)
    for (int c = 0; c < kColumns; ++c) sums[c] += chains[j][c];
}

WARPCHAT_INLINE Floats silu(Floats v) { return v / inverse_sigmoid(v); }

// sums: [columns][kLanes]. Not inlined and shared by all formats: it runs once per tile.
__attribute__((noinline)) void finish(const MultiplyTiles& m, uint32_t row, uint32_t first_column, uint32_t columns,
                                      const float* sums) {
  const uint32_t n = m.end_row - row < kLanes ? m.end_row - row : kLanes;
  const auto read = [n](const float* from) { return n == kLanes ? load<Floats>(from) : load_some(from, n); };
  for (uint32_t c = 0; c < columns; ++c) {
    float* out = m.out + (first_column + c) * m.out_stride + row;
    Floats sum = load<Floats>(sums + c * kLanes);
    if (m.bias != nullptr) sum += read(m.bias + row);
    if (m.epilogue == Epilogue::kAdd) sum += read(out);
    if (m.epilogue == Epilogue::kSiluTimes) sum *= silu(read(out));
    if (n == kLanes) {
      store(out, sum);
    } else {
      store_some(out, sum, n);
    }
  }
}

// One group times one tile of kColumns columns.
template <class Block, int kColumns>
void multiply_tile(const MultiplyTiles& m, const uint8_t* group, uint32_t row, const uint8_t* tile,
                   uint32_t first_column) {
  Floats sums[kColumns] = {};
  if constexpr (kHasCodes<Block>) {
    const uint64_t n_lines = m.group_bytes / 64, n_blocks = (m.k + kInputBlock - 1) / kInputBlock;
    NextWeights next{group + m.group_bytes, static_cast<uint32_t>(n_lines / n_blocks) + 1};
    multiply_integers<Block>(group, m.k, reinterpret_cast<const InputBlock<kColumns>*>(tile), next, sums);
  } else {
    multiply_floats<Block>(group, m.k, reinterpret_cast<const float*>(tile), sums);
  }
  alignas(64) float results[kColumns * kLanes];
  WARPCHAT_UNROLL
  for (int c = 0; c < kColumns; ++c) store(results + c * kLanes, sums[c]);
  finish(m, row, first_column, kColumns, results);
}

}  // namespace
}  // namespace warpchat
