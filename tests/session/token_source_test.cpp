// The same tokens from every device and launch mode, and none after a stop.
#include "engine/token_source.h"

#include <gtest/gtest.h>

#include "engine/cpu/cpu_steps.h"
#include "engine/gpu/gpu_steps.h"
#include "engine/profile.h"
#include "tests/support/decoder_cases.h"
#include "tests/support/test_device.h"

namespace warpchat {
namespace {

constexpr uint32_t kContext = 48;

struct Way {
  const char* name;
  std::optional<LaunchMode> launch;  // none: the CPU
};

class TokenSourceTest : public testing::TestWithParam<Way> {
 protected:
  Decoder decoder(std::optional<LaunchMode> launch) const {
    if (launch)
      return Decoder(model_.config,
                     make_gpu_steps(model_.config, model_.tensors, {test_device(), {.context = kContext}, *launch}));
    CpuOptions options;
    options.threads = 2, options.context = kContext;
    return Decoder(model_.config, make_cpu_steps(model_.config, model_.tensors, options));
  }
  Decoder decoder() const { return decoder(GetParam().launch); }

  TokenRun prefilled(Decoder& decoder, const SamplingParams& sampling, uint64_t max) const {
    decoder.forward(prompt_, 0, Logits::kLast);
    const auto n = static_cast<uint32_t>(prompt_.size());
    return {sampling, prompt_, n, n - 1, max};
  }
  std::vector<Token> generate(Decoder& decoder, const SamplingParams& sampling, size_t n) const {
    const auto source = make_token_source(decoder, prefilled(decoder, sampling, n));
    std::vector<Token> tokens;
    while (tokens.size() < n) tokens.push_back(*source->next(false));
    return tokens;
  }

  const std::vector<std::byte> bytes_ = build_tiny_model({}, /*seed=*/6);
  const DecodableModel model_{GgufFile::view(bytes_, "tiny")};
  const std::vector<Token> prompt_ = {5, 6, 7, 8, 9, 10};
};

SamplingParams greedy() {
  SamplingParams params;
  params.temperature = 0;
  params.repeat_penalty = 1.5f;
  return params;
}

SamplingParams random(uint64_t seed) {
  SamplingParams params;
  params.temperature = 1.5f, params.top_k = 0, params.top_p = 1, params.min_p = 0, params.seed = seed;
  return params;
}

TEST_P(TokenSourceTest, GivesTheCpusTokensWhenGreedy) {
  Decoder here = decoder(), cpu = decoder(std::nullopt);
  EXPECT_EQ(generate(here, greedy(), 12), generate(cpu, greedy(), 12));
}

// The same kernel bodies add the same numbers in the same order in every launch mode. The CPU has its own random
// numbers.
class LaunchedTokenSource : public TokenSourceTest {};
TEST_P(LaunchedTokenSource, GivesTheSameTokensAsAStreamWhenRandom) {
  Decoder here = decoder(), stream = decoder(LaunchMode::kStream);
  EXPECT_EQ(generate(here, random(3), 20), generate(stream, random(3), 20));
}

TEST_P(TokenSourceTest, FollowsTheSeed) {
  Decoder one = decoder(), again = decoder();
  const std::vector<Token> tokens = generate(one, random(7), 12);
  EXPECT_EQ(generate(again, random(7), 12), tokens);
  EXPECT_EQ(generate(one, random(7), 12), tokens) << "from the same decoder";
  EXPECT_NE(generate(again, random(8), 12), tokens);
}

TEST_P(TokenSourceTest, FillsTheCacheToTheLastPosition) {
  Decoder here = decoder();
  const size_t room = kContext - prompt_.size() + 1;  // the last token needs no position
  EXPECT_EQ(generate(here, greedy(), room).size(), room);
}

TEST_P(TokenSourceTest, StopsAtOnceAndGoesOnFromTheSameCache) {
  Decoder here = decoder(), other = decoder();
  const std::vector<Token> expected = generate(other, greedy(), 8);
  std::vector<Token> tokens;
  {
    const auto source = make_token_source(here, prefilled(here, greedy(), 30));
    for (int i = 0; i < 4; ++i) tokens.push_back(*source->next(false));
    EXPECT_EQ(source->next(true), std::nullopt);
  }
  // All but the last are in the cache; the last one is decoded again.
  std::vector<Token> before = prompt_;
  before.insert(before.end(), tokens.begin(), tokens.end());
  const auto position = static_cast<uint32_t>(before.size());
  here.forward({&before.back(), 1}, position - 1, Logits::kLast);
  const auto source = make_token_source(here, {greedy(), before, position, 0, 4});
  for (int i = 0; i < 4; ++i) tokens.push_back(*source->next(false));
  EXPECT_EQ(tokens, expected);
}

TEST_P(TokenSourceTest, ComputesNothingAfterTheLastToken) {
  Decoder here = decoder();
  here.steps().set_measuring(true);
  generate(here, greedy(), 5);
  uint64_t passes = 0;
  for (const OperationProfile& row : here.steps().profile().rows())
    if (row.name.starts_with("embed") || row.name == "persistent embed") passes += row.calls;
  EXPECT_EQ(passes, 1u + 4u) << "the prompt, and every token but the last";
}

// A window of the last few tokens, which slides, and one of all tokens.
TEST_P(TokenSourceTest, PenalisesAsFarBackAsAsked) {
  Decoder here = decoder(), cpu = decoder(std::nullopt);
  SamplingParams params = greedy();
  params.frequency_penalty = 0.2f;
  for (uint32_t window : {3u, 1025u, UINT32_MAX}) {
    params.penalty_window = window;
    EXPECT_EQ(generate(here, params, 12), generate(cpu, params, 12)) << "the last " << window;
  }
}

const Way kLaunched[] = {
    {"stream", LaunchMode::kStream}, {"graph", LaunchMode::kGraph}, {"persistent", LaunchMode::kPersistent}};
INSTANTIATE_TEST_SUITE_P(EveryLaunch, LaunchedTokenSource, testing::ValuesIn(kLaunched),
                         [](const auto& way) { return way.param.name; });
INSTANTIATE_TEST_SUITE_P(EveryLaunch, TokenSourceTest, testing::ValuesIn(kLaunched),
                         [](const auto& way) { return way.param.name; });
INSTANTIATE_TEST_SUITE_P(Cpu, TokenSourceTest, testing::Values(Way{"cpu", std::nullopt}),
                         [](const auto& way) { return way.param.name; });

}  // namespace
}  // namespace warpchat
