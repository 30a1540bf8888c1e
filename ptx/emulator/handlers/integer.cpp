// Integer arithmetic: wraps like the hardware, in unsigned C++.
#include <immintrin.h>

#include "ptx/emulator/handlers/lanes.h"

namespace ptx::emulator::EMULATOR_ISA {
namespace {

using Integers = Types<uint16_t, uint32_t, uint64_t, int16_t, int32_t, int64_t>;
using Signed = Types<int16_t, int32_t, int64_t>;

template <class T>
T divide(T a, T b) {
  if (b == 0) return static_cast<T>(-1);  // result of the hardware's division routine
  if constexpr (T(-1) < T(0)) {
    if (b == T(-1)) return sub_wrapping(T(0), a);
  }
  return static_cast<T>(a / b);
}

template <class T>
T remainder(T a, T b) {
  if (b == 0) return a;
  if constexpr (T(-1) < T(0)) {
    if (b == T(-1)) return 0;
  }
  return static_cast<T>(a % b);
}

inline int32_t clamp32(int64_t x) {
  return static_cast<int32_t>(x > 0x7fffffffll ? 0x7fffffffll : x < -0x80000000ll ? -0x80000000ll : x);
}
inline int32_t low24(int32_t x) { return static_cast<int32_t>(static_cast<uint32_t>(x) << 8) >> 8; }
inline uint32_t low24(uint32_t x) { return x & 0xffffff; }

template <class T>
void multiply_24(Registry& r, const char* suffix) {
  const auto lo = [](T a, T b) { return static_cast<T>(mul_wide(low24(a), low24(b))); };
  const auto hi = [](T a, T b) { return static_cast<T>(mul_wide(low24(a), low24(b)) >> 16); };
  op<T, T, T>(r, "mul24.lo", suffix, lo);
  op<T, T, T>(r, "mul24.hi", suffix, hi);
  op<T, T, T, T>(r, "mad24.lo", suffix,
                 [](T a, T b, T c) { return add_wrapping(static_cast<T>(mul_wide(low24(a), low24(b))), c); });
  op<T, T, T, T>(r, "mad24.hi", suffix,
                 [](T a, T b, T c) { return add_wrapping(static_cast<T>(mul_wide(low24(a), low24(b)) >> 16), c); });
}

template <class T>
void wide(Registry& r) {
  using W = Wide<T>;
  op<W, T, T>(r, "mul.wide", Name<T>::value, [](T a, T b) { return mul_wide(a, b); });
  op<W, T, T, W>(r, "mad.wide", Name<T>::value, [](T a, T b, W c) { return add_wrapping(mul_wide(a, b), c); });
}

// Applies the same operation to both halves of a packed pair.
template <class P, class H, class F>
void halves(Registry& r, const char* name, F) {
  op<uint32_t, uint32_t, uint32_t>(r, name, Name<P>::value, [](uint32_t a, uint32_t b) {
    const uint16_t lo = static_cast<uint16_t>(F{}(static_cast<H>(a), static_cast<H>(b)));
    const uint16_t hi = static_cast<uint16_t>(F{}(static_cast<H>(a >> 16), static_cast<H>(b >> 16)));
    return lo | static_cast<uint32_t>(hi) << 16;
  });
}

// Carries: one bit per lane in the column `e`; flags say whether it is read or written.
enum CarryUse : uint32_t { kReadsCarry = 1, kWritesCarry = 2 };

template <class F, class T>
struct WithCarry {
  static void full(Warp& w, const Instruction& i) { run(w, i, kAllLanes); }
  static void masked(Warp& w, const Instruction& i) { run(w, i, w.active); }
  static void run(Warp& w, const Instruction& i, uint32_t lanes) {
    T* d = column<T>(w, i.d);
    const T *a = column<T>(w, i.a), *b = column<T>(w, i.b), *c = column<T>(w, i.c);
    const uint32_t before = i.flags & kReadsCarry ? predicate(w, i.e) : 0;
    uint32_t after = 0;
    for (uint32_t l = 0; l < kLanes; ++l) {
      unsigned __int128 sum = F{}(a[l], b[l], c[l], before >> l & 1);
      if (lanes >> l & 1) d[l] = static_cast<T>(sum);
      after |= static_cast<uint32_t>(sum >> (8 * sizeof(T)) & 1) << l;
    }
    if (i.flags & kWritesCarry) predicate(w, i.e) = (predicate(w, i.e) & ~lanes) | (after & lanes);
  }
};

template <class T, class F>
void carry(Registry& r, const char* plain, const char* with, const char* suffix, F, uint32_t reads) {
  using H = WithCarry<F, T>;
  if (reads) add_handler(r, plain, suffix, &H::full, &H::masked, kReadsCarry);
  add_handler(r, with, suffix, &H::full, &H::masked, reads | kWritesCarry);
}

template <class T>
void carries(Registry& r, const char* suffix) {
  using U = Unsigned<T>;
  using W = unsigned __int128;
  // Subtraction adds the complement, so its carry is 1 without a borrow: nvcc's 128-bit division reads sub.cc's carry
  // with addc.
  const auto add = [](T a, T b, T, uint32_t in) { return W(U(a)) + U(b) + in; };
  const auto sub = [](T a, T b, T, uint32_t in) { return W(U(a)) + U(~U(b)) + in; };
  const auto sub_first = [](T a, T b, T, uint32_t) { return W(U(a)) + U(~U(b)) + 1; };
  const auto mad_lo = [](T a, T b, T c, uint32_t in) { return W(U(mul_wrapping(a, b))) + U(c) + in; };
  const auto mad_hi = [](T a, T b, T c, uint32_t in) { return W(U(mul_high(a, b))) + U(c) + in; };
  carry<T>(r, "", "add.cc", suffix, add, 0);
  carry<T>(r, "addc", "addc.cc", suffix, add, kReadsCarry);
  carry<T>(r, "", "sub.cc", suffix, sub_first, 0);
  carry<T>(r, "subc", "subc.cc", suffix, sub, kReadsCarry);
  carry<T>(r, "", "mad.lo.cc", suffix, mad_lo, 0);
  carry<T>(r, "", "mad.hi.cc", suffix, mad_hi, 0);
  carry<T>(r, "madc.lo", "madc.lo.cc", suffix, mad_lo, kReadsCarry);
  carry<T>(r, "madc.hi", "madc.hi.cc", suffix, mad_hi, kReadsCarry);
}

// Sums of products of pairs; a and b are independently signed or unsigned.
template <class A, class B, uint32_t first>
int32_t dot2(uint32_t a, uint32_t b, int32_t c) {
  const auto half = [&](uint32_t i) {
    return static_cast<uint32_t>(static_cast<int32_t>(static_cast<A>(a >> 16 * i)));
  };
  const auto byte = [&](uint32_t i) { return static_cast<uint32_t>(static_cast<int32_t>(static_cast<B>(b >> 8 * i))); };
  return static_cast<int32_t>(static_cast<uint32_t>(c) + half(0) * byte(first) + half(1) * byte(first + 1));
}

// Even and odd bytes as separate 16-bit lanes: one instruction then sums their products pairwise.
#if defined(__AVX512BW__)
struct Vector {
  using Type = __m512i;
  static Type load(const void* p) { return _mm512_load_si512(p); }
  static void store(void* p, Type v) { _mm512_store_si512(p, v); }
  static Type add(Type a, Type b) { return _mm512_add_epi32(a, b); }
  static Type pairs(Type a, Type b) { return _mm512_madd_epi16(a, b); }
  static Type left(Type a) { return _mm512_slli_epi16(a, 8); }
  template <bool is_signed>
  static Type right(Type a) {
    return is_signed ? _mm512_srai_epi16(a, 8) : _mm512_srli_epi16(a, 8);
  }
};
#elif defined(__AVX2__)
struct Vector {
  using Type = __m256i;
  static Type load(const void* p) { return _mm256_load_si256(static_cast<const Type*>(p)); }
  static void store(void* p, Type v) { _mm256_store_si256(static_cast<Type*>(p), v); }
  static Type add(Type a, Type b) { return _mm256_add_epi32(a, b); }
  static Type pairs(Type a, Type b) { return _mm256_madd_epi16(a, b); }
  static Type left(Type a) { return _mm256_slli_epi16(a, 8); }
  template <bool is_signed>
  static Type right(Type a) {
    return is_signed ? _mm256_srai_epi16(a, 8) : _mm256_srli_epi16(a, 8);
  }
};
#else
struct Vector {
  using Type = __m128i;
  static Type load(const void* p) { return _mm_load_si128(static_cast<const Type*>(p)); }
  static void store(void* p, Type v) { _mm_store_si128(static_cast<Type*>(p), v); }
  static Type add(Type a, Type b) { return _mm_add_epi32(a, b); }
  static Type pairs(Type a, Type b) { return _mm_madd_epi16(a, b); }
  static Type left(Type a) { return _mm_slli_epi16(a, 8); }
  template <bool is_signed>
  static Type right(Type a) {
    return is_signed ? _mm_srai_epi16(a, 8) : _mm_srli_epi16(a, 8);
  }
};
#endif

template <bool a_signed, bool b_signed>
struct Dot4 {
  static void sums(Warp& w, const Instruction& i, uint32_t* result) {
    const uint32_t *a = column<uint32_t>(w, i.a), *b = column<uint32_t>(w, i.b), *c = column<uint32_t>(w, i.c);
    constexpr uint32_t kStep = sizeof(Vector::Type) / 4;
    for (uint32_t l = 0; l < kLanes; l += kStep) {
      const auto x = Vector::load(a + l), y = Vector::load(b + l);
      const auto odd = Vector::pairs(Vector::right<a_signed>(x), Vector::right<b_signed>(y));
      const auto even =
          Vector::pairs(Vector::right<a_signed>(Vector::left(x)), Vector::right<b_signed>(Vector::left(y)));
      Vector::store(result + l, Vector::add(Vector::load(c + l), Vector::add(odd, even)));
    }
  }
  static void full(Warp& w, const Instruction& i) { sums(w, i, column<uint32_t>(w, i.d)); }
  static void masked(Warp& w, const Instruction& i) {
    alignas(64) uint32_t result[kLanes];
    sums(w, i, result);
    uint32_t* d = column<uint32_t>(w, i.d);
    const uint32_t active = w.active;
    EMULATOR_LANES d[l] = blend(active >> l & 1, result[l], d[l]);
  }
};

template <class A4, class B4, class A2>
void dot_products(Registry& r, const char* suffix) {
  using Dot = Dot4<(A4(-1) < A4(0)), (B4(-1) < B4(0))>;
  add_handler(r, "dp4a", suffix, &Dot::full, &Dot::masked, 0);
  op<int32_t, uint32_t, uint32_t, int32_t>(r, "dp2a.lo", suffix,
                                           [](uint32_t a, uint32_t b, int32_t c) { return dot2<A2, B4, 0>(a, b, c); });
  op<int32_t, uint32_t, uint32_t, int32_t>(r, "dp2a.hi", suffix,
                                           [](uint32_t a, uint32_t b, int32_t c) { return dot2<A2, B4, 2>(a, b, c); });
}

constexpr auto kMin = [](auto a, auto b) { return b < a ? b : a; };
constexpr auto kMax = [](auto a, auto b) { return a < b ? b : a; };
constexpr auto kMinRelu = [](auto a, auto b) {
  using T = decltype(a);
  const T m = b < a ? b : a;
  return m < 0 ? T(0) : m;
};
constexpr auto kMaxRelu = [](auto a, auto b) {
  using T = decltype(a);
  const T m = a < b ? b : a;
  return m < 0 ? T(0) : m;
};

void register_pairs(Registry& r) {
  halves<u16x2, uint16_t>(r, "add", [](auto a, auto b) { return add_wrapping(a, b); });
  halves<s16x2, int16_t>(r, "add", [](auto a, auto b) { return add_wrapping(a, b); });
  halves<u16x2, uint16_t>(r, "min", kMin);
  halves<s16x2, int16_t>(r, "min", kMin);
  halves<u16x2, uint16_t>(r, "max", kMax);
  halves<s16x2, int16_t>(r, "max", kMax);
  halves<s16x2, int16_t>(r, "min.relu", kMinRelu);
  halves<s16x2, int16_t>(r, "max.relu", kMaxRelu);
}

}  // namespace

void register_integer(Registry& r) {
  binary(r, "add", Integers{}, [](auto a, auto b) { return add_wrapping(a, b); });
  binary(r, "sub", Integers{}, [](auto a, auto b) { return sub_wrapping(a, b); });
  binary(r, "mul.lo", Integers{}, [](auto a, auto b) { return mul_wrapping(a, b); });
  binary(r, "mul.hi", Integers{}, [](auto a, auto b) { return mul_high(a, b); });
  ternary(r, "mad.lo", Integers{}, [](auto a, auto b, auto c) { return add_wrapping(mul_wrapping(a, b), c); });
  ternary(r, "mad.hi", Integers{}, [](auto a, auto b, auto c) { return add_wrapping(mul_high(a, b), c); });
  wide<uint16_t>(r);
  wide<int16_t>(r);
  wide<uint32_t>(r);
  wide<int32_t>(r);
  multiply_24<uint32_t>(r, ".u32");
  multiply_24<int32_t>(r, ".s32");
  binary(r, "div", Integers{}, [](auto a, auto b) { return divide(a, b); });
  binary(r, "rem", Integers{}, [](auto a, auto b) { return remainder(a, b); });
  binary(r, "min", Integers{}, kMin);
  binary(r, "max", Integers{}, kMax);
  binary(r, "min.relu", Types<int32_t>{}, kMinRelu);
  binary(r, "max.relu", Types<int32_t>{}, kMaxRelu);
  unary(r, "abs", Signed{}, [](auto a) { return a < 0 ? sub_wrapping(decltype(a)(0), a) : a; });
  unary(r, "neg", Signed{}, [](auto a) { return sub_wrapping(decltype(a)(0), a); });
  ternary(r, "sad", Integers{},
          [](auto a, auto b, auto c) { return add_wrapping(c, a < b ? sub_wrapping(b, a) : sub_wrapping(a, b)); });
  op<int32_t, int32_t, int32_t>(r, "add.sat", ".s32", [](int32_t a, int32_t b) { return clamp32(int64_t{a} + b); });
  op<int32_t, int32_t, int32_t>(r, "sub.sat", ".s32", [](int32_t a, int32_t b) { return clamp32(int64_t{a} - b); });
  op<int32_t, int32_t, int32_t, int32_t>(
      r, "mad.hi.sat", ".s32", [](int32_t a, int32_t b, int32_t c) { return clamp32(int64_t{mul_high(a, b)} + c); });
  op<int32_t, int32_t, int32_t, int32_t>(r, "mad24.hi.sat", ".s32", [](int32_t a, int32_t b, int32_t c) {
    return clamp32((mul_wide(low24(a), low24(b)) >> 16) + c);
  });
  register_pairs(r);
  carries<uint32_t>(r, ".u32");
  carries<int32_t>(r, ".s32");
  carries<uint64_t>(r, ".u64");
  carries<int64_t>(r, ".s64");
  dot_products<uint8_t, uint8_t, uint16_t>(r, ".u32.u32");
  dot_products<uint8_t, int8_t, uint16_t>(r, ".u32.s32");
  dot_products<int8_t, uint8_t, int16_t>(r, ".s32.u32");
  dot_products<int8_t, int8_t, int16_t>(r, ".s32.s32");
}

}  // namespace ptx::emulator::EMULATOR_ISA
