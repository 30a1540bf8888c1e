// Encode and decode: each format's error on models' distributions and on shapes that are hard for scale searches, and
// errors for unusable input.
#include "tests/support/gguf/quantise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "models/block_types.h"
#include "models/dequantise.h"
#include "models/error.h"

namespace warpchat {
namespace {

using Row = std::vector<float>;

Row gaussian(size_t k, float sigma, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, sigma);
  Row row(k);
  for (float& w : row) w = normal(random);
  return row;
}

std::vector<double> round_trip(TensorType type, const Row& row) {
  const std::vector<std::byte> stored = quantise_row(type, row);
  EXPECT_EQ(stored.size(), bytes_per_row(type, row.size()));
  EXPECT_TRUE(scales_are_finite(type, stored));
  std::vector<double> back(row.size());
  dequantise_row(type, stored, std::span(back));
  return back;
}

double relative_error(const Row& row, const std::vector<double>& back) {
  double error = 0, norm = 0;
  for (size_t i = 0; i < row.size(); ++i) error += std::pow(row[i] - back[i], 2), norm += std::pow(row[i], 2);
  return std::sqrt(error / norm);
}

struct QuantiseCase {
  const char* name;
  TensorType type;
  double gaussian_error;  // allowed relative error for normally distributed weights, about 2% above the measured one
  double step;            // largest error of one weight, as a fraction of the grid's range
  bool symmetric;         // the grid spans the largest magnitude on both sides of zero, else from minimum to maximum
};

// step: 1 / (2 * levels) if rounding is the only error; 1 / levels if a grid around zero lacks one step at one end. K
// formats add the rounding of scale and minimum. Tables have steps of different sizes: MXFP4's last ones are a third of
// its maximum. Grids lack most combinations, so neighbours move a weight. The 16-bit formats round each weight by
// itself.
constexpr QuantiseCase kCases[] = {
    {"F32", TensorType::kF32, 0, 0, true},
    {"F16", TensorType::kF16, 2.2e-4, 1.0 / 4096, true},
    {"BF16", TensorType::kBF16, 1.7e-3, 1.0 / 512, true},
    {"Q8_0", TensorType::kQ8_0, 5.5e-3, 1.05 / 254, true},
    {"Q6_K", TensorType::kQ6_K, 1.8e-2, 1.2 / 63, true},
    {"Q5_1", TensorType::kQ5_1, 3.9e-2, 1.01 / 62, false},
    {"Q5_0", TensorType::kQ5_0, 4.4e-2, 1.01 / 31, true},
    {"Q5_K", TensorType::kQ5_K, 3.7e-2, 1.2 / 31, false},
    {"Q4_1", TensorType::kQ4_1, 8.0e-2, 1.01 / 30, false},
    {"Q4_0", TensorType::kQ4_0, 8.8e-2, 1.01 / 15, true},
    {"Q4_K", TensorType::kQ4_K, 7.3e-2, 1.2 / 15, false},
    {"Q3_K", TensorType::kQ3_K, 1.5e-1, 1.2 / 7, true},
    {"Q2_K", TensorType::kQ2_K, 2.9e-1, 1.2 / 3, false},
    {"IQ4_NL", TensorType::kIQ4_NL, 7.6e-2, 1.2 / 15, true},
    {"IQ4_XS", TensorType::kIQ4_XS, 7.7e-2, 1.2 / 15, true},
    {"MXFP4", TensorType::kMXFP4, 1.16e-1, 1.01 / 8, true},
    {"IQ3_S", TensorType::kIQ3_S, 1.39e-1, 0.17, true},
    {"IQ3_XXS", TensorType::kIQ3_XXS, 1.98e-1, 0.13, true},
    {"IQ2_S", TensorType::kIQ2_S, 2.7e-1, 0.22, true},
    {"IQ2_XS", TensorType::kIQ2_XS, 3.15e-1, 0.24, true},
    {"IQ2_XXS", TensorType::kIQ2_XXS, 3.7e-1, 0.72, true},
};
static_assert(has_every_format(kCases));

class Quantise : public testing::TestWithParam<QuantiseCase> {};

TEST_P(Quantise, KeepsGaussianWeights) {
  for (float sigma : {2e-2f, 1.0f, 300.0f}) {  // typical weights, and scales far from them
    const Row row = gaussian(8192, sigma, /*seed=*/1);
    EXPECT_LE(relative_error(row, round_trip(GetParam().type, row)), GetParam().gaussian_error) << "sigma " << sigma;
  }
}

TEST_P(Quantise, KeepsEveryWeightWithinAStep) {
  Row outlier = gaussian(256, 1, /*seed=*/2);
  outlier[77] = 200;  // one channel at 200 times the rms
  Row positive = gaussian(256, 1, /*seed=*/3), negative = positive, ramp(256);
  for (size_t i = 0; i < 256; ++i) {
    positive[i] = 5 + positive[i], negative[i] = -5 - negative[i], ramp[i] = static_cast<float>(i) - 100;
  }
  for (const Row& row : {gaussian(256, 1, 4), outlier, positive, negative, ramp}) {
    const auto [min, max] = std::minmax_element(row.begin(), row.end());
    const double grid = GetParam().symmetric ? 2.0 * std::max(std::fabs(*max), std::fabs(*min))
                                             : std::max(*max, 0.0f) - std::min(*min, 0.0f);
    const std::vector<double> back = round_trip(GetParam().type, row);
    for (size_t i = 0; i < row.size(); ++i) {
      EXPECT_LE(std::fabs(row[i] - back[i]), GetParam().step * grid) << "weight " << i << " is " << row[i];
    }
  }
}

TEST_P(Quantise, KeepsZerosAndConstants) {
  for (double back : round_trip(GetParam().type, Row(256, 0.0f))) EXPECT_EQ(back, 0);
  for (double back : round_trip(GetParam().type, Row(256, 1e-42f))) EXPECT_LE(std::fabs(back), 1e-41);
  for (float constant : {0.5f, -0.5f}) {
    const std::vector<double> back = round_trip(GetParam().type, Row(256, constant));
    for (double w : back) EXPECT_NEAR(w, constant, 0.5 * GetParam().step + 2e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Quantise, testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

// The error of dividing each sub-block's range, with unrounded scales: the search must beat it.
double error_of_divided_range(const Row& row, size_t sub_block, int levels) {
  double error = 0, norm = 0;
  for (size_t start = 0; start < row.size(); start += sub_block) {
    const auto [min, max] = std::minmax_element(row.begin() + start, row.begin() + start + sub_block);
    const double scale = (*max - *min) / levels;
    for (size_t i = start; i < start + sub_block; ++i) {
      const double back = *min + scale * std::round((row[i] - *min) / scale);
      error += std::pow(row[i] - back, 2), norm += std::pow(row[i], 2);
    }
  }
  return std::sqrt(error / norm);
}

TEST(QuantiseSearch, BeatsDividingTheRange) {
  const Row row = gaussian(1 << 16, 0.02f, /*seed=*/5);
  EXPECT_LT(relative_error(row, round_trip(TensorType::kQ4_K, row)), error_of_divided_range(row, 32, 15));
  EXPECT_LT(relative_error(row, round_trip(TensorType::kQ2_K, row)), 0.85 * error_of_divided_range(row, 16, 3));
}

void expect_error(TensorType type, const Row& row, const char* message) {
  try {
    quantise_row(type, row);
    FAIL() << "expected: " << message;
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), message);
  }
}

TEST(QuantiseErrors, NameTheFault) {
  expect_error(TensorType::kQ4_K, Row(576), "cannot quantise: Q4_K needs rows of a multiple of 256 weights, found 576");
  Row nan(64);
  nan[40] = NAN;
  expect_error(TensorType::kQ8_0, nan, "cannot quantise: weight 40 of 64 is nan");
  expect_error(TensorType::kQ8_0, Row(32, 1e9f), "cannot quantise: the scale 7874015.500000 exceeds binary16's 65504");
}

}  // namespace
}  // namespace warpchat
