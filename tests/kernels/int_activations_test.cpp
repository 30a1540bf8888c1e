// Quantised activations against double, in the layout that the products of several columns read.
#include "kernels/matmul/int_activations.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/kernels/gemv_problem.h"

namespace warpchat {
namespace {

using Layout = ColumnsLayout;
constexpr float kEps = 1e-6f;

struct IntActivationsCase {
  const char* name;
  uint32_t k, n_columns;
  bool normalises = true;
};
std::ostream& operator<<(std::ostream& out, const IntActivationsCase& c) { return out << c.name; }

// Byte of value i of a unit: lane t holds values 4 t to 4 t + 3, and those plus 16.
uint8_t byte_of(const uint32_t* unit, uint32_t column, uint32_t plane, uint32_t i) {
  const uint32_t word = unit[column * 16 + i % 16 / 4 * 4 + plane * 2 + i / 16];
  return static_cast<uint8_t>(word >> (i % 4 * 8));
}

class IntActivationsTest : public ::testing::TestWithParam<IntActivationsCase> {};

TEST_P(IntActivationsTest, AreThoseOfEachUnit) {
  const auto& [name, k, n_columns, normalises] = GetParam();
  const std::vector<float> x = outlier_floats(n_columns, k, 1), gamma = normal_floats(k, 2);
  for (const ptx::Target target : {ptx::sm_75, ptx::sm_90}) {
    GuardedDevice device(target);
    const IntActivations made =
        made_integers(device, target, device.upload(x), normalises ? device.upload(gamma) : nullptr, kEps, k, n_columns,
                      target == ptx::sm_90 ? shaken(1) : kAllChecks);
    const uint32_t n_units = k / 32;
    for (uint32_t c = 0; c < int_activation_blocks(n_columns); ++c) {
      double squares = 0;
      for (uint32_t i = 0; i < k && c < n_columns; ++i) squares += double{x[c * k + i]} * x[c * k + i];
      const double factor = normalises ? 1 / std::sqrt(squares / k + kEps) : 1;
      if (c < n_columns) {
        ASSERT_NEAR(made.factors[c], factor, 1e-5 * factor);
      }
      for (uint32_t u = 0; u < n_units; ++u) {
        const uint32_t* unit = made.integers + (c / 8 * n_units + u) * Layout::kUnit;
        const uint32_t column = c % 8;
        const float scale = reinterpret_cast<const float*>(unit)[Layout::kScales + column];
        int32_t sums[2] = {};
        double max = 0;
        const auto value = [&](uint32_t i) {
          if (c >= n_columns) return 0.0;
          return double{x[c * k + u * 32 + i]} * (normalises ? gamma[u * 32 + i] : 1);
        };
        for (uint32_t i = 0; i < 32; ++i) max = std::max(max, std::abs(value(i)));
        for (uint32_t i = 0; i < 32; ++i) {
          const int32_t n = 256 * static_cast<int8_t>(byte_of(unit, column, 0, i)) + byte_of(unit, column, 1, i);
          sums[i / 16] += n;
          ASSERT_NEAR(n * double{scale}, value(i), max / 32512 * 0.51) << "column " << c << ", unit " << u;
        }
        ASSERT_EQ(static_cast<int32_t>(unit[Layout::kFirstSums + column]), sums[0]);
        ASSERT_EQ(static_cast<int32_t>(unit[Layout::kLastSums + column]), sums[1]);
        ASSERT_EQ(static_cast<int32_t>(unit[Layout::kSums + column]), sums[0] + sums[1]);
      }
    }
  }
}
constexpr IntActivationsCase kCases[] = {
    {"one_unit", 32, 1},
    {"ends_in_a_round", 160, 9},
    {"hidden_of_qwen", 896, 8},
    {"more_than_warps_take_at_once", 8960, 2, false},
    {"more_that_are_normalised", 5120, 3},
};
INSTANTIATE_TEST_SUITE_P(Cases, IntActivationsTest, ::testing::ValuesIn(kCases),
                         [](const auto& c) { return c.param.name; });

TEST(IntActivationsInput, NonFiniteInputStaysInItsColumn) {
  std::vector<float> x = normal_floats(2 * 64, 1);
  x[64 + 7] = std::numeric_limits<float>::quiet_NaN(), x[64 + 40] = std::numeric_limits<float>::infinity();
  GuardedDevice device(ptx::sm_75);
  const IntActivations made = made_integers(device, ptx::sm_75, device.upload(x), nullptr, kEps, 64, 2, kAllChecks);
  for (uint32_t u = 0; u < 2; ++u) {
    const float* scales = reinterpret_cast<const float*>(made.integers + u * Layout::kUnit) + Layout::kScales;
    EXPECT_TRUE(std::isfinite(scales[0])) << "the other column";
    EXPECT_FALSE(std::isfinite(scales[1]));
  }
}

}  // namespace
}  // namespace warpchat
