// Vectors of kLanes 32-bit values, and operations that differ between instruction sets. Every kernel source includes
// this with its own compiler flags. So everything is in an anonymous namespace, and no inline function of another
// header is called: the linker must never pick an AVX-512 copy for a machine without it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

// WARPCHAT_UNROLL: for loops that index registers. WARPCHAT_UNROLL_BLOCK: for loops whose shifts and masks become
// constants; off in portable kernels, to limit code size. Both are off with sanitizers, to limit compile time.
// WARPCHAT_LOOP: never unrolled.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WARPCHAT_UNROLL
#elif defined(__clang__)
#define WARPCHAT_UNROLL _Pragma("unroll")
#else
#define WARPCHAT_UNROLL _Pragma("GCC unroll 64")
#endif
#if defined(__clang__)
#define WARPCHAT_LOOP _Pragma("clang loop unroll(disable)")
#else
#define WARPCHAT_LOOP _Pragma("GCC unroll 1")
#endif
#if defined(__AVX2__) || defined(__ARM_FEATURE_DOTPROD)
#define WARPCHAT_UNROLL_BLOCK WARPCHAT_UNROLL
#else
#define WARPCHAT_UNROLL_BLOCK
#endif
#define WARPCHAT_INLINE inline __attribute__((always_inline))

namespace warpchat {
namespace {

#if defined(__AVX512VNNI__)
constexpr int kLanes = 16;
#elif defined(__AVX2__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif

#if defined(__AVX512VNNI__) || defined(__aarch64__)
constexpr int kRegisters = 32;
#else
constexpr int kRegisters = 16;
#endif

using Floats = float __attribute__((vector_size(4 * kLanes)));
using Ints = int32_t __attribute__((vector_size(4 * kLanes)));
using Words = uint32_t __attribute__((vector_size(4 * kLanes)));

template <class Vector>
WARPCHAT_INLINE Vector load(const void* from) {  // unaligned
  Vector v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}
template <class Vector>
WARPCHAT_INLINE void store(void* to, Vector v) {
  __builtin_memcpy(to, &v, sizeof v);
}
// Loads the first n < kLanes values; the others are zero.
WARPCHAT_INLINE Floats load_some(const float* from, uint32_t n) {
  Floats v = {};
  for (uint32_t i = 0; i < n; ++i) v[i] = from[i];
  return v;
}
WARPCHAT_INLINE void store_some(float* to, Floats v, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) to[i] = v[i];
}

WARPCHAT_INLINE Floats to_floats(Ints v) { return __builtin_convertvector(v, Floats); }

// load_narrow: loads and widens one or two bytes per lane. Compilers' own conversion goes lane by lane.
using Bytes = uint8_t __attribute__((vector_size(kLanes)));
using SignedBytes = int8_t __attribute__((vector_size(kLanes)));
using Halves = uint16_t __attribute__((vector_size(2 * kLanes)));

#if defined(__AVX512VNNI__)

WARPCHAT_INLINE Floats splat(float x) { return _mm512_set1_ps(x); }
WARPCHAT_INLINE Ints splat(int32_t x) { return reinterpret_cast<Ints>(_mm512_set1_epi32(x)); }
WARPCHAT_INLINE Floats fma(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }  // a * b + c
WARPCHAT_INLINE Floats maximum(Floats a, Floats b) { return _mm512_max_ps(a, b); }
WARPCHAT_INLINE Ints nearest(Floats v) { return reinterpret_cast<Ints>(_mm512_cvtps_epi32(v)); }  // ties to even
WARPCHAT_INLINE Floats swap_pairs(Floats v) { return _mm512_permute_ps(v, 0xb1); }                // lanes 2i and 2i+1
WARPCHAT_INLINE Floats load_halves(const void* from) { return _mm512_cvtph_ps(load<__m256i>(from)); }
WARPCHAT_INLINE void store_halves(void* to, Floats v) { store(to, _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT)); }
template <class Narrow>
WARPCHAT_INLINE Words load_narrow(const void* from) {
  if constexpr (sizeof(Narrow) == sizeof(Halves))
    return reinterpret_cast<Words>(_mm512_cvtepu16_epi32(load<__m256i>(from)));
  const __m128i bytes = load<__m128i>(from);
  return reinterpret_cast<Words>(std::is_same_v<Narrow, Bytes> ? _mm512_cvtepu8_epi32(bytes)
                                                               : _mm512_cvtepi8_epi32(bytes));
}

#elif defined(__AVX2__)

WARPCHAT_INLINE Floats splat(float x) { return _mm256_set1_ps(x); }
WARPCHAT_INLINE Ints splat(int32_t x) { return reinterpret_cast<Ints>(_mm256_set1_epi32(x)); }
WARPCHAT_INLINE Floats fma(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
WARPCHAT_INLINE Floats maximum(Floats a, Floats b) { return _mm256_max_ps(a, b); }
WARPCHAT_INLINE Ints nearest(Floats v) { return reinterpret_cast<Ints>(_mm256_cvtps_epi32(v)); }
WARPCHAT_INLINE Floats swap_pairs(Floats v) { return _mm256_permute_ps(v, 0xb1); }
WARPCHAT_INLINE Floats load_halves(const void* from) { return _mm256_cvtph_ps(load<__m128i>(from)); }
WARPCHAT_INLINE void store_halves(void* to, Floats v) { store(to, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT)); }
template <class Narrow>
WARPCHAT_INLINE Words load_narrow(const void* from) {
  if constexpr (sizeof(Narrow) == sizeof(Halves))
    return reinterpret_cast<Words>(_mm256_cvtepu16_epi32(load<__m128i>(from)));
  const __m128i bytes = _mm_loadl_epi64(static_cast<const __m128i*>(from));
  return reinterpret_cast<Words>(std::is_same_v<Narrow, Bytes> ? _mm256_cvtepu8_epi32(bytes)
                                                               : _mm256_cvtepi8_epi32(bytes));
}

#elif defined(__aarch64__)

WARPCHAT_INLINE Floats splat(float x) { return reinterpret_cast<Floats>(vdupq_n_f32(x)); }
WARPCHAT_INLINE Ints splat(int32_t x) { return reinterpret_cast<Ints>(vdupq_n_s32(x)); }
WARPCHAT_INLINE Floats fma(Floats a, Floats b, Floats c) {
  return reinterpret_cast<Floats>(
      vfmaq_f32(reinterpret_cast<float32x4_t>(c), reinterpret_cast<float32x4_t>(a), reinterpret_cast<float32x4_t>(b)));
}
WARPCHAT_INLINE Floats maximum(Floats a, Floats b) { return a > b ? a : b; }  // b if either is NaN, as on x86
WARPCHAT_INLINE Ints nearest(Floats v) {
  return reinterpret_cast<Ints>(vcvtnq_s32_f32(reinterpret_cast<float32x4_t>(v)));
}
WARPCHAT_INLINE Floats swap_pairs(Floats v) {
  return reinterpret_cast<Floats>(vrev64q_f32(reinterpret_cast<float32x4_t>(v)));
}
WARPCHAT_INLINE Floats load_halves(const void* from) {
  return reinterpret_cast<Floats>(vcvt_f32_f16(load<float16x4_t>(from)));
}
WARPCHAT_INLINE void store_halves(void* to, Floats v) { store(to, vcvt_f16_f32(reinterpret_cast<float32x4_t>(v))); }
template <class Narrow>
WARPCHAT_INLINE Words load_narrow(const void* from) {
  if constexpr (sizeof(Narrow) == sizeof(Halves)) return reinterpret_cast<Words>(vmovl_u16(load<uint16x4_t>(from)));
  uint32_t four;
  __builtin_memcpy(&four, from, sizeof four);
  const uint8x8_t bytes = vcreate_u8(four);
  if constexpr (std::is_same_v<Narrow, Bytes>) return reinterpret_cast<Words>(vmovl_u16(vget_low_u16(vmovl_u8(bytes))));
  return reinterpret_cast<Words>(vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_u8(bytes)))));
}

#else

WARPCHAT_INLINE Floats splat(float x) { return Floats{x, x, x, x}; }
WARPCHAT_INLINE Ints splat(int32_t x) { return Ints{x, x, x, x}; }
WARPCHAT_INLINE Floats fma(Floats a, Floats b, Floats c) { return a * b + c; }
WARPCHAT_INLINE Floats maximum(Floats a, Floats b) { return a > b ? a : b; }
WARPCHAT_INLINE Ints nearest(Floats v) {  // |v| < 2^22: adding 1.5 * 2^23 leaves the integer in the mantissa
  const Floats magic = splat(12582912.0f);
  return reinterpret_cast<Ints>(v + magic) - reinterpret_cast<Ints>(magic);
}
WARPCHAT_INLINE Floats swap_pairs(Floats v) { return Floats{v[1], v[0], v[3], v[2]}; }
template <class Narrow>
WARPCHAT_INLINE Words load_narrow(const void* from) {
  return reinterpret_cast<Words>(__builtin_convertvector(load<Narrow>(from), Ints));
}
WARPCHAT_INLINE Floats load_halves(const void* from) {
  const Words half = load_narrow<Halves>(from);
  // Shifts exponent and mantissa into place, then multiplies by the bias: exact, for subnormals too.
  const Floats magnitude = reinterpret_cast<Floats>((half & 0x7fffu) << 13) * 0x1p112f;
  const Words special = reinterpret_cast<Words>((half & 0x7c00u) == 0x7c00u) & 0x7f800000u;  // infinity and NaN
  return reinterpret_cast<Floats>(reinterpret_cast<Words>(magnitude) | special | (half & 0x8000u) << 16);
}
WARPCHAT_INLINE void store_halves(void* to, Floats v) {
  const Words bits = reinterpret_cast<Words>(v), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  const Words rounded = (magnitude + 0xfffu + (magnitude >> 13 & 1u)) - (112u << 23);  // nearest, ties to even
  // Adding 0.5 rounds a subnormal to its grid of 2^-24.
  const Words subnormal = reinterpret_cast<Words>(reinterpret_cast<Floats>(magnitude) + 0.5f) - 0x3f000000u;
  Words half = magnitude < (113u << 23) ? subnormal : rounded >> 13;
  half = magnitude >= 0x477ff000u ? Words{} + 0x7c00u : half;
  half = magnitude > 0x7f800000u ? Words{} + 0x7e00u : half;
  for (int i = 0; i < kLanes; ++i) {
    const uint16_t value = static_cast<uint16_t>(half[i] | sign[i]);
    __builtin_memcpy(static_cast<char*>(to) + 2 * i, &value, 2);
  }
}

#endif

WARPCHAT_INLINE Floats load_bfloats(const void* from) {
  return reinterpret_cast<Floats>(load_narrow<Halves>(from) << 16);
}

// Lookup of bytes below 16 in a table of sixteen bytes.
struct ByteTable {
  alignas(16) uint8_t bytes[16];
};
WARPCHAT_INLINE Words look_up(const ByteTable& table, Words indices) {
#if defined(__AVX512VNNI__)
  const __m512i bytes = _mm512_broadcast_i32x4(load<__m128i>(table.bytes));
  return reinterpret_cast<Words>(_mm512_shuffle_epi8(bytes, reinterpret_cast<__m512i>(indices)));
#elif defined(__AVX2__)
  const __m256i bytes = _mm256_broadcastsi128_si256(load<__m128i>(table.bytes));
  return reinterpret_cast<Words>(_mm256_shuffle_epi8(bytes, reinterpret_cast<__m256i>(indices)));
#elif defined(__aarch64__)
  return reinterpret_cast<Words>(vqtbl1q_u8(load<uint8x16_t>(table.bytes), reinterpret_cast<uint8x16_t>(indices)));
#else
  uint8_t chosen[sizeof indices];
  store(chosen, indices);
  for (uint8_t& byte : chosen) byte = table.bytes[byte];
  return load<Words>(chosen);
#endif
}

WARPCHAT_INLINE int32_t sum_of(Ints v) {
#if defined(__AVX512VNNI__)
  return _mm512_reduce_add_epi32(reinterpret_cast<__m512i>(v));
#else
  int32_t sum = 0;
  for (int i = 0; i < kLanes; ++i) sum += v[i];
  return sum;
#endif
}
WARPCHAT_INLINE float sum_of(Floats v) {  // pairwise, in the same order on every instruction set
  float lanes[kLanes];
  store(lanes, v);
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  return lanes[0];
}
WARPCHAT_INLINE float maximum_of(Floats v) {
  float lanes[kLanes];
  store(lanes, v);
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) lanes[i] = lanes[i] > lanes[i + half] ? lanes[i] : lanes[i + half];
  return lanes[0];
}

// e^x for x below 88, to about 1e-7 relative; x below -87 counts as -87. Cody-Waite reduction and a polynomial on
// +-ln2/2.
WARPCHAT_INLINE Floats exponential(Floats x) {
  x = maximum(x, splat(-87.0f));
  const Ints n = nearest(x * 1.44269504f);
  const Floats whole = to_floats(n);
  Floats r = fma(whole, splat(-0.693359375f), x);
  r = fma(whole, splat(2.12194440e-4f), r);
  constexpr float kTaylor[] = {1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f};
  Floats p = splat(1.0f / 720);
  for (float coefficient : kTaylor) p = fma(p, r, splat(coefficient));
  return reinterpret_cast<Floats>(reinterpret_cast<Ints>(p) + (n << 23));
}

// 1 + e^-x = 1 / sigmoid(x). x below -87 counts as -87, where the inverse is practically zero.
WARPCHAT_INLINE Floats inverse_sigmoid(Floats x) { return 1.0f + exponential(-maximum(x, splat(-87.0f))); }

}  // namespace
}  // namespace warpchat
