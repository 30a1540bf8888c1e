// cvt between every pair of types, with every rounding, against C++ and an exact reference.
#include <cfenv>
#include <utility>

#include "tests/emulator/lane_function.h"

namespace ptx::emulator {
namespace {

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using s8 = int8_t;
using s16 = int16_t;
using s32 = int32_t;
using s64 = int64_t;

template <class D, class S>
D clamped(S s) {
  const __int128 value = s, low = std::numeric_limits<D>::min(), high = std::numeric_limits<D>::max();
  return static_cast<D>(std::clamp(value, low, high));
}

template <class D, class S>
void integers(const std::string& types) {
  using RD = std::conditional_t<sizeof(D) == 1, u16, D>;
  using RS = std::conditional_t<sizeof(S) == 1, u16, S>;
  expect_lanes<RD, RS>("cvt." + types + " %d, %a;",
                       [](RS a) { return static_cast<RD>(static_cast<D>(static_cast<S>(a))); });
  if constexpr (std::cmp_less(std::numeric_limits<S>::min(), std::numeric_limits<D>::min()) ||
                std::cmp_greater(std::numeric_limits<S>::max(), std::numeric_limits<D>::max()))  // else .sat is refused
    expect_lanes<RD, RS>("cvt.sat." + types + " %d, %a;",
                         [](RS a) { return static_cast<RD>(clamped<D>(static_cast<S>(a))); });
}

TEST(Convert, Integers) {
  integers<u8, s32>("u8.s32");
  integers<s8, s16>("s8.s16");
  integers<u16, u32>("u16.u32");
  integers<s16, s64>("s16.s64");
  integers<u32, s8>("u32.s8");
  integers<s32, u8>("s32.u8");
  integers<u32, s64>("u32.s64");
  integers<s32, u64>("s32.u64");
  integers<u64, s32>("u64.s32");
  integers<s64, u16>("s64.u16");
  integers<u64, s64>("u64.s64");
}

TEST(Convert, WideRegisters) {  // a narrow type in a wider register: low bits in, extended by the type's sign out
  expect_lanes<u32, u32>("cvt.s8.s32 %d, %a;", [](u32 a) { return static_cast<u32>(static_cast<s8>(a)); });
  expect_lanes<u32, u32>("cvt.u16.u32 %d, %a;", [](u32 a) { return a & 0xffff; });
  expect_lanes<u32, u32>("cvt.s32.s8 %d, %a;", [](u32 a) { return static_cast<u32>(static_cast<s8>(a)); });
  expect_lanes<u64, u64>("cvt.s64.s16 %d, %a;", [](u64 a) { return static_cast<u64>(static_cast<s16>(a)); });
}

template <class T>
T whole(T x, const std::string& mode) {
  if (mode == "rzi") return std::trunc(x);
  if (mode == "rmi") return std::floor(x);
  if (mode == "rpi") return std::ceil(x);
  return std::nearbyint(x);
}

template <class D, class S>
void to_integer(const std::string& types) {
  for (const char* mode : {"rni", "rzi", "rmi", "rpi"}) {
    expect_lanes<D, S>("cvt." + std::string(mode) + "." + types + " %d, %a;", [&](S a) {
      if (std::isnan(a)) return static_cast<D>(sizeof(S) == 8 || sizeof(D) == 8 ? u64(1) << (8 * sizeof(D) - 1) : 0);
      const long double r = whole(static_cast<long double>(a), mode);
      if (r >= static_cast<long double>(std::numeric_limits<D>::max())) return std::numeric_limits<D>::max();
      if (r <= static_cast<long double>(std::numeric_limits<D>::min())) return std::numeric_limits<D>::min();
      return static_cast<D>(r);
    });
  }
}

TEST(Convert, RealToInteger) {  // saturates; NaN gives 0 between 32-bit types and the lone top bit otherwise
  to_integer<s32, float>("s32.f32");
  to_integer<u32, float>("u32.f32");
  to_integer<s64, float>("s64.f32");
  to_integer<u64, float>("u64.f32");
  to_integer<s32, double>("s32.f64");
  to_integer<u64, double>("u64.f64");
  to_integer<s16, float>("s16.f32");
  expect_lanes<u16, float>("cvt.rzi.u8.f32 %d, %a;", [](float a) {
    return std::isnan(a) || a < 0 ? 0 : a > 255 ? 255 : static_cast<u16>(a);
  });
}

struct RoundingCase {
  const char* name;
  int mode;
};
constexpr RoundingCase kRoundings[] = {
    {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

template <class D, class S>
D round_integer(S s, int mode) {
  std::fesetround(mode);
  volatile long double exact = static_cast<long double>(s);
  volatile D d = static_cast<D>(exact);
  std::fesetround(FE_TONEAREST);
  return d;
}

TEST(Convert, IntegerToReal) {
  for (const RoundingCase& r : kRoundings) {
    const std::string head = "cvt." + std::string(r.name);
    expect_lanes<float, s32>(head + ".f32.s32 %d, %a;", [&](s32 a) { return round_integer<float>(a, r.mode); });
    expect_lanes<float, u32>(head + ".f32.u32 %d, %a;", [&](u32 a) { return round_integer<float>(a, r.mode); });
    expect_lanes<float, s64>(head + ".f32.s64 %d, %a;", [&](s64 a) { return round_integer<float>(a, r.mode); });
    expect_lanes<float, u64>(head + ".f32.u64 %d, %a;", [&](u64 a) { return round_integer<float>(a, r.mode); });
    expect_lanes<double, s64>(head + ".f64.s64 %d, %a;", [&](s64 a) { return round_integer<double>(a, r.mode); });
    expect_lanes<double, u64>(head + ".f64.u64 %d, %a;", [&](u64 a) { return round_integer<double>(a, r.mode); });
    expect_lanes<double, s32>(head + ".f64.s32 %d, %a;", [&](s32 a) { return static_cast<double>(a); });
  }
}

float canonical(float x) { return std::isnan(x) ? std::bit_cast<float>(0x7fffffffu) : x; }

TEST(Convert, BetweenFloatAndDouble) {
  for (const RoundingCase& r : kRoundings) {
    expect_lanes<float, double>("cvt." + std::string(r.name) + ".f32.f64 %d, %a;", [&](double a) {
      std::fesetround(r.mode);
      volatile double x = a;
      volatile float d = static_cast<float>(x);
      std::fesetround(FE_TONEAREST);
      return canonical(d);
    });
  }
  expect_lanes<double, float>("cvt.f64.f32 %d, %a;", [](float a) { return static_cast<double>(a); });
  expect_lanes<float, float>("cvt.sat.f32.f32 %d, %a;",
                             [](float a) { return std::isnan(a) || a <= 0 ? 0.0f : std::min(a, 1.0f); });
  for (const char* mode : {"rni", "rzi", "rmi", "rpi"}) {
    expect_lanes<float, float>("cvt." + std::string(mode) + ".f32.f32 %d, %a;",
                               [&](float a) { return whole(a, mode); });
    expect_lanes<double, double>("cvt." + std::string(mode) + ".f64.f64 %d, %a;",
                                 [&](double a) { return whole(a, mode); });
  }
}

// Nearest pattern of a small format by exhaustive search: slow but certain.
struct Small {
  int exponent_bits, mantissa_bits;
  bool finite_only;
  double value(u32 bits) const {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const u32 field = bits >> mantissa_bits & ((1u << exponent_bits) - 1),
              mantissa = bits & ((1u << mantissa_bits) - 1);
    if (!finite_only && field == (1u << exponent_bits) - 1) return mantissa ? NAN : INFINITY;
    if (finite_only &&
        (bits & ((1u << (exponent_bits + mantissa_bits)) - 1)) == (1u << (exponent_bits + mantissa_bits)) - 1)
      return NAN;
    return std::ldexp(field ? mantissa + double(1u << mantissa_bits) : mantissa,
                      static_cast<int>(field ? field : 1) - bias - mantissa_bits);
  }
  // `mode`: rn or rz; beyond the largest: infinity for rn, or the largest if it saturates
  u32 round(double x, const std::string& mode, bool satfinite) const {
    const u32 sign_bit = 1u << (exponent_bits + mantissa_bits), sign = std::signbit(x) ? sign_bit : 0;
    if (std::isnan(x)) return sign_bit - 1;
    const u32 top =
        finite_only ? sign_bit - 2 : ((1u << exponent_bits) - 1) << mantissa_bits;  // infinity, or the largest
    const double m = std::fabs(x);
    u32 low = 0, high = finite_only ? top + 1 : top + 1;
    while (high - low > 1) {  // find the largest pattern not above m
      const u32 middle = (low + high) / 2;
      (value(middle) <= m ? low : high) = middle;
    }
    u32 best = low;
    const double below = value(low), above = low < top ? value(low + 1) : NAN;
    const double beyond = std::isinf(above) ? 2 * below - value(low - 1) : above;  // the value that infinity replaces
    if (mode == "rn" && low < top && (m - below > beyond - m || (m - below == beyond - m && (low & 1)))) best = low + 1;
    if (satfinite && !finite_only && best == top) best = top - 1;
    return sign | best;
  }
};
constexpr Small kHalf{5, 10, false}, kBfloat{8, 7, false}, kE4m3{4, 3, true}, kE5m2{5, 2, false};

TEST(Convert, ToHalves) {
  for (const std::string mode : {"rn", "rz"}) {
    expect_lanes<u16, float>("cvt." + mode + ".f16.f32 %d, %a;",
                             [&](float a) { return static_cast<u16>(kHalf.round(a, mode, false)); });
    expect_lanes<u16, float>("cvt." + mode + ".bf16.f32 %d, %a;",
                             [&](float a) { return static_cast<u16>(kBfloat.round(a, mode, false)); });
    expect_lanes<u32, float, float>("cvt." + mode + ".f16x2.f32 %d, %a, %b;", [&](float a, float b) {
      return kHalf.round(a, mode, false) << 16 | kHalf.round(b, mode, false);
    });
    expect_lanes<u32, float, float>("cvt." + mode + ".bf16x2.f32 %d, %a, %b;", [&](float a, float b) {
      return kBfloat.round(a, mode, false) << 16 | kBfloat.round(b, mode, false);
    });
  }
  expect_lanes<u16, double>("cvt.rn.f16.f64 %d, %a;",
                            [](double a) { return static_cast<u16>(kHalf.round(a, "rn", false)); });
  expect_lanes<u16, s32>("cvt.rn.f16.s32 %d, %a;", [](s32 a) { return static_cast<u16>(kHalf.round(a, "rn", false)); });
  expect_lanes<u16, float>("cvt.rn.relu.f16.f32 %d, %a;",
                           [](float a) { return static_cast<u16>(a <= 0 ? 0 : kHalf.round(a, "rn", false)); });
  expect_lanes<u16, float>("cvt.rn.sat.f16.f32 %d, %a;", [](float a) {
    return static_cast<u16>(std::isnan(a) || a <= 0 ? 0 : kHalf.round(std::min(a, 1.0f), "rn", false));
  });
}

TEST(Convert, FromHalves) {  // every pattern of both formats
  std::vector<u16> all(65536 + 77);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<u16>(i);
  for (InstructionSet set : instruction_sets()) {
    const auto halves = evaluate<float, u16>("cvt.f32.f16 %d, %a;", set, 90, all),
               bfloats = evaluate<float, u16>("cvt.f32.bf16 %d, %a;", set, 90, all);
    for (size_t i = 0; i < 65536; ++i) {
      const double sign = i >> 15 ? -1 : 1;
      ASSERT_TRUE(same_bits(halves[i], static_cast<float>(sign * kHalf.value(i & 0x7fff)))) << i << ": " << halves[i];
      ASSERT_TRUE(same_bits(bfloats[i], static_cast<float>(sign * kBfloat.value(i & 0x7fff))))
          << i << ": " << bfloats[i];
    }
  }
}

TEST(Convert, ToTf32AndFp8) {
  expect_lanes<u32, float>("cvt.rna.tf32.f32 %d, %a;", [](float a) {
    if (std::isnan(a)) return 0x7fffffffu;
    const u32 bits = std::bit_cast<u32>(a);
    return (bits & 0x7fffffffu) >= 0x7f800000u ? bits : (bits + 0x1000u) & ~0x1fffu;
  });
  expect_lanes<u16, float, float>("cvt.rn.satfinite.e4m3x2.f32 %d, %a, %b;", [](float a, float b) {
    return static_cast<u16>(kE4m3.round(a, "rn", true) << 8 | kE4m3.round(b, "rn", true));
  });
  expect_lanes<u16, float, float>("cvt.rn.satfinite.e5m2x2.f32 %d, %a, %b;", [](float a, float b) {
    return static_cast<u16>(kE5m2.round(a, "rn", true) << 8 | kE5m2.round(b, "rn", true));
  });
  expect_lanes<u32, u16>("cvt.rn.f16x2.e4m3x2 %d, %a;", [](u16 a) {
    const auto half = [](u32 x) { return kHalf.round((x & 128 ? -1 : 1) * kE4m3.value(x & 127), "rn", false); };
    return half(a >> 8) << 16 | half(a & 255);
  });
}

TEST(Convert, PackWithSaturation) {
  expect_lanes<u32, s32, s32>("cvt.pack.sat.s16.s32 %d, %a, %b;",
                              [](s32 a, s32 b) { return u32(u16(clamped<s16>(a))) << 16 | u16(clamped<s16>(b)); });
  expect_lanes<u32, s32, s32, u32>("cvt.pack.sat.u8.s32.b32 %d, %a, %b, %c;", [](s32 a, s32 b, u32 c) {
    return c << 16 | u32(clamped<u8>(a)) << 8 | clamped<u8>(b);
  });
}

TEST(Convert, MovesPackAndUnpack) {
  expect_lanes<u64, u32, u32>("mov.b64 %d, {%a, %b};", [](u32 a, u32 b) { return u64(b) << 32 | a; });
  expect_lanes<u32, u64>("mov.b64 {_, %d}, %a;", [](u64 a) { return static_cast<u32>(a >> 32); });
  expect_lanes<u32, u16, u16>("mov.b32 %d, {%a, %b};", [](u16 a, u16 b) { return u32(b) << 16 | a; });
  expect_lanes<u16, u64>("mov.b64 {%h, %g, %d, _}, %a;", [](u64 a) { return static_cast<u16>(a >> 32); });
}

}  // namespace
}  // namespace ptx::emulator
