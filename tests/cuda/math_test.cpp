// CUDA's math library compiled by nvcc, against long double (for double) and double (for float). Bounds come from the
// CUDA C++ programming guide, in units in the last place, plus half a unit for the reference. With -use_fast_math,
// replaced functions have the intrinsics' bounds.
#include <algorithm>
#include <cfenv>
#include <cmath>
#include <functional>

#include "tests/cuda/cuda_text.h"

namespace ptx::emulator {
namespace {

using Real = long double;
constexpr Real kPi = 3.14159265358979323846264338327950288L;

struct Range {
  double min, greatest;
};

// Allowed error: ulps of the result, or absolute; `fast` bounds replace them with -use_fast_math.
struct Bound {
  double ulps = 0, absolute = 0;
};

struct Unary {
  const char* name;
  Real (*reference)(Real);
  Range range;
  Bound bound;
  Bound fast = {-1};  // -1: not replaced, but subnormals are flushed
};

constexpr double kTiny = 0x1p-126;  // subnormals count as zero where -use_fast_math flushes them

template <class T>
double ulp(double value) {
  constexpr int digits = std::is_same_v<T, float> ? 24 : 53, min = std::is_same_v<T, float> ? -149 : -1074;
  if (value == 0 || !std::isfinite(value)) return std::ldexp(1.0, min);
  int exponent;
  std::frexp(value, &exponent);
  return std::ldexp(1.0, std::max(exponent - digits, min));
}

// Points of the range: both ends, values of every size within it, and evenly spread ones.
template <class T>
std::vector<T> points(Range range, int count) {
  std::vector<T> x = {static_cast<T>(range.min), static_cast<T>(range.greatest)};
  for (double v : {0.0, -0.0, 0.5, 1.0, -1.0, 2.0, -2.0, 1e-3, -1e-3, 1e-10, 1e-20, -1e-20, 3.0, 10.0, 0.75}) {
    if (v >= range.min && v <= range.greatest) x.push_back(static_cast<T>(v));
  }
  for (float v : random_floats(count, 0, 1, 3))
    x.push_back(static_cast<T>(range.min + (range.greatest - range.min) * v));
  return x;
}

class MathKernels : public CudaKernels {
 protected:
  template <class T>
  void check(const std::string& what, T got, Real want, Bound bound, bool flushes) {
    if (std::isnan(want) || std::isnan(got)) {
      EXPECT_TRUE(std::isnan(want) && std::isnan(got)) << what << " is " << got << ", expected " << want;
      return;
    }
    const T nearest = static_cast<T>(want);
    if (got == nearest) return;
    if (flushes && std::fabs(want) < 2 * kTiny && std::fabs(got) < 2 * kTiny) return;
    const double allowed = std::max((bound.ulps + 0.5) * ulp<T>(static_cast<double>(want)), bound.absolute);
    const Real error = std::isinf(got) || std::isinf(nearest) ? Real(INFINITY) : std::fabs(got - want);
    EXPECT_LE(error, allowed) << what << " is " << got << ", expected " << want << ", error "
                              << error / ulp<T>(static_cast<double>(want)) << " ulp";
  }

  template <class T>
  void expect_unary(const std::string& kernel, Real (*reference)(Real), Range range, Bound bound) {
    const std::vector<T> x = points<T>(range, 300);
    const int n = static_cast<int>(x.size());
    auto* y = zeros<T>(n);
    launch(kernel.c_str(), {uint32_t(n + 127) / 128}, {128}, upload(x), y, n);
    for (int i = 0; i < n && !HasFailure(); ++i) {
      const bool flushed = fast() && std::is_same_v<T, float> && std::fabs(x[i]) < kTiny;
      check<T>(kernel + "(" + std::to_string(x[i]) + ")", y[i], reference(flushed ? 0 : x[i]), bound, fast());
    }
  }
  template <class T>
  void expect_binary(const std::string& kernel, Real (*reference)(Real, Real), Range range_a, Range range_b,
                     Bound bound) {
    std::vector<T> a = points<T>(range_a, 300), b = points<T>(range_b, 300);
    const size_t both = std::min(a.size(), b.size());
    a.resize(both), b.resize(both);
    std::shuffle(b.begin(), b.end(), std::mt19937(1));
    const int n = static_cast<int>(both);
    auto* y = zeros<T>(n);
    launch(kernel.c_str(), {uint32_t(n + 127) / 128}, {128}, upload(a), upload(b), y, n);
    for (int i = 0; i < n && !HasFailure(); ++i) {
      check<T>(kernel + "(" + std::to_string(a[i]) + ", " + std::to_string(b[i]) + ")", y[i], reference(a[i], b[i]),
               bound, fast());
    }
  }
};

Real reciprocal(Real x) { return 1 / x; }
Real rsqrt(Real x) { return 1 / std::sqrt(x); }
Real sine_of_turns(Real x) {  // sin(pi x), exactly 0 and +-1 where pi x would be inexact
  const Real turn = std::remainder(x, Real(2)), size = std::fabs(turn);
  return std::copysign(std::sin(kPi * std::min(size, 1 - size)), turn);
}
Real cosine_of_turns(Real x) { return std::sin(kPi * (Real(0.5) - std::fabs(std::remainder(x, Real(2))))); }
Real exp10_of(Real x) { return std::pow(Real(10), x); }
Real normal(Real x) { return std::erfc(-x / std::sqrt(Real(2))) / 2; }
Real bessel(Real x) { return ::j0l(x); }
Real inverse_erf(Real x) {  // by bisection of erf, which is monotonic
  Real low = -10, high = 10;
  for (int i = 0; i < 200; ++i) {
    const Real middle = (low + high) / 2;
    (std::erf(middle) < x ? low : high) = middle;
  }
  return (low + high) / 2;
}

#define STD(f) [](Real x) { return Real(std::f(x)); }
#define STD2(f) [](Real a, Real b) { return Real(std::f(a, b)); }

class MathFloat : public MathKernels {};

const Unary kFloatFunctions[] = {
    {"sinf", STD(sin), {-1e5, 1e5}, {2}},  // beyond 105615 the slow path reduces the argument
    {"cosf", STD(cos), {-1e5, 1e5}, {2}},
    {"sinf", STD(sin), {-1e30, 1e30}, {2}},
    {"tanf", STD(tan), {-1e4, 1e4}, {4}},
    {"sinpif", sine_of_turns, {-100, 100}, {1}, {1}},
    {"cospif", cosine_of_turns, {-100, 100}, {1}, {1}},
    {"asinf", STD(asin), {-1, 1}, {2}},
    {"acosf", STD(acos), {-1, 1}, {2}},
    {"atanf", STD(atan), {-100, 100}, {2}},
    {"sinhf", STD(sinh), {-80, 80}, {3}},
    {"coshf", STD(cosh), {-80, 80}, {2}},
    {"tanhf", STD(tanh), {-10, 10}, {2}},
    {"asinhf", STD(asinh), {-1000, 1000}, {3}},
    {"acoshf", STD(acosh), {1, 1000}, {4}},
    {"atanhf", STD(atanh), {-0.999, 0.999}, {3}},
    {"expf", STD(exp), {-103, 88}, {2}},
    {"exp2f", STD(exp2), {-149, 127}, {2}},
    {"exp10f", exp10_of, {-44, 38}, {2}},
    {"expm1f", STD(expm1), {-20, 80}, {1}},
    {"logf", STD(log), {1e-38, 1e6}, {1}},
    {"log2f", STD(log2), {1e-38, 1e6}, {1}},
    {"log10f", STD(log10), {1e-38, 1e6}, {2}},
    {"log1pf", STD(log1p), {-0.999, 1e5}, {1}},
    {"sqrtf", STD(sqrt), {0, 1e30}, {0}},
    {"rsqrtf", rsqrt, {1e-30, 1e30}, {2}},
    {"cbrtf", STD(cbrt), {-1e30, 1e30}, {1}},
    {"erff", STD(erf), {-5, 5}, {2}},
    {"erfcf", STD(erfc), {-4, 9}, {4}},
    {"erfinvf", inverse_erf, {-0.9999, 0.9999}, {2}},
    {"normcdff", normal, {-10, 6}, {5}},
    {"tgammaf", STD(tgamma), {0.1, 34}, {5}},
    {"lgammaf", STD(lgamma), {0.01, 1000}, {6}},
    {"j0f", bessel, {-8, 8}, {9, 2.2e-6}},
    {"floorf", STD(floor), {-1e6, 1e6}, {0}},
    {"ceilf", STD(ceil), {-1e6, 1e6}, {0}},
    {"truncf", STD(trunc), {-1e6, 1e6}, {0}},
    {"roundf", STD(round), {-1000, 1000}, {0}},
    {"rintf", STD(nearbyint), {-1000, 1000}, {0}},
    {"fabsf", STD(fabs), {-1000, 1000}, {0}},
    {"reciprocal", reciprocal, {-1000, 1000}, {0}},
};

class ExactMathFloat : public MathFloat {};

TEST_P(ExactMathFloat, Functions) {
  for (const Unary& f : kFloatFunctions) expect_unary<float>(std::string("f_") + f.name, f.reference, f.range, f.bound);
}

class FastMathFloat : public MathFloat {};

// Functions with -use_fast_math: intrinsics where it replaces one, flushed subnormals elsewhere.
TEST_P(FastMathFloat, FastFunctions) {
  const Unary functions[] = {
      {"sinf", STD(sin), {-3.1415, 3.1415}, {0, 0x1p-21 + 0x1p-24}},  // absolute errors, in [-pi, pi]
      {"cosf", STD(cos), {-3.1415, 3.1415}, {0, 0x1p-21 + 0x1p-24}},
      {"tanf", STD(tan), {-0.7, 0.7}, {0, 4e-6}},  // the quotient of the two above
      {"expf", STD(exp), {-80, 80}, {2 + 1.173 * 80}},
      {"exp2f", STD(exp2), {-120, 120}, {2}},
      {"exp10f", exp10_of, {-35, 35}, {2 + 2.97 * 35}},
      {"logf", STD(log), {1e-30, 1e6}, {3, 0x1p-21}},
      {"log2f", STD(log2), {1e-30, 1e6}, {2, 0x1p-21}},
      {"log10f", STD(log10), {1e-30, 1e6}, {3, 0x1p-22}},
      {"tanhf", STD(tanh), {-10, 10}, {0x1p13, 0}},  // tanh.approx: 2^-11 of the result
      {"sqrtf", STD(sqrt), {0, 1e30}, {3}},
      {"rsqrtf", rsqrt, {1e-30, 1e30}, {2}},
      {"reciprocal", reciprocal, {0.01, 1000}, {1}},
      {"atanf", STD(atan), {-100, 100}, {4}},
      {"erff", STD(erf), {-5, 5}, {8}},
      {"cbrtf", STD(cbrt), {-1e30, 1e30}, {4}},
      {"log1pf", STD(log1p), {-0.9, 1e5}, {3, 2e-7}},
  };
  for (const Unary& f : functions) expect_unary<float>(std::string("f_") + f.name, f.reference, f.range, f.bound);
}

TEST_P(MathFloat, OfTwoArguments) {
  const Range wide{-1000, 1000};
  expect_binary<float>("f_powf", STD2(pow), {0.01, 50}, {-15, 15}, {fast() ? 500.0 : 4.0});
  expect_binary<float>("f_atan2f", STD2(atan2), wide, wide, {fast() ? 6.0 : 3.0});
  expect_binary<float>("f_hypotf", STD2(hypot), wide, wide, {fast() ? 4.0 : 3.0});
  expect_binary<float>("f_fdimf", STD2(fdim), wide, wide, {0});
  expect_binary<float>("f_fminf", STD2(fmin), wide, wide, {0});
  expect_binary<float>("f_fmaxf", STD2(fmax), wide, wide, {0});
  expect_binary<float>("f_copysignf", STD2(copysign), wide, wide, {0});
  expect_binary<float>("f_divide", [](Real a, Real b) { return a / b; }, wide, wide, {fast() ? 2.0 : 0.0});
  expect_binary<float>("f_sum", [](Real a, Real b) { return a + b; }, wide, wide, {0});
  expect_binary<float>("f_product", [](Real a, Real b) { return a * b; }, wide, wide, {0});
  if (fast()) return;  // an approximate quotient gives no exact remainder
  expect_binary<float>("f_fmodf", STD2(fmod), wide, {0.01, 100}, {0});
  expect_binary<float>("f_remainderf", STD2(remainder), wide, {0.01, 100}, {0});
  expect_binary<float>("f_nextafterf", [](Real a, Real b) { return Real(std::nextafterf(float(a), float(b))); }, wide,
                       wide, {0});
}

// The host computes in the same rounding mode.
template <class T, class F>
T with_rounding(int mode, F f) {
  const int before = std::fegetround();
  std::fesetround(mode);
  volatile T result = f();
  std::fesetround(before);
  return result;
}
constexpr int kModes[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

template <class T>
std::vector<T> roundable() {
  std::vector<T> x;
  for (float v : random_floats(200, -2, 2, 8)) x.push_back(static_cast<T>(v) * T(1.2345678901));
  for (T v : {T(1), T(-1), T(0.1), T(1) / 3, T(3), std::numeric_limits<T>::min(), T(0x1p-100), T(0x1p100)}) {
    x.push_back(v);
    x.push_back(std::nextafter(v, T(0)));
  }
  return x;
}

TEST_P(MathFloat, RoundedOperations) {
  const auto a = roundable<float>();
  auto b = a;
  std::shuffle(b.begin(), b.end(), std::mt19937(2));
  const int n = static_cast<int>(a.size());
  auto *y = zeros<float>(8 * n), *more = zeros<float>(12 * n);
  launch("f_rounded", {uint32_t(n + 127) / 128}, {128}, upload(a), upload(b), y, n);
  launch("f_rounded_more", {uint32_t(n + 127) / 128}, {128}, upload(a), upload(b), more, n);
  for (int i = 0; i < n; ++i) {
    const float tiny = fast() ? 0x1p-126f : 0;  // -use_fast_math flushes smaller operands and results
    const auto operand = [&](float v) { return std::fabs(v) < tiny ? std::copysign(0.0f, v) : v; };
    const volatile float p = operand(a[i]), q = operand(b[i]), root = std::fabs(p);
    const auto expect = [&](float got, float want, const char* what, int mode) {
      if (std::fabs(want) <= tiny && std::fabs(got) <= tiny) return;
      EXPECT_EQ(got, want) << what << " of " << a[i] << " and " << b[i] << " in mode " << mode;
    };
    for (int m = 0; m < 4; ++m) {
      expect(y[8 * i + m], with_rounding<float>(kModes[m], [&] { return p + q; }), "sum", m);
      expect(y[8 * i + 4 + m], with_rounding<float>(kModes[m], [&] { return p * q; }), "product", m);
      expect(more[12 * i + m], with_rounding<float>(kModes[m], [&] { return p / q; }), "quotient", m);
      expect(more[12 * i + 4 + m], with_rounding<float>(kModes[m], [&] { return __builtin_sqrtf(root); }), "root", m);
      expect(more[12 * i + 8 + m], with_rounding<float>(kModes[m], [&] { return std::fma(float(p), float(q), -p); }),
             "fma", m);
    }
  }
}

TEST_P(MathFloat, PartsOfNumbers) {
  std::vector<float> x = {0.0f, -0.0f, 1, -1, 0.1f, 123.75f, -7.5f, 1e-40f, 3e38f, 2.5f, 6, -9};
  if (!fast()) x.insert(x.end(), {INFINITY, -INFINITY, NAN});
  const int n = static_cast<int>(x.size());
  auto* y = zeros<float>(6 * n);
  auto* k = zeros<int>(4 * n);
  launch("f_parts", {1}, {32}, upload(x), y, k, n);
  const auto expect = [&](float got, float want, float from) {
    if (fast() && std::fabs(from) < kTiny) return;
    EXPECT_TRUE(got == want || (std::isnan(got) && std::isnan(want))) << from << ": " << got << ", expected " << want;
  };
  for (int i = 0; i < n; ++i) {
    int exponent = 0, quotient = 0;
    float whole;
    const float mantissa = std::frexp(x[i], &exponent), fraction = std::modf(x[i], &whole);
    expect(y[6 * i], mantissa, x[i]);
    expect(y[6 * i + 1], fraction, x[i]);
    expect(y[6 * i + 2], whole, x[i]);
    if (std::fabs(x[i]) < 1000) {
      EXPECT_NEAR(y[6 * i + 3], 1, fast() ? 1e-3 : 1e-6) << x[i];
    }
    expect(y[6 * i + 4], std::ldexp(x[i], 3), x[i]);
    const float rest = std::remquo(x[i], 3.0f, &quotient);
    if (!fast()) expect(y[6 * i + 5], rest, x[i]);
    if (std::fabs(x[i]) < kTiny && x[i] != 0 && fast()) continue;
    if (std::isfinite(x[i])) {
      EXPECT_EQ(k[4 * i], exponent) << x[i];
    }
    if (std::isfinite(x[i]) && !fast()) {
      EXPECT_EQ(k[4 * i + 1], quotient & 7) << x[i];
    }
    EXPECT_EQ(k[4 * i + 2],
              std::isnan(x[i]) | std::isinf(x[i]) << 1 | std::isfinite(x[i]) << 2 | (std::signbit(x[i]) ? 8 : 0))
        << x[i];
    EXPECT_EQ(k[4 * i + 3], std::isfinite(x[i]) && x[i] != 0 ? std::ilogb(x[i]) : 0) << x[i];
  }
}
INSTANTIATE_CUDA(MathFloat, "math_float");
INSTANTIATE_CUDA_FOR(FastMathFloat, "math_float", fast_math);
INSTANTIATE_CUDA_FOR(ExactMathFloat, "math_float", exact_math);

class MathDouble : public MathKernels {};

TEST_P(MathDouble, Functions) {
  const Unary functions[] = {
      {"sin", STD(sin), {-1e5, 1e5}, {2}},
      {"cos", STD(cos), {-1e5, 1e5}, {2}},
      {"tan", STD(tan), {-1e4, 1e4}, {2}},
      {"asin", STD(asin), {-1, 1}, {2}},
      {"acos", STD(acos), {-1, 1}, {2}},
      {"atan", STD(atan), {-100, 100}, {2}},
      {"sinh", STD(sinh), {-700, 700}, {2}},
      {"cosh", STD(cosh), {-700, 700}, {1}},
      {"tanh", STD(tanh), {-20, 20}, {1}},
      {"asinh", STD(asinh), {-1e6, 1e6}, {3}},
      {"exp", STD(exp), {-745, 709}, {1}},
      {"exp2", STD(exp2), {-1074, 1023}, {1}},
      {"exp10", exp10_of, {-320, 308}, {1}},
      {"expm1", STD(expm1), {-40, 700}, {1}},
      {"log", STD(log), {1e-300, 1e300}, {1}},
      {"log2", STD(log2), {1e-300, 1e300}, {1}},
      {"log10", STD(log10), {1e-300, 1e300}, {1}},
      {"log1p", STD(log1p), {-0.999, 1e10}, {1}},
      {"sqrt", STD(sqrt), {0, 1e300}, {0}},
      {"rsqrt", rsqrt, {1e-300, 1e300}, {1}},
      {"cbrt", STD(cbrt), {-1e300, 1e300}, {1}},
      {"erf", STD(erf), {-6, 6}, {2}},
      {"erfc", STD(erfc), {-5, 26}, {5}},
      {"tgamma", STD(tgamma), {0.1, 170}, {10}},
      {"lgamma", STD(lgamma), {3, 1e10}, {4}},
      {"floor", STD(floor), {-1e15, 1e15}, {0}},
      {"rint", STD(nearbyint), {-1000, 1000}, {0}},
      {"round", STD(round), {-1000, 1000}, {0}},
      {"reciprocal", reciprocal, {-1e200, 1e200}, {0}},
  };
  for (const Unary& f : functions) expect_unary<double>(std::string("d_") + f.name, f.reference, f.range, f.bound);
}

TEST_P(MathDouble, OfTwoArguments) {
  const Range wide{-1e6, 1e6};
  expect_binary<double>("d_pow", STD2(pow), {0.01, 50}, {-100, 100}, {2});
  expect_binary<double>("d_atan2", STD2(atan2), wide, wide, {2});
  expect_binary<double>("d_hypot", STD2(hypot), wide, wide, {2});
  expect_binary<double>("d_fmod", STD2(fmod), wide, {0.01, 100}, {0});
  expect_binary<double>("d_fmin", STD2(fmin), wide, wide, {0});
  expect_binary<double>("d_fmax", STD2(fmax), wide, wide, {0});
  expect_binary<double>("d_copysign", STD2(copysign), wide, wide, {0});
  expect_binary<double>("d_divide", [](Real a, Real b) { return a / b; }, wide, wide, {0});
}

TEST_P(MathDouble, RoundedOperations) {
  const auto a = roundable<double>();
  auto b = a;
  std::shuffle(b.begin(), b.end(), std::mt19937(2));
  const int n = static_cast<int>(a.size());
  auto* y = zeros<double>(12 * n);
  launch("d_rounded", {uint32_t(n + 127) / 128}, {128}, upload(a), upload(b), y, n);
  for (int i = 0; i < n; ++i) {
    const volatile double p = a[i], q = b[i];
    for (int m = 0; m < 4; ++m) {
      EXPECT_EQ(y[12 * i + m], with_rounding<double>(kModes[m], [&] { return p + q; })) << a[i] << " " << b[i];
      EXPECT_EQ(y[12 * i + 4 + m], with_rounding<double>(kModes[m], [&] { return p * q; })) << a[i] << " " << b[i];
      EXPECT_EQ(y[12 * i + 8 + m], with_rounding<double>(kModes[m], [&] { return std::fma(double(p), double(q), -p); }))
          << a[i] << " " << b[i];
    }
  }
}
INSTANTIATE_CUDA(MathDouble, "math_double");

class MathIntrinsics : public MathKernels {};

TEST_P(MathIntrinsics, WithinTheirDocumentedErrors) {
  const Unary functions[] = {
      {"__sinf", STD(sin), {-3.1415, 3.1415}, {0, 0x1p-21 + 0x1p-24}},
      {"__cosf", STD(cos), {-3.1415, 3.1415}, {0, 0x1p-21 + 0x1p-24}},
      {"__expf", STD(exp), {-80, 80}, {2 + 1.173 * 80}},
      {"__exp10f", exp10_of, {-35, 35}, {2 + 2.97 * 35}},
      {"__logf", STD(log), {1e-30, 1e6}, {3, 0x1p-21}},
      {"__log2f", STD(log2), {1e-30, 1e6}, {2, 0x1p-21}},
      {"__log10f", STD(log10), {1e-30, 1e6}, {3, 0x1p-22}},
      {"__frsqrt_rn", rsqrt, {1e-30, 1e30}, {0}},
      {"__frcp_rn", reciprocal, {0.01, 1000}, {0}},
      {"__saturatef", [](Real x) { return std::clamp(x, Real(0), Real(1)); }, {-2, 2}, {0}},
      {"__ex2_ftz", STD(exp2), {-120, 120}, {2}},
      {"__tanh_approx", STD(tanh), {-10, 10}, {0x1p13}},
      {"__rcp_approx", reciprocal, {0.01, 1000}, {1}},
      {"__sqrt_approx", STD(sqrt), {0.001, 1e30}, {2}},
  };
  for (const Unary& f : functions) expect_unary<float>(std::string("i") + f.name, f.reference, f.range, f.bound);
  expect_binary<float>("i__fdividef", [](Real a, Real b) { return a / b; }, {-1000, 1000}, {0.01, 1000}, {2});
  expect_binary<float>("i__powf", STD2(pow), {0.01, 50}, {-15, 15}, {500});
}

TEST_P(MathIntrinsics, CornersOfApproximations) {
  const std::vector<float> x = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e-40f, 200, -200};
  const int n = static_cast<int>(x.size());
  auto* y = zeros<float>(n);
  const auto expect = [&](const char* kernel, const std::vector<float>& want) {
    launch(kernel, {1}, {32}, upload(x), y, n);
    for (int i = 0; i < n; ++i) {
      if (std::isnan(want[i])) {
        EXPECT_TRUE(std::isnan(y[i])) << kernel << " of " << x[i];
      } else {
        EXPECT_EQ(y[i], want[i]) << kernel << " of " << x[i];
        EXPECT_EQ(std::signbit(y[i]), std::signbit(want[i])) << kernel << " of " << x[i];
      }
    }
  };
  expect("i__ex2_ftz", {1, 1, INFINITY, 0, NAN, 1, INFINITY, 0});
  expect("i__saturatef", {0, 0, 1, 0, 0, fast() ? 0 : 1e-40f, 1, 0});
}
INSTANTIATE_CUDA(MathIntrinsics, "math_intrinsics");

}  // namespace
}  // namespace ptx::emulator
