// The sampling kernel against the rules in double precision. Each draw has its own column, so the draws show which
// tokens remain. Also compares its distribution with the host's sampler.
#include "kernels/sampling/sampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <random>

#include "emulated_kernel.h"
#include "engine/gpu/sampler_state.h"
#include "kernels/common/error_word.h"
#include "models/error.h"
#include "sampling_reference.h"

namespace warpchat {
namespace {

using ::testing::Contains;

SamplingParams params(float temperature, uint32_t top_k = 0, float top_p = 1, float min_p = 0) {
  SamplingParams p;
  p.temperature = temperature;
  p.top_k = top_k;
  p.top_p = top_p;
  p.min_p = min_p;
  p.seed = 42;
  return p;
}

SamplingParams penalised(float repeat, float presence, float frequency, SamplingParams p = params(1)) {
  p.repeat_penalty = repeat;
  p.presence_penalty = presence;
  p.frequency_penalty = frequency;
  return p;
}

std::vector<float> normal_logits(uint32_t n, float deviation, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, deviation);
  std::vector<float> logits(n);
  for (float& logit : logits) logit = normal(random);
  return logits;
}

// Columns side by side, with the same logits or each with its own.
class SamplingRun {
 public:
  SamplingRun(const SampleSpec& spec, const std::vector<float>& logits, const SamplingParams& p,
              const std::vector<uint32_t>& recent = {})
      : spec_(spec), device_(ptx::sm_75) {
    std::vector<float> all;
    std::vector<uint8_t> states;
    std::vector<uint8_t> state = packed_sampler_state(spec, sampler_state(p), recent);
    state.resize(sampler_state_stride(spec), 0xff);  // the kernel must not read beyond the packed state
    std::vector<uint32_t> positions;
    for (uint32_t column = 0; column < spec.columns; ++column) {
      if (all.size() < uint64_t{spec.columns} * spec.n_vocab) all.insert(all.end(), logits.begin(), logits.end());
      states.insert(states.end(), state.begin(), state.end());
      positions.push_back(column);
    }
    logits_ = device_.upload(all);
    states_ = device_.upload(states);
    tokens_ = device_.upload(std::vector<uint32_t>(spec.columns, kUntouched));
    positions_ = device_.upload(positions);
    error_ = device_.zeros<uint32_t>(kErrorWords);
  }

  std::string run(const ptx::emulator::LaunchOptions& options = kAllChecks) {
    const ptx::Kernel kernel = sample(spec_, ptx::sm_75);
    if (spec_.columns == 1)
      return device_.run_as(options, kernel, kernel.launch.blocks, logits_, states_, tokens_, positions_, error_);
    return device_.run_as(options, kernel, kernel.launch.blocks, logits_, states_, tokens_, positions_, error_,
                          used_columns);
  }
  std::vector<uint32_t> tokens() const { return device_.download(tokens_, spec_.columns); }
  std::vector<uint32_t> positions() const { return device_.download(positions_, spec_.columns); }
  std::vector<float> logits() const { return device_.download(logits_, uint64_t{spec_.columns} * spec_.n_vocab); }
  std::vector<uint8_t> state(uint32_t column) const {
    const uint64_t stride = sampler_state_stride(spec_);
    return device_.download(states_ + column * stride, stride);
  }
  ErrorWord error() const { return {static_cast<KernelError>(error_[0]), error_[1], error_[2], error_[3]}; }

  static constexpr uint32_t kUntouched = 0xdead;

 private:
  SampleSpec spec_;

 public:
  uint32_t used_columns = spec_.columns;

 private:
  GuardedDevice device_;
  float* logits_;
  uint8_t* states_;
  uint32_t *tokens_, *positions_, *error_;
};

// Every column draws from the same logits at another position.
void expect_draws(const SampleSpec& spec, const std::vector<float>& logits, const SamplingParams& p,
                  const std::vector<uint32_t>& recent = {}) {
  SamplingRun run(spec, logits, p, recent);
  ASSERT_EQ(run.run(), "");
  const std::vector<Share> shares = sampling_shares(logits, p, recent);
  const std::vector<uint32_t> tokens = run.tokens();
  for (uint32_t column = 0; column < spec.columns; ++column) {
    EXPECT_THAT(drawn_tokens(shares, philox(p.seed, column)), Contains(tokens[column]))
        << "column " << column << ", " << shares.size() << " tokens remain";
  }
}

constexpr float kHot = 1e6f;  // all remaining tokens are equally likely

struct SamplingCase {
  const char* name;
  SampleSpec spec;  // one draw per column
  float deviation;  // standard deviation of the logits
  SamplingParams params;
};
std::ostream& operator<<(std::ostream& out, const SamplingCase& c) { return out << c.name; }

const SamplingCase kCases[] = {
    {"one_token", {1, 4, 32}, 1, params(1)},
    {"two_tokens", {2, 40, 32}, 1, params(1)},
    {"fewer_tokens_than_lanes", {17, 40, 32}, 1, params(1)},
    {"nothing_but_the_temperature", {300, 100, 32}, 2, params(0.7f)},
    {"a_token_a_thread", {128, 60, 128}, 2, params(1)},
    {"one_more_than_threads", {129, 60, 128}, 2, params(1)},
    {"rows_that_allow_wide_loads", {4000, 30, 128}, 2, params(1.3f)},
    {"rows_that_do_not", {4001, 30, 128}, 2, params(1.3f)},
    {"top_k_of_few", {1000, 60, 128}, 1, params(kHot, 20)},
    {"top_k_of_one", {1000, 4, 128}, 1, params(kHot, 1)},
    {"top_k_is_the_vocabulary", {100, 60, 32}, 1, params(kHot, 100)},
    {"top_k_beyond_the_vocabulary", {100, 60, 32}, 1, params(kHot, 101)},
    {"top_k_of_all_but_one", {100, 200, 32}, 1, params(kHot, 99)},
    {"top_k_as_many_as_threads", {3000, 100, 64}, 1, params(kHot, 64)},
    {"top_k_of_more_than_threads", {3000, 100, 64}, 1, params(kHot, 65)},
    {"top_k_as_many_as_threads_of_three_warps", {3000, 100, 96}, 1, params(kHot, 96)},
    {"top_k_of_more_than_threads_of_three_warps", {3000, 100, 96}, 1, params(kHot, 97)},
    {"top_p_of_few", {1000, 60, 128}, 3, params(kHot, 0, 0.9f)},
    {"top_p_of_many", {3000, 60, 32}, 1, params(kHot, 0, 0.9f)},
    {"top_p_zero_keeps_one", {300, 8, 32}, 1, params(kHot, 0, 0.0f)},
    {"top_p_just_below_one", {300, 100, 64}, 3, params(kHot, 0, 0.999f)},
    {"min_p_of_few", {1000, 60, 128}, 2, params(kHot, 0, 1, 0.1f)},
    {"min_p_of_many", {3000, 60, 32}, 1, params(kHot, 0, 1, 0.05f)},
    {"min_p_above_one_keeps_one", {300, 8, 32}, 1, params(kHot, 0, 1, 2.0f)},
    {"top_k_then_top_p", {1000, 60, 128}, 1, params(kHot, 30, 0.5f)},  // top_p of the mass of the thirty
    {"top_k_then_top_p_of_many", {3000, 100, 32}, 1, params(kHot, 600, 0.5f)},
    {"top_k_then_min_p", {1000, 60, 128}, 1, params(kHot, 30, 1, 0.6f)},
    {"top_p_then_min_p_cuts", {1000, 60, 128}, 2, params(kHot, 0, 0.95f, 0.3f)},
    {"min_p_but_top_p_cuts", {1000, 60, 128}, 2, params(kHot, 0, 0.3f, 0.01f)},
    {"min_p_below_top_k_counts_for_top_p", {1000, 100, 128}, 1, params(kHot, 100, 0.6f, 0.3f)},
    {"all_filters_as_by_default", {5000, 60, 256}, 2, params(0.8f, 40, 0.95f, 0.05f)},
    {"all_filters_of_many", {3000, 60, 32}, 0.5f, params(2, 2000, 0.95f, 0.05f)},
    {"temperature_tiny", {300, 8, 64}, 1, params(1e-30f)},
    {"temperature_subnormal", {300, 8, 64}, 1, params(1e-44f)},
    {"temperature_infinite", {300, 60, 64}, 1, params(std::numeric_limits<float>::infinity(), 10)},
    {"temperature_below_zero_is_greedy", {300, 3, 64}, 1, params(-1)},
    {"greedy", {5001, 3, 256}, 1, params(0, 40, 0.95f, 0.05f)},
    {"wide_range_of_logits", {1000, 60, 64}, 1e4f, params(kHot, 0, 0.9f)},
    {"logits_that_nearly_overflow", {1000, 8, 64}, 1e37f, params(1, 40, 0.95f, 0.05f)},
};

class Sampling : public ::testing::TestWithParam<SamplingCase> {};

TEST_P(Sampling, DrawsAsTheRulesSay) {
  const SamplingCase& c = GetParam();
  expect_draws(c.spec, normal_logits(c.spec.n_vocab, c.deviation, 1), c.params);
}

INSTANTIATE_TEST_SUITE_P(Cases, Sampling, ::testing::ValuesIn(kCases), [](const auto& row) { return row.param.name; });

// Ties are cut from the highest ids.
TEST(SamplingTies, FallToTheLowerIds) {
  const std::vector<float> equal(500, -3.0f);
  for (uint32_t threads : {32u, 512u}) {  // many candidates, and few
    SCOPED_TRACE(threads);
    expect_draws({500, 60, threads}, equal, params(1));
    expect_draws({500, 60, threads}, equal, params(1, 10));
    expect_draws({500, 60, threads}, equal, params(1, 200));
    expect_draws({500, 60, threads}, equal, params(1, 0, 0.5f));
    expect_draws({500, 60, threads}, equal, params(1, 0, 1, 1.0f));  // exp(0) reaches 1
    expect_draws({500, 3, threads}, equal, params(0));
  }
}

TEST(SamplingTies, AtTheEdgeOfTopK) {
  std::vector<float> logits = normal_logits(2000, 1, 3);
  for (uint32_t id : {3u, 700u, 701u, 1300u, 1999u}) logits[id] = 6;  // three of five fit
  for (uint32_t id : {10u, 1500u}) logits[id] = 7;
  for (uint32_t threads : {32u, 256u}) expect_draws({2000, 80, threads}, logits, params(kHot, 5));
}

TEST(SamplingTies, ZerosOfBothSignsAreEqual) {
  std::vector<float> logits(64, -50.0f);
  logits[9] = -0.0f;
  logits[5] = 0.0f;
  logits[3] = -0.0f;
  expect_draws({64, 2, 32}, logits, params(0));
  expect_draws({64, 30, 32}, logits, params(1, 2));
}

TEST(SamplingMasks, LeaveWhatIsNotMasked) {
  std::vector<float> logits(3000, std::numeric_limits<float>::lowest());
  for (uint32_t id : {1u, 70u, 2999u}) logits[id] = -2;
  for (uint32_t threads : {32u, 1024u}) {
    expect_draws({3000, 40, threads}, logits, params(1));
    expect_draws({3000, 40, threads}, logits, params(1, 40, 0.95f, 0.05f));
  }
}

// Rising and falling logits put all of the best into one warp, or one thread.
TEST(SamplingOrders, DoNotMatter) {
  std::vector<float> logits = normal_logits(4096, 1, 5);
  std::sort(logits.begin(), logits.end());
  expect_draws({4096, 40, 128}, logits, params(kHot, 100, 0.9f));
  std::reverse(logits.begin(), logits.end());
  expect_draws({4096, 40, 128}, logits, params(kHot, 100, 0.9f));
}

const std::vector<uint32_t> kRecent = {5, 9, 5, 40, 7, 5, 9, 100, 299, 0, 13, 5};  // oldest first

struct PenaltyCase {
  const char* name;
  uint32_t ring;
  SamplingParams params;
};
std::ostream& operator<<(std::ostream& out, const PenaltyCase& c) { return out << c.name; }

SamplingParams with_window(SamplingParams p, uint32_t window) {
  p.penalty_window = window;
  return p;
}

const PenaltyCase kPenaltyCases[] = {
    {"repeat", 64, penalised(1.7f, 0, 0)},
    {"presence", 64, penalised(1, 1.5f, 0)},
    {"frequency", 64, penalised(1, 0, 0.8f)},
    {"rewards", 64, penalised(0.5f, -1, -0.4f)},
    {"all_with_filters", 64, penalised(1.1f, 0.5f, 0.3f, params(kHot, 40, 0.95f, 0.05f))},
    {"greedy", 64, penalised(3, 2, 1, params(0))},
    {"window_of_none", 64, with_window(penalised(3, 2, 1), 0)},
    {"window_of_one", 64, with_window(penalised(3, 2, 1), 1)},
    {"window_of_some", 64, with_window(penalised(3, 2, 1), 7)},
    {"window_as_long_as_the_past", 64, with_window(penalised(3, 2, 1), 12)},
    {"ring_that_has_wrapped", 8, with_window(penalised(3, 2, 1), 8)},
};

class SamplingPenalties : public ::testing::TestWithParam<PenaltyCase> {};

TEST_P(SamplingPenalties, CountRecentTokens) {
  const PenaltyCase& c = GetParam();
  std::vector<float> logits = normal_logits(300, 1, 7);
  for (uint32_t id : kRecent) logits[id] += 2;  // makes the penalties decisive
  logits[299] = -1;                             // a negative logit is multiplied, not divided
  for (uint32_t threads : {32u, 512u}) {
    SampleSpec spec{300, 60, threads};
    spec.ring = c.ring;
    expect_draws(spec, logits, c.params, kRecent);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, SamplingPenalties, ::testing::ValuesIn(kPenaltyCases),
                         [](const auto& row) { return row.param.name; });

// A window as long as a context has more tokens than fit into shared memory. Vocabularies: even and odd sizes.
TEST(SamplingPenaltyCounts, OfALongWindow) {
  std::mt19937 random(8);
  std::vector<uint32_t> recent(20000);
  for (uint32_t& token : recent) token = random() % 3000;
  for (uint32_t n_vocab : {10000u, 10001u}) {
    std::vector<float> logits = normal_logits(n_vocab, 1, 8);
    for (uint32_t token : recent) logits[token] = 4;
    SampleSpec spec{n_vocab, 20, 256, 1u << 15};
    expect_draws(spec, logits, with_window(penalised(1.1f, 0.1f, 0.3f, params(1, 40)), 16000), recent);
  }
}

// Tokens of another vocabulary are skipped when the host sends them and when they leave the window.
TEST(SamplingPenaltyCounts, SkipTokensOfAnotherVocabulary) {
  const std::vector<float> logits = normal_logits(300, 1, 9);
  std::vector<uint32_t> recent = {UINT32_MAX, 300, 4, UINT32_MAX};
  expect_draws({300, 30, 64}, logits, penalised(1, 5, 0, params(1, 10)), recent);
  SamplingParams p = with_window(penalised(1, 5, 0, params(0)), 4);
  SamplingRun run({300, 1, 64}, logits, p, recent);
  for (uint32_t step = 0; step < 6; ++step) {
    ASSERT_EQ(run.run(), "");
    recent.push_back(sampling_shares(logits, p, recent)[0].token);
    ASSERT_EQ(run.tokens()[0], recent.back()) << "step " << step;
  }
}

// The token counts of a state.
std::vector<uint32_t> counts_of(const SampleSpec& spec, const std::vector<uint8_t>& state) {
  std::vector<uint32_t> counts(spec.n_vocab);
  std::memcpy(counts.data(), &state[sampler_counts_offset(spec)], counts.size() * sizeof(uint32_t));
  return counts;
}

TEST(SamplingState, TakesUpTheTokenAndAdvances) {
  const std::vector<float> logits = normal_logits(500, 1, 10);
  SampleSpec spec{500, 3, 64, 8, true};
  for (uint32_t window : {1u, 5u, 8u}) {
    SCOPED_TRACE(window);
    SamplingParams p = with_window(penalised(1, 1, 0.5f, params(0)), window);
    SamplingRun run(spec, logits, p);
    std::vector<uint32_t> recent;
    for (uint32_t step = 0; step < 20; ++step) {  // each choice makes itself less likely while it counts
      ASSERT_EQ(run.run(), "");
      recent.push_back(sampling_shares(logits, p, recent)[0].token);
      ASSERT_EQ(run.tokens(), std::vector<uint32_t>(3, recent.back())) << "step " << step;
    }
    EXPECT_EQ(run.positions(), (std::vector<uint32_t>{20, 21, 22}));
    EXPECT_EQ(counts_of(spec, run.state(2)), counts_of(spec, packed_sampler_state(spec, sampler_state(p), recent)));
    std::vector<float> of_all;
    for (int column = 0; column < 3; ++column) of_all.insert(of_all.end(), logits.begin(), logits.end());
    EXPECT_EQ(run.logits(), of_all);
  }
}

TEST(SamplingState, LeavesPositionsAloneUnlessAsked) {
  SamplingRun run({500, 3, 64}, normal_logits(500, 1, 10), params(1));
  ASSERT_EQ(run.run(), "");
  EXPECT_EQ(run.positions(), (std::vector<uint32_t>{0, 1, 2}));
}

TEST(SamplingColumns, BeyondThoseInUseAreLeftAlone) {
  SamplingRun run({100, 4, 32, 8, true}, normal_logits(100, 1, 11), params(1));
  run.used_columns = 2;
  ASSERT_EQ(run.run(), "");
  EXPECT_EQ(run.tokens()[2], SamplingRun::kUntouched);
  EXPECT_NE(run.tokens()[1], SamplingRun::kUntouched);
  EXPECT_EQ(run.positions(), (std::vector<uint32_t>{1, 2, 2, 3}));
}

TEST(SamplingColumns, HaveLogitsOfTheirOwn) {
  const SampleSpec spec{300, 4, 64};
  const std::vector<float> logits = normal_logits(1200, 1, 12);
  SamplingRun run(spec, logits, params(1));
  ASSERT_EQ(run.run(), "");
  for (uint32_t column = 0; column < 4; ++column) {
    const std::vector<float> own(logits.begin() + column * 300, logits.begin() + (column + 1) * 300);
    EXPECT_THAT(drawn_tokens(sampling_shares(own, params(1)), philox(42, column)), Contains(run.tokens()[column]));
  }
}

// A real vocabulary: the usual settings leave few tokens, no filters leave all.
TEST(SamplingVocabulary, OfQwen) {
  const std::vector<float> logits = normal_logits(151936, 2.5f, 13);
  expect_draws({151936, 2}, logits, params(0.8f, 40, 0.95f, 0.05f));
  expect_draws({151936, 1}, logits, params(1, 0, 0.95f));
  expect_draws({151936, 1}, logits, params(1));
  expect_draws({151936, 1}, logits, params(0));
}

// The bits are the same for every order and number of threads.
TEST(SamplingSchedules, DoNotMatter) {
  const std::vector<float> logits = normal_logits(1500, 1, 14);
  const SamplingParams settings[] = {params(0.9f), params(0.9f, 200, 0.9f, 0.01f),
                                     penalised(1.2f, 0.1f, 0.1f, params(0.9f, 20))};
  for (const SamplingParams& p : settings) {
    std::vector<uint32_t> first;
    for (uint32_t threads : {32u, 64u, 224u, 1024u}) {
      for (uint64_t seed : {0, 1, 2}) {
        SamplingRun run({1500, 10, threads}, logits, p, kRecent);
        ASSERT_EQ(run.run(seed == 0 ? kAllChecks : shaken(seed)), "");
        if (first.empty()) first = run.tokens();
        EXPECT_EQ(run.tokens(), first) << threads << " threads, seed " << seed;
      }
    }
  }
}

// One text serves every block size. Kernels differ in their names and bounds only.
TEST(SamplingText, KnowsNoNumberOfThreads) {
  const auto body = [](uint32_t threads) {
    const std::string text = sample({1000, 1, threads}, ptx::sm_75).text;
    const size_t bounds = text.find(".maxntid");
    EXPECT_NE(bounds, std::string::npos);
    return text.substr(text.find('\n', bounds));
  };
  EXPECT_EQ(body(32), body(1024));
}

TEST(SamplingSeeds, GiveOtherTokens) {
  SamplingParams other = params(1);
  other.seed = 42 + (uint64_t{1} << 32);  // the upper half of the seed counts, too
  const std::vector<float> logits = normal_logits(100, 1, 15);
  SamplingRun a({100, 50, 32}, logits, params(1)), b({100, 50, 32}, logits, other);
  ASSERT_EQ(a.run(), "");
  ASSERT_EQ(b.run(), "");
  EXPECT_NE(a.tokens(), b.tokens());
  expect_draws({100, 50, 32}, logits, other);
}

// Known answers of the generator's authors (Random123, kat_vectors).
TEST(SamplingRandom, IsPhilox) { EXPECT_EQ(philox(0, 0), 0xe169c58d6627e8d5u); }

// Chi-squared test of two samples of one distribution: the sum over tokens of (a - b)^2 / (a + b), with one degree of
// freedom fewer than tokens.
TEST(SamplingDistribution, IsTheHostSamplers) {
  constexpr uint32_t kDraws = 4000;
  std::vector<float> logits = normal_logits(40, 1.5f, 16);
  const SamplingParams settings[] = {params(1), params(0.7f, 20, 0.9f, 0.02f),
                                     penalised(1.3f, 0.2f, 0.1f, params(1.2f, 0, 1, 0.02f))};
  for (const SamplingParams& p : settings) {
    SamplingRun run({40, kDraws, 32}, logits, p, kRecent);
    ASSERT_EQ(run.run(), "");
    Sampler sampler(p);
    for (uint32_t token : kRecent) sampler.accept(static_cast<Token>(token));
    std::map<uint32_t, std::pair<double, double>> counts;
    for (uint32_t token : run.tokens()) ++counts[token].first;
    for (uint32_t i = 0; i < kDraws; ++i) ++counts[static_cast<uint32_t>(sampler.sample(logits))].second;
    double statistic = 0;
    for (const auto& [token, n] : counts)
      statistic += (n.first - n.second) * (n.first - n.second) / (n.first + n.second);
    const double freedom = static_cast<double>(counts.size()) - 1, z = 3.7;  // one in ten thousand exceeds this
    const double cube = 1 - 2 / (9 * freedom) + z * std::sqrt(2 / (9 * freedom));
    EXPECT_LT(statistic, freedom * cube * cube * cube) << counts.size() << " tokens";
    EXPECT_GT(counts.size(), 5u);
  }
}

TEST(SamplingErrors, NameTheFirstLogitThatIsNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (float wrong : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), -NAN}) {
    for (float temperature : {0.0f, 1.0f}) {
      SampleSpec spec{300, 2, 64, 8, true};
      std::vector<float> logits = normal_logits(600, 1, 17);
      logits[300 + 200] = logits[300 + 77] = wrong;
      SamplingRun run(spec, logits, params(temperature));
      ASSERT_EQ(run.run(), "");
      EXPECT_EQ(describe(run.error()),
                "the logit of token 77 in column 1 is not finite; the model's file is damaged or its activations "
                "overflow");
      EXPECT_NE(run.tokens()[0], SamplingRun::kUntouched);
      EXPECT_EQ(run.tokens()[1], SamplingRun::kUntouched);
      EXPECT_EQ(run.positions(), (std::vector<uint32_t>{1, 1}));
      const std::vector<uint8_t> before = packed_sampler_state(spec, sampler_state(params(temperature)), {});
      std::vector<uint8_t> state = run.state(1);
      state.resize(before.size());
      EXPECT_EQ(state, before);
    }
  }
}

TEST(SamplingErrors, CountPenaltiesThatOverflow) {
  SamplingRun run({300, 1, 64}, normal_logits(300, 1, 18), penalised(0, 0, 0), {7});
  ASSERT_EQ(run.run(), "");
  EXPECT_EQ(run.error().code, KernelError::kLogitNotFinite);
  EXPECT_EQ(run.error().value, 7u);
}

TEST(SamplingSpecs, AreCheckedByName) {
  const std::pair<SampleSpec, const char*> wrong[] = {
      {{0}, "sample: n_vocab is 0, expected 1 to 2147483647"},
      {{8, 0}, "sample: columns is 0, expected 1 to 65535"},
      {{8, 1, 0}, "sample: threads is 0, expected a multiple of 32 up to 1024"},
      {{8, 1, 48}, "sample: threads is 48, expected a multiple of 32 up to 1024"},
      {{8, 1, 2048}, "sample: threads is 2048, expected a multiple of 32 up to 1024"},
      {{8, 1, 32, 0}, "sample: ring is 0, expected a power of two up to 16777216"},
      {{8, 1, 32, 1000}, "sample: ring is 1000, expected a power of two up to 16777216"},
  };
  for (const auto& [spec, message] : wrong) {
    try {
      sample(spec, ptx::sm_75);
      ADD_FAILURE() << message;
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), message);
    }
  }
}

}  // namespace
}  // namespace warpchat
