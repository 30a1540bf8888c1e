// Conversions between integers, f32 and f64 compiled by nvcc: every rounding, at the limits of ranges.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "tests/cuda/cuda_text.h"

namespace ptx::emulator {
namespace {

using Rounding = long double (*)(long double);
struct NamedRounding {
  const char* name;
  Rounding whole;  // to an integer; long double holds every 64-bit integer
};
constexpr NamedRounding kRoundings[] = {
    {"_rn", [](long double v) { return std::nearbyint(v); }},
    {"_rz", [](long double v) { return std::trunc(v); }},
    {"_rd", [](long double v) { return std::floor(v); }},
    {"_ru", [](long double v) { return std::ceil(v); }},
};

template <class To>
To rounded_to(long double value, Rounding whole) {  // to a narrower real, for values within its normal range
  if (value == 0 || !std::isfinite(value)) return static_cast<To>(value);
  int exponent;
  std::frexp(value, &exponent);
  const int shift = std::numeric_limits<To>::digits - exponent;
  return static_cast<To>(std::ldexp(whole(std::ldexp(value, shift)), -shift));
}

class Conversions : public CudaKernels {
 protected:
  template <class To>
  static constexpr int kTopBit = int(sizeof(To)) * 8 - 1;
  template <class From, class To>
  void expect(const std::string& kernel, const std::vector<From>& from, const std::function<To(From)>& f) {
    const uint32_t n = from.size();
    auto* to = zeros<To>(n);
    launch(kernel.c_str(), {(n + 127) / 128}, {128}, upload(from), to, int(n));
    for (uint32_t i = 0; i < n; ++i) {
      const To want = f(from[i]);
      if constexpr (std::is_floating_point_v<To>) {
        if (std::isnan(to[i]) && std::isnan(want)) continue;
      }
      ASSERT_EQ(to[i], want) << kernel << " of " << +from[i];
    }
  }

  // Clamps to the range. NaN gives 0 if neither side has 64 bits, else only the most significant bit (PTX ISA, cvt).
  template <class From, class To>
  void expect_to_integer(const std::string& name) {
    for (const NamedRounding& r : kRoundings) {
      expect<From, To>(name + r.name, reals<From>(), [&](From v) -> To {
        if (std::isnan(v)) return std::max(sizeof(From), sizeof(To)) == 8 ? static_cast<To>(To{1} << kTopBit<To>) : 0;
        const long double whole = r.whole(v);
        if (whole <= static_cast<long double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
        if (whole >= static_cast<long double>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
        return static_cast<To>(whole);
      });
    }
  }
  template <class From, class To>
  void expect_from_integer(const std::string& name) {
    for (const NamedRounding& r : kRoundings)
      expect<From, To>(name + r.name, integers<From>(), [&](From v) { return rounded_to<To>(v, r.whole); });
  }

  template <class T>
  static std::vector<T> reals() {
    std::vector<T> values = {0,      T(-0.0),     T(0.5),       T(1.5),   T(2.5),          T(-0.5),          T(-1.5),
                             T(NAN), T(INFINITY), T(-INFINITY), T(1e-40), T(2147483647.5), T(-2147483648.5), T(1e30)};
    for (int bits : {7, 8, 15, 16, 23, 24, 31, 32, 52, 53, 63, 64}) {
      const T power = std::ldexp(T(1), bits);
      for (T v : {power, std::nextafter(power, T(0)), std::nextafter(power, T(INFINITY)), power / 2 + T(0.5)}) {
        values.push_back(v);
        values.push_back(-v);
      }
    }
    for (int v : random_integers<int>(60, -100000, 100000)) values.push_back(static_cast<T>(v) / 64);
    return values;
  }
  template <class T>
  static std::vector<T> integers() {
    std::vector<T> values = {0, 1, std::numeric_limits<T>::max(), std::numeric_limits<T>::min()};
    for (int bit = 7; bit < int(sizeof(T)) * 8; ++bit) {
      const T power = static_cast<T>(uint64_t{1} << bit);
      for (int by = -2; by <= 2; ++by) values.push_back(static_cast<T>(static_cast<uint64_t>(power) + by));
      if (bit > 53) values.push_back(static_cast<T>(static_cast<uint64_t>(power) + (uint64_t{3} << (bit - 53))));
      if (bit > 24) values.push_back(static_cast<T>(static_cast<uint64_t>(power) + (uint64_t{3} << (bit - 24))));
    }
    for (int64_t v : random_integers<int64_t>(60, INT64_MIN, INT64_MAX)) values.push_back(static_cast<T>(v));
    return values;
  }
};

TEST_P(Conversions, RealsToIntegers) {
  expect_to_integer<float, int32_t>("f32_to_s32");
  expect_to_integer<float, uint32_t>("f32_to_u32");
  expect_to_integer<float, int64_t>("f32_to_s64");
  expect_to_integer<float, uint64_t>("f32_to_u64");
  expect_to_integer<double, int32_t>("f64_to_s32");
  expect_to_integer<double, uint32_t>("f64_to_u32");
  expect_to_integer<double, int64_t>("f64_to_s64");
  expect_to_integer<double, uint64_t>("f64_to_u64");
}

TEST_P(Conversions, IntegersToReals) {
  expect_from_integer<int32_t, float>("s32_to_f32");
  expect_from_integer<uint32_t, float>("u32_to_f32");
  expect_from_integer<int64_t, float>("s64_to_f32");
  expect_from_integer<uint64_t, float>("u64_to_f32");
  expect_from_integer<int64_t, double>("s64_to_f64");
  expect_from_integer<uint64_t, double>("u64_to_f64");
  expect<int32_t, double>("s32_to_f64", integers<int32_t>(), [](int32_t v) { return v; });
  expect<uint32_t, double>("u32_to_f64", integers<uint32_t>(), [](uint32_t v) { return v; });
}

TEST_P(Conversions, BetweenReals) {
  expect<float, double>("f32_to_f64", reals<float>(), [](float v) { return v; });
  std::vector<double> values;
  for (double v : reals<double>())
    if (v == 0 || !std::isfinite(v) || (std::fabs(v) > 1e-37 && std::fabs(v) < 1e38)) values.push_back(v);
  for (float v : random_floats(60, -1, 1)) values.push_back(v * 1.2345678901234);
  for (const NamedRounding& r : kRoundings)
    expect<double, float>(std::string("f64_to_f32") + r.name, values,
                          [&](double v) { return rounded_to<float>(v, r.whole); });
  // Subnormal and overflowing results, rounded to nearest by the host.
  expect<double, float>("f64_to_f32_rn", {1e-45, 7e-46, 7.1e-46, 1.1e-39, -2e-40, 3.4028235e38, 3.5e38, -1e300},
                        [](double v) { return static_cast<float>(v); });
}

TEST_P(Conversions, CastsOfEveryWidth) {
  expect<int64_t, int8_t>("s64_to_s8", integers<int64_t>(), [](int64_t v) { return static_cast<int8_t>(v); });
  expect<int64_t, uint8_t>("s64_to_u8", integers<int64_t>(), [](int64_t v) { return static_cast<uint8_t>(v); });
  expect<int64_t, int16_t>("s64_to_s16", integers<int64_t>(), [](int64_t v) { return static_cast<int16_t>(v); });
  expect<int64_t, uint16_t>("s64_to_u16", integers<int64_t>(), [](int64_t v) { return static_cast<uint16_t>(v); });
  expect<int64_t, int32_t>("s64_to_s32", integers<int64_t>(), [](int64_t v) { return static_cast<int32_t>(v); });
  expect<int8_t, int64_t>("s8_to_s64", integers<int8_t>(), [](int8_t v) { return v; });
  expect<uint8_t, int64_t>("u8_to_s64", integers<uint8_t>(), [](uint8_t v) { return v; });
  expect<int16_t, int64_t>("s16_to_s64", integers<int16_t>(), [](int16_t v) { return v; });
  expect<uint16_t, uint64_t>("u16_to_u64", integers<uint16_t>(), [](uint16_t v) { return v; });
  expect<int32_t, uint64_t>("s32_to_u64", integers<int32_t>(), [](int32_t v) { return static_cast<uint64_t>(v); });
  expect<int8_t, float>("s8_to_f32", integers<int8_t>(), [](int8_t v) { return v; });
  expect<uint16_t, float>("u16_to_f32", integers<uint16_t>(), [](uint16_t v) { return v; });
  std::vector<float> in_range;  // a cast of larger values is undefined
  for (float v : random_floats(100, -128, 127)) in_range.push_back(v);
  expect<float, int>("f32_to_s8", in_range, [](float v) { return static_cast<int8_t>(v); });
  for (float& v : in_range) v *= 250;
  expect<float, int>("f32_to_s16", in_range, [](float v) { return static_cast<int16_t>(v); });
}

TEST_P(Conversions, Reinterpretations) {
  const auto doubles = reals<double>();
  const auto wide = random_floats(doubles.size(), -100, 100);
  const int n = static_cast<int>(doubles.size());
  auto* to = zeros<uint64_t>(n);
  auto* bits = zeros<uint32_t>(n);
  launch("reinterpret", {2}, {128}, upload(doubles), upload(wide), to, bits, n);
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(to[i], std::rotl(std::bit_cast<uint64_t>(doubles[i]), 32) ^ 5);
    EXPECT_EQ(bits[i], __builtin_bswap32(std::bit_cast<uint32_t>(wide[i])));
  }
}
INSTANTIATE_CUDA(Conversions, "conversions");

}  // namespace
}  // namespace ptx::emulator
