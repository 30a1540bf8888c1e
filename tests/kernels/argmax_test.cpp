// The index of the largest logit, under every schedule.
#include "kernels/argmax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "emulated_kernel.h"
#include "models/error.h"

namespace warpchat {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct ArgmaxCase {
  const char* name;
  uint32_t n;
  uint32_t expected;
  std::function<void(std::vector<float>&)> set;  // of random logits
};
std::ostream& operator<<(std::ostream& out, const ArgmaxCase& c) { return out << c.name; }

void fill(std::vector<float>& x, float value) { std::fill(x.begin(), x.end(), value); }

const ArgmaxCase kCases[] = {
    {"one_logit", 1, 0, [](auto&) {}},
    {"first", 5000, 0, [](auto& x) { x[0] = 10; }},
    {"last_of_a_ragged_block", 5001, 5000, [](auto& x) { x[5000] = 10; }},
    {"last_of_a_full_block", 4096, 4095, [](auto& x) { x[4095] = 10; }},
    {"first_of_the_second_block", 5000, 4096, [](auto& x) { x[4096] = 10; }},
    {"vocabulary_of_qwen", 151936, 151643, [](auto& x) { x[151643] = 10; }},
    {"tie_in_a_warp", 5000, 33, [](auto& x) { x[33] = x[34] = 10; }},
    {"tie_in_a_thread", 5000, 33, [](auto& x) { x[33] = x[33 + 256] = 10; }},
    {"tie_of_blocks", 50000, 33, [](auto& x) { x[33] = x[33 + 4096] = x[49999] = 10; }},
    {"all_equal", 9000, 0, [](auto& x) { fill(x, -3); }},
    {"all_negative", 5000, 4500, [](auto& x) { fill(x, -3), x[4500] = -2; }},
    {"zeros_are_equal", 5000, 7, [](auto& x) { fill(x, -1), x[7] = -0.0f, x[8] = 0.0f; }},
    {"infinity_wins", 5000, 4999, [](auto& x) { x[4999] = kInfinity, x[5] = std::numeric_limits<float>::max(); }},
    {"minus_infinity_beats_nothing", 5000, 3, [](auto& x) { fill(x, -kInfinity), x[3] = -1e38f; }},
    {"minus_infinity_beats_nan", 5000, 4998, [](auto& x) { fill(x, NAN), x[4998] = -kInfinity; }},
    {"nan_never_wins", 5000, 77, [](auto& x) { x[0] = x[76] = x[78] = NAN, x[77] = 10, x[4999] = -NAN; }},
    {"nothing_but_nan", 5000, 0, [](auto& x) { fill(x, NAN); }},
    {"subnormals_count", 300, 5, [](auto& x) { fill(x, 0), x[5] = 1e-44f; }},
};

std::vector<float> random_logits(size_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-5, 5);
  std::vector<float> logits(n);
  for (float& logit : logits) logit = uniform(random);
  return logits;
}

class Argmax : public ::testing::TestWithParam<ArgmaxCase> {};

TEST_P(Argmax, IsTheLowestIndexOfTheLargest) {
  const ArgmaxCase& c = GetParam();
  std::vector<float> logits = random_logits(c.n, 1);
  c.set(logits);
  const ArgmaxSpec spec{c.n};
  GuardedDevice device(ptx::sm_75);
  const ptx::Kernel kernel = argmax(spec, ptx::sm_75);
  float* x = device.upload(logits);
  uint32_t* out = device.poisoned<uint32_t>(1);
  uint8_t* scratch = device.zeros<uint8_t>(argmax_scratch_bytes(spec));
  for (uint64_t seed = 0; seed <= 3; ++seed) {  // every launch leaves scratch as it found it
    *out = ~0u;
    ASSERT_EQ(device.run_as(seed == 0 ? kAllChecks : shaken(seed), kernel, kernel.launch.blocks, x, out, scratch), "");
    ASSERT_EQ(*out, c.expected) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Argmax, ::testing::ValuesIn(kCases), [](const auto& row) { return row.param.name; });

TEST(ArgmaxColumns, AreApart) {
  constexpr uint32_t kN = 9001, kColumns = 5, kUsed = 3;
  const ArgmaxSpec spec{kN, kColumns};
  const std::vector<float> logits = random_logits(kN * kColumns, 2);
  GuardedDevice device(ptx::sm_75);
  uint32_t* out = device.upload(std::vector<uint32_t>(kColumns, 77));
  ASSERT_EQ(device.run(argmax(spec, ptx::sm_75), device.upload(logits), out,
                       device.zeros<uint8_t>(argmax_scratch_bytes(spec)), kUsed),
            "");
  for (uint32_t column = 0; column < kColumns; ++column) {
    const auto first = logits.begin() + column * kN;
    const auto expected = std::max_element(first, first + kN) - first;
    EXPECT_EQ(out[column], column < kUsed ? static_cast<uint32_t>(expected) : 77) << column;
  }
}

TEST(ArgmaxSpecs, AreCheckedByName) {
  try {
    argmax({0}, ptx::sm_75);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "argmax: n is 0, expected 1 to 2147483647");
  }
}

}  // namespace
}  // namespace warpchat
