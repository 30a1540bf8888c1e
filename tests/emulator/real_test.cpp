// f32 and f64 instructions against C++: every rounding, flushing, saturation, NaN and signed zero.
#include <cfenv>

#include "tests/emulator/lane_function.h"

namespace ptx::emulator {
namespace {

using f32 = float;
using f64 = double;
using u32 = uint32_t;

constexpr u32 kNan = 0x7fffffff;  // the only NaN that float arithmetic makes
float nan_float() { return std::bit_cast<float>(kNan); }
float canonical(float x) { return std::isnan(x) ? nan_float() : x; }
float flush(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }
float saturate(float x) { return std::isnan(x) || x < 0 ? 0.0f : std::min(x, 1.0f) + 0.0f; }

bool equal_patterns(float a, float b) { return std::bit_cast<u32>(a) == std::bit_cast<u32>(b); }

// f under a rounding mode of the processor; volatile keeps the arithmetic inside.
template <class T, class F>
T rounded(int mode, F f, T a, T b, T c) {
  std::fesetround(mode);
  volatile T x = a, y = b, z = c;
  volatile T r = f(x, y, z);
  std::fesetround(FE_TONEAREST);
  return r;
}

struct RoundingCase {
  const char* name;
  int mode;
};
constexpr RoundingCase kRoundings[] = {
    {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

template <class F>
void every_form(const std::string& op, const std::string& operands, bool saturates, F f) {
  for (const RoundingCase& r : kRoundings) {
    for (bool ftz : {false, true}) {
      for (bool sat : {false, true}) {
        if (sat && !saturates) continue;
        const std::string code =
            op + "." + r.name + (ftz ? ".ftz" : "") + (sat ? ".sat" : "") + ".f32 %d, " + operands + ";";
        expect_lanes<f32, f32, f32, f32>(
            code,
            [&](f32 a, f32 b, f32 c) {
              if (ftz) a = flush(a), b = flush(b), c = flush(c);
              f32 d = rounded<f32>(r.mode, f, a, b, c);
              if (ftz) d = flush(d);
              if (sat) d = saturate(d);
              return canonical(d);
            },
            90, equal_patterns);
      }
    }
  }
}
template <class F>
void every_double(const std::string& op, const std::string& operands, F f) {
  for (const RoundingCase& r : kRoundings) {
    expect_lanes<f64, f64, f64, f64>(op + "." + r.name + ".f64 %d, " + operands + ";",
                                     [&](f64 a, f64 b, f64 c) { return rounded<f64>(r.mode, f, a, b, c); });
  }
}

TEST(Real, Arithmetic) {
  every_form("add", "%a, %b", true, [](f32 a, f32 b, f32) { return a + b; });
  every_form("sub", "%a, %b", true, [](f32 a, f32 b, f32) { return a - b; });
  every_form("mul", "%a, %b", true, [](f32 a, f32 b, f32) { return a * b; });
  every_form("fma", "%a, %b, %c", true, [](f32 a, f32 b, f32 c) { return std::fma(a, b, c); });
  every_form("div", "%a, %b", false, [](f32 a, f32 b, f32) { return a / b; });
  every_form("rcp", "%a", false, [](f32 a, f32, f32) { return 1 / a; });
  every_form("sqrt", "%a", false, [](f32 a, f32, f32) { return std::sqrt(a); });
}

TEST(Real, DoubleArithmetic) {
  every_double("add", "%a, %b", [](f64 a, f64 b, f64) { return a + b; });
  every_double("mul", "%a, %b", [](f64 a, f64 b, f64) { return a * b; });
  every_double("fma", "%a, %b, %c", [](f64 a, f64 b, f64 c) { return std::fma(a, b, c); });
  every_double("div", "%a, %b", [](f64 a, f64 b, f64) { return a / b; });
  every_double("rcp", "%a", [](f64 a, f64, f64) { return 1 / a; });
  every_double("sqrt", "%a", [](f64 a, f64, f64) { return std::sqrt(a); });
}

TEST(Real, PlainFormsRoundToNearest) {
  expect_lanes<f32, f32, f32>(
      "add.f32 %d, %a, %b;", [](f32 a, f32 b) { return canonical(a + b); }, 90, equal_patterns);
  expect_lanes<f32, f32, f32, f32>(
      "mad.rn.f32 %d, %a, %b, %c;", [](f32 a, f32 b, f32 c) { return canonical(std::fma(a, b, c)); }, 90,
      equal_patterns);
  expect_lanes<f32, f32>(
      "mul.f32 %d, %a, 0f3F000000;", [](f32 a) { return canonical(a * 0.5f); }, 90, equal_patterns);
}

template <class T>
T min(T a, T b) {  // the number, if the other is NaN; -0 is less than +0
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  return a < b || (a == b && std::signbit(a)) ? a : b;
}
template <class T>
T max(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}

TEST(Real, MinimumAndMaximum) {
  expect_lanes<f32, f32, f32>(
      "min.f32 %d, %a, %b;", [](f32 a, f32 b) { return canonical(min(a, b)); }, 90, equal_patterns);
  expect_lanes<f32, f32, f32>(
      "max.f32 %d, %a, %b;", [](f32 a, f32 b) { return canonical(max(a, b)); }, 90, equal_patterns);
  expect_lanes<f32, f32, f32>(
      "min.ftz.f32 %d, %a, %b;", [](f32 a, f32 b) { return canonical(min(flush(a), flush(b))); }, 90, equal_patterns);
  expect_lanes<f32, f32, f32>(
      "max.NaN.f32 %d, %a, %b;",
      [](f32 a, f32 b) { return std::isnan(a + b) && (std::isnan(a) || std::isnan(b)) ? nan_float() : max(a, b); }, 90,
      equal_patterns);
  expect_lanes<f32, f32, f32>("min.xorsign.abs.f32 %d, %a, %b;", [](f32 a, f32 b) {
    const f32 magnitude = canonical(min(std::fabs(a), std::fabs(b)));
    if (std::isnan(magnitude)) return magnitude;
    return std::copysign(magnitude, std::signbit(a) != std::signbit(b) ? -1.0f : 1.0f);
  });
  expect_lanes<f32, f32, f32, f32>(
      "max.f32 %d, %a, %b, %c;", [](f32 a, f32 b, f32 c) { return canonical(max(max(a, b), c)); }, 100, equal_patterns);
  expect_lanes<f64, f64, f64>("min.f64 %d, %a, %b;", min<f64>);
  expect_lanes<f64, f64, f64>("max.f64 %d, %a, %b;", max<f64>);
}

TEST(Real, Signs) {
  expect_lanes<u32, u32>("neg.f32 %d, %a;", [](u32 a) { return a ^ 0x80000000u; });
  expect_lanes<u32, u32>("abs.f32 %d, %a;", [](u32 a) { return a & 0x7fffffffu; });
  expect_lanes<f32, f32>("abs.ftz.f32 %d, %a;", [](f32 a) { return std::fabs(flush(a)); });
  expect_lanes<f64, f64>("neg.f64 %d, %a;", [](f64 a) { return -a; });
  expect_lanes<f32, f32, f32>("copysign.f32 %d, %a, %b;", [](f32 a, f32 b) { return std::copysign(b, a); });
  expect_lanes<f64, f64, f64>("copysign.f64 %d, %a, %b;", [](f64 a, f64 b) { return std::copysign(b, a); });
}

TEST(Real, Properties) {
  expect_lanes<bool, f32>("testp.finite.f32 %d, %a;", [](f32 a) { return std::isfinite(a); });
  expect_lanes<bool, f32>("testp.infinite.f32 %d, %a;", [](f32 a) { return std::isinf(a); });
  expect_lanes<bool, f32>("testp.number.f32 %d, %a;", [](f32 a) { return !std::isnan(a); });
  expect_lanes<bool, f32>("testp.notanumber.f32 %d, %a;", [](f32 a) { return std::isnan(a); });
  expect_lanes<bool, f32>("testp.normal.f32 %d, %a;", [](f32 a) { return std::isnormal(a); });
  expect_lanes<bool, f64>("testp.subnormal.f64 %d, %a;", [](f64 a) { return std::fpclassify(a) == FP_SUBNORMAL; });
}

// Relative error of the approximations, by the PTX ISA's tables, without the largest finite results.
void expect_close(const std::string& code, double (*reference)(double), double relative, double absolute) {
  const auto close = [=](f32 got, f32 wanted) {
    if (std::isnan(wanted)) return std::isnan(got);
    if (std::isinf(wanted) || wanted == 0) return got == wanted;
    return std::fabs(static_cast<double>(got) - wanted) <= relative * std::fabs(static_cast<double>(wanted)) + absolute;
  };
  expect_lanes<f32, f32>(
      code, [&](f32 a) { return static_cast<f32>(reference(a)); }, 90, close);
}

TEST(Real, Approximations) {
  expect_close(
      "ex2.approx.f32 %d, %a;", [](double x) { return std::exp2(x); }, 0x1p-22, 0x1p-149);
  expect_close(
      "lg2.approx.f32 %d, %a;", [](double x) { return std::log2(x); }, 0x1p-22, 0x1p-22);
  expect_close(
      "rcp.approx.f32 %d, %a;", [](double x) { return 1 / x; }, 0x1p-23, 0x1p-149);
  expect_close(
      "rsqrt.approx.f32 %d, %a;", [](double x) { return 1 / std::sqrt(x); }, 0x1p-22, 0);
  expect_close(
      "sqrt.approx.f32 %d, %a;", [](double x) { return std::sqrt(x); }, 0x1p-22, 0x1p-149);
  expect_close(
      "tanh.approx.f32 %d, %a;", [](double x) { return std::tanh(x); }, 0x1p-11, 0);
  expect_close(
      "sin.approx.f32 %d, %a;", [](double x) { return std::sin(x); }, 0x1p-21, 0x1p-20);
  expect_close(
      "cos.approx.f32 %d, %a;", [](double x) { return std::cos(x); }, 0x1p-21, 0x1p-20);
  expect_close(
      "ex2.approx.ftz.f32 %d, %a;",
      [](double x) {
        return static_cast<double>(flush(static_cast<f32>(std::exp2(static_cast<double>(flush(static_cast<f32>(x)))))));
      },
      0x1p-22, 0);
}

TEST(Real, DivisionBeyond2To126) {
  expect_lanes<f32, f32, f32>(
      "div.approx.f32 %d, %a, %b;",
      [](f32 a, f32 b) {
        const f32 m = std::fabs(b);
        if (m > 0x1p126f && std::isfinite(m))
          return std::isfinite(a) ? std::copysign(0.0f, std::signbit(a) != std::signbit(b) ? -1.0f : 1.0f)
                                  : nan_float();
        return canonical(a / b);
      },
      90,
      [](f32 got, f32 wanted) {
        return (std::isnan(got) && std::isnan(wanted)) || got == wanted ||
               std::fabs(got - wanted) <= 0x1p-22f * std::fabs(wanted) + 0x1p-148f;
      });
}

// PTX ISA 9.7.3, add, sub, mul and fma of .f32x2: each half by itself.
TEST(Real, PairsOfSingles) {
  using u64 = uint64_t;
  const auto pairwise = [](auto f) {
    return [f](u64 a, u64 b, u64 c) {
      const auto half = [&](int shift) {
        const auto part = [&](u64 x) { return std::bit_cast<float>(static_cast<uint32_t>(x >> shift)); };
        return u64{std::bit_cast<uint32_t>(static_cast<float>(f(part(a), part(b), part(c))))} << shift;
      };
      return half(0) | half(32);
    };
  };
  const auto same = [](u64 a, u64 b) {
    const auto same_half = [&](int shift) {
      const auto x = static_cast<uint32_t>(a >> shift), y = static_cast<uint32_t>(b >> shift);
      return same_bits(std::bit_cast<float>(x), std::bit_cast<float>(y));
    };
    return same_half(0) && same_half(32);
  };
  const auto test = [&](const std::string& code, auto f) {
    expect_lanes<u64, u64, u64, u64>(code, pairwise(f), 100, same);
  };
  test("add.f32x2 %d, %a, %b;", [](float a, float b, float) { return a + b; });
  test("sub.rn.f32x2 %d, %a, %b;", [](float a, float b, float) { return a - b; });
  test("mul.f32x2 %d, %a, %b;", [](float a, float b, float) { return a * b; });
  test("fma.rn.f32x2 %d, %a, %b, %c;", [](float a, float b, float c) { return std::fma(a, b, c); });
}

}  // namespace
}  // namespace ptx::emulator
