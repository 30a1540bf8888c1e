// Sequences side by side give what each gives alone, whoever joins or leaves beside them.
#include "engine/session/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "engine/cpu/cpu_steps.h"
#include "engine/gpu/gpu_steps.h"
#include "engine/token_source.h"
#include "tests/support/decoder_cases.h"
#include "tests/support/error_of.h"
#include "tests/support/faulty_driver.h"
#include "tests/support/test_device.h"

namespace warpchat {
namespace {

constexpr uint32_t kContext = 40;

struct BatchCase {
  const char* name;
  std::optional<LaunchMode> launch;  // none: the CPU
  float temperature;
};

class BatchTest : public testing::TestWithParam<BatchCase> {
 protected:
  Decoder decoder(uint32_t sequences) const {
    if (GetParam().launch)
      return Decoder(
          model_.config,
          make_gpu_steps(model_.config, model_.tensors,
                         {test_device(), {.context = kContext, .sequences = sequences}, *GetParam().launch}));
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
                         testing::Values(BatchCase{"cpu_greedy", std::nullopt, 0},
                                         BatchCase{"cpu_random", std::nullopt, 1},
                                         BatchCase{"stream_greedy", LaunchMode::kStream, 0},
                                         BatchCase{"stream_random", LaunchMode::kStream, 1},
                                         BatchCase{"graph_random", LaunchMode::kGraph, 1},
                                         BatchCase{"persistent_random", LaunchMode::kPersistent, 1}),
                         [](const auto& c) { return c.param.name; });

class BatchesOnAFaultyDriver : public testing::Test {
 protected:
  Decoder decoder(FaultyDriver& driver, LaunchMode launch) const {
    return Decoder(model_.config, make_gpu_steps(model_.config, model_.tensors,
                                                 {driver.device(), {.context = kContext, .sequences = 5}, launch}));
  }

  const std::vector<std::byte> bytes_ = build_tiny_model(TinyModelSpec::smallest(1), /*seed=*/4);
  const LoadedModel model_{GgufFile::view(bytes_, "tiny")};
};

// Another number of sequences each time, some of them further on than others.
TEST_F(BatchesOnAFaultyDriver, HundredJoinAndLeaveAndNothingIsKept) {
  FaultyDriver driver;
  {
    Decoder on = decoder(driver, LaunchMode::kGraph);
    Batch batch(on);
    std::deque<uint32_t> joined;
    std::string kept;
    for (uint32_t i = 0; i < 100; ++i) {
      joined.push_back(batch.join({{5, static_cast<Token>(i), 7}, SamplingParams{}}));
      batch.step();
      for (; joined.size() > i % 5; joined.pop_front()) batch.leave(joined.front());
      batch.step();
      if (i == 20) kept = driver.alive();
    }
    EXPECT_EQ(driver.alive(), kept);
    EXPECT_THAT(kept, testing::HasSubstr("cuGraphInstantiate 4,")) << "of one to four that had a token to decode";
  }
  EXPECT_EQ(driver.alive(), "");
}

// Of every function that is called, the first call and the last.
TEST_F(BatchesOnAFaultyDriver, AFailedCallIsToldAndOthersMayJoinThen) {
  const auto serve = [](Decoder& on) {
    Batch batch(on);
    std::vector<Token> tokens;
    for (uint32_t i = 0; i < 5; ++i) {
      if (i < 3) batch.join({{5, static_cast<Token>(i), 7}, SamplingParams{}});
      for (const Batch::Next& next : batch.step()) tokens.push_back(next.token);
    }
    return tokens;
  };
  for (const LaunchMode launch : {LaunchMode::kStream, LaunchMode::kGraph}) {
    std::vector<Token> undisturbed;
    std::map<std::string, uint64_t> calls;
    {
      FaultyDriver quiet;
      Decoder on = decoder(quiet, launch);
      calls = quiet.calls_of([&] { undisturbed = serve(on); });
    }
    for (const auto& [function, n_calls] : calls) {
      for (const uint64_t call : {uint64_t{1}, n_calls}) {
        FaultyDriver driver;
        {
          Decoder on = decoder(driver, launch);
          driver.fail(function, call, ptx::cuda::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
          const std::string error = error_of([&] { serve(on); });
          if (!driver.has_failed()) continue;  // how many events are in use at once may differ
          EXPECT_THAT(error, testing::HasSubstr(": " + function + " failed with CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES ("));
          EXPECT_EQ(serve(on), undisturbed) << function << " " << call;
        }
        EXPECT_EQ(driver.alive(), "") << function << " " << call;
      }
    }
  }
}

}  // namespace
}  // namespace warpchat
