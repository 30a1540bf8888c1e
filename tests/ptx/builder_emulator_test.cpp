// The builder's kernels in the emulator with every check on: they load and give the right answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "example_kernels.h"
#include "form_examples.h"
#include "operations.h"
#include "ptx/number.h"
#include "readme_kernel.h"
#include "tests/emulator/harness.h"
#include "tests/support/random_floats.h"

namespace ptx::testing {
namespace {

using emulator::Device;
using emulator::pack_parameters;

emulator::Profile profile_of(Target target) {
  emulator::Profile profile;
  profile.target = static_cast<uint32_t>(target.sm);
  return profile;
}

// Returns "" or the fault. Parameters in the kernel's order.
template <class... T>
std::string run(Device& device, const Kernel& kernel, emulator::LaunchOptions options, T... parameters) {
  try {
    const emulator::Module module(kernel.text, device.profile, device.memory);
    const Dimensions &grid = kernel.launch.blocks, &block = kernel.launch.threads;
    return emulator::run(device, module, kernel.name.c_str(), {grid.x, grid.y, grid.z}, {block.x, block.y, block.z},
                         pack_parameters(parameters...), kernel.dynamic_shared_bytes, options, /*threads=*/2);
  } catch (const std::exception& error) {
    return error.what();
  }
}

emulator::LaunchOptions checked(const Kernel& kernel, uint64_t seed = 0) {
  return {.checks = emulator::Checks::all(),
          .cooperative = kernel.launch.cooperative,
          .seed = seed,
          .weak_memory = seed != 0};
}

class EmulatedTest : public ::testing::TestWithParam<Target> {};

TEST_P(EmulatedTest, LoadsEveryOperation) {
  Device device(profile_of(GetParam()));
  for (const Operation* operation : all_operations()) {
    if (!runs(GetParam(), operation->minimum) || std::string(operation->name) == "raw") continue;
    const Kernel kernel = kernel_of(*operation, GetParam());
    try {
      const emulator::Module module(kernel.text, device.profile, device.memory);
      EXPECT_NE(module.find_function(kernel.name), nullptr) << kernel.name;
    } catch (const std::exception& error) {
      ADD_FAILURE() << operation->name << ": " << error.what();
    }
  }
}

// Emulator and builder know the same instructions, for each target.
TEST_P(EmulatedTest, AgreesOnEveryInstruction) {
  constexpr Version kNewest{90};
  Device device(profile_of(GetParam()));
  for (const Form& form : instruction_forms()) {
    for (const Signature& signature : form.signatures) {
      int first_line = 0;
      const std::string text = kernel_around({example_line(form, signature)}, GetParam(), kNewest, "ret", first_line);
      std::string refusal;
      try {
        const emulator::Module module(text, device.profile, device.memory);
      } catch (const std::exception& error) {
        refusal = error.what();
      }
      const bool expected = runs(GetParam(), form.row->minimum);
      EXPECT_EQ(refusal.empty(), expected) << form.spelling << ": " << refusal;
    }
  }
}

TEST_P(EmulatedTest, AddsVectors) {
  constexpr uint32_t kN = 1000;  // the last block is ragged
  Device device(profile_of(GetParam()));
  const std::vector<float> x = warpchat::normal_floats(kN, 1), y = warpchat::normal_floats(kN, 2);
  float* sum = device.zeros<float>(kN);
  const Kernel kernel = vector_add(kN, GetParam());
  ASSERT_EQ(run(device, kernel, checked(kernel), device.upload(x), device.upload(y), sum), "");
  for (uint32_t i = 0; i < kN; ++i) EXPECT_EQ(sum[i], x[i] + y[i]) << i;
}

TEST_P(EmulatedTest, TakesSoftmax) {
  constexpr uint32_t kRows = 5, kColumns = 777;
  Device device(profile_of(GetParam()));
  const std::vector<float> in = warpchat::normal_floats(kRows * kColumns, 3);
  float* out = device.zeros<float>(kRows * kColumns);
  const Kernel kernel = softmax(kRows, kColumns, GetParam());
  ASSERT_EQ(run(device, kernel, checked(kernel), device.upload(in), out), "");
  for (uint32_t row = 0; row < kRows; ++row) {
    const float* x = &in[row * kColumns];
    const double top = *std::max_element(x, x + kColumns);
    double sum = 0;
    for (uint32_t i = 0; i < kColumns; ++i) sum += std::exp(x[i] - top);
    for (uint32_t i = 0; i < kColumns; ++i) {
      const double expected = std::exp(x[i] - top) / sum;
      EXPECT_NEAR(out[row * kColumns + i], expected, expected * 2e-6) << row << ", " << i;  // a few f32 roundings
    }
  }
}

// c = a * b^T of small integers: every product and sum is exact in any order.
void expect_product(Target target, const Kernel& kernel, uint32_t m, uint32_t n, uint32_t k) {
  Device device(profile_of(target));
  std::mt19937 random(4);
  std::vector<int> a(m * k), b(n * k);
  std::vector<uint16_t> a_bits, b_bits;
  for (int& value : a) a_bits.push_back(half_bits(value = static_cast<int>(random() % 17) - 8));
  for (int& value : b) b_bits.push_back(half_bits(value = static_cast<int>(random() % 17) - 8));
  float* c = device.zeros<float>(m * n);
  ASSERT_EQ(run(device, kernel, checked(kernel), device.upload(a_bits), device.upload(b_bits), c), "");
  int wrong = 0;
  for (uint32_t row = 0; row < m; ++row) {
    for (uint32_t column = 0; column < n; ++column) {
      const int expected = std::inner_product(&a[row * k], &a[row * k] + k, &b[column * k], 0);
      if (c[row * n + column] != static_cast<float>(expected) && wrong++ == 0) {
        ADD_FAILURE() << "c[" << row << ", " << column << "] is " << c[row * n + column] << ", expected " << expected;
      }
    }
  }
  EXPECT_EQ(wrong, 0) << "of " << m * n;
}

TEST_P(EmulatedTest, MultipliesMatrices) { expect_product(GetParam(), matmul(128, 192, 96, GetParam()), 128, 192, 96); }

TEST_P(EmulatedTest, MultipliesMatricesByWmma) {
  constexpr uint32_t kM = 32, kN = 48, kK = 64;
  const Kernel kernel = matmul_wmma(kM, kN, kK, GetParam());
  expect_product(GetParam(), kernel, kM, kN, kK);
}

TEST_P(EmulatedTest, CountsBytes) {
  constexpr uint32_t kN = 3000;  // the last block is ragged
  Device device(profile_of(GetParam()));
  std::mt19937 random(11);
  std::vector<uint8_t> in(kN);
  std::vector<uint32_t> expected(256);
  for (uint8_t& byte : in) ++expected[byte = static_cast<uint8_t>(random() % 200)];
  uint32_t* counts = device.zeros<uint32_t>(256);
  const Kernel kernel = histogram(kN, GetParam());
  ASSERT_EQ(run(device, kernel, checked(kernel), device.upload(in), counts), "");
  EXPECT_EQ(device.download(counts, 256), expected);
}

// Quarters up to 8: products and sums are exact in double, so the expected value is the double rounded once.
void expect_fma(Target target, const Kernel& kernel, uint16_t (*encode)(double)) {
  constexpr size_t kN = 1000;
  Device device(profile_of(target));
  std::mt19937 random(12);
  std::vector<uint16_t> bits[3], expected;
  for (size_t i = 0; i < kN; ++i) {
    double values[3];
    for (int j = 0; j < 3; ++j) {
      values[j] = (static_cast<int>(random() % 65) - 32) / 4.0 + (random() % 7) / 16.0;
      bits[j].push_back(encode(values[j]));
    }
    expected.push_back(encode(values[0] * values[1] + values[2]));
  }
  uint16_t* out = device.zeros<uint16_t>(kN);
  ASSERT_EQ(
      run(device, kernel, checked(kernel), device.upload(bits[0]), device.upload(bits[1]), device.upload(bits[2]), out),
      "");
  EXPECT_EQ(device.download(out, kN), expected);
}

TEST_P(EmulatedTest, FusesHalves) {
  expect_fma(GetParam(), fma_f16(500, GetParam()), half_bits);
  if (runs(GetParam(), sm_80)) expect_fma(GetParam(), fma_bf16(500, GetParam()), bfloat16_bits);
}

TEST(EmulatedBulkTest, SumsWhatBulkCopiesBring) {
  constexpr uint32_t kBlocks = 3, kRounds = 5, kCells = 256;
  std::mt19937 random(13);
  std::vector<float> x(kBlocks * kRounds * kCells), expected(kBlocks);
  for (float& value : x) value = static_cast<float>(random() % 100);  // sums are exact in any order
  for (uint32_t i = 0; i < x.size(); ++i) expected[i / (kRounds * kCells)] += x[i];
  const Kernel kernel = bulk_sums(kBlocks, kRounds, sm_90);
  Device device(profile_of(sm_90));
  float* sums = device.zeros<float>(kBlocks);
  ASSERT_EQ(run(device, kernel, checked(kernel), device.upload(x), sums), "");
  EXPECT_EQ(device.download(sums, kBlocks), expected);
}

TEST_P(EmulatedTest, MultipliesBytes) {
  constexpr uint32_t kRows = 37, kK = 272;  // the last block has three idle warps; the last chunks fill no warp
  Device device(profile_of(GetParam()));
  std::mt19937 random(5);
  std::vector<int8_t> weights(kRows * kK), x(kK);
  for (int8_t& value : weights) value = static_cast<int8_t>(random());
  for (int8_t& value : x) value = static_cast<int8_t>(random());
  const std::vector<float> scale = warpchat::normal_floats(kRows, 6);
  float* y = device.zeros<float>(kRows);
  const Kernel kernel = gemv_s8(kRows, kK, GetParam());
  ASSERT_EQ(run(device, kernel, checked(kernel), device.upload(weights), device.upload(x), device.upload(scale), y),
            "");
  for (uint32_t row = 0; row < kRows; ++row) {
    const int sum = std::inner_product(x.begin(), x.end(), &weights[row * kK], 0);
    EXPECT_EQ(y[row], static_cast<float>(sum) * scale[row]) << row;
  }
}

TEST_P(EmulatedTest, RunsTheReadmesKernel) {
  constexpr uint32_t kRows = 21, kK = 300;
  Device device(profile_of(GetParam()));
  const std::vector<float> w = warpchat::normal_floats(kRows * kK, 9), x = warpchat::normal_floats(kK, 10);
  float* y = device.zeros<float>(kRows);
  const Kernel kernel = gemv(kRows, kK, GetParam());
  ASSERT_EQ(run(device, kernel, checked(kernel), device.upload(w), device.upload(x), y), "");
  for (uint32_t row = 0; row < kRows; ++row) {
    double expected = 0, size = 0;
    for (uint32_t i = 0; i < kK; ++i) {
      const double product = double{w[row * kK + i]} * x[i];
      expected += product, size += std::abs(product);
    }
    EXPECT_NEAR(y[row], expected, size * 1e-6) << row;  // some 15 roundings per path
  }
}

TEST_P(EmulatedTest, SortsBlocks) {
  constexpr uint32_t kBlocks = 3, kNumbers = 1024;
  Device device(profile_of(GetParam()));
  std::mt19937 random(7);
  std::vector<uint32_t> numbers(kBlocks * kNumbers);
  for (uint32_t& number : numbers) number = static_cast<uint32_t>(random() % 3000);  // with duplicates
  uint32_t* sorted = device.upload(numbers);
  const Kernel kernel = sort_blocks(kBlocks, GetParam());
  ASSERT_EQ(run(device, kernel, checked(kernel), sorted), "");
  for (uint32_t block = 0; block < kBlocks; ++block) {
    std::sort(&numbers[block * kNumbers], &numbers[block * kNumbers] + kNumbers);
  }
  EXPECT_EQ(device.download(sorted, numbers.size()), numbers);
}

// Blocks wait for each other. The answer is the same under every schedule, and with late stores.
TEST_P(EmulatedTest, ScansWithLookBack) {
  constexpr uint32_t kN = 5000;
  std::mt19937 random(8);
  std::vector<uint32_t> in(kN), expected(kN);
  for (uint32_t& number : in) number = random();
  std::partial_sum(in.begin(), in.end(), expected.begin());
  const Kernel kernel = scan(kN, GetParam());
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Device device(profile_of(GetParam()));
    uint32_t* out = device.zeros<uint32_t>(kN);
    ASSERT_EQ(run(device, kernel, checked(kernel, seed), device.upload(in), out, device.zeros<uint64_t>(20),
                  device.zeros<uint32_t>(1)),
              "")
        << "seed " << seed;
    ASSERT_EQ(device.download(out, kN), expected) << "seed " << seed;
  }
}

TEST_P(EmulatedTest, MeetsAtGridBarriers) {
  constexpr uint32_t kBlocks = 6, kRounds = 4;
  std::vector<float> expected(kBlocks);
  for (uint32_t block = 0; block < kBlocks; ++block) expected[block] = static_cast<float>(block + 1);
  for (uint32_t round = 0; round < kRounds; ++round) {
    const float sum = std::accumulate(expected.begin(), expected.end(), 0.0f);
    for (float& value : expected) value = std::fma(sum, 0.125f, value);
  }
  const Kernel kernel = grid_sums(kBlocks, kRounds, GetParam());
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Device device(profile_of(GetParam()));
    float* out = device.zeros<float>(kBlocks);
    ASSERT_EQ(run(device, kernel, checked(kernel, seed), device.zeros<float>(kBlocks), out, device.zeros<uint32_t>(1)),
              "")
        << "seed " << seed;
    EXPECT_EQ(device.download(out, kBlocks), expected) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, EmulatedTest, ::testing::Values(sm_75, sm_80, sm_90),
                         [](const auto& row) { return spell(row.param); });

}  // namespace
}  // namespace ptx::testing
