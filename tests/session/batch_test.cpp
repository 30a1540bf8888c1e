// Sequences side by side give what each gives alone, whoever joins or leaves beside them.
#include "engine/session/batch.h"

#include <gtest/gtest.h>

#include <map>

#include "engine/cpu/cpu_steps.h"
#include "engine/gpu/gpu_steps.h"
#include "engine/token_source.h"
#include "tests/support/decoder_cases.h"
#include "tests/support/test_device.h"

namespace warpchat {
namespace {

constexpr uint32_t kContext = 40;

struct BatchCase {
  const char* name;
  bool on_gpu;
  float temperature;
};

class BatchTest : public testing::TestWithParam<BatchCase> {
 protected:
  Decoder decoder(uint32_t sequences) const {
    if (GetParam().on_gpu)
      return Decoder(model_.config, make_gpu_steps(model_.config, model_.tensors,
                                                   {test_device(), {.context = kContext, .sequences = sequences}}));
    CpuOptions options;
    options.threads = 2, options.context = kContext, options.sequences = sequences;
    return Decoder(model_.config, make_cpu_steps(model_.config, model_.tensors, options));
  }
  SamplingParams sampling(uint64_t seed) const {
    SamplingParams params;
    params.temperature = GetParam().temperature, params.repeat_penalty = 1.3f, params.seed = seed;
    return params;
  }
  std::vector<Token> alone(const std::vector<Token>& prompt, uint64_t seed, size_t n) const {
    Decoder one = decoder(1);
    one.forward(prompt, 0, Logits::kLast);
    const auto n_prompt = static_cast<uint32_t>(prompt.size());
    const auto source = make_token_source(one, {sampling(seed), prompt, n_prompt, n_prompt - 1, n});
    std::vector<Token> tokens;
    while (tokens.size() < n) tokens.push_back(*source->next(false));
    return tokens;
  }

  const std::vector<std::byte> bytes_ = build_tiny_model({.n_layers = 1}, /*seed=*/4);
  const LoadedModel model_{GgufFile::view(bytes_, "tiny")};
};

TEST_P(BatchTest, GivesEachSequenceWhatItGivesAlone) {
  const std::vector<Token> prompts[] = {{5, 6, 7, 8, 9}, {100}, {50, 60, 70}, {9, 8, 7, 6, 5, 4, 3, 2}};
  const size_t joins_at[] = {0, 0, 2, 7}, leaves_at[] = {12, 5, 9, 12};
  Decoder shared = decoder(3);
  Batch batch(shared);
  std::map<uint32_t, size_t> who;  // of a sequence's number
  std::vector<Token> got[4];
  for (size_t step = 0; step < 12; ++step) {
    for (size_t i = 0; i < 4; ++i) {
      if (leaves_at[i] == step) {
        const auto entry = std::find_if(who.begin(), who.end(), [&](const auto& e) { return e.second == i; });
        batch.leave(entry->first);
        who.erase(entry);
      }
      if (joins_at[i] == step) who[batch.join({prompts[i], sampling(i)})] = i;
    }
    EXPECT_EQ(batch.size(), who.size());
    for (const Batch::Next& next : batch.step()) got[who.at(next.sequence)].push_back(next.token);
  }
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(got[i].size(), leaves_at[i] - joins_at[i]);
    EXPECT_EQ(got[i], alone(prompts[i], i, got[i].size())) << "sequence " << i;
  }
}

TEST_P(BatchTest, GivesNoTokenBeyondTheCache) {
  Decoder shared = decoder(2);
  Batch batch(shared);
  const uint32_t full = batch.join({some_tokens(kContext - 2), sampling(1)});
  const uint32_t other = batch.join({{1, 2, 3}, sampling(2)});
  EXPECT_TRUE(batch.is_full());
  size_t n_of_full = 0, n_of_other = 0;
  for (int step = 0; step < 6; ++step)
    for (const Batch::Next& next : batch.step()) ++(next.sequence == full ? n_of_full : n_of_other);
  EXPECT_EQ(n_of_full, 3u) << "two positions were left, and the last token needs none";
  EXPECT_EQ(n_of_other, 6u);
  batch.leave(full);
  batch.leave(other);
  EXPECT_EQ(batch.size(), 0u);
  EXPECT_TRUE(batch.step().empty());
}

INSTANTIATE_TEST_SUITE_P(Devices, BatchTest,
                         testing::Values(BatchCase{"cpu_greedy", false, 0}, BatchCase{"cpu_random", false, 1},
                                         BatchCase{"gpu_greedy", true, 0}, BatchCase{"gpu_random", true, 1}),
                         [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace warpchat
