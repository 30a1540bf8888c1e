// RMSNorm against double.
#include "kernels/matmul/rmsnorm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "emulated_kernel.h"
#include "models/error.h"

namespace warpchat {
namespace {

struct RmsNormCase {
  const char* name;
  uint32_t n, columns;
  float eps;
  float size = 1, outlier = 1;  // scale of the values; one channel is `outlier` times larger
};
std::ostream& operator<<(std::ostream& out, const RmsNormCase& c) { return out << c.name; }

const RmsNormCase kCases[] = {
    {"one_value", 1, 1, 1e-6f},
    {"less_than_a_warp", 17, 2, 1e-6f},
    {"a_whole_round", 256, 1, 1e-6f},
    {"ragged", 897, 3, 1e-6f},  // the tail counts
    {"hidden_of_qwen", 3584, 1, 1e-6f},
    {"longer_than_held", 8200, 2, 1e-5f},
    {"outlier_channel", 2048, 1, 1e-6f, 1, 200},
    {"large", 896, 1, 1e-6f, 1e5f, 200},
    {"small_beside_eps", 896, 1, 1e-5f, 1e-4f},
    {"zeros", 896, 1, 1e-6f, 0},  // eps keeps it finite
};

class RmsNorm : public ::testing::TestWithParam<RmsNormCase> {};

TEST_P(RmsNorm, MatchesDouble) {
  const RmsNormCase& c = GetParam();
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> x(c.n * c.columns), gamma(c.n);
  for (float& value : x) value = c.size * normal(random);
  for (float& value : gamma) value = normal(random);
  for (uint32_t column = 0; column < c.columns; ++column) x[column * c.n] *= c.outlier;
  std::vector<double> expected;
  for (uint32_t column = 0; column < c.columns; ++column) {
    double squares = 0;
    for (uint32_t i = 0; i < c.n; ++i) squares += double{x[column * c.n + i]} * x[column * c.n + i];
    const double factor = 1 / std::sqrt(squares / c.n + c.eps);
    for (uint32_t i = 0; i < c.n; ++i) expected.push_back(x[column * c.n + i] * factor * gamma[i]);
  }
  GuardedDevice device(ptx::sm_75);
  const ptx::Kernel kernel = rmsnorm({c.n, c.columns, c.eps}, ptx::sm_75);
  float *from = device.upload(x), *weights = device.upload(gamma);
  for (uint64_t seed = 0; seed <= 2; ++seed) {
    float* y = seed == 2 ? from : device.poisoned<float>(x.size());  // also in place
    const auto launch = [&](auto... rest) {
      return device.run_as(seed == 0 ? kAllChecks : shaken(seed), kernel, kernel.launch.blocks, from, weights, y,
                           rest...);
    };
    ASSERT_EQ(c.columns == 1 ? launch() : launch(c.columns), "");
    expect_close(device.download(y, x.size()), expected, 1e-6);  // a few roundings and an approximate rsqrt
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, RmsNorm, ::testing::ValuesIn(kCases), [](const auto& row) { return row.param.name; });

TEST(RmsNormColumns, BeyondAreLeftAlone) {
  GuardedDevice device(ptx::sm_75);
  float *x = device.poisoned<float>(3 * 40), *y = device.poisoned<float>(3 * 40);
  std::fill_n(x, 40, 2.0f);
  device.mark_initialised(x, 40 * sizeof(float));
  ASSERT_EQ(device.run(rmsnorm({40, 3}, ptx::sm_75), x, device.upload(std::vector<float>(40, 3.0f)), y, 1u), "");
  for (uint32_t i = 0; i < 40; ++i) EXPECT_NEAR(y[i], 3, 1e-5);
  for (uint32_t i = 40; i < 120; ++i) EXPECT_TRUE(std::isnan(y[i])) << i;
}

TEST(RmsNormSpecs, AreCheckedByName) {
  try {
    rmsnorm({0}, ptx::sm_75);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "rmsnorm: n is 0, expected 1 to 2147483647");
  }
}

}  // namespace
}  // namespace warpchat
