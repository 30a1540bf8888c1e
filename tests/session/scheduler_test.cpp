// An answer is the same alone and beside any others, which may come or go at any time.
#include "engine/sequences/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <semaphore>
#include <thread>

#include "engine/cpu/cpu_steps.h"
#include "engine/forwarding_steps.h"
#include "engine/gpu/gpu_steps.h"
#include "engine/profile.h"
#include "engine/token_source.h"
#include "kernels/attention/kv_cache.h"
#include "tests/support/decoder_cases.h"
#include "tests/support/faulty_driver.h"
#include "tests/support/scheduled_answers.h"
#include "tests/support/test_device.h"

namespace warpchat {
namespace {

using namespace std::chrono_literals;

constexpr uint32_t kContext = 40;

struct SchedulerWay {
  const char* name;
  std::optional<LaunchMode> launch;  // none: the CPU
  float temperature;
  TinyModelSpec model = {.n_layers = 1};
};

class SchedulerTest : public testing::TestWithParam<SchedulerWay> {
 protected:
  Decoder decoder(uint32_t sequences, uint32_t context = kContext) const {
    if (GetParam().launch)
      return Decoder(model_.config,
                     make_gpu_steps(model_.config, model_.tensors,
                                    {test_device(),
                                     {.context = context, .sequences = sequences, .state_checkpoints = 4},
                                     *GetParam().launch}));
    CpuOptions options;
    options.threads = 2, options.context = context, options.sequences = sequences;
    return Decoder(model_.config, make_cpu_steps(model_.config, model_.tensors, options));
  }
  AnswerRequest request(std::vector<Token> prompt, uint64_t seed, int32_t max_tokens) const {
    AnswerRequest request{.prompt = std::move(prompt), .max_tokens = max_tokens};
    request.sampling.temperature = GetParam().temperature;
    request.sampling.repeat_penalty = 1.3f;
    request.sampling.seed = seed;
    return request;
  }
  std::vector<Token> alone(const AnswerRequest& request) {
    if (!one_) one_.emplace(decoder(1));
    one_->forward(request.prompt, 0, Logits::kLast);
    const auto n_prompt = static_cast<uint32_t>(request.prompt.size());
    const auto n = static_cast<size_t>(request.max_tokens);
    const auto source = make_token_source(*one_, {request.sampling, request.prompt, n_prompt, n_prompt - 1, n});
    std::vector<Token> tokens;
    while (tokens.size() < n) tokens.push_back(*source->next(false));
    return tokens;
  }

  const std::vector<std::byte> bytes_ = build_tiny_model(GetParam().model, /*seed=*/4);
  const DecodableModel model_{GgufFile::view(bytes_, "tiny")};
  std::optional<Decoder> one_;  // kept, because making it takes longer than an answer
};

TEST_P(SchedulerTest, GivesEachAnswerAsItIsAlone) {
  const std::vector<Token> prompts[] = {{5, 6, 7, 8, 9}, {100}, {50, 60, 70}, {9, 8, 7, 6, 5, 4, 3, 2}, {5, 6, 7}};
  const int32_t n_tokens[] = {12, 5, 9, 12, 2};
  Decoder shared = decoder(3);
  Scheduler scheduler(shared, never);
  std::vector<std::shared_ptr<ScheduledAnswer>> answers;
  for (size_t i = 0; i < 5; ++i) answers.push_back(scheduler.start(request(prompts[i], i, n_tokens[i])));
  for (size_t i = 0; i < 5; ++i) {
    const std::optional<Answer> answer = collect(*answers[i]);
    ASSERT_TRUE(answer) << i;
    EXPECT_EQ(answer->end.reason, EndReason::kTokenLimit) << answer->end.error;
    EXPECT_EQ(answer->tokens, alone(request(prompts[i], i, n_tokens[i]))) << i;
  }
  EXPECT_EQ(scheduler.n_answers(), 0u);
}

// At any token, another request may join or the decode mode may change: the answer stays the same.
TEST_P(SchedulerTest, AnAnswerIsTheSameWhateverElseRuns) {
  const AnswerRequest asked = request({5, 6, 7, 8, 9}, 3, 20), meanwhile = request({100, 101}, 4, 3);
  const std::vector<Token> expected = alone(asked), expected_meanwhile = alone(meanwhile);
  Decoder shared = decoder(2);
  for (const uint32_t comes_after : {1u, 2u, 7u}) {
    std::binary_semaphore has_come(0), comes(0);
    uint32_t n_given = 0;
    Scheduler scheduler(shared, [&](Token) {
      if (++n_given == comes_after) comes.release(), has_come.acquire();
      return false;
    });
    const std::shared_ptr<ScheduledAnswer> answering = scheduler.start(asked);
    comes.acquire();
    const std::shared_ptr<ScheduledAnswer> other = scheduler.start(meanwhile);
    has_come.release();
    const std::optional<Answer> answer = collect(*answering), of_other = collect(*other);
    ASSERT_TRUE(answer && of_other);
    EXPECT_EQ(answer->tokens, expected) << comes_after;
    EXPECT_EQ(of_other->tokens, expected_meanwhile) << comes_after;
  }
}

TEST_P(SchedulerTest, GivesNoTokenBeyondTheContext) {
  Decoder shared = decoder(2);
  Scheduler scheduler(shared, never);
  const auto full = scheduler.start(request(some_tokens(kContext - 2), 1, -1));
  const auto other = scheduler.start(request({1, 2, 3}, 2, 6));
  const std::optional<Answer> answer = collect(*full), of_other = collect(*other);
  ASSERT_TRUE(answer && of_other);
  EXPECT_EQ(answer->end.reason, EndReason::kContextFull) << answer->end.error;
  EXPECT_EQ(answer->tokens.size(), 2u);
  EXPECT_EQ(of_other->tokens.size(), 6u);
}

TEST_P(SchedulerTest, AnAnswerOfNoTokenEndsWithItsPrompt) {
  Decoder shared = decoder(2);
  Scheduler scheduler(shared, never);
  for (const int32_t n_beside : {0, 9}) {  // with none beside it, a device's own loop would follow
    std::shared_ptr<ScheduledAnswer> beside;
    if (n_beside > 0) beside = scheduler.start(request({1, 2, 3}, 2, n_beside));
    const std::optional<Answer> answer = collect(*scheduler.start(request({5, 6, 7}, 1, 0)));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->end.reason, EndReason::kTokenLimit) << answer->end.error;
    EXPECT_THAT(answer->tokens, testing::IsEmpty());
    EXPECT_GT(answer->end.timings.prompt_seconds, 0);
    if (beside) {
      EXPECT_EQ(collect(*beside)->tokens.size(), 9u);
    }
  }
}

// Passes that run ahead, too, write into pages of their sequences.
TEST_P(SchedulerTest, AnswersGoOnInNewPages) {
  Decoder shared = decoder(2, kPagePositions + 16), one = decoder(1, kPagePositions + 16);
  Scheduler scheduler(shared, never), alone(one, never);
  // The first has many tokens left when the second one's prompt has been read.
  const AnswerRequest requests[] = {request(some_tokens(kPagePositions - 30), 1, 40),
                                    request(some_tokens(kPagePositions - 4), 2, 12)};
  const auto answers = {scheduler.start(requests[0]), scheduler.start(requests[1])};
  for (size_t i = 0; const auto& answering : answers) {
    const std::optional<Answer> answer = collect(*answering), expected = collect(*alone.start(requests[i++]));
    ASSERT_TRUE(answer && expected);
    EXPECT_EQ(answer->end.reason, EndReason::kTokenLimit) << answer->end.error;
    EXPECT_EQ(answer->tokens, expected->tokens);
  }
}

// The long answers wait at their 20th token for the short one, and at their 45th for its end.
TEST_P(SchedulerTest, AShortAnswerEndsBeforeLongOnesThatCameFirst) {
  Decoder shared = decoder(3);
  std::binary_semaphore begun(0), second_has_come(0), both_run(0), third_has_come(0), third_has_ended(0);
  uint32_t n_given = 0;
  bool was_in_vain = false;
  Scheduler scheduler(shared, [&](Token) {
    ++n_given;
    if (n_given == 1) begun.release(), second_has_come.acquire();
    if (n_given == 20) both_run.release(), third_has_come.acquire();
    if (n_given == 45) was_in_vain = !third_has_ended.try_acquire_for(10s);
    return false;
  });
  const auto first = scheduler.start(request({1, 2, 3}, 1, 30));
  begun.acquire();
  const auto second = scheduler.start(request({5, 6, 7}, 2, 30));
  second_has_come.release();
  both_run.acquire();
  const auto third = scheduler.start(request({100, 101}, 3, 3));
  third_has_come.release();
  EXPECT_EQ(collect(*third)->tokens.size(), 3u);
  EXPECT_EQ(scheduler.n_answers(), 2u);
  third_has_ended.release();
  for (const auto& answering : {first, second}) EXPECT_EQ(collect(*answering)->tokens.size(), 30u);
  EXPECT_FALSE(was_in_vain);
}

TEST_P(SchedulerTest, AStopEndsOneAnswerAndWhatItKnewIsReused) {
  Decoder shared = decoder(2);
  std::binary_semaphore has_stopped(0), third(0);
  uint32_t n_given = 0;
  Scheduler scheduler(shared, [&](Token) {
    if (++n_given == 3) third.release(), has_stopped.acquire();
    return false;
  });
  const AnswerRequest asked = request({5, 6, 7, 8, 9}, 3, 30);
  const auto answering = scheduler.start(asked);
  third.acquire();
  answering->stop();
  has_stopped.release();
  const std::optional<Answer> answer = collect(*answering);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->end.reason, EndReason::kStopped);
  EXPECT_GE(answer->tokens.size(), 3u);
  const std::optional<Answer> again = collect(*scheduler.start(asked));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->end.timings.reused_tokens, 4u) << "all but the last, whose logits are needed";
  EXPECT_EQ(again->tokens, alone(asked));
}

INSTANTIATE_TEST_SUITE_P(Devices, SchedulerTest,
                         testing::Values(SchedulerWay{"cpu_greedy", std::nullopt, 0},
                                         SchedulerWay{"cpu_random", std::nullopt, 1},
                                         SchedulerWay{"stream_greedy", LaunchMode::kStream, 0},
                                         SchedulerWay{"stream_random", LaunchMode::kStream, 1},
                                         SchedulerWay{"graph_random", LaunchMode::kGraph, 1},
                                         SchedulerWay{"persistent_random", LaunchMode::kPersistent, 1},
                                         SchedulerWay{"hybrid_stream_random", LaunchMode::kStream, 1, kHybrid},
                                         SchedulerWay{"hybrid_persistent_random", LaunchMode::kPersistent, 1, kHybrid}),
                         [](const auto& c) { return c.param.name; });

struct CpuModel {
  const char* name;
  TinyModelSpec spec;
  uint32_t state_checkpoints;
};

class SchedulerOnTheCpu : public testing::TestWithParam<CpuModel> {
 protected:
  Decoder decoder(uint32_t context, uint32_t sequences, uint32_t pages) const {
    CpuOptions options;
    options.threads = 2, options.context = context, options.sequences = sequences, options.max_columns = 16;
    options.pages = pages, options.state_checkpoints = GetParam().state_checkpoints;
    return Decoder(model_.config, make_cpu_steps(model_.config, model_.tensors, options));
  }
  const std::vector<std::byte> bytes_ = build_tiny_model(GetParam().spec, /*seed=*/4);
  const DecodableModel model_{GgufFile::view(bytes_, "tiny")};
};
INSTANTIATE_TEST_SUITE_P(Models, SchedulerOnTheCpu,
                         testing::Values(CpuModel{"attention", {.n_layers = 1}, 0}, CpuModel{"delta_nets", kHybrid, 8},
                                         CpuModel{"delta_nets_one_kept", kHybrid, 1}),
                         [](const auto& model) { return model.param.name; });

AnswerRequest random_request(std::mt19937& random, uint32_t max_of_prompt, uint32_t max_tokens) {
  AnswerRequest request;
  request.prompt.resize(1 + random() % max_of_prompt);
  for (size_t i = 0; i < request.prompt.size(); ++i)
    request.prompt[i] = static_cast<Token>(i < 70 ? i : random() % 200);
  request.max_tokens = static_cast<int32_t>(1 + random() % max_tokens);
  request.sampling.seed = random();
  return request;
}

// For example, eight answers at once in pages for fewer than three. Sequences are evicted, wait, and are computed
// again.
TEST_P(SchedulerOnTheCpu, AnswersThatWaitForPagesAreWhatEachIsAlone) {
  constexpr uint32_t kLong = 256;
  std::mt19937 random(3);
  std::vector<AnswerRequest> requests;
  for (int i = 0; i < 32; ++i) requests.push_back(random_request(random, 120, 120));
  std::vector<std::vector<Token>> expected;
  Decoder one = decoder(kLong, 1, 0);
  for (const AnswerRequest& request : requests) {
    Scheduler alone(one, never);
    expected.push_back(collect(*alone.start(request))->tokens);
  }
  const struct { uint32_t sequences, pages; } caches[] = {{1, 4}, {2, 5}, {8, 6}, {32, 24}};
  for (const auto& [n_sequences, n_pages] : caches) {
    SCOPED_TRACE(std::to_string(n_sequences) + " sequences");
    Decoder shared = decoder(kLong, n_sequences, n_pages);
    Scheduler scheduler(shared, never);
    std::vector<std::shared_ptr<ScheduledAnswer>> answers;
    for (const AnswerRequest& request : requests) answers.push_back(scheduler.start(request));
    for (size_t i = 0; i < answers.size(); ++i) {
      if (i % 5 == 4) answers[i]->stop();
      const std::optional<Answer> answer = collect(*answers[i]);
      ASSERT_TRUE(answer) << i;
      ASSERT_NE(answer->end.reason, EndReason::kFailed) << answer->end.error;
      std::vector<Token> prefix = expected[i];
      prefix.resize(std::min(prefix.size(), answer->tokens.size()));
      EXPECT_EQ(answer->tokens, prefix) << i;
      if (i % 5 != 4) {
        EXPECT_EQ(answer->tokens.size(), expected[i].size()) << i;
      }
    }
  }
}

struct BothAnswers {
  Answer drafted, plain;
};
// Answers to the same request, with the second scheduler decoding token by token. Empty if one of them failed.
std::optional<BothAnswers> answers_of(Scheduler& drafting, Scheduler& plain, const AnswerRequest& request) {
  AnswerRequest token_by_token = request;
  token_by_token.drafts = false;
  std::optional<Answer> expected = collect(*plain.start(token_by_token)), is = collect(*drafting.start(request));
  if (!expected || !is) return std::nullopt;
  EXPECT_EQ(is->tokens, expected->tokens);
  EXPECT_EQ(expected->end.timings.drafted_tokens, 0u);
  return BothAnswers{std::move(*is), std::move(*expected)};
}

// A model that repeats itself: drafts are tried and mostly accepted. Tokens, end and reusable prefix are the same as
// without drafts.
TEST_P(SchedulerOnTheCpu, DraftsChangeNoToken) {
  Decoder drafting = decoder(512, 1, 0), plain = decoder(512, 1, 0);
  std::mt19937 random(7);
  uint32_t n_drafted = 0, n_accepted = 0;
  for (const float temperature : {0.0f, 0.0f, 0.2f, 0.2f, 0.4f, 0.4f}) {
    AnswerRequest request = random_request(random, 60, 1);
    request.sampling.temperature = temperature;
    request.max_tokens = static_cast<int32_t>(150 + random() % 100);
    Scheduler with(drafting, never), without(plain, never);
    for (int turn = 0; turn < 2; ++turn) {
      SCOPED_TRACE(std::to_string(temperature) + ", turn " + std::to_string(turn));
      const std::optional<BothAnswers> both = answers_of(with, without, request);
      ASSERT_TRUE(both);
      const auto& [is, expected] = *both;
      EXPECT_EQ(is.end.reason, expected.end.reason) << is.end.error;
      const uint32_t lost =
          GetParam().state_checkpoints > 1 ? kMaxVerifyTokens : 0;  // positions lost with a draft at the end
      EXPECT_GE(is.end.timings.reused_tokens + lost, expected.end.timings.reused_tokens);
      EXPECT_LE(is.end.timings.reused_tokens, expected.end.timings.reused_tokens);
      n_drafted += is.end.timings.drafted_tokens, n_accepted += is.end.timings.accepted_tokens;
      request.prompt.insert(request.prompt.end(), is.tokens.begin(), is.tokens.end());
      request.max_tokens = -1;  // until the context is full
    }
  }
  if (GetParam().state_checkpoints == 1) {
    EXPECT_EQ(n_drafted, 0u) << "a recurrent state cannot be rewound";
  } else {
    EXPECT_GT(n_accepted, 0u);
    EXPECT_GT(n_drafted, n_accepted) << "some were rejected";
  }
}

// The same on a device that samples and runs ahead until a draft interrupts it: greedy and sampled, with penalty
// counts. When the first draft comes depends on when its kernels are compiled.
class DraftsOnAGpu : public testing::TestWithParam<std::pair<const char*, TinyModelSpec>> {
 protected:
  Decoder decoder(LaunchMode launch) const {
    const GpuSizes sizes{.context = 256, .sequences = 2, .state_checkpoints = 4};
    Decoder made(model_.config, make_gpu_steps(model_.config, model_.tensors, {test_device(), sizes, launch}));
    while (!made.steps().can_verify_draft()) std::this_thread::sleep_for(1ms);
    return made;
  }
  // Passes with prefill kernels, whose bits differ from those of decode.
  static uint64_t passes_of_prompts(Decoder& decoder) {
    uint64_t calls = 0;
    for (const OperationProfile& row : decoder.steps().profile().rows())
      calls += row.name.starts_with("flash_attention") ? row.calls : 0;
    return calls;
  }

  const std::vector<std::byte> bytes_ = build_tiny_model(GetParam().second, /*seed=*/4);
  const DecodableModel model_{GgufFile::view(bytes_, "tiny")};
};
INSTANTIATE_TEST_SUITE_P(Models, DraftsOnAGpu,
                         testing::Values(std::pair("attention", TinyModelSpec{.n_layers = 1}),
                                         std::pair("delta_nets", kHybrid)),
                         [](const auto& model) { return model.param.first; });

TEST_P(DraftsOnAGpu, ChangeNoToken) {
  uint32_t n_rejected = 0;  // over all modes: how much is drafted depends on measured times
  for (const LaunchMode launch : {LaunchMode::kStream, LaunchMode::kGraph, LaunchMode::kPersistent}) {
    SCOPED_TRACE(name_of(launch));
    Decoder drafting = decoder(launch), plain = decoder(launch);
    uint32_t n_drafted = 0, n_accepted = 0;
    for (const float temperature : {0.0f, 0.3f}) {
      AnswerRequest request{.prompt = {5, 6, 7, 8, 9}, .max_tokens = 40};
      request.sampling.temperature = temperature;
      request.sampling.presence_penalty = 0.1f;
      Scheduler with(drafting, never), without(plain, never);
      for (int turn = 0; turn < 2; ++turn) {
        SCOPED_TRACE(std::to_string(temperature) + ", turn " + std::to_string(turn));
        const std::optional<BothAnswers> both = answers_of(with, without, request);
        ASSERT_TRUE(both);
        const Answer& is = both->drafted;
        EXPECT_EQ(is.end.reason, EndReason::kTokenLimit) << is.end.error;
        n_drafted += is.end.timings.drafted_tokens, n_accepted += is.end.timings.accepted_tokens;
        request.prompt.insert(request.prompt.end(), is.tokens.begin(), is.tokens.end());
      }
    }
    EXPECT_GT(n_accepted, 0u);
    n_rejected += n_drafted - n_accepted;
  }
  EXPECT_GT(n_rejected, 0u);
}

// Other requests join while drafts are accepted, rejected and rolled back.
TEST_P(DraftsOnAGpu, ChangeNoTokenWhateverElseRuns) {
  Decoder drafting = decoder(LaunchMode::kGraph), plain = decoder(LaunchMode::kGraph);
  for (Decoder* each : {&drafting, &plain}) each->steps().set_measuring(true);
  AnswerRequest asked{.prompt = {5, 6, 7, 8, 9}, .max_tokens = 40};
  asked.sampling.temperature = 0;
  asked.sampling.presence_penalty = 0.1f;
  uint32_t n_drafted = 0;
  for (const uint32_t comes_after : {10u, 20u, 27u, 28u, 29u, 30u}) {
    const auto answers = [&](Decoder& decoder, bool drafts) {
      std::binary_semaphore has_come(0), comes(0);
      uint32_t n_given = 0;
      Scheduler scheduler(decoder, [&](Token) {
        if (++n_given == comes_after) comes.release(), has_come.acquire();
        return false;
      });
      AnswerRequest request = asked, other{.prompt = {100, 101, 102, static_cast<Token>(comes_after)}, .max_tokens = 6};
      request.drafts = other.drafts = drafts;
      const auto answering = scheduler.start(request);
      comes.acquire();
      const auto meanwhile = scheduler.start(other);
      has_come.release();
      const std::optional<Answer> answer = collect(*answering), of_other = collect(*meanwhile);
      EXPECT_TRUE(answer && of_other);
      n_drafted += answer->end.timings.drafted_tokens;
      return std::pair(answer->tokens, of_other->tokens);
    };
    EXPECT_EQ(answers(drafting, true), answers(plain, false)) << comes_after;
  }
  EXPECT_GT(n_drafted, 0u);
  EXPECT_EQ(passes_of_prompts(drafting), passes_of_prompts(plain));
}

// A regenerated, edited or continued turn is answered as in a conversation without a past.
TEST_P(SchedulerOnTheCpu, AChangedConversationIsAnsweredLikeANewOne) {
  Decoder known = decoder(512, 1, 0), fresh = decoder(512, 1, 0);
  Scheduler scheduler(known, never);
  const auto answer = [](Scheduler& by, std::vector<Token> prompt) {
    AnswerRequest request{.prompt = std::move(prompt), .max_tokens = 12};
    request.sampling.seed = 5;
    return *collect(*by.start(std::move(request)));
  };
  std::vector<Token> turn = some_tokens(150);
  const Answer first = answer(scheduler, turn);
  const Answer again = answer(scheduler, turn);
  EXPECT_EQ(again.tokens, first.tokens);
  if (GetParam().state_checkpoints != 1) {
    EXPECT_EQ(again.end.timings.reused_tokens, 149u);
  }
  std::vector<Token> next = turn;
  next.insert(next.end(), first.tokens.begin(), first.tokens.end());
  next.insert(next.end(), {7, 8, 9});
  std::vector<Token> edited = turn;
  edited[140] = 3;
  for (const std::vector<Token>& prompt : {next, edited, turn, next}) {
    Scheduler alone(fresh, never);
    EXPECT_EQ(answer(scheduler, prompt).tokens, answer(alone, prompt).tokens);
  }
}

// The same on a device that samples.
TEST(SchedulerOfHybrids, AChangedConversationIsAnsweredLikeANewOne) {
  const std::vector<std::byte> bytes = build_tiny_model(kHybrid, /*seed=*/4);
  const DecodableModel model(GgufFile::view(bytes, "tiny"));
  const auto decoder = [&](LaunchMode launch) {
    const GpuSizes sizes{.context = 128, .sequences = 2, .state_checkpoints = 4};
    return Decoder(model.config, make_gpu_steps(model.config, model.tensors, {test_device(), sizes, launch}));
  };
  const auto answer = [](Scheduler& by, std::vector<Token> prompt) {
    AnswerRequest request{.prompt = std::move(prompt), .max_tokens = 6};
    request.sampling.temperature = 0;
    return *collect(*by.start(std::move(request)));
  };
  Decoder fresh = decoder(LaunchMode::kStream);
  for (const LaunchMode launch : {LaunchMode::kStream, LaunchMode::kGraph, LaunchMode::kPersistent}) {
    Decoder known = decoder(launch);
    Scheduler scheduler(known, never);
    const std::vector<Token> turn = some_tokens(40);
    const Answer first = answer(scheduler, turn);
    EXPECT_EQ(answer(scheduler, turn).end.timings.reused_tokens, 39u);
    std::vector<Token> next = turn, edited = turn;
    next.insert(next.end(), first.tokens.begin(), first.tokens.end());
    next.insert(next.end(), {7, 8, 9});
    edited[35] = 3;
    for (const std::vector<Token>& prompt : {turn, next, edited, next}) {
      Scheduler alone(fresh, never);
      const Answer found = answer(scheduler, prompt);
      EXPECT_EQ(found.end.error, "");
      EXPECT_EQ(found.tokens, answer(alone, prompt).tokens);
    }
    const auto one = scheduler.start({.prompt = turn, .max_tokens = 6}),
               other = scheduler.start({.prompt = edited, .max_tokens = 6});
    EXPECT_EQ(collect(*one)->end.error, "");
    EXPECT_EQ(collect(*other)->end.error, "");
  }
}

// The device runs on after the token that ends an answer unless it knows that token. What it computed there is not
// reused.
TEST(SchedulerOfHybrids, AnAnswerThatEndsEarlyLeavesNothingBehind) {
  const std::vector<std::byte> bytes = build_tiny_model(kHybrid, /*seed=*/4);
  const DecodableModel model(GgufFile::view(bytes, "tiny"));
  const auto decoder = [&](LaunchMode launch) {
    const GpuSizes sizes{.context = 128, .sequences = 1, .state_checkpoints = 4};
    return Decoder(model.config, make_gpu_steps(model.config, model.tensors, {test_device(), sizes, launch}));
  };
  const auto answer = [](Scheduler& by, std::vector<Token> prompt) {
    AnswerRequest request{.prompt = std::move(prompt), .max_tokens = 20};
    request.sampling.temperature = 1, request.sampling.seed = 3;
    return *collect(*by.start(std::move(request)));
  };
  Decoder fresh = decoder(LaunchMode::kStream);
  std::vector<Token> turn = some_tokens(40);
  const Token last = [&] {
    Scheduler whole(fresh, never);
    return answer(whole, turn).tokens.at(6);
  }();
  const auto ends = [last](Token token) { return token == last; };
  struct Ending {
    LaunchMode launch;
    bool is_known;     // to the device
    uint32_t n_ahead;  // tokens after the answer's text that the state contains, if certain
  };
  for (const Ending& e : {Ending{LaunchMode::kPersistent, false, 0}, Ending{LaunchMode::kPersistent, true, 0},
                          Ending{LaunchMode::kStream, false, 1}, Ending{LaunchMode::kGraph, false, 1}}) {
    SCOPED_TRACE(name_of(e.launch));
    Decoder known = decoder(e.launch);
    Scheduler scheduler(known, ends, std::span(&last, e.is_known ? 1 : 0));
    const Answer first = answer(scheduler, turn);
    ASSERT_EQ(first.end.reason, EndReason::kEndOfText) << first.end.error;
    std::vector<Token> next = turn;
    next.insert(next.end(), first.tokens.begin(), first.tokens.end());
    next.insert(next.end(), {last, 7, 8, 9});
    const Answer second = answer(scheduler, next);
    if (e.is_known || e.n_ahead > 0) {
      EXPECT_EQ(second.end.timings.reused_tokens, 40 + first.tokens.size() + e.n_ahead);
    }
    Scheduler alone(fresh, ends);
    EXPECT_EQ(second.tokens, answer(alone, next).tokens) << e.is_known;
    EXPECT_EQ(answer(scheduler, turn).tokens, first.tokens);
  }
}

// A stop may come during any pass. What that pass left is not reused.
TEST_P(SchedulerOnTheCpu, APromptThatWasStoppedIsReadAgain) {
  Decoder stopped = decoder(512, 1, 0), fresh = decoder(512, 1, 0);
  const AnswerRequest asked{.prompt = some_tokens(400), .max_tokens = 4};
  Scheduler alone(fresh, never);
  const std::vector<Token> expected = collect(*alone.start(asked))->tokens;
  Scheduler scheduler(stopped, never);
  for (uint32_t n_passes = 0; n_passes < 12; ++n_passes) {
    const auto answering = scheduler.start(asked);
    bool has_ended = false;
    for (uint32_t i = 0; i < n_passes && !has_ended; ++i)
      has_ended = std::holds_alternative<GenerationEnd>(*answering->next(60s));
    answering->stop();
    ASSERT_TRUE(has_ended || collect(*answering));
  }
  EXPECT_EQ(collect(*scheduler.start(asked))->tokens, expected);
}

// The first answer blocks the passes until both others have joined.
TEST_P(SchedulerOnTheCpu, RequestInFrontIsReadFirst) {
  Decoder shared = decoder(512, 3, 0);
  std::binary_semaphore have_come(0), begun(0);
  uint32_t n_given = 0;
  Scheduler scheduler(shared, [&](Token) {
    if (++n_given == 1) begun.release(), have_come.acquire();
    return false;
  });
  const auto held = scheduler.start({.prompt = {1, 2, 3}, .max_tokens = 2});
  begun.acquire();
  const auto behind = scheduler.start({.prompt = some_tokens(300), .max_tokens = 1});
  const auto front = scheduler.start({.prompt = some_tokens(200), .max_tokens = 1, .in_front = true});
  have_come.release();
  const std::optional<Answer> of_front = collect(*front), of_behind = collect(*behind);
  ASSERT_TRUE(of_front && of_behind);
  // The request behind was started before the one in front.
  EXPECT_GT(of_behind->end.timings.first_token_seconds, of_front->end.timings.first_token_seconds);
}

// The device's thread fails before the first pass, where no pass catches it.
class StepsWithoutAThread final : public ForwardingSteps {
 public:
  StepsWithoutAThread(std::unique_ptr<Steps> steps, int n_failures)
      : ForwardingSteps(*steps), steps_(std::move(steps)), n_failures_(n_failures) {}
  void enter_worker_thread() override {
    if (n_failures_-- > 0) throw Error("the device has no room for a thread");
  }

 private:
  std::unique_ptr<Steps> steps_;
  int n_failures_;
};

TEST_P(SchedulerOnTheCpu, AThreadThatCannotBeginFailsTheAnswersAndTheNextOnesAreRight) {
  CpuOptions options;
  options.threads = 1, options.context = kContext;
  const auto make_steps = [&] { return make_cpu_steps(model_.config, model_.tensors, options); };
  Decoder failing(model_.config, std::make_unique<StepsWithoutAThread>(make_steps(), 1));
  Decoder working(model_.config, make_steps());
  Scheduler scheduler(failing, never), alone(working, never);
  const AnswerRequest asked{.prompt = {5, 6}, .max_tokens = 4};
  const std::optional<Answer> failed = collect(*scheduler.start(asked));
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->end.reason, EndReason::kFailed);
  EXPECT_EQ(failed->end.error, "the device has no room for a thread");
  const std::optional<Answer> next = collect(*scheduler.start(asked)), expected = collect(*alone.start(asked));
  ASSERT_TRUE(next && expected);
  EXPECT_EQ(next->tokens, expected->tokens);
}

TEST_P(SchedulerOnTheCpu, TheEndOfTheSchedulerStopsWhatIsUnderWayAndWhatWaits) {
  Decoder shared = decoder(kContext, 1, 0);
  std::vector<std::shared_ptr<ScheduledAnswer>> answers;
  {
    Scheduler scheduler(shared, never);
    for (Token i = 0; i < 3; ++i) answers.push_back(scheduler.start({.prompt = {1, 2, i}}));
  }
  for (const auto& answering : answers) EXPECT_TRUE(collect(*answering));
}

class SchedulerOnAFaultyDriver : public testing::Test {
 protected:
  Decoder decoder(FaultyDriver& driver, LaunchMode launch) const {
    return Decoder(model_.config, make_gpu_steps(model_.config, model_.tensors,
                                                 {driver.device(), {.context = kContext, .sequences = 5}, launch}));
  }

  const std::vector<std::byte> bytes_ = build_tiny_model(TinyModelSpec::smallest(1), /*seed=*/4);
  const DecodableModel model_{GgufFile::view(bytes_, "tiny")};
};

// Each round has another number of answers, at different stages.
TEST_F(SchedulerOnAFaultyDriver, HundredAnswersLeaveNothingBehind) {
  FaultyDriver driver;
  {
    Decoder on = decoder(driver, LaunchMode::kGraph);
    Scheduler scheduler(on, never);
    std::string kept;
    for (int32_t i = 0; i < 25; ++i) {
      std::vector<std::shared_ptr<ScheduledAnswer>> answers;
      for (int32_t n = 0; n < 4; ++n)
        answers.push_back(scheduler.start({.prompt = {5, static_cast<Token>(i), 7, n}, .max_tokens = 2 + (i + n) % 5}));
      for (const auto& answering : answers) EXPECT_EQ(collect(*answering)->end.error, "");
      if (i == 10) kept = driver.alive();
    }
    EXPECT_EQ(driver.alive(), kept);
  }
  EXPECT_EQ(driver.alive(), "");
}

// Fails the first and the last call of every function that is called.
TEST_F(SchedulerOnAFaultyDriver, AFailedCallIsToldAndOthersMayJoinThen) {
  const auto serve = [](Decoder& on) {
    Scheduler scheduler(on, never);
    std::vector<std::shared_ptr<ScheduledAnswer>> answers;
    for (Token i = 0; i < 3; ++i) answers.push_back(scheduler.start({.prompt = {5, i, 7}, .max_tokens = 3}));
    std::vector<Answer> all;
    for (const auto& answering : answers) all.push_back(*collect(*answering));
    return all;
  };
  const auto tokens_of = [](const std::vector<Answer>& answers) {
    std::vector<std::vector<Token>> tokens;
    for (const Answer& answer : answers) tokens.push_back(answer.tokens);
    return tokens;
  };
  for (const LaunchMode launch : {LaunchMode::kStream, LaunchMode::kGraph}) {
    std::vector<std::vector<Token>> undisturbed;
    std::map<std::string, uint64_t> calls;
    {
      FaultyDriver quiet;
      Decoder on = decoder(quiet, launch);
      calls = quiet.calls_of([&] { undisturbed = tokens_of(serve(on)); });
    }
    for (const auto& [function, n_calls] : calls) {
      for (const uint64_t call : {uint64_t{1}, n_calls}) {
        FaultyDriver driver;
        {
          Decoder on = decoder(driver, launch);
          driver.fail(function, call, ptx::cuda::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
          const std::vector<Answer> answers = serve(on);
          if (!driver.has_failed()) continue;  // the order of answers and the number of events in use may differ
          EXPECT_TRUE(std::ranges::any_of(
              answers,
              [&, &called = function](const Answer& answer) {
                return answer.end.error.find(": " + called + " failed with CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (") !=
                       std::string::npos;
              }))
              << function << " " << call;
          EXPECT_EQ(tokens_of(serve(on)), undisturbed) << function << " " << call;
        }
        EXPECT_EQ(driver.alive(), "") << function << " " << call;
      }
    }
  }
}

}  // namespace
}  // namespace warpchat
