// Loops over a warp's lanes: turns a single-lane operation into a full and a masked handler. Included by every handler
// file; EMULATOR_ISA is the namespace of the instruction set it is compiled for.
#pragma once

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include <cstdint>

#include "ptx/emulator/handlers/numbers.h"
#include "ptx/emulator/instruction.h"

namespace ptx::emulator {
class Registry;
void add_handler(Registry& r, const char* name, const char* suffix, Handler full, Handler masked, uint32_t flags);
}  // namespace ptx::emulator

namespace ptx::emulator::EMULATOR_ISA {

template <class T>
inline T* column(Warp& w, uint32_t offset) {
  return reinterpret_cast<T*>(__builtin_assume_aligned(w.registers + offset, 64));
}
inline uint32_t& predicate(Warp& w, uint32_t offset) { return *reinterpret_cast<uint32_t*>(w.registers + offset); }

template <class T>
struct Name;
#define EMULATOR_NAME(type, text)              \
  template <>                                  \
  struct Name<type> {                          \
    static constexpr const char* value = text; \
  }
struct Bits16 {
  using Lane = uint16_t;
};
struct Bits32 {
  using Lane = uint32_t;
};
struct Bits64 {
  using Lane = uint64_t;
};
EMULATOR_NAME(uint8_t, ".u8");
EMULATOR_NAME(int8_t, ".s8");
EMULATOR_NAME(uint16_t, ".u16");
EMULATOR_NAME(int16_t, ".s16");
EMULATOR_NAME(uint32_t, ".u32");
EMULATOR_NAME(int32_t, ".s32");
EMULATOR_NAME(uint64_t, ".u64");
EMULATOR_NAME(int64_t, ".s64");
EMULATOR_NAME(float, ".f32");
EMULATOR_NAME(double, ".f64");
EMULATOR_NAME(f16, ".f16");
EMULATOR_NAME(bf16, ".bf16");
EMULATOR_NAME(f16x2, ".f16x2");
EMULATOR_NAME(bf16x2, ".bf16x2");
EMULATOR_NAME(s16x2, ".s16x2");
EMULATOR_NAME(u16x2, ".u16x2");
EMULATOR_NAME(Bits16, ".b16");
EMULATOR_NAME(Bits32, ".b32");
EMULATOR_NAME(Bits64, ".b64");
template <class T>
struct LaneOf {
  using type = T;
};
template <>
struct LaneOf<Bits16> {
  using type = uint16_t;
};
template <>
struct LaneOf<Bits32> {
  using type = uint32_t;
};
template <>
struct LaneOf<Bits64> {
  using type = uint64_t;
};
template <class T>
using Lane = typename LaneOf<T>::type;

#define EMULATOR_LANES _Pragma("GCC ivdep") for (uint32_t l = 0; l < kLanes; ++l)

struct Spelling {  // up to four parts of a name, concatenated without a library
  char text[64];
  Spelling(const char* a, const char* b, const char* c = "", const char* d = "") : text{} {
    char* out = text;
    const char* const parts[4] = {a, b, c, d};
    for (const char* part : parts) {
      while (*part) *out++ = *part++;
    }
  }
};

#if defined(__AVX512BW__)
// Blends lanes of 2, 4 or 8 bytes: `fresh` where the bit in `take` is set, else `old`.
template <uint32_t lane_bytes>
[[gnu::always_inline]] inline __m512i blend_lanes(uint32_t take, __m512i fresh, __m512i old) {
  if constexpr (lane_bytes == 2)
    return _mm512_mask_mov_epi16(old, take, fresh);
  else if constexpr (lane_bytes == 4)
    return _mm512_mask_mov_epi32(old, static_cast<__mmask16>(take), fresh);
  else if constexpr (lane_bytes == 8)
    return _mm512_mask_mov_epi64(old, static_cast<__mmask8>(take), fresh);
}
#endif

// 16-bit lanes are blended with bit operations: g++ 12 cannot select them by mask and needs to be told where AVX can.
template <class T>
inline T blend(uint32_t take, T fresh, T old) {
  if constexpr (sizeof(T) == 2) {
    const uint16_t mask = static_cast<uint16_t>(0 - take);
    return bits_as<T>(static_cast<uint16_t>((bits_as<uint16_t>(fresh) & mask) | (bits_as<uint16_t>(old) & ~mask)));
  } else {
    return take ? fresh : old;
  }
}

// d receives the active lanes of `fresh`, which must not alias it.
template <class D>
inline void keep_active(D* d, const D* fresh, uint32_t active) {
#if defined(__AVX512BW__)
  if constexpr (sizeof(D) <= 8) {
    constexpr uint32_t kTogether = 64 / sizeof(D);
    for (uint32_t l = 0; l < kLanes; l += kTogether) {
      __m512i kept = blend_lanes<sizeof(D)>(active >> l, _mm512_load_si512(fresh + l), _mm512_load_si512(d + l));
      asm("" : "+v"(kept));  // otherwise the compiler uses masked stores, which are slow to read back
      _mm512_store_si512(d + l, kept);
    }
    return;
  }
#endif
  EMULATOR_LANES d[l] = blend(active >> l & 1, fresh[l], d[l]);
}

template <class F, class D, class... S>
struct Operation;

template <class F, class D, class A>
struct Operation<F, D, A> {
  static void full(Warp& w, const Instruction& i) {
    D* d = column<D>(w, i.d);
    const A* a = column<A>(w, i.a);
    EMULATOR_LANES d[l] = F{}(a[l]);
  }
  static void masked(Warp& w, const Instruction& i) {
    D* d = column<D>(w, i.d);
    const A* a = column<A>(w, i.a);
    alignas(64) D fresh[kLanes];
    EMULATOR_LANES fresh[l] = F{}(a[l]);
    keep_active(d, fresh, w.active);
  }
};

template <class F, class D, class A, class B>
struct Operation<F, D, A, B> {
  static void full(Warp& w, const Instruction& i) {
    D* d = column<D>(w, i.d);
    const A* a = column<A>(w, i.a);
    const B* b = column<B>(w, i.b);
    EMULATOR_LANES d[l] = F{}(a[l], b[l]);
  }
  static void masked(Warp& w, const Instruction& i) {
    D* d = column<D>(w, i.d);
    const A* a = column<A>(w, i.a);
    const B* b = column<B>(w, i.b);
    alignas(64) D fresh[kLanes];
    EMULATOR_LANES fresh[l] = F{}(a[l], b[l]);
    keep_active(d, fresh, w.active);
  }
};

template <class F, class D, class A, class B, class C>
struct Operation<F, D, A, B, C> {
  static void full(Warp& w, const Instruction& i) {
    D* d = column<D>(w, i.d);
    const A* a = column<A>(w, i.a);
    const B* b = column<B>(w, i.b);
    const C* c = column<C>(w, i.c);
    EMULATOR_LANES d[l] = F{}(a[l], b[l], c[l]);
  }
  static void masked(Warp& w, const Instruction& i) {
    D* d = column<D>(w, i.d);
    const A* a = column<A>(w, i.a);
    const B* b = column<B>(w, i.b);
    const C* c = column<C>(w, i.c);
    alignas(64) D fresh[kLanes];
    EMULATOR_LANES fresh[l] = F{}(a[l], b[l], c[l]);
    keep_active(d, fresh, w.active);
  }
};

template <class F, class D, class A, class B, class C, class E>
struct Operation<F, D, A, B, C, E> {
  static void full(Warp& w, const Instruction& i) {
    const uint32_t active = w.active;
    w.active = kAllLanes;
    masked(w, i);
    w.active = active;
  }
  static void masked(Warp& w, const Instruction& i) {
    D* d = column<D>(w, i.d);
    const A* a = column<A>(w, i.a);
    const B* b = column<B>(w, i.b);
    const C* c = column<C>(w, i.c);
    const E* e = column<E>(w, i.e);
    alignas(64) D fresh[kLanes];
    EMULATOR_LANES fresh[l] = F{}(a[l], b[l], c[l], e[l]);
    keep_active(d, fresh, w.active);
  }
};

// op<D, A, B>(registry, "name", ".suffix", [](A a, B b) { ... }) registers one handler pair of any arity.
template <class D, class... S, class F>
void op(Registry& r, const char* name, const char* suffix, F, uint32_t flags = 0) {
  add_handler(r, name, suffix, &Operation<F, D, S...>::full, &Operation<F, D, S...>::masked, flags);
}

// The same operation for a list of types, with equal operand types.
template <class... T>
struct Types {};
template <class... T, class F>
void unary(Registry& r, const char* name, Types<T...>, F f) {
  (op<Lane<T>, Lane<T>>(r, name, Name<T>::value, f), ...);
}
template <class... T, class F>
void binary(Registry& r, const char* name, Types<T...>, F f) {
  (op<Lane<T>, Lane<T>, Lane<T>>(r, name, Name<T>::value, f), ...);
}
template <class... T, class F>
void ternary(Registry& r, const char* name, Types<T...>, F f) {
  (op<Lane<T>, Lane<T>, Lane<T>, Lane<T>>(r, name, Name<T>::value, f), ...);
}

// Predicate results: one bit per lane, packed into a word.
template <class F, class A, class B>
struct Comparison {
  static uint32_t compare(Warp& w, const Instruction& i) {
    const A* a = column<A>(w, i.a);
    const B* b = column<B>(w, i.b);
    uint32_t bits = 0;
    for (uint32_t l = 0; l < kLanes; ++l) bits |= (F{}(a[l], b[l]) ? 1u : 0u) << l;
    return bits;
  }
  static void full(Warp& w, const Instruction& i) { predicate(w, i.d) = compare(w, i); }
  static void masked(Warp& w, const Instruction& i) {
    uint32_t& d = predicate(w, i.d);
    d = (d & ~w.active) | (compare(w, i) & w.active);
  }
};

}  // namespace ptx::emulator::EMULATOR_ISA
