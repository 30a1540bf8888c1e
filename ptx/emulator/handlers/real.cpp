// float and double arithmetic. Round-to-nearest is a plain loop; other rounding modes change the host's mode for one
// instruction. NaN results are canonical in float: 0x7fffffff.
#include <immintrin.h>

#include "ptx/emulator/handlers/lanes.h"

namespace ptx::emulator::EMULATOR_ISA {
namespace {

enum RealFlags : uint32_t { kFlush = 1, kSaturate = 2, kRoundingShift = 2 };  // rounding: 0 rn, 1 rz, 2 rm, 3 rp

// Sets the processor's rounding mode for its lifetime.
class RoundingMode {
 public:
  explicit RoundingMode(uint32_t mode) : before_(_mm_getcsr()) {
    constexpr uint32_t kModes[4] = {0x0000, 0x6000, 0x2000, 0x4000};
    _mm_setcsr((before_ & ~0x6000u) | kModes[mode]);
    asm volatile("" ::: "memory");
  }
  ~RoundingMode() {
    asm volatile("" ::: "memory");
    _mm_setcsr(before_);
  }
  RoundingMode(const RoundingMode&) = delete;

 private:
  uint32_t before_;
};

inline float flush_if(float x, bool flushes) { return flushes ? flush(x) : x; }
inline double flush_if(double x, bool) { return x; }

// F over up to three sources with every combination of rounding, flush and saturation.
template <class F, class T, int sources>
struct Rounded {
  static void full(Warp& w, const Instruction& i) { run(w, i, kAllLanes); }
  static void masked(Warp& w, const Instruction& i) { run(w, i, w.active); }
  static void run(Warp& w, const Instruction& i, uint32_t lanes) {
    T* d = column<T>(w, i.d);
    const T* a = column<T>(w, i.a);
    const T* b = column<T>(w, sources > 1 ? i.b : i.a);
    const T* c = column<T>(w, sources > 2 ? i.c : i.a);
    const bool flushes = i.flags & kFlush;
    T result[kLanes];
    {
      RoundingMode mode(i.flags >> kRoundingShift & 3);
      for (uint32_t l = 0; l < kLanes; ++l)
        result[l] = F{}(flush_if(a[l], flushes), flush_if(b[l], flushes), flush_if(c[l], flushes));
      asm volatile("" ::"r"(result) : "memory");  // completes the arithmetic before the mode changes back
    }
    for (uint32_t l = 0; l < kLanes; ++l) {
      T r = flush_if(result[l], flushes);
      if (i.flags & kSaturate) r = saturate(r);
      if constexpr (sizeof(T) == 4) r = canonical(r);
      d[l] = blend(lanes >> l & 1, r, d[l]);
    }
  }
};

constexpr const char* kRoundings[4] = {".rn", ".rz", ".rm", ".rp"};

template <class T, int sources, class F>
void every_rounding(Registry& r, const char* name, F, bool saturates) {
  using H = Rounded<F, T, sources>;
  for (uint32_t rounding = 0; rounding < 4; ++rounding) {
    for (uint32_t variant = 0; variant < (saturates ? 4u : 2u); ++variant) {
      if (sizeof(T) == 8 && (variant & 1)) continue;
      const Spelling full_name(name, kRoundings[rounding], variant & kFlush ? ".ftz" : "",
                               variant & kSaturate ? ".sat" : "");
      add_handler(r, full_name.text, Name<T>::value, &H::full, &H::masked, rounding << kRoundingShift | variant);
    }
  }
}

constexpr auto kAdd = [](auto a, auto b, auto) { return a + b; };
constexpr auto kSub = [](auto a, auto b, auto) { return a - b; };
constexpr auto kMul = [](auto a, auto b, auto) { return a * b; };
constexpr auto kDiv = [](auto a, auto b, auto) { return a / b; };
constexpr auto kRcp = [](auto a, auto, auto) { return decltype(a)(1) / a; };
constexpr auto kSqrt = [](auto a, auto, auto) {
  if constexpr (sizeof(a) == 4)
    return __builtin_sqrtf(a);
  else
    return __builtin_sqrt(a);
};
constexpr auto kFma = [](auto a, auto b, auto c) {
  if constexpr (sizeof(a) == 4)
    return __builtin_fmaf(a, b, c);
  else
    return __builtin_fma(a, b, c);
};

void register_basic(Registry& r) {
  every_rounding<float, 2>(r, "add", kAdd, true);
  every_rounding<float, 2>(r, "sub", kSub, true);
  every_rounding<float, 2>(r, "mul", kMul, true);
  every_rounding<float, 3>(r, "fma", kFma, true);
  every_rounding<float, 2>(r, "div", kDiv, false);
  every_rounding<float, 1>(r, "rcp", kRcp, false);
  every_rounding<float, 1>(r, "sqrt", kSqrt, false);
  every_rounding<double, 2>(r, "add", kAdd, false);
  every_rounding<double, 2>(r, "sub", kSub, false);
  every_rounding<double, 2>(r, "mul", kMul, false);
  every_rounding<double, 3>(r, "fma", kFma, false);
  every_rounding<double, 2>(r, "div", kDiv, false);
  every_rounding<double, 1>(r, "rcp", kRcp, false);
  every_rounding<double, 1>(r, "sqrt", kSqrt, false);
  // The common forms as plain loops; a later registration of a name replaces an earlier one.
  using f = float;
  using d = double;
  op<f, f, f>(r, "add.rn", ".f32", [](f a, f b) { return canonical(a + b); });
  op<f, f, f>(r, "sub.rn", ".f32", [](f a, f b) { return canonical(a - b); });
  op<f, f, f>(r, "mul.rn", ".f32", [](f a, f b) { return canonical(a * b); });
  op<f, f, f, f>(r, "fma.rn", ".f32", [](f a, f b, f c) { return canonical(__builtin_fmaf(a, b, c)); });
  op<f, f, f>(r, "add.rn.ftz", ".f32", [](f a, f b) { return canonical(flush(flush(a) + flush(b))); });
  op<f, f, f>(r, "sub.rn.ftz", ".f32", [](f a, f b) { return canonical(flush(flush(a) - flush(b))); });
  op<f, f, f>(r, "mul.rn.ftz", ".f32", [](f a, f b) { return canonical(flush(flush(a) * flush(b))); });
  op<f, f, f, f>(r, "fma.rn.ftz", ".f32",
                 [](f a, f b, f c) { return canonical(flush(__builtin_fmaf(flush(a), flush(b), flush(c)))); });
  op<d, d, d>(r, "add.rn", ".f64", [](d a, d b) { return a + b; });
  op<d, d, d>(r, "sub.rn", ".f64", [](d a, d b) { return a - b; });
  op<d, d, d>(r, "mul.rn", ".f64", [](d a, d b) { return a * b; });
  op<d, d, d, d>(r, "fma.rn", ".f64", [](d a, d b, d c) { return __builtin_fma(a, b, c); });
}

template <class T>
struct BitsOf;
template <>
struct BitsOf<float> {
  using type = uint32_t;
  static constexpr uint32_t sign = 0x80000000u, infinity = 0x7f800000u;
};
template <>
struct BitsOf<double> {
  using type = uint64_t;
  static constexpr uint64_t sign = 1ull << 63, infinity = 0x7ffull << 52;
};
template <class T>
inline auto pattern(T x) {
  return bits_as<typename BitsOf<T>::type>(x);
}
template <class T>
inline T from_pattern(typename BitsOf<T>::type x) {
  return bits_as<T>(x);
}

// min and max: prefer the number to a NaN; -0 is less than +0.
template <class T>
inline T lesser(T a, T b) {
  T r = (a < b || (a == b && (pattern(a) & BitsOf<T>::sign))) ? a : b;
  r = a != a ? b : r;
  return b != b ? a : r;
}
template <class T>
inline T greater(T a, T b) {
  T r = (a > b || (a == b && !(pattern(a) & BitsOf<T>::sign))) ? a : b;
  r = a != a ? b : r;
  return b != b ? a : r;
}
inline float nan_of(float a, float b, float r) { return a != a || b != b ? bits_as<float>(0x7fffffffu) : r; }
inline float absolute(float x) { return bits_as<float>(bits_as<uint32_t>(x) & 0x7fffffffu); }
inline float sign_product(float a, float b, float r) {
  return bits_as<float>((bits_as<uint32_t>(r) & 0x7fffffffu) |
                        ((bits_as<uint32_t>(a) ^ bits_as<uint32_t>(b)) & 0x80000000u));
}

void register_order(Registry& r) {
  using f = float;
#define EMULATOR_ORDER(name, pick)                                                                          \
  op<f, f, f>(r, name, ".f32", [](f a, f b) { return canonical(pick(a, b)); });                             \
  op<f, f, f>(r, name ".ftz", ".f32", [](f a, f b) { return canonical(pick(flush(a), flush(b))); });        \
  op<f, f, f>(r, name ".NaN", ".f32", [](f a, f b) { return nan_of(a, b, pick(a, b)); });                   \
  op<f, f, f>(r, name ".ftz.NaN", ".f32", [](f a, f b) { return nan_of(a, b, pick(flush(a), flush(b))); }); \
  op<f, f, f>(r, name ".xorsign.abs", ".f32",                                                               \
              [](f a, f b) { return sign_product(a, b, pick(absolute(a), absolute(b))); });                 \
  op<f, f, f>(r, name ".ftz.xorsign.abs", ".f32",                                                           \
              [](f a, f b) { return sign_product(a, b, pick(absolute(flush(a)), absolute(flush(b)))); });   \
  op<f, f, f>(r, name ".NaN.xorsign.abs", ".f32",                                                           \
              [](f a, f b) { return nan_of(a, b, sign_product(a, b, pick(absolute(a), absolute(b)))); });   \
  op<f, f, f>(r, name ".ftz.NaN.xorsign.abs", ".f32", [](f a, f b) {                                        \
    return nan_of(a, b, sign_product(a, b, pick(absolute(flush(a)), absolute(flush(b)))));                  \
  });                                                                                                       \
  op<f, f, f, f>(r, name "3", ".f32", [](f a, f b, f c) { return canonical(pick(pick(a, b), c)); });        \
  op<f, f, f, f>(r, name "3.ftz", ".f32",                                                                   \
                 [](f a, f b, f c) { return canonical(pick(pick(flush(a), flush(b)), flush(c))); });        \
  op<f, f, f, f>(r, name "3.NaN", ".f32",                                                                   \
                 [](f a, f b, f c) { return nan_of(a, b, nan_of(c, c, pick(pick(a, b), c))); });            \
  op<double, double, double>(r, name, ".f64", [](double a, double b) { return pick(a, b); })
  EMULATOR_ORDER("min", lesser);
  EMULATOR_ORDER("max", greater);
}

template <class T>
void signs(Registry& r, const char* suffix) {
  using B = BitsOf<T>;
  op<T, T>(r, "neg", suffix, [](T a) { return from_pattern<T>(pattern(a) ^ B::sign); });
  op<T, T>(r, "abs", suffix, [](T a) { return from_pattern<T>(pattern(a) & ~B::sign); });
  op<T, T, T>(r, "copysign", suffix,
              [](T a, T b) { return from_pattern<T>((pattern(a) & B::sign) | (pattern(b) & ~B::sign)); });
}

template <class F, class T>
void property(Registry& r, const char* name, F) {
  using Test = decltype([](T a, T) { return F{}(pattern(a) & ~BitsOf<T>::sign, BitsOf<T>::infinity); });
  add_handler(r, name, Name<T>::value, &Comparison<Test, T, T>::full, &Comparison<Test, T, T>::masked, 0);
}
template <class T>
void properties(Registry& r) {
  constexpr auto finite = [](auto a, auto inf) { return a < inf; };
  constexpr auto infinite = [](auto a, auto inf) { return a == inf; };
  constexpr auto number = [](auto a, auto inf) { return a <= inf; };
  constexpr auto nan = [](auto a, auto inf) { return a > inf; };
  constexpr auto normal = [](auto a, auto inf) { return (a & inf) != 0 && a < inf; };
  constexpr auto subnormal = [](auto a, auto inf) { return (a & inf) == 0 && a != 0; };
  property<decltype(finite), T>(r, "testp.finite", finite);
  property<decltype(infinite), T>(r, "testp.infinite", infinite);
  property<decltype(number), T>(r, "testp.number", number);
  property<decltype(nan), T>(r, "testp.notanumber", nan);
  property<decltype(normal), T>(r, "testp.normal", normal);
  property<decltype(subnormal), T>(r, "testp.subnormal", subnormal);
}

}  // namespace

void register_real(Registry& r) {
  register_basic(r);
  register_order(r);
  signs<float>(r, ".f32");
  signs<double>(r, ".f64");
  op<float, float>(r, "neg.ftz", ".f32", [](float a) { return -flush(a); });
  op<float, float>(r, "abs.ftz", ".f32", [](float a) { return absolute(flush(a)); });
  properties<float>(r);
  properties<double>(r);
}

}  // namespace ptx::emulator::EMULATOR_ISA
