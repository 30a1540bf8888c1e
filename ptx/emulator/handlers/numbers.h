// Single-lane arithmetic with PTX semantics: wrapping integers, 16-bit floats, canonical NaNs, flushed subnormals.
#pragma once

#include <cstdint>

namespace ptx::emulator::EMULATOR_ISA {

struct f16 {
  uint16_t bits;
};
struct bf16 {
  uint16_t bits;
};
struct f16x2 {
  uint32_t bits;
};
struct bf16x2 {
  uint32_t bits;
};
struct u16x2 {
  uint32_t bits;
};
struct s16x2 {
  uint32_t bits;
};

template <class To, class From>
inline To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

template <class T>
struct UnsignedOf;
template <>
struct UnsignedOf<uint8_t> {
  using type = uint8_t;
};
template <>
struct UnsignedOf<int8_t> {
  using type = uint8_t;
};
template <>
struct UnsignedOf<uint16_t> {
  using type = uint16_t;
};
template <>
struct UnsignedOf<int16_t> {
  using type = uint16_t;
};
template <>
struct UnsignedOf<uint32_t> {
  using type = uint32_t;
};
template <>
struct UnsignedOf<int32_t> {
  using type = uint32_t;
};
template <>
struct UnsignedOf<uint64_t> {
  using type = uint64_t;
};
template <>
struct UnsignedOf<int64_t> {
  using type = uint64_t;
};
template <class T>
using Unsigned = typename UnsignedOf<T>::type;

template <class T>
inline T add_wrapping(T a, T b) {
  return static_cast<T>(uint64_t(Unsigned<T>(a)) + Unsigned<T>(b));
}
template <class T>
inline T sub_wrapping(T a, T b) {
  return static_cast<T>(uint64_t(Unsigned<T>(a)) - Unsigned<T>(b));
}
template <class T>
inline T mul_wrapping(T a, T b) {
  return static_cast<T>(uint64_t(Unsigned<T>(a)) * Unsigned<T>(b));
}
inline uint32_t mul_wrapping(uint32_t a, uint32_t b) { return a * b; }
inline int32_t mul_wrapping(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
}

template <class T>
struct WideOf;
template <>
struct WideOf<uint16_t> {
  using type = uint32_t;
};
template <>
struct WideOf<int16_t> {
  using type = int32_t;
};
template <>
struct WideOf<uint32_t> {
  using type = uint64_t;
};
template <>
struct WideOf<int32_t> {
  using type = int64_t;
};
template <>
struct WideOf<uint64_t> {
  using type = unsigned __int128;
};
template <>
struct WideOf<int64_t> {
  using type = __int128;
};
template <class T>
using Wide = typename WideOf<T>::type;
template <class T>
inline Wide<T> mul_wide(T a, T b) {
  return static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b);
}
template <class T>
inline T mul_high(T a, T b) {
  return static_cast<T>(mul_wide(a, b) >> (8 * sizeof(T)));
}

inline float flush(float x) {
  const uint32_t bits = bits_as<uint32_t>(x);
  return bits_as<float>((bits & 0x7f800000u) ? bits : (bits & 0x80000000u));
}
inline float canonical(float x) { return x == x ? x : bits_as<float>(0x7fffffffu); }
inline double canonical(double x) {
  return x == x ? x : bits_as<double>(0x7ff8000000000000ull | 0x8000000000000000ull);
}
inline float saturate(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }  // NaN gives 0
inline double saturate(double x) { return x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0; }

inline float to_float(bf16 x) { return bits_as<float>(static_cast<uint32_t>(x.bits) << 16); }

// Exact: a multiplication rebases the exponent and normalises subnormals.
inline float to_float(f16 x) {
  const uint32_t magnitude = static_cast<uint32_t>(x.bits & 0x7fff) << 13;
  const uint32_t sign = static_cast<uint32_t>(x.bits & 0x8000) << 16;
  const float scaled = bits_as<float>(magnitude) * bits_as<float>(0x77800000u);  // 2^112
  const uint32_t finite = bits_as<uint32_t>(scaled);
  return bits_as<float>((magnitude >= 0x0f800000u ? (magnitude | 0x7f800000u) : finite) | sign);
}

// Rounds to nearest even; NaN becomes the canonical 0x7fff.
inline f16 to_f16(float x) {
  const uint32_t bits = bits_as<uint32_t>(x), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffffu;
  const float small_sum = bits_as<float>(magnitude) + 0.5f;  // its unit in the last place is the smallest f16 subnormal
  const uint32_t subnormal = bits_as<uint32_t>(small_sum) - 0x3f000000u;
  const uint32_t normal = (magnitude - 0x38000000u + 0xfff + (magnitude >> 13 & 1)) >> 13;
  uint32_t result = magnitude < 0x38800000u ? subnormal : normal;
  result = magnitude >= 0x477ff000u ? 0x7c00u : result;
  result = magnitude > 0x7f800000u ? 0x7fffu : (result | sign);
  return {static_cast<uint16_t>(result)};
}

inline bf16 to_bf16(float x) {
  const uint32_t bits = bits_as<uint32_t>(x);
  const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return {static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : rounded)};
}

// Rounds to odd, so that rounding the result again to a narrower format is correct.
inline float to_float_odd(double x) {
  const float nearest = static_cast<float>(x);
  const double back = nearest;
  const uint32_t bits = bits_as<uint32_t>(nearest);
  const bool away = (x > 0) ? back > x : back < x;
  const uint32_t truncated = away ? bits - 1 : bits;
  return bits_as<float>(back == x || x != x ? bits : truncated | 1);
}

// a * b + c for 16-bit floats: the product is exact in double, the sum rounded to odd.
inline double add_odd(double p, double c) {
  const double sum = p + c;
  const double part = sum - p;
  const double error = (p - (sum - part)) + (c - part);
  const uint64_t bits = bits_as<uint64_t>(sum);
  const bool away = (sum > 0) == (error < 0);
  const uint64_t truncated = away ? bits - 1 : bits;
  return error == 0 || error != error || sum == 0 ? sum : bits_as<double>(truncated | 1);
}
inline float fma_odd(float a, float b, float c) { return to_float_odd(add_odd(double(a) * b, c)); }

template <class H>
H from_float(float x);
template <>
inline f16 from_float<f16>(float x) {
  return to_f16(x);
}
template <>
inline bf16 from_float<bf16>(float x) {
  return to_bf16(x);
}

template <class P>
struct HalfOf;
template <>
struct HalfOf<f16x2> {
  using type = f16;
};
template <>
struct HalfOf<bf16x2> {
  using type = bf16;
};
template <>
struct HalfOf<f16> {
  using type = f16;
};
template <>
struct HalfOf<bf16> {
  using type = bf16;
};
template <class P>
using Half = typename HalfOf<P>::type;
template <class P>
inline Half<P> low(P p) {
  return {static_cast<uint16_t>(p.bits)};
}
template <class P>
inline Half<P> high(P p) {
  return {static_cast<uint16_t>(p.bits >> 16)};
}
template <class P>
inline P pack(Half<P> lo, Half<P> hi) {
  return {lo.bits | static_cast<uint32_t>(hi.bits) << 16};
}

template <class T>
inline bool is_nan(T x) {
  return x != x;  // NOLINT(misc-redundant-expression): true only for NaN
}
inline bool is_nan(f16 x) { return (x.bits & 0x7fff) > 0x7c00; }
inline bool is_nan(bf16 x) { return (x.bits & 0x7fff) > 0x7f80; }

}  // namespace ptx::emulator::EMULATOR_ISA
