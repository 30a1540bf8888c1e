// cvt between integers of every width, and common conversions of reals; rare ones are in convert_any.cpp.
#include "ptx/emulator/handlers/lanes.h"

namespace ptx::emulator::EMULATOR_ISA {
namespace {

// `S` in a register of type R (a byte occupies at least 16 bits); the result has a register of its own width.
template <class T>
struct RegisterOf {
  using type = T;
};
template <>
struct RegisterOf<uint8_t> {
  using type = uint16_t;
};
template <>
struct RegisterOf<int8_t> {
  using type = int16_t;
};

template <class D, class S>
inline D clamp(S s) {
  constexpr bool kSigned = D(-1) < D(0);
  constexpr uint64_t kTop = kSigned ? (1ull << (8 * sizeof(D) - 1)) - 1 : ~0ull >> (64 - 8 * sizeof(D));
  constexpr bool kFromSigned = S(-1) < S(0);
  if (kFromSigned && s < 0) {
    if (!kSigned) return 0;
    constexpr int64_t kBottom = -static_cast<int64_t>(kTop) - 1;
    return static_cast<int64_t>(s) < kBottom ? static_cast<D>(kBottom) : static_cast<D>(s);
  }
  return static_cast<uint64_t>(s) > kTop ? static_cast<D>(kTop) : static_cast<D>(s);
}

template <class D, class S, class R>
void integer(Registry& r, const char* width) {
  using Out = typename RegisterOf<D>::type;
  const Spelling suffix(Name<D>::value, Name<S>::value, width);
  op<Out, R>(r, "cvt", suffix.text, [](R a) { return static_cast<Out>(static_cast<D>(static_cast<S>(a))); });
  op<Out, R>(r, "cvt.sat", suffix.text, [](R a) { return static_cast<Out>(clamp<D>(static_cast<S>(a))); });
}
template <class S, class R>
void to_every_integer(Registry& r, const char* width) {
  integer<uint8_t, S, R>(r, width);
  integer<int8_t, S, R>(r, width);
  integer<uint16_t, S, R>(r, width);
  integer<int16_t, S, R>(r, width);
  integer<uint32_t, S, R>(r, width);
  integer<int32_t, S, R>(r, width);
  integer<uint64_t, S, R>(r, width);
  integer<int64_t, S, R>(r, width);
}

inline int32_t truncate_signed(float x) {
  const int32_t clamped =
      x >= 2147483648.0f ? 0x7fffffff : static_cast<int32_t>(x > -2147483648.0f && x < 2147483648.0f ? x : 0.0f);
  return x <= -2147483648.0f ? static_cast<int32_t>(0x80000000u) : clamped;
}
inline uint32_t truncate_unsigned(float x) {
  const int64_t inside = static_cast<int64_t>(x > 0.0f && x < 4294967296.0f ? x : 0.0f);
  return x >= 4294967296.0f ? 0xffffffffu : static_cast<uint32_t>(inside);
}

// Hardware f16 conversion, which agrees with to_float and to_f16 except for NaNs.
#if defined(__AVX512F__)
inline void widen_halves(const f16* a, float* to) {
  for (uint32_t l = 0; l < kLanes; l += 16) {
    const __m256i halves = _mm256_load_si256(reinterpret_cast<const __m256i*>(a + l));
    _mm512_store_ps(to + l, _mm512_cvtph_ps(halves));
  }
}
inline void narrow_floats(const float* a, f16* to) {
  for (uint32_t l = 0; l < kLanes; l += 16) {
    const __m256i halves = _mm512_cvtps_ph(_mm512_load_ps(a + l), 0);
    _mm256_store_si256(reinterpret_cast<__m256i*>(to + l), halves);
  }
}
#elif defined(__F16C__)
inline void widen_halves(const f16* a, float* to) {
  for (uint32_t l = 0; l < kLanes; l += 8)
    _mm256_store_ps(to + l, _mm256_cvtph_ps(_mm_load_si128(reinterpret_cast<const __m128i*>(a + l))));
}
inline void narrow_floats(const float* a, f16* to) {
  for (uint32_t l = 0; l < kLanes; l += 8)
    _mm_store_si128(reinterpret_cast<__m128i*>(to + l), _mm256_cvtps_ph(_mm256_load_ps(a + l), 0));
}
#else
inline void widen_halves(const f16* a, float* to) { EMULATOR_LANES to[l] = to_float(a[l]); }
inline void narrow_floats(const float* a, f16* to) { EMULATOR_LANES to[l] = to_f16(a[l]); }
#endif

struct HalfToFloat {
  static void convert(const f16* a, float* to) {
    alignas(64) float exact[kLanes];
    widen_halves(a, exact);
    EMULATOR_LANES to[l] = canonical(exact[l]);
  }
};
struct FloatToHalf {
  static void convert(const float* a, f16* to) {
    alignas(64) f16 rounded[kLanes];
    narrow_floats(a, rounded);
    EMULATOR_LANES to[l].bits = is_nan(rounded[l]) ? 0x7fff : rounded[l].bits;
  }
};

template <class F, class D, class A>
struct Conversion {
  static void full(Warp& w, const Instruction& i) {
    alignas(64) D fresh[kLanes];
    F::convert(column<A>(w, i.a), fresh);
    __builtin_memcpy(column<D>(w, i.d), fresh, sizeof fresh);
  }
  static void masked(Warp& w, const Instruction& i) {
    alignas(64) D fresh[kLanes];
    F::convert(column<A>(w, i.a), fresh);
    keep_active(column<D>(w, i.d), fresh, w.active);
  }
};
template <class F, class D, class A>
void conversion(Registry& r, const char* name, const char* suffix) {
  add_handler(r, name, suffix, &Conversion<F, D, A>::full, &Conversion<F, D, A>::masked, 0);
}

}  // namespace

void register_convert(Registry& r) {
  to_every_integer<uint8_t, uint16_t>(r, ".16");
  to_every_integer<uint8_t, uint32_t>(r, ".32");
  to_every_integer<uint8_t, uint64_t>(r, ".64");
  to_every_integer<int8_t, uint16_t>(r, ".16");
  to_every_integer<int8_t, uint32_t>(r, ".32");
  to_every_integer<int8_t, uint64_t>(r, ".64");
  to_every_integer<uint16_t, uint16_t>(r, ".16");
  to_every_integer<uint16_t, uint32_t>(r, ".32");
  to_every_integer<uint16_t, uint64_t>(r, ".64");
  to_every_integer<int16_t, uint16_t>(r, ".16");
  to_every_integer<int16_t, uint32_t>(r, ".32");
  to_every_integer<int16_t, uint64_t>(r, ".64");
  to_every_integer<uint32_t, uint32_t>(r, ".32");
  to_every_integer<uint32_t, uint64_t>(r, ".64");
  to_every_integer<int32_t, uint32_t>(r, ".32");
  to_every_integer<int32_t, uint64_t>(r, ".64");
  to_every_integer<uint64_t, uint64_t>(r, ".64");
  to_every_integer<int64_t, uint64_t>(r, ".64");
  op<float, int32_t>(r, "cvt.rn", ".f32.s32.32", [](int32_t a) { return static_cast<float>(a); });
  op<float, uint32_t>(r, "cvt.rn", ".f32.u32.32", [](uint32_t a) { return static_cast<float>(a); });
  op<float, int16_t>(r, "cvt.rn", ".f32.s16.16", [](int16_t a) { return static_cast<float>(a); });
  op<float, uint16_t>(r, "cvt.rn", ".f32.u16.16", [](uint16_t a) { return static_cast<float>(a); });
  op<float, uint16_t>(r, "cvt.rn", ".f32.s8.16", [](uint16_t a) { return static_cast<float>(static_cast<int8_t>(a)); });
  op<float, uint16_t>(r, "cvt.rn", ".f32.u8.16",
                      [](uint16_t a) { return static_cast<float>(static_cast<uint8_t>(a)); });
  op<double, int32_t>(r, "cvt.rn", ".f64.s32.32", [](int32_t a) { return static_cast<double>(a); });
  op<double, uint32_t>(r, "cvt.rn", ".f64.u32.32", [](uint32_t a) { return static_cast<double>(a); });
  op<int32_t, float>(r, "cvt.rzi", ".s32.f32.32", [](float a) { return truncate_signed(a); });
  op<uint32_t, float>(r, "cvt.rzi", ".u32.f32.32", [](float a) { return truncate_unsigned(a); });
  op<int32_t, float>(r, "cvt.rni", ".s32.f32.32", [](float a) { return truncate_signed(__builtin_nearbyintf(a)); });
  op<double, float>(r, "cvt", ".f64.f32.32", [](float a) { return static_cast<double>(a); });
  op<float, double>(r, "cvt.rn", ".f32.f64.64", [](double a) { return canonical(static_cast<float>(a)); });
  conversion<HalfToFloat, float, f16>(r, "cvt", ".f32.f16.16");
  conversion<FloatToHalf, f16, float>(r, "cvt.rn", ".f16.f32.32");
  op<float, bf16>(r, "cvt", ".f32.bf16.16", [](bf16 a) { return canonical(to_float(a)); });
  op<bf16, float>(r, "cvt.rn", ".bf16.f32.32", [](float a) { return to_bf16(a); });
  op<f16x2, float, float>(r, "cvt.rn", ".f16x2.f32",
                          [](float hi, float lo) { return pack<f16x2>(to_f16(lo), to_f16(hi)); });
  op<bf16x2, float, float>(r, "cvt.rn", ".bf16x2.f32",
                           [](float hi, float lo) { return pack<bf16x2>(to_bf16(lo), to_bf16(hi)); });
}

}  // namespace ptx::emulator::EMULATOR_ISA
