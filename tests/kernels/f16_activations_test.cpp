// Conversion of activations to f16, against double.
#include "kernels/matmul/f16_activations.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "models/half.h"
#include "tests/kernels/gemv_problem.h"

namespace warpchat {
namespace {

constexpr float kEps = 1e-6f;

struct F16ActivationsCase {
  const char* name;
  uint32_t k, n_columns;
  bool normalises = true;
  float size = 1;  // scale of the values; one channel is 200 times larger
};
std::ostream& operator<<(std::ostream& out, const F16ActivationsCase& c) { return out << c.name; }

class F16ActivationsProblem {
 public:
  explicit F16ActivationsProblem(const F16ActivationsCase& c)
      : case_(c), x(outlier_floats(c.n_columns, c.k, 1)), gamma_(normal_floats(c.k, 2)) {
    for (float& v : x) v *= 1.0003f * c.size;  // otherwise f16 would hold the outliers exactly
  }

  // Returns f64 [n_columns, f16_activation_values(k)], in the order of k.
  std::vector<double> run(ptx::Target target, const ptx::emulator::LaunchOptions& options = kAllChecks) const {
    GuardedDevice device(target);
    float* gamma = case_.normalises ? device.upload(gamma_) : nullptr;
    const F16Activations made =
        made_f16_activations(device, target, device.upload(x), gamma, kEps, case_.k, case_.n_columns, options);
    std::vector<double> values(case_.n_columns * stride());
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t column = i / stride(), of_unit = i % 32, octet = of_unit / 8, value = of_unit % 8;
      const size_t place = i - of_unit + octet * 4 + value % 4 + value / 4 * 16;
      values[place] = number(made, column, i % stride()) * made.factors[column];
    }
    expect_means(made);
    return values;
  }
  void expect_right(const std::vector<double>& values) const {
    for (uint32_t c = 0; c < case_.n_columns; ++c) {
      double squares = 0, max = 0;
      const auto value = [&](uint32_t i) { return double{x[size_t{c} * case_.k + i]}; };
      for (uint32_t i = 0; i < case_.k; ++i) squares += value(i) * value(i);
      const double factor = 1 / std::sqrt(squares / case_.k + kEps);
      const auto expected = [&](uint32_t i) { return case_.normalises ? value(i) * factor * gamma_[i] : value(i); };
      for (uint32_t i = 0; i < case_.k; ++i) max = std::max(max, std::abs(expected(i)));
      for (uint32_t i = 0; i < case_.k; ++i) {
        // Half of the last of 11 bits, or a subnormal step where the largest value is above 2^14, plus rsqrt's error.
        const double allowed = std::abs(expected(i)) * (0x1p-11 + 1e-6) + max * 0x1p-39;
        ASSERT_NEAR(values[c * stride() + i], expected(i), allowed) << "column " << c << ", value " << i;
      }
      for (uint32_t i = case_.k; i < stride(); ++i) ASSERT_EQ(values[c * stride() + i], 0) << "beyond k, " << i;
    }
  }
  size_t stride() const { return f16_activation_values(case_.k); }

 private:
  double number(const F16Activations& made, size_t column, size_t i) const {
    return to_float(f16{made.halves[column * f16_activation_size(case_.k) + i]});
  }
  // Two f16 values hold 22 bits of the mean of 16, down to the smallest subnormal.
  void expect_means(const F16Activations& made) const {
    for (size_t column = 0; column < case_.n_columns; ++column) {
      for (size_t mean = 0; mean < stride() / kHalfMeanValues; ++mean) {
        double expected = 0;
        for (size_t i = 0; i < kHalfMeanValues; ++i)
          expected += number(made, column, mean / 2 * 32 + i / 4 * 8 + mean % 2 * 4 + i % 4) / kHalfMeanValues;
        const size_t at = stride() + 2 * mean;
        const double found = number(made, column, at) + number(made, column, at + 1);
        if (std::isfinite(expected))
          ASSERT_NEAR(found, expected, std::abs(expected) * 0x1p-21 + 0x1p-24) << "column " << column << ", " << mean;
        else
          ASSERT_FALSE(std::isfinite(found));
      }
    }
  }

  const F16ActivationsCase& case_;

 public:
  std::vector<float> x;

 private:
  std::vector<float> gamma_;
};

const F16ActivationsCase kCases[] = {
    {"one_value", 1, 2},
    {"ends_in_a_quad", 257, 3},
    {"ends_in_a_unit", 36, 2},
    {"ends_in_a_step", 160, 2, false},
    {"hidden_of_qwen", 3584, 2},
    {"more_than_threads_take_at_once", 8960, 1, false},
    {"in_three_turns", 25088, 1},
    {"large", 512, 2, false, 1e30f},
    {"large_beside_squares", 512, 2, true, 1e12f},
    {"small_beside_eps", 512, 1, true, 1e-8f},
    {"zeros", 128, 2, true, 0},
};
class F16ActivationsTest : public ::testing::TestWithParam<F16ActivationsCase> {};

TEST_P(F16ActivationsTest, RoundsTo11Bits) {
  const F16ActivationsProblem problem(GetParam());
  for (const ptx::Target target : {ptx::sm_75, ptx::sm_80}) problem.expect_right(problem.run(target));
  for (uint64_t seed = 1; seed < 3; ++seed) problem.expect_right(problem.run(ptx::sm_90, shaken(seed)));
}
INSTANTIATE_TEST_SUITE_P(Cases, F16ActivationsTest, ::testing::ValuesIn(kCases),
                         [](const auto& c) { return c.param.name; });

TEST(F16ActivationsInput, NonFiniteInputStaysInItsColumn) {
  for (const bool normalises : {false, true}) {
    for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      const F16ActivationsCase c{"none", 256, 2, normalises};
      F16ActivationsProblem problem(c);
      problem.x[256 + 77] = value;
      const std::vector<double> values = problem.run(ptx::sm_75);
      EXPECT_FALSE(std::isfinite(values[256 + 77]));
      EXPECT_TRUE(std::isfinite(values[77])) << "the other column";
    }
  }
}

TEST(F16ActivationsNames, SayWhetherKEndsInAQuad) {
  EXPECT_EQ(name_of(F16ActivationsSpec{kEps}), "f16_activations");
  EXPECT_EQ(name_of(F16ActivationsSpec{kEps, false}), "f16_activations_k1");
}

}  // namespace
}  // namespace warpchat
