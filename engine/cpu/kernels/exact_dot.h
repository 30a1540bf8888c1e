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

#if defined(__AVX512VNNI__)

// first: the four high bytes, second: the four low bytes; input = 256 * high + low, both signed.
WARPCHAT_INLINE void store_quads(Quad* to, size_t stride, Ints inputs) {
  const Ints high = (inputs + 128) >> 8;
  const __m128i highs = _mm512_cvtepi32_epi8(reinterpret_cast<__m512i>(high));
  const __m128i lows = _mm512_cvtepi32_epi8(reinterpret_cast<__m512i>(inputs - (high << 8)));
  const __m128i front = _mm_unpacklo_epi32(highs, lows), back = _mm_unpackhi_epi32(highs, lows);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), front);
  _mm_storeh_pd(reinterpret_cast<double*>(to + stride), reinterpret_cast<__m128d>(front));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to + 2 * stride), back);
  _mm_storeh_pd(reinterpret_cast<double*>(to + 3 * stride), reinterpret_cast<__m128d>(back));
}

using Operand = __m512i;
WARPCHAT_INLINE Operand operand(Words codes) { return reinterpret_cast<__m512i>(codes); }

struct DotSum {
  __m512i high = _mm512_setzero_si512(), low = _mm512_setzero_si512();
  WARPCHAT_INLINE void add(Operand codes, const Quad& x) {
    high = _mm512_dpbusd_epi32(high, codes, _mm512_set1_epi32(x.first));
    low = _mm512_dpbusd_epi32(low, codes, _mm512_set1_epi32(x.second));
  }
  WARPCHAT_INLINE Ints total() const { return (reinterpret_cast<Ints>(high) << 8) + reinterpret_cast<Ints>(low); }
};

#else

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

}  // namespace
}  // namespace warpchat
