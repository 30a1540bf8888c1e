// setp, selp, slct and predicate logic (set is setp plus selp). A comparison with NaN is false unless its name ends in
// u.
#include <immintrin.h>

#include "ptx/emulator/handlers/lanes.h"

namespace ptx::emulator::EMULATOR_ISA {
namespace {

enum CompareFlags : uint32_t { kAnd = 1, kOr = 2, kXor = 3, kNegated = 4, kHasSecond = 8, kHasCombine = 16 };

// Works on lanes and on vectors of lanes: no &&, no conversion to bool.
constexpr auto kEq = [](auto a, auto b) { return a == b; };
constexpr auto kNe = [](auto a, auto b) { return (a < b) | (a > b); };
constexpr auto kLt = [](auto a, auto b) { return a < b; };
constexpr auto kLe = [](auto a, auto b) { return a <= b; };
constexpr auto kGt = [](auto a, auto b) { return a > b; };
constexpr auto kGe = [](auto a, auto b) { return a >= b; };
constexpr auto kEqu = [](auto a, auto b) { return !((a < b) | (a > b)); };
constexpr auto kNeu = [](auto a, auto b) { return a != b; };
constexpr auto kLtu = [](auto a, auto b) { return !(a >= b); };
constexpr auto kLeu = [](auto a, auto b) { return !(a > b); };
constexpr auto kGtu = [](auto a, auto b) { return !(a <= b); };
constexpr auto kGeu = [](auto a, auto b) { return !(a < b); };
constexpr auto kNum = [](auto a, auto b) { return (a == a) & (b == b); };
constexpr auto kNan = [](auto a, auto b) { return (a != a) | (b != b); };

// Converts sources for comparison: 16-bit floats to float, and subnormals to zero with .ftz.
struct Plain {
  template <class T>
  static T of(T x) {
    return x;
  }
};
struct AsFloat {
  template <class T>
  static float of(T x) {
    return to_float(x);
  }
};
struct Flushed {
  static float of(float x) { return flush(x); }
};
struct FlushedHalf {
  static float of(f16 x) {
    const float f = to_float(x);
    return (x.bits & 0x7c00) ? f : f * 0;
  }
};

// Top bit of every lane of a comparison vector, in order.
#if defined(__AVX512BW__) && defined(__AVX512DQ__)
constexpr uint32_t kVectorBytes = 64;
template <uint32_t lane_bytes, class V>
inline uint32_t top_bits(V v) {
  const __m512i bits = bits_as<__m512i>(v);
  if constexpr (lane_bytes == 2) return _mm512_movepi16_mask(bits);
  return lane_bytes == 4 ? uint32_t{_mm512_movepi32_mask(bits)} : uint32_t{_mm512_movepi64_mask(bits)};
}
#elif defined(__AVX2__)
constexpr uint32_t kVectorBytes = 32;
template <uint32_t lane_bytes, class V>
inline uint32_t top_bits(V v) {
  return static_cast<uint32_t>(lane_bytes == 4 ? _mm256_movemask_ps(bits_as<__m256>(v))
                                               : _mm256_movemask_pd(bits_as<__m256d>(v)));
}
#else
constexpr uint32_t kVectorBytes = 16;
template <uint32_t lane_bytes, class V>
inline uint32_t top_bits(V v) {
  return static_cast<uint32_t>(lane_bytes == 4 ? _mm_movemask_ps(bits_as<__m128>(v))
                                               : _mm_movemask_pd(bits_as<__m128d>(v)));
}
#endif

template <class T>
struct VectorOf {
  typedef T type __attribute__((vector_size(kVectorBytes)));
};
template <class Read, class T>
constexpr bool kByVectors = false;
template <>
constexpr bool kByVectors<Plain, uint16_t> = kVectorBytes == 64;
template <>
constexpr bool kByVectors<Plain, int16_t> = kVectorBytes == 64;
template <>
constexpr bool kByVectors<Plain, uint32_t> = true;
template <>
constexpr bool kByVectors<Plain, int32_t> = true;
template <>
constexpr bool kByVectors<Plain, uint64_t> = true;
template <>
constexpr bool kByVectors<Plain, int64_t> = true;
template <>
constexpr bool kByVectors<Plain, float> = true;
template <>
constexpr bool kByVectors<Plain, double> = true;

template <class F, class T, class Read>
uint32_t compare_lanes(Warp& w, const Instruction& i) {
  uint32_t bits = 0;
  if constexpr (kByVectors<Read, T>) {
    using V = typename VectorOf<T>::type;
    constexpr uint32_t kStep = kVectorBytes / sizeof(T);
    const V *a = column<V>(w, i.a), *b = column<V>(w, i.b);
    for (uint32_t k = 0; k < kLanes / kStep; ++k) bits |= top_bits<sizeof(T)>(F{}(a[k], b[k])) << k * kStep % kLanes;
  } else {
    const T* a = column<T>(w, i.a);
    const T* b = column<T>(w, i.b);
    for (uint32_t l = 0; l < kLanes; ++l) bits |= (F{}(Read::of(a[l]), Read::of(b[l])) ? 1u : 0u) << l;
  }
  return bits;
}

inline uint32_t combine(uint32_t flags, uint32_t bits, uint32_t with) {
  switch (flags & 3) {
    case kAnd:
      return bits & with;
    case kOr:
      return bits | with;
    case kXor:
      return bits ^ with;
    default:
      return bits;
  }
}
inline void store(Warp& w, uint32_t where, uint32_t bits, uint32_t lanes) {
  uint32_t& d = predicate(w, where);
  d = (d & ~lanes) | (bits & lanes);
}

template <class F, class T, class Read>
struct SetPredicate {
  static void full(Warp& w, const Instruction& i) {
    if (i.flags == 0)
      predicate(w, i.d) = compare_lanes<F, T, Read>(w, i);
    else
      run(w, i, kAllLanes);
  }
  static void masked(Warp& w, const Instruction& i) { run(w, i, w.active); }
  static void run(Warp& w, const Instruction& i, uint32_t lanes) {
    const uint32_t bits = compare_lanes<F, T, Read>(w, i);
    if (i.flags == 0) return store(w, i.d, bits, lanes);
    const uint32_t with = i.flags & kHasCombine ? predicate(w, i.c) ^ (i.flags & kNegated ? ~0u : 0u) : 0;
    if (i.d != kNoColumn) store(w, i.d, combine(i.flags, bits, with), lanes);
    if (i.flags & kHasSecond) store(w, i.e, combine(i.flags, ~bits, with), lanes);
  }
};

template <class T, class Read, class F>
void comparison(Registry& r, const char* comparison_name, const char* flush_name, const char* type, F) {
  using H = SetPredicate<F, T, Read>;
  const Spelling name("setp", comparison_name, flush_name);
  add_handler(r, name.text, type, &H::full, &H::masked, 0);
}

template <class T, class Read = Plain>
void equality(Registry& r, const char* type, const char* flush_name = "") {
  comparison<T, Read>(r, ".eq", flush_name, type, kEq);
  comparison<T, Read>(r, ".ne", flush_name, type, kNe);
}
template <class T, class Read = Plain>
void ordering(Registry& r, const char* type, const char* flush_name = "") {
  equality<T, Read>(r, type, flush_name);
  comparison<T, Read>(r, ".lt", flush_name, type, kLt);
  comparison<T, Read>(r, ".le", flush_name, type, kLe);
  comparison<T, Read>(r, ".gt", flush_name, type, kGt);
  comparison<T, Read>(r, ".ge", flush_name, type, kGe);
}
template <class T>
void unsigned_ordering(Registry& r, const char* type) {
  ordering<T>(r, type);
  comparison<T, Plain>(r, ".lo", "", type, kLt);
  comparison<T, Plain>(r, ".ls", "", type, kLe);
  comparison<T, Plain>(r, ".hi", "", type, kGt);
  comparison<T, Plain>(r, ".hs", "", type, kGe);
}
template <class T, class Read>
void real_ordering(Registry& r, const char* type, const char* flush_name = "") {
  ordering<T, Read>(r, type, flush_name);
  comparison<T, Read>(r, ".equ", flush_name, type, kEqu);
  comparison<T, Read>(r, ".neu", flush_name, type, kNeu);
  comparison<T, Read>(r, ".ltu", flush_name, type, kLtu);
  comparison<T, Read>(r, ".leu", flush_name, type, kLeu);
  comparison<T, Read>(r, ".gtu", flush_name, type, kGtu);
  comparison<T, Read>(r, ".geu", flush_name, type, kGeu);
  comparison<T, Read>(r, ".num", flush_name, type, kNum);
  comparison<T, Read>(r, ".nan", flush_name, type, kNan);
}

template <class T>
struct Select {
  static void full(Warp& w, const Instruction& i) {
    T* d = column<T>(w, i.d);
    const T *a = column<T>(w, i.a), *b = column<T>(w, i.b);
    const uint32_t p = predicate(w, i.c) ^ i.flags;
    EMULATOR_LANES d[l] = blend(p >> l & 1, a[l], b[l]);
  }
  static void masked(Warp& w, const Instruction& i) {
    T* d = column<T>(w, i.d);
    const T *a = column<T>(w, i.a), *b = column<T>(w, i.b);
    const uint32_t p = predicate(w, i.c) ^ i.flags, active = w.active;
    EMULATOR_LANES d[l] = blend(active >> l & 1, blend(p >> l & 1, a[l], b[l]), d[l]);
  }
};

template <class F>
struct PredicateLogic {  // flag bits 0 and 1 negate a and b
  static uint32_t value(Warp& w, const Instruction& i) {
    return F{}(predicate(w, i.a) ^ (i.flags & 1 ? ~0u : 0), predicate(w, i.b) ^ (i.flags & 2 ? ~0u : 0));
  }
  static void full(Warp& w, const Instruction& i) { predicate(w, i.d) = value(w, i); }
  static void masked(Warp& w, const Instruction& i) { store(w, i.d, value(w, i), w.active); }
};
template <class F>
void logic(Registry& r, const char* name, F) {
  add_handler(r, name, ".pred", &PredicateLogic<F>::full, &PredicateLogic<F>::masked, 0);
}

template <class T>
void choose_by_sign(Registry& r, const char* type) {
  const Spelling integer(type, ".s32", ""), real(type, ".f32", "");
  op<T, T, T, int32_t>(r, "slct", integer.text, [](T a, T b, int32_t c) { return c >= 0 ? a : b; });
  op<T, T, T, float>(r, "slct", real.text, [](T a, T b, float c) { return c >= 0 ? a : b; });
  op<T, T, T, float>(r, "slct.ftz", real.text, [](T a, T b, float c) { return flush(c) >= 0 ? a : b; });
}

}  // namespace

void register_compare(Registry& r) {
  unsigned_ordering<uint16_t>(r, ".u16");
  unsigned_ordering<uint32_t>(r, ".u32");
  unsigned_ordering<uint64_t>(r, ".u64");
  ordering<int16_t>(r, ".s16");
  ordering<int32_t>(r, ".s32");
  ordering<int64_t>(r, ".s64");
  equality<uint16_t>(r, ".b16");
  equality<uint32_t>(r, ".b32");
  equality<uint64_t>(r, ".b64");
  real_ordering<float, Plain>(r, ".f32");
  real_ordering<float, Flushed>(r, ".f32", ".ftz");
  real_ordering<double, Plain>(r, ".f64");
  real_ordering<f16, AsFloat>(r, ".f16");
  real_ordering<f16, FlushedHalf>(r, ".f16", ".ftz");
  real_ordering<bf16, AsFloat>(r, ".bf16");
  add_handler(r, "selp", ".b16", &Select<uint16_t>::full, &Select<uint16_t>::masked, 0);
  add_handler(r, "selp", ".b32", &Select<uint32_t>::full, &Select<uint32_t>::masked, 0);
  add_handler(r, "selp", ".b64", &Select<uint64_t>::full, &Select<uint64_t>::masked, 0);
  choose_by_sign<uint16_t>(r, ".b16");
  choose_by_sign<uint32_t>(r, ".b32");
  choose_by_sign<uint64_t>(r, ".b64");
  logic(r, "and", [](uint32_t a, uint32_t b) { return a & b; });
  logic(r, "or", [](uint32_t a, uint32_t b) { return a | b; });
  logic(r, "xor", [](uint32_t a, uint32_t b) { return a ^ b; });
  logic(r, "not", [](uint32_t a, uint32_t) { return ~a; });
  logic(r, "mov", [](uint32_t a, uint32_t) { return a; });
}

}  // namespace ptx::emulator::EMULATOR_ISA
