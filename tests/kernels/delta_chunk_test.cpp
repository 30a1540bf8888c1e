// Prefill of delta nets in chunks, in the emulator, against the recurrence in double precision. Lengths and cuts lie
// around the chunk size; decays include the extremes.
#include "kernels/delta_net/delta_chunk.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/delta_net/conv_prompt.h"
#include "tests/kernels/delta_problem.h"
#include "tests/kernels/emulated_kernel.h"
#include "tests/support/error_of.h"

namespace warpchat {
namespace {

DeltaNetSpec prompt_of(DeltaNetSpec spec, uint32_t columns) {
  spec.columns = columns, spec.one_sequence = true;
  return spec;
}

// Runs one sequence of a problem through the chunk kernels. Its inputs are the convolution's outputs.
class ChunkedPrompt {
 public:
  explicit ChunkedPrompt(const DeltaProblem& p, ptx::Target target = ptx::sm_80)
      : p_(p),
        kernels_{delta_prepare(p.spec, target), delta_scan(p.spec, target), delta_finish(p.spec, target)},
        device_(target) {
    qkv_ = device_.upload(p.qkv), z_ = device_.upload(p.z);
    alpha_ = device_.upload(p.alpha), beta_ = device_.upload(p.beta);
    dt_bias_ = device_.upload(p.dt_bias), decay_ = device_.upload(p.decay), norm_ = device_.upload(p.norm);
    state_ = device_.upload(p.states[0]), positions_ = device_.upload(p.positions());
    states_ = device_.upload(std::vector<uint64_t>{reinterpret_cast<uint64_t>(state_)});
    scratch_ = device_.poisoned<float>(delta_chunk_scratch_bytes(p.spec) / sizeof(float));
    out_ = device_.poisoned<float>(p.z.size());
  }

  // Runs n positions from index `from` on as one pass. Returns "" or the fault.
  std::string run(uint32_t from, uint32_t n, const ptx::emulator::LaunchOptions& options = kAllChecks) {
    const DeltaNetSpec& s = p_.spec;
    float* qkv = qkv_ + uint64_t{from} * s.channels();
    float *z = z_ + uint64_t{from} * s.inner(), *out = out_ + uint64_t{from} * s.inner();
    const uint32_t of_heads = from * s.n_v_heads;
    std::string fault = device_.run_as(options, kernels_[0], delta_prepare_grid(s, n), qkv, alpha_ + of_heads,
                                       beta_ + of_heads, dt_bias_, decay_, scratch_, n);
    if (fault.empty())
      fault = device_.run_as(options, kernels_[1], kernels_[1].launch.blocks, qkv, states_, positions_ + from, kLayer,
                             scratch_, out, n);
    if (fault.empty()) fault = device_.run_as(options, kernels_[2], delta_finish_grid(s, n), z, norm_, out, n);
    return fault;
  }
  void restart() { std::copy(p_.states[0].begin(), p_.states[0].end(), state_); }

  std::vector<float> out(uint32_t n) const { return device_.download(out_, uint64_t{n} * p_.spec.inner()); }
  std::vector<float> state() const { return device_.download(state_, p_.states[0].size()); }

 private:
  const DeltaProblem& p_;
  ptx::Kernel kernels_[3];
  GuardedDevice device_;
  float *qkv_, *z_, *alpha_, *beta_, *dt_bias_, *decay_, *norm_, *state_, *scratch_, *out_;
  uint32_t* positions_;
  uint64_t* states_;
};

// Expected result of the first n positions. These kernels leave the convolution's tail unchanged.
DeltaProblem::Result expected_of(const DeltaProblem& problem, uint32_t n) {
  DeltaProblem part = problem;
  part.n = n;
  const uint64_t columns = n;
  part.qkv.resize(columns * part.spec.channels()), part.z.resize(columns * part.spec.inner());
  DeltaProblem::Result r = part.expected(part.qkv);
  const uint64_t layer = kLayer * part.spec.layer_floats();
  std::copy_n(part.states[0].begin() + layer, part.spec.tail_floats(), r.states[0].begin() + layer);
  return r;
}

constexpr double kTolerance = 1e-5;  // fp32, with another order of summation than the recurrence
void expect_as_expected(const ChunkedPrompt& prompt, const DeltaProblem& problem, uint32_t n) {
  const DeltaProblem::Result expected = expected_of(problem, n);
  expect_close(prompt.out(n), expected.out, kTolerance);
  expect_close(prompt.state(), expected.states[0], kTolerance);
}

struct ChunkCase {
  const char* name;
  DeltaNetSpec spec;
  uint32_t n, first;
};
std::ostream& operator<<(std::ostream& out, const ChunkCase& c) { return out << c.name; }

class DeltaChunk : public ::testing::TestWithParam<ChunkCase> {};

TEST_P(DeltaChunk, MatchesDouble) {
  const auto& [name, spec, n, first] = GetParam();
  const DeltaProblem problem(prompt_of(spec, n + 3), 1, n, first);  // the first n positions only
  ChunkedPrompt prompt(problem, ptx::sm_75);
  ASSERT_EQ(prompt.run(0, n, shaken(n)), "");
  expect_as_expected(prompt, problem, n);
}

const DeltaNetSpec kSmall{2, 4, 32, 4, true, 1e-6f}, kGrouped{2, 4, 64, 3, false, 1e-5f};
const ChunkCase kCases[] = {
    {"a_chunk", kSmall, 64, 0},
    {"some_chunks_of_a_prompt_that_goes_on", kSmall, 150, 5},
    {"a_position", kSmall, 1, 3},
    {"groups_of_heads", kGrouped, 66, 0},
    {"a_head_of_96", {1, 1, 96, 4, false, 1e-6f}, 70, 1},
    {"a_head_of_128", {1, 2, 128, 4, true, 1e-6f}, 100, 4},
};
INSTANTIATE_TEST_SUITE_P(Cases, DeltaChunk, ::testing::ValuesIn(kCases), [](const auto& c) { return c.param.name; });

const DeltaNetSpec kOneHead{1, 1, 32, 4, false, 1e-6f};

TEST(DeltaChunkLengths, MatchDouble) {
  const DeltaProblem problem(prompt_of(kOneHead, 200), 1, 200, 9);
  ChunkedPrompt prompt(problem);
  for (const uint32_t n : {2u, 15u, 16u, 17u, 32u, 33u, 63u, 65u, 81u, 127u, 128u, 129u, 191u, 192u, 200u}) {
    prompt.restart();
    ASSERT_EQ(prompt.run(0, n), "");
    expect_as_expected(prompt, problem, n);
    if (HasFailure()) FAIL() << n << " positions";
  }
}

TEST(DeltaChunkLengths, MatchDoubleHoweverTheyAreCut) {
  constexpr uint32_t kPositions = 140;
  const DeltaProblem problem(prompt_of(kOneHead, kPositions), 1, kPositions, 0);
  ChunkedPrompt prompt(problem);
  for (const uint32_t cut : {1u, 20u, 63u, 64u, 65u, 75u, 76u, 77u, 139u}) {
    prompt.restart();
    ASSERT_EQ(prompt.run(0, cut), "");
    ASSERT_EQ(prompt.run(cut, kPositions - cut), "");
    expect_as_expected(prompt, problem, kPositions);
    if (HasFailure()) FAIL() << "cut at " << cut;
  }
}

// A prefill gives the same bits wherever it is cut between chunks.
TEST(DeltaChunkLengths, GiveTheSameBitsCutBetweenChunks) {
  constexpr uint32_t kPositions = 230;
  const DeltaProblem problem(prompt_of(kOneHead, kPositions), 1, kPositions, 0);
  std::vector<std::vector<float>> out, states;
  for (const std::vector<uint32_t>& parts : {std::vector<uint32_t>{kPositions}, {64, 166}, {128, 64, 38}}) {
    ChunkedPrompt prompt(problem);
    uint32_t first = 0;
    for (const uint32_t n : parts) {
      ASSERT_EQ(prompt.run(first, n, reordered(n)), "");
      first += n;
    }
    out.push_back(prompt.out(kPositions)), states.push_back(prompt.state());
    EXPECT_EQ(out.front(), out.back());
    EXPECT_EQ(states.front(), states.back());
  }
}

// Extremes of softplus(alpha): no decay, full decay (e^G is 0 long before a chunk ends), and both in turn. Extremes of
// sigmoid(beta): 0 and 1. Similar keys are the worst case of the triangular inverse.
TEST(DeltaChunkNumbers, MatchDoubleWhereTheyAreExtreme) {
  struct {
    const char* name;
    float decay, alpha, beta;
    bool keys_alike;
  } const cases[] = {
      {"nothing_fades", 0, 0, 0, false},        {"all_fades", -200, 3, 0, false},
      {"some_fade", -40, 0, 0, false},          {"nothing_is_learnt", -0.1f, 0, -40, false},
      {"all_is_learnt", -0.1f, 0, 40, false},   {"keys_alike", -0.01f, 0, 0, true},
      {"keys_alike_all_learnt", 0, 0, 8, true},
  };
  for (const auto& c : cases) {
    DeltaProblem problem(prompt_of(kOneHead, 130), 1, 130, 7);
    problem.decay = {c.decay};
    for (uint32_t i = 0; i < problem.alpha.size(); ++i) {
      // In "some_fade", every third position has nearly all of the decay.
      problem.alpha[i] = c.decay == -40 ? (i % 3 == 0 ? 3.0f : -9.0f) : problem.alpha[i] + c.alpha;
      problem.beta[i] += c.beta;
      if (!c.keys_alike) continue;
      float* keys = &problem.qkv[i * problem.spec.channels() + problem.spec.head_dim];
      for (uint32_t j = 0; j < problem.spec.head_dim; ++j) keys[j] = 1 + 0.1f * keys[j];
    }
    ChunkedPrompt prompt(problem);
    ASSERT_EQ(prompt.run(0, 130), "") << c.name;
    expect_as_expected(prompt, problem, 130);
    if (HasFailure()) FAIL() << c.name;
  }
}

// The error of the state does not grow with the number of chunks.
TEST(DeltaChunkNumbers, DoNotDrift) {
  constexpr uint32_t kPositions = 3000, kPass = 512;
  DeltaNetSpec spec = prompt_of(kOneHead, kPositions);
  DeltaProblem problem(spec, 1, kPositions, 0);
  problem.decay = {-0.001f};  // so that thousands of positions count
  ChunkedPrompt prompt(problem);
  for (uint32_t from = 0; from < kPositions; from += kPass)
    ASSERT_EQ(prompt.run(from, std::min(kPass, kPositions - from)), "");
  expect_as_expected(prompt, problem, kPositions);
}

// The state carries over from part to part. Parts are shorter and longer than the convolution kernel.
TEST(ConvPrompt, GivesTheBitsOfTheStep) {
  for (const DeltaNetSpec& base : {kSmall, DeltaNetSpec{1, 1, 96, 8, false, 1e-6f}, DeltaNetSpec{1, 1, 32, 2}}) {
    const DeltaNetSpec spec = prompt_of(base, 150);
    const DeltaProblem problem(spec, 1, 150, 0);
    DeltaNetSpec step = base;
    step.columns = 1;
    std::vector<std::vector<float>> rows, states;
    for (const bool steps : {true, false}) {
      const ptx::Kernel kernel = steps ? conv_step(step, ptx::sm_75) : conv_prompt(spec, ptx::sm_75);
      GuardedDevice device(ptx::sm_75);
      float *state = device.upload(problem.states[0]), *qkv = device.upload(problem.qkv);
      float* conv = device.upload(problem.conv);
      const uint64_t* table = device.upload(std::vector<uint64_t>{reinterpret_cast<uint64_t>(state)});
      const uint32_t* positions = device.upload(problem.positions());
      const auto run = [&](uint32_t first, auto... n) {
        return device.run_as(shaken(1), kernel, kernel.launch.blocks, qkv + uint64_t{first} * spec.channels(), conv,
                             table, positions + first, kLayer, n...);
      };
      uint32_t first = 0;
      for (const uint32_t n : {2u, 1u, 64u, 83u}) {
        if (steps) {
          for (uint32_t i = 0; i < n; ++i) ASSERT_EQ(run(first + i), "");
        } else {
          ASSERT_EQ(run(first, n), "");
        }
        first += n;
      }
      rows.push_back(device.download(qkv, problem.qkv.size()));
      states.push_back(device.download(state, problem.states[0].size()));
    }
    expect_close(rows[1], problem.expected(problem.qkv).qkv, 1e-6);
    EXPECT_EQ(rows[0], rows[1]);
    EXPECT_EQ(states[0], states[1]);
  }
}

TEST(DeltaChunkSpecs, AreCheckedByName) {
  EXPECT_EQ(error_of([] {
              delta_scan({2, 4, 48, 4}, ptx::sm_75);
            }),
            "delta_scan: head_dim is 48, expected a multiple of 32 up to 128");
  EXPECT_EQ(error_of([] { delta_prepare(kSmall, ptx::sm_75); }), "delta_prepare: one_sequence is 0, expected 1");
}

}  // namespace
}  // namespace warpchat
