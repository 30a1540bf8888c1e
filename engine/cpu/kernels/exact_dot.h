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
WARPCHAT_INLINE void store_quads(Quad* to, size_t stride, Ints inputs) {
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
WARPCHAT_INLINE void store_quads(Quad* to, size_t stride, Ints inputs) {
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

#else

constexpr bool kMultipliesBytes = false;

// first: inputs 0 and 2 as 16-bit halves, second: inputs 1 and 3, because even and odd bytes are what is cheap to
// widen.
WARPCHAT_INLINE void store_quads(Quad* to, size_t stride, Ints inputs) {
  for (int i = 0; i < kLanes / 4; ++i) {
    const auto pair = [&](int a, int b) { return (inputs[4 * i + a] & 0xffff) | inputs[4 * i + b] << 16; };
    to[i * stride] = {pair(0, 2), pair(1, 3)};
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
template <int kQuads, int kColumns, class Codes>
WARPCHAT_INLINE void dot_products(const Codes& codes, const Quad (*x)[kColumns], Ints (&sums)[kColumns]) {
#if defined(__AVX512VNNI__)
  if constexpr (kColumns >= 8) {  // with the high bytes first a column needs one register, and all codes have one, too
    Words all[kQuads];
    WARPCHAT_UNROLL
    for (int quad = 0; quad < kQuads; ++quad) all[quad] = codes(quad);
    for (Ints& sum : sums) sum = Ints{};
    WARPCHAT_UNROLL
    for (int quad = 0; quad < kQuads; ++quad) {
      WARPCHAT_UNROLL
      for (int c = 0; c < kColumns; ++c) add_products(sums[c], all[quad], x[quad][c].first);
    }
    WARPCHAT_UNROLL
    for (Ints& sum : sums) sum <<= 8;
    WARPCHAT_UNROLL
    for (int quad = 0; quad < kQuads; ++quad) {
      WARPCHAT_UNROLL
      for (int c = 0; c < kColumns; ++c) add_products(sums[c], all[quad], x[quad][c].second);
    }
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

}  // namespace
}  // namespace warpchat
