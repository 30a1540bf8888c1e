// Exact integer dot products of unsigned codes (0..255) with 16-bit inputs, four at a time in every lane. The sum of up
// to 32 products fits in 32 bits: 32 * 255 * 32,639 < 2^31.
#pragma once
#include "engine/cpu/kernels/simd.h"

namespace warpchat {
namespace {

// Four consecutive inputs of a column, as the instruction set likes them.
struct Quad {
  int32_t first, second;
};

// The largest input; leaves its high byte at 127.
constexpr float kLargestInput = 32512;

// NEON multiplies signed bytes by signed ones: there codes that need eight bits are -128..127.
#if defined(__ARM_FEATURE_DOTPROD)
constexpr bool kSignedCodes = true;
#else
constexpr bool kSignedCodes = false;
#endif

// store_quads(to, stride, quad, inputs): inputs of a column, the first of them number `quad` among its fours; `to` is
// that of number 0, `stride` quads lie from one to the next.

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)

constexpr bool kMultipliesBytes = true;

// first: the four high bytes, second: the four low bytes; input = 256 * high + low, both signed.
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
// The instruction can read a number for all lanes from memory; compilers' intrinsics make a load of its own of that.
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
WARPCHAT_INLINE void add_products(Ints& sum, Words codes, int32_t bytes) {
  sum = reinterpret_cast<Ints>(_mm256_dpbusd_avx_epi32(reinterpret_cast<__m256i>(sum), reinterpret_cast<__m256i>(codes),
                                                       _mm256_set1_epi32(bytes)));
}

#endif

using Operand = Words;
WARPCHAT_INLINE Operand operand(Words codes) { return codes; }

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

// Two quads after each other have eight inputs: the first their high bytes, the second their low bytes; input = 256 *
// high + low, both signed.
WARPCHAT_INLINE void store_quads(Quad* to, size_t stride, int quad, Ints inputs) {
  const Ints high = (inputs + 128) >> 8, low = inputs - (high << 8);
  const auto halves = [](Ints v) { return vmovn_s32(reinterpret_cast<int32x4_t>(v)); };
  const int8x8_t bytes = vmovn_s16(vcombine_s16(halves(high), halves(low)));
  to += quad / 2 * 2 * stride;
  __builtin_memcpy(quad % 2 == 0 ? &to->first : &to->second, &bytes, 4);
  __builtin_memcpy(quad % 2 == 0 ? &to[stride].first : &to[stride].second, reinterpret_cast<const char*>(&bytes) + 4,
                   4);
}

// Eight codes of every row. add_products adds those with two runs of eight bytes to two sums, which columns_of makes
// the rows' sums with either run.
struct EightCodes {
  int8x16_t first, second;
};
#if defined(__ARM_FEATURE_MATMUL_INT8)

WARPCHAT_INLINE EightCodes eight_codes(Words first, Words second) {  // of rows 0 and 1, and of rows 2 and 3
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

// first: inputs 0 and 2 as 16-bit halves, second: inputs 1 and 3, because even and odd bytes are what is cheap to
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
  return {reinterpret_cast<Ints>(codes & 0x00ff00ffu), reinterpret_cast<Ints>(codes >> 8 & 0x00ff00ffu)};
}

// The sum of the products of the low halves and of the high halves.
WARPCHAT_INLINE Ints multiply_pairs(Ints a, int32_t b) {
#if defined(__AVX2__)
  return reinterpret_cast<Ints>(_mm256_madd_epi16(reinterpret_cast<__m256i>(a), _mm256_set1_epi32(b)));
#elif defined(__aarch64__)
  const auto pairs = reinterpret_cast<int16x8_t>(a), by = reinterpret_cast<int16x8_t>(splat(b));
  return reinterpret_cast<Ints>(
      vpaddq_s32(vmull_s16(vget_low_s16(pairs), vget_low_s16(by)), vmull_high_s16(pairs, by)));
#elif defined(__SSE2__)
  return reinterpret_cast<Ints>(_mm_madd_epi16(reinterpret_cast<__m128i>(a), _mm_set1_epi32(b)));
#else
  return (a & 0xffff) * static_cast<int16_t>(b) + (a >> 16) * (b >> 16);
#endif
}

struct DotSum {
  Ints sum = {};
  WARPCHAT_INLINE void add(const Operand& codes, const Quad& x) {
    sum += multiply_pairs(codes.even, x.first) + multiply_pairs(codes.odd, x.second);
  }
  WARPCHAT_INLINE Ints total() const { return sum; }
};

#endif

// sums[c] = the dot product of 4 * kQuads codes of each lane with the inputs of column c. codes(quad): four of them.
#if defined(__ARM_FEATURE_DOTPROD)

template <int kQuads, int kColumns, class Codes>
WARPCHAT_INLINE void dot_products(const Codes& codes, const Quad (*x)[kColumns], Ints (&sums)[kColumns]) {
  EightCodes all[kQuads / 2];
  WARPCHAT_UNROLL
  for (int i = 0; i < kQuads / 2; ++i) all[i] = eight_codes(codes(2 * i), codes(2 * i + 1));
  if constexpr (kColumns == 1) {  // the runs are its high and its low bytes
    int32x4_t pair[2] = {};
    WARPCHAT_UNROLL
    for (int i = 0; i < kQuads / 2; ++i) add_products(pair, all[i], load<int8x16_t>(x[2 * i]));
    Ints high, low;
    columns_of(pair, high, low);
    sums[0] = (high << 8) + low;
  } else {  // the high bytes of two columns each, then the low ones: so a column needs one register
    int32x4_t pairs[kColumns / 2][2] = {};
    const auto add = [&](int which) __attribute__((always_inline)) {
      WARPCHAT_UNROLL
      for (int i = 0; i < kQuads / 2; ++i) {
        WARPCHAT_UNROLL
        for (int c = 0; c < kColumns; c += 2) add_products(pairs[c / 2], all[i], load<int8x16_t>(&x[2 * i + which][c]));
      }
    };
    add(0);
    WARPCHAT_UNROLL
    for (auto& pair : pairs)
      for (int32x4_t& sum : pair) sum = vshlq_n_s32(sum, 8);
    add(1);
    WARPCHAT_UNROLL
    for (int c = 0; c < kColumns; c += 2) columns_of(pairs[c / 2], sums[c], sums[c + 1]);
  }
}

#else

#if defined(__AVX512VNNI__)

// Adds the products of four or eight words of codes with eight columns' bytes, the first of them at `bytes`. One
// statement, because of single ones compilers send every other sum through memory.
#define WARPCHAT_COLUMN(quad, column) \
  "vpdpbusd 64*" #quad "+8*" #column "(%[bytes])%{1to16%}, %[codes" #quad "], %[sum" #column "]\n\t"
#define WARPCHAT_COLUMNS(quad, a, b, c, d) \
  WARPCHAT_COLUMN(quad, a) WARPCHAT_COLUMN(quad, b) WARPCHAT_COLUMN(quad, c) WARPCHAT_COLUMN(quad, d)
#define WARPCHAT_QUAD(quad) WARPCHAT_COLUMNS(quad, 0, 1, 2, 3) WARPCHAT_COLUMNS(quad, 4, 5, 6, 7)
#define WARPCHAT_SUMS                                                                                           \
  [sum0] "+v"(sums[0]), [sum1] "+v"(sums[1]), [sum2] "+v"(sums[2]), [sum3] "+v"(sums[3]), [sum4] "+v"(sums[4]), \
      [sum5] "+v"(sums[5]), [sum6] "+v"(sums[6]), [sum7] "+v"(sums[7])
template <int kQuads>
WARPCHAT_INLINE void add_products(Ints (&sums)[8], const Words (&codes)[kQuads], const int32_t* bytes) {
  static_assert(kQuads == 4 || kQuads == 8);
  const auto& memory = *reinterpret_cast<const int32_t(*)[kQuads * 16 - 1]>(bytes);
  if constexpr (kQuads == 4)
    asm(WARPCHAT_QUAD(0) WARPCHAT_QUAD(1) WARPCHAT_QUAD(2) WARPCHAT_QUAD(3)
        : WARPCHAT_SUMS
        : [codes0] "v"(codes[0]), [codes1] "v"(codes[1]), [codes2] "v"(codes[2]), [codes3] "v"(codes[3]),
          [bytes] "r"(bytes), "m"(memory));
  else
    asm(WARPCHAT_QUAD(0) WARPCHAT_QUAD(1) WARPCHAT_QUAD(2) WARPCHAT_QUAD(3) WARPCHAT_QUAD(4) WARPCHAT_QUAD(5)
            WARPCHAT_QUAD(6) WARPCHAT_QUAD(7)
        : WARPCHAT_SUMS
        : [codes0] "v"(codes[0]), [codes1] "v"(codes[1]), [codes2] "v"(codes[2]), [codes3] "v"(codes[3]),
          [codes4] "v"(codes[4]), [codes5] "v"(codes[5]), [codes6] "v"(codes[6]), [codes7] "v"(codes[7]),
          [bytes] "r"(bytes), "m"(memory));
}

#endif

template <int kQuads, int kColumns, class Codes>
WARPCHAT_INLINE void dot_products(const Codes& codes, const Quad (*x)[kColumns], Ints (&sums)[kColumns]) {
#if defined(__AVX512VNNI__)
  if constexpr (kColumns == 8) {  // with the high bytes first a column needs one register, and all codes have one, too
    Words all[kQuads];
    WARPCHAT_UNROLL
    for (int quad = 0; quad < kQuads; ++quad) all[quad] = codes(quad);
    for (Ints& sum : sums) sum = Ints{};
    add_products(sums, all, &x[0][0].first);
    WARPCHAT_UNROLL
    for (Ints& sum : sums) sum <<= 8;
    add_products(sums, all, &x[0][0].second);
    return;
  }
#endif
  DotSum dots[kColumns];
  WARPCHAT_UNROLL
  for (int quad = 0; quad < kQuads; ++quad) {
    const Operand four = operand(codes(quad));
    WARPCHAT_UNROLL
    for (int c = 0; c < kColumns; ++c) dots[c].add(four, x[quad][c]);
  }
  WARPCHAT_UNROLL
  for (int c = 0; c < kColumns; ++c) sums[c] = dots[c].total();
}

#endif

}  // namespace
}  // namespace warpchat
