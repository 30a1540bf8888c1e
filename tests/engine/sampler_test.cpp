// The sampler against its definitions: filters on hand-made logits, penalties, and the distribution of its draws.
#include "engine/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "engine/token_mask.h"
#include "models/error.h"

namespace warpchat {
namespace {

SamplingParams plain(float temperature) {
  SamplingParams p;
  p.top_k = 0;
  p.top_p = 1;
  p.min_p = 0;
  p.temperature = temperature;
  p.seed = 7;
  return p;
}

std::set<Token> drawn(const SamplingParams& params, const std::vector<float>& logits, int n = 4000) {
  Sampler sampler(params);
  std::set<Token> tokens;
  for (int i = 0; i < n; ++i) tokens.insert(sampler.sample(logits));
  return tokens;
}

// Probabilities 0.5, 0.25, 0.125, 0.0625, 0.0625.
const std::vector<float> kHalves = {std::log(8.0f), std::log(4.0f), std::log(2.0f), 0, 0};

TEST(Sampler, TemperatureZeroIsTheArgmaxAndTheLowestIdOfEquals) {
  Sampler sampler(plain(0));
  EXPECT_EQ(sampler.sample(std::vector<float>{1, 3, 3, 2}), 1);
  EXPECT_EQ(sampler.sample(std::vector<float>{-5, -6}), 0);
}

TEST(Sampler, ChoosesAmongTheTokensOfAMask) {
  std::vector<float> logits(1000);
  for (size_t i = 0; i < logits.size(); ++i) logits[i] = static_cast<float>(i % 97) - 30;
  std::vector<uint32_t> mask(32);
  const std::vector<Token> allowed = {3, 64, 500, 999};
  for (const Token token : allowed) allow(mask, token);
  for (const uint32_t top_k : {0u, 1u, 3u, 40u}) {
    for (const float top_p : {1.0f, 0.9f}) {
      for (const float temperature : {0.0f, 1.0f, 1e6f}) {
        SamplingParams params = plain(temperature);
        params.top_k = top_k, params.top_p = top_p, params.min_p = top_k == 3 ? 0.01f : 0;
        params.repeat_penalty = 2;
        Sampler sampler(params);
        for (int i = 0; i < 200; ++i) {
          const Token token = sampler.sample(logits, mask);
          ASSERT_TRUE(std::ranges::count(allowed, token)) << token;
          sampler.accept(token);
        }
      }
    }
  }
  std::ranges::fill(mask, 0);
  allow(mask, 3);
  EXPECT_EQ(Sampler(plain(1)).sample(logits, mask), 3);
  std::ranges::fill(mask, UINT32_MAX);
  for (int seed = 0; seed < 50; ++seed) {
    SamplingParams params = plain(1);
    params.seed = static_cast<uint64_t>(seed);
    EXPECT_EQ(Sampler(params).sample(logits, mask), Sampler(params).sample(logits));
  }
}

TEST(Sampler, DrawsInProportionToTheSoftmaxAtTheTemperature) {
  for (float temperature : {0.5f, 1.0f, 2.0f}) {
    Sampler sampler(plain(temperature));
    constexpr int n = 40000;
    std::map<Token, int> counts;
    for (int i = 0; i < n; ++i) ++counts[sampler.sample(kHalves)];
    double total = 0;
    for (float logit : kHalves) total += std::exp(logit / temperature);
    for (size_t i = 0; i < kHalves.size(); ++i) {
      const double p = std::exp(kHalves[i] / temperature) / total;
      const double deviation = std::sqrt(p * (1 - p) / n);
      EXPECT_NEAR(counts[static_cast<Token>(i)] / double{n}, p, 5 * deviation)
          << "token " << i << " at " << temperature;
    }
  }
}

TEST(Sampler, EachFilterKeepsWhatItsDefinitionSays) {
  SamplingParams top_k = plain(1), top_p = plain(1), min_p = plain(1), tiny = plain(1);
  top_k.top_k = 2;
  top_p.top_p = 0.7f;  // 0.5 falls short, 0.75 reaches it
  min_p.min_p = 0.2f;  // times 0.5: keeps 0.125 and more
  tiny.top_p = 0;      // keeps at least one
  EXPECT_EQ(drawn(plain(1), kHalves), (std::set<Token>{0, 1, 2, 3, 4}));
  EXPECT_EQ(drawn(top_k, kHalves), (std::set<Token>{0, 1}));
  EXPECT_EQ(drawn(top_p, kHalves), (std::set<Token>{0, 1}));
  EXPECT_EQ(drawn(min_p, kHalves), (std::set<Token>{0, 1, 2}));
  EXPECT_EQ(drawn(tiny, kHalves), (std::set<Token>{0}));
}

TEST(Sampler, PenaltiesCountOnlyTheWindow) {
  SamplingParams p = plain(0);
  p.penalty_window = 2;
  p.repeat_penalty = 2;
  Sampler repeat(p);
  const std::vector<float> logits = {4, 3, -1};
  repeat.accept(0);
  EXPECT_EQ(repeat.sample(logits), 1) << "4 / 2 is below 3";
  repeat.accept(1);
  EXPECT_EQ(repeat.sample(logits), 0) << "2 against 1.5";
  repeat.accept(1);
  EXPECT_EQ(repeat.sample(logits), 0) << "token 0 has left the window";

  SamplingParams q = plain(0);
  q.frequency_penalty = 0.6f;
  Sampler frequency(q);
  frequency.accept(0);
  EXPECT_EQ(frequency.sample(logits), 0);
  frequency.accept(0);
  EXPECT_EQ(frequency.sample(logits), 1) << "4 - 1.2 is below 3";

  SamplingParams r = plain(0);
  r.presence_penalty = 0.6f;
  Sampler presence(r);
  for (int i = 0; i < 5; ++i) presence.accept(0);
  EXPECT_EQ(presence.sample(logits), 0) << "counted once, however often";
}

TEST(Sampler, TheSameSeedGivesTheSameTokens) {
  SamplingParams other = plain(1);
  other.seed = 8;
  Sampler a(plain(1)), b(plain(1)), c(other);
  int differences = 0;
  for (int i = 0; i < 200; ++i) {
    const Token token = a.sample(kHalves);
    EXPECT_EQ(token, b.sample(kHalves));
    differences += token != c.sample(kHalves);
  }
  EXPECT_GT(differences, 0);
}

TEST(Sampler, RefusesLogitsThatAreNotFinite) {
  Sampler sampler(plain(1));
  EXPECT_THROW(sampler.sample(std::vector<float>{0, std::numeric_limits<float>::quiet_NaN()}), Error);
  EXPECT_THROW(sampler.sample(std::vector<float>{0, std::numeric_limits<float>::infinity()}), Error);
  for (size_t i : {0u, 17u, 63u, 64u, 79u, 80u, 99u}) {
    std::vector<float> logits(100, -1);
    logits[i] = -std::numeric_limits<float>::infinity();
    EXPECT_THROW(sampler.sample(logits), Error) << i;
  }
}

// Among equal logits the lowest ids are kept, at any position.
TEST(Sampler, KeepsTheBestOfALargeVocabulary) {
  for (const size_t n_vocab : {100u, 4096u, 10007u}) {
    std::mt19937 random(3);
    std::vector<float> logits(n_vocab);
    for (float& logit : logits) logit = static_cast<float>(random() % 1000) * 0.01f;
    std::vector<Token> order(n_vocab);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](Token a, Token b) { return logits[size_t(a)] > logits[size_t(b)]; });
    EXPECT_EQ(Sampler(plain(0)).sample(logits), order[0]);
    for (const uint32_t top_k : {1u, 40u, 90u}) {
      SamplingParams params = plain(1e6f);  // all of these are equally likely
      params.top_k = top_k;
      EXPECT_EQ(drawn(params, logits), std::set<Token>(order.begin(), order.begin() + top_k)) << n_vocab;
    }
  }
}

}  // namespace
}  // namespace warpchat
