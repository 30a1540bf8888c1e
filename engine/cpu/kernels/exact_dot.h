// Exact dot products of unsigned codes (0..255) with 16-bit integer inputs, four per lane. The sum of up to 32 products
// fits in 32 bits: 32 * 255 * 32,639 < 2^31.
#pragma once
#include "engine/cpu/kernels/simd.h"

namespace warpchat {
namespace {

// Four consecutive inputs of a column, in the layout of the instruction set.
struct Quad {
  int32_t first, second;
};

// Largest input. Keeps its high byte at 127.
constexpr float kLargestInput = 32512;

// NEON multiplies signed bytes, so eight-bit codes are -128..127 there.
#if defined(__ARM_FEATURE_DOTPROD)
constexpr bool kSignedCodes = true;
#else
constexpr bool kSignedCodes = false;
#endif

// operand(codes): four codes of every row as a product's operand. kTakesSigned: signed codes are supported;
// signed_operand(codes, lowest) then gives codes + lowest, in 8 bits.

// store_quads(to, stride, quad, inputs): stores inputs of a column, starting at quad number `quad`. `to` points at quad
// 0; quads are `stride` apart.

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)

constexpr bool kMultipliesBytes = true;

// first: four high bytes, second: four low bytes; input = 256 * high + low, both signed.
#if defined(__AVX512VNNI__)

struct TwoBytes {
  __m128i highs, lows;
};
WARPCHAT_INLINE TwoBytes two_bytes(Ints inputs) {
  const Ints high = (inputs + 128) >> 8;
  return {_mm512_cvtepi32_epi8(reinterpret_cast<__m512i>(high)),
          _mm512_cvtepi32_epi8(reinterpret_cast<__m512i>(inputs - (high << 8)))};
}
WARPCHAT_INLINE void store_quads(Quad* to, size_t stride, int quad, Ints inputs) {
  to += quad * stride;
  const auto [highs, lows] = two_bytes(inputs);
  const __m128i front = _mm_unpacklo_epi32(highs, lows), back = _mm_unpackhi_epi32(highs, lows);
  __builtin_memcpy(to, &front, 8);
  __builtin_memcpy(to + stride, reinterpret_cast<const char*>(&front) + 8, 8);
  __builtin_memcpy(to + 2 * stride, &back, 8);
  __builtin_memcpy(to + 3 * stride, reinterpret_cast<const char*>(&back) + 8, 8);
}
// The instruction can broadcast from memory, but compilers' intrinsics emit a separate load.
WARPCHAT_INLINE void add_products(Ints& sum, Words codes, const int32_t& bytes) {
  asm("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(codes), "m"(bytes));
}

#else

WARPCHAT_INLINE __m128i narrowed(Ints v) {  // to bytes, in the low half
  const __m256i wide = reinterpret_cast<__m256i>(v);
  const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));
  return _mm_packs_epi16(words, words);
}
WARPCHAT_INLINE void store_quads(Quad* to, size_t stride, int quad, Ints inputs) {
  to += quad * stride;
  const Ints high = (inputs + 128) >> 8;
  const __m128i both = _mm_unpacklo_epi32(narrowed(high), narrowed(inputs - (high << 8)));
  __builtin_memcpy(to, &both, 8);
  __builtin_memcpy(to + stride, reinterpret_cast<const char*>(&both) + 8, 8);
}
#ifndef WARPCHAT_DPBUSD  // tests have one for processors that know it as a part of AVX-512
#define WARPCHAT_DPBUSD "%{vex%} vpdpbusd"
#endif
WARPCHAT_INLINE void add_products(Ints& sum, Words codes, int32_t bytes) {
  asm(WARPCHAT_DPBUSD " %2, %1, %0" : "+x"(sum) : "x"(codes), "x"(splat(bytes)));
}

#endif

using Operand = Words;
WARPCHAT_INLINE Operand operand(Words codes) { return codes; }
constexpr bool kTakesSigned = false;
// Factors of a quad's first and second half.
WARPCHAT_INLINE Ints first_of(const Operand& codes) { return reinterpret_cast<Ints>(codes); }
WARPCHAT_INLINE Ints second_of(const Operand& codes) { return reinterpret_cast<Ints>(codes); }

struct DotSum {
  Ints high = {}, low = {};
  WARPCHAT_INLINE void add(Operand codes, const Quad& x) {
    add_products(high, codes, x.first);
    add_products(low, codes, x.second);
  }
  WARPCHAT_INLINE Ints total() const { return (high << 8) + low; }
};

#elif defined(__ARM_FEATURE_DOTPROD)

constexpr bool kMultipliesBytes = true;

// Pairs of quads hold eight inputs: the first quad their high bytes, the second their low bytes; input = 256 * high +
// low, both signed.
WARPCHAT_INLINE void store_quads(Quad* to, size_t stride, int quad, Ints inputs) {
  const Ints high = (inputs + 128) >> 8, low = inputs - (high << 8);
  const auto halves = [](Ints v) { return vmovn_s32(reinterpret_cast<int32x4_t>(v)); };
  const int8x8_t bytes = vmovn_s16(vcombine_s16(halves(high), halves(low)));
  to += quad / 2 * 2 * stride;
  __builtin_memcpy(quad % 2 == 0 ? &to->first : &to->second, &bytes, 4);
  __builtin_memcpy(quad % 2 == 0 ? &to[stride].first : &to[stride].second, reinterpret_cast<const char*>(&bytes) + 4,
                   4);
}

using Operand = Words;
WARPCHAT_INLINE Operand operand(Words codes) { return codes; }
constexpr bool kTakesSigned = true;
WARPCHAT_INLINE Operand signed_operand(Words codes, int lowest) {
  return reinterpret_cast<Words>(reinterpret_cast<int8x16_t>(codes) + vdupq_n_s8(static_cast<int8_t>(lowest)));
}

// Eight codes of every row. add_products multiplies them with two runs of eight bytes; columns_of splits the sums by
// run.
struct EightCodes {
  int8x16_t first, second;
};
#if defined(__ARM_FEATURE_MATMUL_INT8)

WARPCHAT_INLINE EightCodes eight_codes(Words first, Words second) {  // rows 0 and 1, rows 2 and 3
  const auto a = reinterpret_cast<uint32x4_t>(first), b = reinterpret_cast<uint32x4_t>(second);
  return {reinterpret_cast<int8x16_t>(vzip1q_u32(a, b)), reinterpret_cast<int8x16_t>(vzip2q_u32(a, b))};
}
WARPCHAT_INLINE void add_products(int32x4_t (&sums)[2], const EightCodes& codes, int8x16_t runs) {
  sums[0] = vmmlaq_s32(sums[0], codes.first, runs);  // [rows][runs], two of each
  sums[1] = vmmlaq_s32(sums[1], codes.second, runs);
}
WARPCHAT_INLINE void columns_of(int32x4_t (&sums)[2], Ints& a, Ints& b) {
  a = reinterpret_cast<Ints>(vuzp1q_s32(sums[0], sums[1]));
  b = reinterpret_cast<Ints>(vuzp2q_s32(sums[0], sums[1]));
}

#else

WARPCHAT_INLINE EightCodes eight_codes(Words first, Words second) {
  return {reinterpret_cast<int8x16_t>(first), reinterpret_cast<int8x16_t>(second)};
}
WARPCHAT_INLINE void add_products(int32x4_t (&sums)[2], const EightCodes& codes, int8x16_t runs) {
  sums[0] = vdotq_laneq_s32(vdotq_laneq_s32(sums[0], codes.first, runs, 0), codes.second, runs, 1);
  sums[1] = vdotq_laneq_s32(vdotq_laneq_s32(sums[1], codes.first, runs, 2), codes.second, runs, 3);
}
WARPCHAT_INLINE void columns_of(int32x4_t (&sums)[2], Ints& a, Ints& b) {
  a = reinterpret_cast<Ints>(sums[0]);
  b = reinterpret_cast<Ints>(sums[1]);
}

#endif

#else

constexpr bool kMultipliesBytes = false;

// first: inputs 0 and 2 as 16-bit halves, second: inputs 1 and 3, because even and odd bytes of the codes are cheap to
// widen.
WARPCHAT_INLINE void store_quads(Quad* to, size_t stride, int quad, Ints inputs) {
  for (int i = 0; i < kLanes / 4; ++i) {
    const auto pair = [&](int a, int b) { return (inputs[4 * i + a] & 0xffff) | inputs[4 * i + b] << 16; };
    to[(quad + i) * stride] = {pair(0, 2), pair(1, 3)};
  }
}

struct Operand {
  Ints even, odd;  // bytes 0 and 2, 1 and 3, each widened to 16 bits
};
WARPCHAT_INLINE Operand operand(Words codes) {
  using Pairs = uint16_t __attribute__((vector_size(4 * kLanes)));
  return {reinterpret_cast<Ints>(codes & 0x00ff00ffu), reinterpret_cast<Ints>(reinterpret_cast<Pairs>(codes) >> 8)};
}
WARPCHAT_INLINE Ints first_of(const Operand& codes) { return codes.even; }
WARPCHAT_INLINE Ints second_of(const Operand& codes) { return codes.odd; }
constexpr bool kTakesSigned = true;
WARPCHAT_INLINE Operand signed_operand(Words codes, int lowest) {
  using Pairs = int16_t __attribute__((vector_size(4 * kLanes)));
  const auto moved = [&](Ints pairs) {
    return reinterpret_cast<Ints>(reinterpret_cast<Pairs>(pairs) + static_cast<int16_t>(lowest));
  };
  const Operand plain = operand(codes);
  return {moved(plain.even), moved(plain.odd)};
}

// sum += the products of the low halves and of the high halves.
WARPCHAT_INLINE void add_pairs(Ints& sum, Ints a, const int32_t& b) {
#if defined(__AVX2__)  // compilers would add up in another order, with what waits in memory
  Ints products;
  asm("vpbroadcastd %3, %1\n\tvpmaddwd %1, %2, %1\n\tvpaddd %1, %0, %0" : "+x"(sum), "=&x"(products) : "x"(a), "m"(b));
#elif defined(__aarch64__)
  const auto pairs = reinterpret_cast<int16x8_t>(a), by = reinterpret_cast<int16x8_t>(splat(b));
  sum +=
      reinterpret_cast<Ints>(vpaddq_s32(vmull_s16(vget_low_s16(pairs), vget_low_s16(by)), vmull_high_s16(pairs, by)));
#elif defined(__SSE2__)
  sum += reinterpret_cast<Ints>(_mm_madd_epi16(reinterpret_cast<__m128i>(a), _mm_set1_epi32(b)));
#else
  sum += (a & 0xffff) * static_cast<int16_t>(b) + (a >> 16) * (b >> 16);
#endif
}

struct DotSum {
  Ints even = {}, odd = {};
  WARPCHAT_INLINE void add(const Operand& codes, const Quad& x) {
    add_pairs(even, codes.even, x.first);
    add_pairs(odd, codes.odd, x.second);
  }
  WARPCHAT_INLINE Ints total() const { return even + odd; }
};

#endif

// sums[c] = dot product of 4 * kQuads codes of each lane with the inputs of column c. codes(quad): result of operand().
#if defined(__ARM_FEATURE_DOTPROD)

template <int kQuads, int kColumns, class Codes>
WARPCHAT_INLINE void dot_products(const Codes& codes, const Quad (*x)[kColumns], Ints (&sums)[kColumns]) {
  EightCodes all[kQuads / 2];
  WARPCHAT_UNROLL
  for (int i = 0; i < kQuads / 2; ++i) all[i] = eight_codes(codes(2 * i), codes(2 * i + 1));
  constexpr int kLast = kColumns - 1;
  if constexpr (kColumns % 2 == 1) {  // runs: high and low bytes of the last column
    int32x4_t pair[2] = {};
    WARPCHAT_UNROLL
    for (int i = 0; i < kQuads / 2; ++i)
      add_products(pair, all[i], vcombine_s8(load<int8x8_t>(&x[2 * i][kLast]), load<int8x8_t>(&x[2 * i + 1][kLast])));
    Ints high, low;
    columns_of(pair, high, low);
    sums[kLast] = (high << 8) + low;
  }
  if constexpr (kColumns > 1) {
    // High bytes of column pairs, then low bytes, so that each column needs one register.
    int32x4_t pairs[kColumns / 2][2] = {};
    const auto add = [&](int which) __attribute__((always_inline)) {
      WARPCHAT_UNROLL
      for (int i = 0; i < kQuads / 2; ++i) {
        WARPCHAT_UNROLL
        for (int c = 0; c < kLast; c += 2) add_products(pairs[c / 2], all[i], load<int8x16_t>(&x[2 * i + which][c]));
      }
    };
    add(0);
    WARPCHAT_UNROLL
    for (auto& pair : pairs)
      for (int32x4_t& sum : pair) sum = vshlq_n_s32(sum, 8);
    add(1);
    WARPCHAT_UNROLL
    for (int c = 0; c < kLast; c += 2) columns_of(pairs[c / 2], sums[c], sums[c + 1]);
  }
}

#else

#if defined(__AVX2__)

// Adds products with eight inputs, kStride bytes apart, to eight sums: a times even inputs, b times odd ones. One asm
// statement, because with separate ones GCC 12 spills every other sum.
#define WARPCHAT_INPUT(i) "%c[stride]*" #i "(%[inputs])"
#if defined(__AVX512VNNI__)
#define WARPCHAT_ADD_PRODUCT(i, codes) "vpdpbusd " WARPCHAT_INPUT(i) "%{1to16%}, %[" #codes "], %[sum" #i "]\n\t"
#elif defined(__AVXVNNI__)
#define WARPCHAT_ADD_PRODUCT(i, codes) \
  "vpbroadcastd " WARPCHAT_INPUT(i) ", %[input]\n\t" WARPCHAT_DPBUSD " %[input], %[" #codes "], %[sum" #i "]\n\t"
#else
#define WARPCHAT_ADD_PRODUCT(i, codes) \
  "vpbroadcastd " WARPCHAT_INPUT(i) ", %[input]\n\t"     \
  "vpmaddwd %[input], %[" #codes "], %[input]\n\t"       \
  "vpaddd %[input], %[sum" #i "], %[sum" #i "]\n\t"
#endif
template <int kStride>
WARPCHAT_INLINE void add_products(Ints (&sums)[8], Ints a, Ints b, const int32_t* inputs) {
  [[maybe_unused]] Ints input;
  asm(WARPCHAT_ADD_PRODUCT(0, a) WARPCHAT_ADD_PRODUCT(1, b) WARPCHAT_ADD_PRODUCT(2, a) WARPCHAT_ADD_PRODUCT(3, b)
          WARPCHAT_ADD_PRODUCT(4, a) WARPCHAT_ADD_PRODUCT(5, b) WARPCHAT_ADD_PRODUCT(6, a) WARPCHAT_ADD_PRODUCT(7, b)
      : [sum0] "+v"(sums[0]), [sum1] "+v"(sums[1]), [sum2] "+v"(sums[2]), [sum3] "+v"(sums[3]), [sum4] "+v"(sums[4]),
        [sum5] "+v"(sums[5]), [sum6] "+v"(sums[6]), [sum7] "+v"(sums[7]), [input] "=&v"(input)
      : [a] "v"(a), [b] "v"(b), [inputs] "r"(inputs), [stride] "n"(kStride),
        "m"(*reinterpret_cast<const int32_t(*)[kStride / 4 * 7 + 1]>(inputs)));
}

// One sum for each of eight columns; with byte products first the high bytes, then the low ones.
template <int kQuads, class Codes>
WARPCHAT_INLINE void dot_products(const Codes& codes, const Quad (*x)[8], Ints (&sums)[8]) {
  for (Ints& sum : sums) sum = Ints{};
  WARPCHAT_UNROLL
  for (int quad = 0; quad < kQuads; ++quad)
    add_products<8>(sums, first_of(codes(quad)), first_of(codes(quad)), &x[quad][0].first);
  WARPCHAT_UNROLL
  for (Ints& sum : sums) sum = kMultipliesBytes ? sum << 8 : sum;
  WARPCHAT_UNROLL
  for (int quad = 0; quad < kQuads; ++quad)
    add_products<8>(sums, second_of(codes(quad)), second_of(codes(quad)), &x[quad][0].second);
}

// Two sums for each of four columns.
template <int kQuads, class Codes>
WARPCHAT_INLINE void dot_products(const Codes& codes, const Quad (*x)[4], Ints (&sums)[4]) {
  Ints pairs[8] = {};
  WARPCHAT_UNROLL
  for (int quad = 0; quad < kQuads; ++quad)
    add_products<4>(pairs, first_of(codes(quad)), second_of(codes(quad)), &x[quad][0].first);
  WARPCHAT_UNROLL
  for (int c = 0; c < 4; ++c) sums[c] = (kMultipliesBytes ? pairs[2 * c] << 8 : pairs[2 * c]) + pairs[2 * c + 1];
}

#endif

template <int kQuads, int kColumns, class Codes>
WARPCHAT_INLINE void dot_products(const Codes& codes, const Quad (*x)[kColumns], Ints (&sums)[kColumns]) {
  DotSum dots[kColumns];
  WARPCHAT_UNROLL
  for (int quad = 0; quad < kQuads; ++quad) {
    const Operand& four = codes(quad);
    WARPCHAT_UNROLL
    for (int c = 0; c < kColumns; ++c) dots[c].add(four, x[quad][c]);
  }
  WARPCHAT_UNROLL
  for (int c = 0; c < kColumns; ++c) sums[c] = dots[c].total();
}

#endif

}  // namespace
}  // namespace warpchat
