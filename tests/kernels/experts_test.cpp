// Mixtures of experts in the emulator against double precision: routing, single products, and their sum.
#include "kernels/experts/experts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/error.h"
#include "tests/kernels/routed_problem.h"
#include "tests/support/error_of.h"

namespace warpchat {
namespace {

using enum GemvPrologue;
using enum GemvEpilogue;
using enum TensorType;

struct RouteCase {
  const char* name;
  RouteSpec spec;
  void (*set)(std::vector<float>& scores) = [](std::vector<float>&) {};
};
std::ostream& operator<<(std::ostream& out, const RouteCase& c) { return out << name_of(c.spec); }

class Route : public ::testing::TestWithParam<RouteCase> {};

TEST_P(Route, ChoosesTheBestAndWeighsThem) {
  const RouteSpec& s = GetParam().spec;
  std::vector<float> scores = normal_floats(size_t{s.columns} * s.n, 1);
  for (float& score : scores) score *= 3;
  GetParam().set(scores);
  const uint32_t n_used_columns = s.columns > 1 ? s.columns - 1 : 1;
  std::vector<uint32_t> expected;
  std::vector<double> weights;
  for (uint32_t c = 0; c < n_used_columns; ++c) {
    const float* row = scores.data() + size_t{c} * s.n;
    std::vector<uint32_t> order(s.n);
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) { return row[a] > row[b]; });
    double of_all = 0, of_used = 0;
    for (uint32_t e = 0; e < s.n; ++e) of_all += std::exp(double{row[e]} - row[order[0]]);
    for (uint32_t i = 0; i < s.n_used; ++i) of_used += std::exp(double{row[order[i]]} - row[order[0]]) / of_all;
    for (uint32_t i = 0; i < s.n_used; ++i) {
      expected.push_back(order[i]);
      const double share = std::exp(double{row[order[i]]} - row[order[0]]) / of_all;
      weights.push_back(s.scale * share / (s.normalises ? std::max(of_used, 0x1p-14) : 1));
    }
  }
  for (uint64_t seed = 0; seed <= 2; ++seed) {
    GuardedDevice device(ptx::sm_75);
    const ptx::Kernel kernel = route(s, ptx::sm_75);
    uint32_t* experts = device.poisoned<uint32_t>(size_t{s.columns} * s.n_used);
    float* shares = device.poisoned<float>(size_t{s.columns} * s.n_used);
    std::vector<uint32_t> numbers;
    if (s.columns > 1) numbers.push_back(n_used_columns);
    const auto address = [](const auto* p) { return reinterpret_cast<uint64_t>(p); };
    const std::vector<float> read(scores.begin(), scores.begin() + size_t{n_used_columns} * s.n);
    ASSERT_EQ(device.run_listed(seed == 0 ? kAllChecks : shaken(seed), kernel,
                                {address(device.upload(read)), address(experts), address(shares)}, numbers),
              "");
    EXPECT_EQ(device.download(experts, expected.size()), expected);
    expect_close(device.download(shares, weights.size()), weights, 2e-6);
  }
}

const RouteCase kRoutes[] = {
    {"two_of_eight", {8, 2, true}},
    {"not_normalised", {60, 4, false}},
    {"eight_of_128", {128, 8, true, 1, 5}},
    {"ten_of_512", {512, 10, true, 2.5f, 3}},
    {"all_of_a_few", {5, 5, true}},
    {"one", {1, 1, false}},
    {"most", {1024, 32, false}},
    {"equal_scores", {64, 4, true}, [](auto& scores) { std::ranges::fill(scores, 1.5f); }},
    {"a_tie_behind_the_best", {64, 3, true}, [](auto& scores) { scores[40] = scores[7] = scores[8] = 20; }},
    {"far_apart", {16, 4, true}, [](auto& scores) { scores[3] = 500, scores[9] = -500; }},
    {"all_far_below",
     {16, 2, false},
     [](auto& scores) {
       for (float& s : scores) s -= 1e4f;
     }},
};
INSTANTIATE_TEST_SUITE_P(Cases, Route, ::testing::ValuesIn(kRoutes), [](const auto& c) { return c.param.name; });

struct RoutedCase {
  const char* name;
  ExpertProductSpec spec;
};
std::ostream& operator<<(std::ostream& out, const RoutedCase& c) { return out << name_of(c.spec); }

class ExpertProducts : public ::testing::TestWithParam<RoutedCase> {};

// Each assignment against a single product with its expert's weights.
TEST_P(ExpertProducts, AreThoseOfTheChosenExperts) {
  constexpr uint32_t kExperts = 5;
  const ExpertProductSpec& s = GetParam().spec;
  const uint32_t n_columns = s.columns > 1 ? s.columns - 1 : 1;
  std::vector<uint32_t> experts;
  for (uint32_t use = 0; use < n_columns * s.n_used; ++use) experts.push_back((use * 3 + use / s.n_used) % kExperts);
  const RoutedProblem problem(s.product, kExperts, s.n_used, s.by_column, experts);

  GuardedDevice device(ptx::sm_80);
  const ptx::Kernel kernel = expert_product(s, ptx::sm_80);
  const auto address = [](const auto* p) { return reinterpret_cast<uint64_t>(p); };
  std::vector<uint64_t> arguments = {address(device.upload(problem.weights))};
  if (!problem.up.empty()) arguments.push_back(address(device.upload(problem.up)));
  arguments.push_back(address(device.upload(problem.x)));
  if (s.product.prologue == kRmsNorm) arguments.push_back(address(device.upload(problem.gamma())));
  arguments.push_back(address(device.upload(experts)));
  const size_t n_values = size_t{s.columns} * s.n_used * s.product.rows;
  float* y = device.poisoned<float>(n_values);
  arguments.push_back(address(y));
  std::vector<uint32_t> numbers;
  if (s.columns > 1) numbers.push_back(n_columns);
  ASSERT_EQ(device.run_listed(kAllChecks, kernel, arguments, numbers), "");
  problem.expect_right(device.download(y, n_values), 3e-4);
}

constexpr float kEps = 1e-6f;
const RoutedCase kAssignments[] = {
    {"gate_up_of_a_token",
     {{.weights = kQ4_K, .rows = 37, .k = 512, .prologue = kRmsNorm, .epilogue = kSwiglu, .eps = kEps, .up = kQ6_K},
      2,
      true}},
    {"gate_up_of_columns",
     {{.weights = kQ8_0, .rows = 24, .k = 160, .prologue = kRmsNorm, .epilogue = kSwiglu, .eps = kEps}, 3, true, 4}},
    {"down_of_a_token", {{.weights = kQ6_K, .rows = 40, .k = 256}, 4, false}},
    {"down_of_columns", {{.weights = kIQ4_NL, .rows = 48, .k = 96}, 2, false, 5}},
    {"floats", {{.weights = kBF16, .rows = 20, .k = 64}, 2, false, 3}},
    {"an_input_in_tiles", {{.weights = kQ4_0, .rows = 16, .k = 32768, .prologue = kRmsNorm, .eps = kEps}, 2, true}},
};
INSTANTIATE_TEST_SUITE_P(Cases, ExpertProducts, ::testing::ValuesIn(kAssignments),
                         [](const auto& c) { return c.param.name; });

class ExpertSums : public ::testing::TestWithParam<ExpertSumSpec> {};

TEST_P(ExpertSums, WeighTheAssignments) {
  const ExpertSumSpec& s = GetParam();
  const uint32_t n_columns = s.columns > 1 ? s.columns - 1 : 1;
  const std::vector<float> outputs = normal_floats(size_t{n_columns} * s.n_used * s.hidden, 1),
                           weights = normal_floats(size_t{n_columns} * s.n_used, 2),
                           shared = normal_floats(size_t{n_columns} * s.hidden, 3),
                           switches = normal_floats(n_columns, 4),
                           before = normal_floats(size_t{s.columns} * s.hidden, 5);
  std::vector<double> expected(before.begin(), before.end());
  for (uint32_t c = 0; c < n_columns; ++c)
    for (uint32_t i = 0; i < s.hidden; ++i) {
      double& y = expected[size_t{c} * s.hidden + i];
      if (s.has_shared) y += shared[size_t{c} * s.hidden + i] / (1 + std::exp(-double{switches[c]}));
      for (uint32_t u = 0; u < s.n_used; ++u)
        y += double{weights[c * s.n_used + u]} * outputs[(size_t{c} * s.n_used + u) * s.hidden + i];
    }
  GuardedDevice device(ptx::sm_75);
  float* y = device.upload(before);
  const auto address = [](const auto* p) { return reinterpret_cast<uint64_t>(p); };
  std::vector<uint64_t> arguments = {address(device.upload(outputs)), address(device.upload(weights))};
  if (s.has_shared)
    arguments.insert(arguments.end(), {address(device.upload(shared)), address(device.upload(switches))});
  arguments.push_back(address(y));
  std::vector<uint32_t> numbers;
  if (s.columns > 1) numbers.push_back(n_columns);
  ASSERT_EQ(device.run_listed(kAllChecks, expert_sum(s, ptx::sm_75), arguments, numbers), "");
  expect_close(device.download(y, expected.size()), expected, 1e-6);
}
INSTANTIATE_TEST_SUITE_P(Cases, ExpertSums,
                         ::testing::Values(ExpertSumSpec{200, 2}, ExpertSumSpec{128, 8, true},
                                           ExpertSumSpec{130, 4, true, 3}, ExpertSumSpec{64, 10, false, 4}),
                         [](const auto& s) { return name_of(s.param); });

TEST(ExpertSpecs, AreCheckedByName) {
  EXPECT_EQ(error_of([] { route({2000, 8}, ptx::sm_75); }), "route: n is 2000, expected 1 to 1024");
  EXPECT_EQ(error_of([] { route({8, 9}, ptx::sm_75); }), "route: n_used is 9, expected 1 to 8");
  EXPECT_EQ(error_of([] {
              expert_product({{.weights = kQ8_0, .rows = 8, .k = 32}, 8, true, 65535}, ptx::sm_75);
            }),
            "expert_product: uses is 524280, expected 1 to 65535");
  EXPECT_EQ(error_of([] {
              expert_product({{.weights = kF32, .rows = 8, .k = 30}, 8, false}, ptx::sm_75);
            }),
            "expert_product: k is 30, expected a multiple of 4");
}

}  // namespace
}  // namespace warpchat
