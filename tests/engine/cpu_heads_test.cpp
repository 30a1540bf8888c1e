// Head norm and RoPE against double arithmetic, and rounding to fp16 against models/half.h.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "engine/cpu/rope.h"
#include "engine/cpu/thread_pool.h"
#include "models/half.h"
#include "tests/engine/cpu_problems.h"

namespace warpchat {
namespace {

struct HeadsCase {
  const char* name;
  RopePairing pairing;
  uint32_t head_dim, rope_dims, position;
  bool norm;
  double magnitude = 1;
};

constexpr HeadsCase kHeadsCases[] = {
    {"interleaved", RopePairing::kInterleaved, 64, 64, 17, false},
    {"neox", RopePairing::kNeox, 64, 64, 17, false},
    {"neox_with_norm", RopePairing::kNeox, 128, 128, 900, true},
    {"interleaved_with_norm", RopePairing::kInterleaved, 128, 128, 900, true},
    {"half_of_the_head_rotates", RopePairing::kInterleaved, 80, 40, 3, false},
    {"half_of_the_head_rotates_neox", RopePairing::kNeox, 80, 40, 3, true},
    {"dims_of_no_vector", RopePairing::kInterleaved, 22, 22, 5, true},
    {"dims_of_no_vector_neox", RopePairing::kNeox, 22, 22, 5, false},
    {"smallest_head", RopePairing::kNeox, 2, 2, 1, false},
    {"far_position", RopePairing::kNeox, 64, 64, 130'000, false},  // a float angle would be off by 4e-3 here
    {"magnitude", RopePairing::kInterleaved, 64, 64, 100, false, 1.2},
};

class Heads : public testing::TestWithParam<std::tuple<std::string, HeadsCase>> {};

std::vector<double> reference(const HeadsCase& s, std::span<const double> frequencies, std::span<const float> x,
                              std::span<const float> gain, uint32_t position) {
  std::vector<double> out(x.begin(), x.end());
  for (size_t head = 0; head < x.size(); head += s.head_dim) {
    double squares = 0;
    for (uint32_t i = 0; i < s.head_dim; ++i) squares += out[head + i] * out[head + i];
    if (s.norm)
      for (uint32_t i = 0; i < s.head_dim; ++i) out[head + i] *= gain[i] / std::sqrt(squares / s.head_dim + 1e-6);
    for (uint32_t i = 0; i < s.rope_dims / 2; ++i) {
      const bool neox = s.pairing == RopePairing::kNeox;
      double &a = out[head + (neox ? i : 2 * i)], &b = out[head + (neox ? i + s.rope_dims / 2 : 2 * i + 1)];
      const double angle = frequencies[i] * position, c = std::cos(angle) * s.magnitude,
                   d = std::sin(angle) * s.magnitude;
      const double first = a * c - b * d;
      b = a * d + b * c;
      a = first;
    }
  }
  return out;
}

TEST_P(Heads, AreNormalisedAndRotated) {
  const auto& [simd, s] = GetParam();
  Rope rope{.magnitude = s.magnitude};
  for (uint32_t i = 0; i < s.rope_dims / 2; ++i) rope.frequencies.push_back(std::pow(10000.0, -2.0 * i / s.rope_dims));
  ThreadPool pool(1);
  RopeTable table(rope, s.pairing);
  const uint32_t positions[] = {s.position, s.position + 1};
  table.prepare(pool, positions);
  const std::vector<float> x = normal_floats(size_t{3} * s.head_dim, /*seed=*/1), gain = normal_floats(s.head_dim, 2);
  for (uint32_t column : {0u, 1u}) {
    std::vector<float> got = x;
    choose_kernels(simd).norm_and_rope_heads({got.data(), 3, s.head_dim, s.norm ? gain.data() : nullptr, 1e-6f,
                                              table.cosines(column), table.sines(column), table.dims(), table.neox()});
    const std::vector<double> expected = reference(s, rope.frequencies, x, gain, s.position + column);
    EXPECT_LE(relative_error(got, expected), 3e-7) << "column " << column;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryPairing, Heads,
                         testing::Combine(testing::ValuesIn(instruction_sets()), testing::ValuesIn(kHeadsCases)),
                         [](const auto& c) { return std::get<0>(c.param) + "_" + std::get<1>(c.param).name; });

// Every fp16 pattern, the midpoint between each two neighbours, and values beyond the range.
TEST(HalvesInTheCache, AreRoundedAsIeeeSays) {
  for (const std::string& simd : instruction_sets()) {
    std::vector<float> numbers = {65504.0f, 65519.9f, 65520.0f, 1e10f, INFINITY, -INFINITY, 1e-10f, -0.0f, 5.97e-8f};
    for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
      const float value = to_float(f16{static_cast<uint16_t>(bits)});
      const float next = bits + 1 < 0x7c00 ? to_float(f16{static_cast<uint16_t>(bits + 1)}) : value;
      const float middle = (value + next) / 2;
      numbers.insert(numbers.end(),
                     {value, -value, middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 1e9f)});
    }
    numbers.resize((numbers.size() + 15) / 16 * 16);
    for (size_t i = 0; i < numbers.size(); i += 16) {
      uint16_t keys[16 * kKeyBlock] = {}, values[4 * 16] = {};
      choose_kernels(simd).store_head({keys, values, 16, 16}, 3, &numbers[i], &numbers[i]);
      for (size_t j = 0; j < 16; ++j) {
        ASSERT_EQ(values[3 * 16 + j], to_f16(numbers[i + j]).bits) << simd << ": " << numbers[i + j];
        ASSERT_EQ(keys[j * kKeyBlock + 3], values[3 * 16 + j]) << simd;
      }
    }
  }
}

}  // namespace
}  // namespace warpchat
