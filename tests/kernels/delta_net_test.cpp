// Gated delta nets in the emulator against double precision: any number of positions at once, states that go on, and
// sequences side by side.
#include "kernels/delta_net.h"

#include <gtest/gtest.h>

#include "models/error.h"
#include "tests/kernels/delta_problem.h"
#include "tests/kernels/emulated_kernel.h"
#include "tests/support/error_of.h"

namespace warpchat {
namespace {

struct DeltaCase {
  const char* name;
  DeltaNetSpec spec;  // of one column
  uint32_t n_sequences, n, first;
};
std::ostream& operator<<(std::ostream& out, const DeltaCase& c) { return out << c.name; }

class DeltaNet : public ::testing::TestWithParam<DeltaCase> {};

TEST_P(DeltaNet, MatchesDouble) {
  const auto& [name, base, n_sequences, n, first] = GetParam();
  DeltaNetSpec spec = base;
  spec.one_sequence = n > 1;
  const uint32_t n_columns = n_sequences * n;
  spec.columns = n_columns == 1 ? 1 : n_columns + 3;  // of which not all are there
  const DeltaProblem problem(spec, n_sequences, n, first);
  for (uint64_t seed = 0; seed <= 1; ++seed) {
    GuardedDevice device(ptx::sm_80);
    const auto address = [](const auto* p) { return reinterpret_cast<uint64_t>(p); };
    const ptx::emulator::LaunchOptions options = seed == 0 ? kAllChecks : reordered(seed);
    std::vector<float*> states;
    std::vector<uint64_t> addresses;
    for (const std::vector<float>& state : problem.states)
      states.push_back(device.upload(state)), addresses.push_back(address(states.back()));
    float* qkv = device.upload(problem.qkv);
    const uint64_t table = address(device.upload(addresses)), at = address(device.upload(problem.positions()));
    std::vector<uint32_t> numbers = {kLayer};
    if (spec.columns > 1) numbers.push_back(n_columns);
    ASSERT_EQ(device.run_listed(options, conv_step(spec, ptx::sm_80),
                                {address(qkv), address(device.upload(problem.conv)), table, at}, numbers),
              "");
    const std::vector<float> convolved = device.download(qkv, problem.qkv.size());
    const DeltaProblem::Result expected = problem.expected(convolved);
    expect_close(convolved, expected.qkv, 1e-6);

    // The parameter `layer` stands before `out`.
    const ptx::Kernel kernel = delta_step(spec, ptx::sm_80);
    float* out = device.poisoned<float>(uint64_t{spec.columns} * spec.inner());
    const auto up = [&](const std::vector<float>& values) { return device.upload(values); };
    std::string fault;
    if (spec.columns > 1) {
      fault =
          device.run_as(options, kernel, kernel.launch.blocks, qkv, up(problem.z), up(problem.alpha), up(problem.beta),
                        up(problem.dt_bias), up(problem.decay), up(problem.norm), table, at, kLayer, out, n_columns);
    } else {
      fault =
          device.run_as(options, kernel, kernel.launch.blocks, qkv, up(problem.z), up(problem.alpha), up(problem.beta),
                        up(problem.dt_bias), up(problem.decay), up(problem.norm), table, at, kLayer, out);
    }
    ASSERT_EQ(fault, "");
    expect_close(device.download(out, expected.out.size()), expected.out, 2e-5);
    for (uint32_t s = 0; s < n_sequences; ++s)
      expect_close(device.download(states[s], problem.states[s].size()), expected.states[s], 1e-5);
  }
}

const DeltaNetSpec kSmall{2, 4, 32, 4, true, 1e-6f}, kWide{1, 2, 128, 4, false, 1e-6f}, kOdd{1, 3, 64, 3, false, 1e-5f};
const DeltaCase kCases[] = {
    {"a_token", kSmall, 1, 1, 7},
    {"the_first_token", kSmall, 1, 1, 0},
    {"a_prompt", kSmall, 1, 70, 0},
    {"a_prompt_that_goes_on", kOdd, 1, 9, 5},
    {"a_short_prompt", kSmall, 1, 2, 3},
    {"a_head_of_128", kWide, 1, 3, 4},
    {"a_token_of_heads_of_128", kWide, 1, 1, 4},
    {"the_first_of_heads_of_128", kWide, 1, 1, 0},
    {"sequences", kSmall, 5, 1, 6},
    {"odd_sequences", kOdd, 2, 1, 0},
};
INSTANTIATE_TEST_SUITE_P(Cases, DeltaNet, ::testing::ValuesIn(kCases), [](const auto& c) { return c.param.name; });

// In parts as at once, to the bit.
TEST(DeltaNetParts, GiveTheSameBits) {
  DeltaNetSpec spec = kSmall;
  spec.columns = 12, spec.one_sequence = true;
  const DeltaProblem problem(spec, 1, 12, 0);
  std::vector<std::vector<float>> results;
  for (const std::vector<uint32_t>& parts : {std::vector<uint32_t>{12}, {5, 1, 6}}) {
    GuardedDevice device(ptx::sm_75);
    const auto address = [](const auto* p) { return reinterpret_cast<uint64_t>(p); };
    float *state = device.upload(problem.states[0]), *qkv = device.upload(problem.qkv);
    float *z = device.upload(problem.z), *alpha = device.upload(problem.alpha), *beta = device.upload(problem.beta);
    float *dt_bias = device.upload(problem.dt_bias), *decay = device.upload(problem.decay);
    float *norm = device.upload(problem.norm), *conv = device.upload(problem.conv);
    float* out = device.poisoned<float>(12 * spec.inner());
    const uint64_t* table = device.upload(std::vector<uint64_t>{address(state)});
    const uint32_t* positions = device.upload(problem.positions());
    const ptx::Kernel conv_kernel = conv_step(spec, ptx::sm_75), step = delta_step(spec, ptx::sm_75);
    uint32_t first = 0;
    for (const uint32_t n : parts) {
      float* x = qkv + uint64_t{first} * spec.channels();
      ASSERT_EQ(device.run(conv_kernel, x, conv, table, positions + first, kLayer, n), "");
      ASSERT_EQ(device.run(step, x, z + uint64_t{first} * spec.inner(), alpha + first * spec.n_v_heads,
                           beta + first * spec.n_v_heads, dt_bias, decay, norm, table, positions + first, kLayer,
                           out + uint64_t{first} * spec.inner(), n),
                "");
      first += n;
    }
    results.push_back(device.download(out, 12 * spec.inner()));
  }
  EXPECT_EQ(results[0], results[1]);
}

// Whether its kernel keeps the state in registers or not.
TEST(DeltaNetParts, ATokenIsWhatItIsInAPrompt) {
  for (const DeltaNetSpec& net : {kWide, kOdd}) {
    constexpr uint32_t kPositions = 3;
    const DeltaProblem problem(net, 1, kPositions, 4);
    std::vector<std::vector<float>> results;
    for (const uint32_t at_once : {kPositions, 1u}) {
      DeltaNetSpec spec = net;
      spec.columns = at_once, spec.one_sequence = at_once > 1;
      const ptx::Kernel step = delta_step(spec, ptx::sm_75);
      GuardedDevice device(ptx::sm_75);
      const auto up = [&](const std::vector<float>& values) { return device.upload(values); };
      float *state = up(problem.states[0]), *qkv = up(problem.qkv), *z = up(problem.z), *alpha = up(problem.alpha);
      float *beta = up(problem.beta), *dt_bias = up(problem.dt_bias), *decay = up(problem.decay);
      float *norm = up(problem.norm), *out = device.poisoned<float>(kPositions * spec.inner());
      const uint64_t* table = device.upload(std::vector<uint64_t>{reinterpret_cast<uint64_t>(state)});
      const uint32_t* positions = device.upload(problem.positions());
      for (uint32_t i = 0; i < kPositions; i += at_once) {
        float *x = qkv + uint64_t{i} * spec.channels(), *to = out + uint64_t{i} * spec.inner();
        float *of_z = z + uint64_t{i} * spec.inner(), *a = alpha + i * spec.n_v_heads, *b = beta + i * spec.n_v_heads;
        ASSERT_EQ(at_once > 1
                      ? device.run(step, x, of_z, a, b, dt_bias, decay, norm, table, positions + i, kLayer, to, at_once)
                      : device.run(step, x, of_z, a, b, dt_bias, decay, norm, table, positions + i, kLayer, to),
                  "");
      }
      results.push_back(device.download(out, kPositions * spec.inner()));
      const std::vector<float> after = device.download(state, problem.states[0].size());
      results.back().insert(results.back().end(), after.begin(), after.end());
    }
    EXPECT_EQ(results[0], results[1]) << net.head_dim;
  }
}

TEST(DeltaNetSpecs, AreCheckedByName) {
  EXPECT_EQ(error_of([] {
              delta_step({2, 4, 48, 4}, ptx::sm_75);
            }),
            "delta_step: head_dim is 48, expected a multiple of 32 up to 128");
  EXPECT_EQ(error_of([] {
              conv_step({2, 5, 64, 4}, ptx::sm_75);
            }),
            "conv_step: n_v_heads is 5, expected a multiple of the 2 key heads");
  EXPECT_EQ(error_of([] { conv_step({2, 4, 64, 9}, ptx::sm_75); }), "conv_step: conv_kernel is 9, expected 2 to 8");
}

}  // namespace
}  // namespace warpchat
