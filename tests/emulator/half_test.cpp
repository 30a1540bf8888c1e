// f16 and bf16 arithmetic, alone and in pairs: exact in double, rounded once.
#include "tests/emulator/lane_function.h"

namespace ptx::emulator {
namespace {

using u16 = uint16_t;
using u32 = uint32_t;

struct Format {
  const char* name;
  int exponent_bits, mantissa_bits;

  double value(u16 bits) const {
    const int bias = (1 << (exponent_bits - 1)) - 1, field = bits >> mantissa_bits & ((1 << exponent_bits) - 1),
              mantissa = bits & ((1 << mantissa_bits) - 1);
    const double sign = bits >> 15 ? -1 : 1;
    if (field == (1 << exponent_bits) - 1) return mantissa ? NAN : sign * INFINITY;
    return sign *
           std::ldexp(field ? mantissa + (1 << mantissa_bits) : mantissa, (field ? field : 1) - bias - mantissa_bits);
  }
  // Nearest even of an exact sum hi + lo, with |lo| far below hi's last bit: lo breaks the tie.
  u16 round(double hi, double lo) const {
    if (std::isnan(hi)) return 0x7fff;
    const u16 sign = std::signbit(hi) ? 0x8000 : 0;
    const u16 infinity = static_cast<u16>(((1 << exponent_bits) - 1) << mantissa_bits);
    const double m = std::fabs(hi), rest = std::signbit(hi) ? -lo : lo;
    if (std::isinf(m)) return sign | infinity;
    u32 low = 0, high = infinity;
    while (high - low > 1) {
      const u32 middle = (low + high) / 2;
      (value(static_cast<u16>(middle)) < m || (value(static_cast<u16>(middle)) == m && rest >= 0) ? low : high) =
          middle;
    }
    const double below = value(static_cast<u16>(low)), step = low + 1 == infinity
                                                                  ? below - value(static_cast<u16>(low - 1))
                                                                  : value(static_cast<u16>(low + 1)) - below;
    const double over = m - below - step / 2;
    const bool up = over > 0 || (over == 0 && (rest > 0 || (rest == 0 && (low & 1))));
    return sign | static_cast<u16>(low + up);
  }
  u16 sum(double a, double b) const {
    const double s = a + b, part = s - a, error = std::isfinite(s) ? (a - (s - part)) + (b - part) : 0;
    return round(s, error);
  }
};
constexpr Format kHalf{"f16", 5, 10}, kBfloat{"bf16", 8, 7};

template <class F>
void both(const Format& f, const std::string& op, const std::string& suffix, F reference) {
  const std::string name = op + "." + f.name;
  expect_lanes<u16, u16, u16, u16>(name + " %d, " + suffix + ";", reference);
  expect_lanes<u32, u32, u32, u32>(name + "x2 %d, " + suffix + ";", [&](u32 a, u32 b, u32 c) {
    return u32(u16(reference(u16(a >> 16), u16(b >> 16), u16(c >> 16)))) << 16 | u16(reference(u16(a), u16(b), u16(c)));
  });
}

void arithmetic(const Format& f) {
  both(f, "add.rn", "%a, %b", [&](u16 a, u16 b, u16) { return f.sum(f.value(a), f.value(b)); });
  both(f, "sub", "%a, %b", [&](u16 a, u16 b, u16) { return f.sum(f.value(a), -f.value(b)); });
  both(f, "mul", "%a, %b", [&](u16 a, u16 b, u16) { return f.round(f.value(a) * f.value(b), 0); });
  both(f, "fma.rn", "%a, %b, %c", [&](u16 a, u16 b, u16 c) { return f.sum(f.value(a) * f.value(b), f.value(c)); });
  both(f, "fma.rn.relu", "%a, %b, %c", [&](u16 a, u16 b, u16 c) {
    const u16 d = f.sum(f.value(a) * f.value(b), f.value(c));
    return d > 0x8000 ? u16(0) : d == 0x8000 ? u16(0) : d;
  });
  both(f, "neg", "%a", [](u16 a, u16, u16) { return u16(a ^ 0x8000); });
  both(f, "abs", "%a", [](u16 a, u16, u16) { return u16(a & 0x7fff); });
  const auto rank = [](u16 x) { return x & 0x8000 ? -1 - int(x & 0x7fff) : int(x); };
  const auto nan = [&](u16 x) { return std::isnan(f.value(x)); };
  const auto pick = [=](u16 a, u16 b, bool min) {
    return nan(a) ? (nan(b) ? u16(0x7fff) : b) : nan(b) || (rank(a) < rank(b)) == min ? a : b;
  };
  both(f, "min", "%a, %b", [&](u16 a, u16 b, u16) { return pick(a, b, true); });
  both(f, "max", "%a, %b", [&](u16 a, u16 b, u16) { return pick(a, b, false); });
  both(f, "max.NaN", "%a, %b", [&](u16 a, u16 b, u16) { return nan(a) || nan(b) ? u16(0x7fff) : pick(a, b, false); });
}

TEST(Half, Arithmetic) { arithmetic(kHalf); }
TEST(Half, BfloatArithmetic) { arithmetic(kBfloat); }

TEST(Half, SaturationAndFlush) {
  both(kHalf, "add.sat", "%a, %b", [](u16 a, u16 b, u16) {
    const double s = kHalf.value(kHalf.sum(kHalf.value(a), kHalf.value(b)));
    return std::isnan(s) || s <= 0 ? u16(0) : kHalf.round(std::min(s, 1.0), 0);
  });
  const auto flush = [](u16 x) { return x & 0x7c00 ? x : u16(x & 0x8000); };
  both(kHalf, "mul.ftz", "%a, %b",
       [&](u16 a, u16 b, u16) { return flush(kHalf.round(kHalf.value(flush(a)) * kHalf.value(flush(b)), 0)); });
}

TEST(Half, Comparisons) {
  expect_lanes<bool, u16, u16>("setp.lt.f16 %d, %a, %b;", [](u16 a, u16 b) { return kHalf.value(a) < kHalf.value(b); });
  expect_lanes<bool, u16, u16>("setp.neu.bf16 %d, %a, %b;",
                               [](u16 a, u16 b) { return kBfloat.value(a) != kBfloat.value(b); });
  expect_lanes<bool, u32, u32>("setp.ge.f16x2 %p|%d, %a, %b;",
                               [](u32 a, u32 b) { return kHalf.value(u16(a >> 16)) >= kHalf.value(u16(b >> 16)); });
  expect_lanes<u32, u32, u32>("set.gt.f16x2.f16x2 %d, %a, %b;", [](u32 a, u32 b) {
    return (kHalf.value(u16(a >> 16)) > kHalf.value(u16(b >> 16)) ? 0x3c000000u : 0) |
           (kHalf.value(u16(a)) > kHalf.value(u16(b)) ? 0x3c00u : 0);
  });
}

// PTX ISA 9.7.7.1, set: pairs set each true half to 1.0 or, in an integer, to 0xffff.
TEST(Half, SetOfPairsAndToHalves) {
  const auto pairs = [](const Format& f, const std::string& set, u32 truth, auto test) {
    expect_lanes<u32, u32, u32>("set." + set + " %d, %a, %b;", [&](u32 a, u32 b) {
      return (test(f.value(u16(a >> 16)), f.value(u16(b >> 16))) ? truth << 16 : 0) |
             (test(f.value(u16(a)), f.value(u16(b))) ? truth : 0);
    });
  };
  const auto is_greater = [](double a, double b) { return a > b; };
  pairs(kHalf, "gt.u32.f16x2", 0xffff, is_greater);
  pairs(kHalf, "gt.s32.f16x2", 0xffff, is_greater);
  pairs(kHalf, "neu.u32.f16x2", 0xffff, [](double a, double b) { return a != b; });
  pairs(kBfloat, "gt.u32.bf16x2", 0xffff, is_greater);
  pairs(kBfloat, "leu.s32.bf16x2", 0xffff, [](double a, double b) { return !(a > b); });
  pairs(kBfloat, "gt.bf16x2.bf16x2", 0x3f80, is_greater);
  expect_lanes<u32, u32, u32, u32>(
      "setp.ne.u32 %p, %c, 0;\nset.gt.and.u32.f16x2 %d, %a, %b, !%p;", [&](u32 a, u32 b, u32 c) {
        if (c != 0) return 0u;
        return (is_greater(kHalf.value(u16(a >> 16)), kHalf.value(u16(b >> 16))) ? 0xffff0000u : 0) |
               (is_greater(kHalf.value(u16(a)), kHalf.value(u16(b))) ? 0xffffu : 0);
      });
  expect_lanes<u16, float, float>("set.lt.f16.f32 %d, %a, %b;", [](float a, float b) { return a < b ? 0x3c00 : 0; });
  expect_lanes<u16, u32, u32>("set.lo.bf16.u32 %d, %a, %b;", [](u32 a, u32 b) { return a < b ? 0x3f80 : 0; });
  expect_lanes<u16, u16, u16>("set.lt.f16.u16 %d, %a, %b;", [](u16 a, u16 b) { return a < b ? 0x3c00 : 0; });
  expect_lanes<u16, u16, u16>("set.lt.u16.f16 %d, %a, %b;",
                              [](u16 a, u16 b) { return kHalf.value(a) < kHalf.value(b) ? 0xffff : 0; });
}

// PTX ISA 9.7.5, mixed precision: f16 operands are exact as f32; the result is rounded once.
TEST(Half, BesideSingles) {
  for (const Format& f : {kHalf, kBfloat}) {
    const auto single = [&](u16 bits) { return static_cast<float>(f.value(bits)); };
    const std::string type = std::string(".f32.") + f.name;
    expect_lanes<float, u16, float>(
        "add" + type + " %d, %a, %b;", [&](u16 a, float b) { return single(a) + b; }, 100);
    expect_lanes<float, u16, float>(
        "sub.rn" + type + " %d, %a, %b;", [&](u16 a, float b) { return single(a) - b; }, 100);
    expect_lanes<float, u16, u16, float>(
        "fma.rn" + type + " %d, %a, %b, %c;", [&](u16 a, u16 b, float c) { return std::fma(single(a), single(b), c); },
        100);
    expect_lanes<float, u16>(
        "add.sat" + type + " %d, %a, 0f3E800000;",
        [&](u16 a) {
          const float sum = single(a) + 0.25f;
          return std::isnan(sum) || sum < 0 ? 0.0f : std::min(sum, 1.0f);
        },
        100);
  }
}

// Without a rounding modifier, nearest: ptxas 13.0 generates the same code for cvt.bf16.f16 and cvt.rn.bf16.f16.
TEST(Half, BetweenHalves) {
  for (const char* rounding : {"", ".rn"}) {
    expect_lanes<u16, u16>("cvt" + std::string(rounding) + ".bf16.f16 %d, %a;",
                           [](u16 a) { return kBfloat.round(kHalf.value(a), 0); });
    expect_lanes<u16, u16>("cvt" + std::string(rounding) + ".f16.bf16 %d, %a;",
                           [](u16 a) { return kHalf.round(kBfloat.value(a), 0); });
  }
}

}  // namespace
}  // namespace ptx::emulator
