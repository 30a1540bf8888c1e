// Answers whose tokens are constrained: masks hold in every launch mode, beside free answers, and over drafts.
#include <gtest/gtest.h>

#include <thread>

#include "engine/cpu/cpu_steps.h"
#include "engine/gpu/gpu_steps.h"
#include "models/error.h"
#include "tests/support/decoder_cases.h"
#include "tests/support/scheduled_answers.h"
#include "tests/support/test_device.h"

namespace warpchat {
namespace {

// At every fourth place of the answer every seventh token, and between them one alone. One that fails has no token at
// place fails_at.
class OneOrEverySeventh final : public TokenConstraint {
 public:
  OneOrEverySeventh(uint32_t n_vocab, uint32_t first, size_t fails_at = SIZE_MAX)
      : n_vocab_(n_vocab), first_(first), fails_at_(fails_at) {}

  static bool is_open(size_t place) { return place % 4 == 0; }
  static Token alone_at(size_t place) { return static_cast<Token>(100 + place % 4); }
  bool allows_at(size_t place, Token token) const {
    return is_open(place) ? static_cast<uint32_t>(token) % 7 == first_ : token == alone_at(place);
  }

  std::span<const uint32_t> mask() override {
    if (n_ == fails_at_) throw Error("no token at place " + std::to_string(n_));
    mask_.assign((n_vocab_ + 31) / 32, 0);
    for (Token token = 0; static_cast<uint32_t>(token) < n_vocab_; ++token)
      if (allows_at(n_, token)) allow(mask_, token);
    return mask_;
  }
  void accept(Token token) override {
    if (!allows_at(n_, token)) throw Error("token " + std::to_string(token) + " at place " + std::to_string(n_));
    ++n_;
  }
  void undo(size_t n_tokens) override { n_ -= n_tokens; }
  std::vector<Token> forced() override {
    std::vector<Token> tokens;
    for (size_t place = n_; !is_open(place); ++place) tokens.push_back(alone_at(place));
    return tokens;
  }

 private:
  uint32_t n_vocab_, first_;
  size_t fails_at_, n_ = 0;
  std::vector<uint32_t> mask_;
};

struct Way {
  const char* name;
  std::optional<LaunchMode> launch;  // none: the CPU
  TinyModelSpec model = {.n_layers = 1};
};

class ConstrainedAnswers : public testing::TestWithParam<Way> {
 protected:
  Decoder decoder(uint32_t sequences, uint32_t context) const {
    if (GetParam().launch) {
      Decoder made(model_.config, make_gpu_steps(model_.config, model_.tensors,
                                                 {test_device(),
                                                  {.context = context, .sequences = sequences, .state_checkpoints = 4},
                                                  *GetParam().launch}));
      while (!made.steps().can_verify_draft()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return made;
    }
    CpuOptions options;
    options.threads = 2, options.context = context, options.sequences = sequences, options.state_checkpoints = 4;
    return Decoder(model_.config, make_cpu_steps(model_.config, model_.tensors, options));
  }
  AnswerRequest request(std::vector<Token> prompt, float temperature, int32_t max_tokens) const {
    AnswerRequest request{.prompt = std::move(prompt), .max_tokens = max_tokens};
    request.sampling.temperature = temperature;
    request.sampling.repeat_penalty = 1.1f;
    request.sampling.seed = 5;
    return request;
  }
  std::shared_ptr<OneOrEverySeventh> constraint(uint32_t first = 0, size_t fails_at = SIZE_MAX) const {
    return std::make_shared<OneOrEverySeventh>(model_.config.n_vocab, first, fails_at);
  }
  static void expect_kept(const Answer& answer, const OneOrEverySeventh& constraint) {
    for (size_t i = 0; i < answer.tokens.size(); ++i) EXPECT_TRUE(constraint.allows_at(i, answer.tokens[i])) << i;
  }

  const std::vector<std::byte> bytes_ = build_tiny_model(GetParam().model, /*seed=*/4);
  const DecodableModel model_{GgufFile::view(bytes_, "tiny")};
};

TEST_P(ConstrainedAnswers, KeepToTheirMasksBesideFreeOnes) {
  Decoder shared = decoder(3, 64);
  Scheduler scheduler(shared, never);
  for (const float temperature : {0.0f, 1.0f}) {
    const AnswerRequest free = request({100, 101}, temperature, 12);
    AnswerRequest held = request({5, 6, 7, 8, 9}, temperature, 15), other = request({50, 60}, temperature, 9);
    held.constraint = constraint();
    const std::optional<Answer> alone = collect(*scheduler.start(held)), free_alone = collect(*scheduler.start(free));
    ASSERT_TRUE(alone && free_alone);
    EXPECT_EQ(alone->end.reason, EndReason::kTokenLimit) << alone->end.error;
    expect_kept(*alone, *constraint());
    const auto of_other = constraint(3);
    held.constraint = constraint(), other.constraint = of_other;
    const auto one = scheduler.start(held), two = scheduler.start(free), three = scheduler.start(other);
    const std::optional<Answer> held_beside = collect(*one), free_beside = collect(*two),
                                other_beside = collect(*three);
    ASSERT_TRUE(held_beside && free_beside && other_beside);
    EXPECT_EQ(held_beside->tokens, alone->tokens);
    EXPECT_EQ(free_beside->tokens, free_alone->tokens);
    EXPECT_EQ(other_beside->tokens.size(), 9u) << other_beside->end.error;
    expect_kept(*other_beside, *of_other);
  }
}

// What must follow is drafted, and so is what followed earlier.
TEST_P(ConstrainedAnswers, AreTheSameWithDrafts) {
  Decoder decoding = decoder(1, 256);
  uint32_t n_accepted = 0;
  for (const float temperature : {0.0f, 0.3f}) {
    std::vector<std::vector<Token>> tokens;
    for (const bool drafts : {false, true}) {
      Scheduler scheduler(decoding, never);
      AnswerRequest asked = request({5, 6, 7, 8, 9}, temperature, 48);
      asked.sampling.repeat_penalty = 1;
      asked.drafts = drafts, asked.constraint = constraint();
      const std::optional<Answer> answer = collect(*scheduler.start(asked));
      ASSERT_TRUE(answer);
      EXPECT_EQ(answer->end.reason, EndReason::kTokenLimit) << answer->end.error;
      expect_kept(*answer, *constraint());
      n_accepted += answer->end.timings.accepted_tokens;
      tokens.push_back(answer->tokens);
    }
    EXPECT_EQ(tokens[0], tokens[1]);
  }
  EXPECT_GT(n_accepted, 0u);
}

TEST_P(ConstrainedAnswers, OneThatFailsEndsAlone) {
  Decoder shared = decoder(2, 64);
  Scheduler scheduler(shared, never);
  const AnswerRequest free = request({100, 101}, 1, 12);
  const std::optional<Answer> expected = collect(*scheduler.start(free));
  AnswerRequest failing = request({5, 6, 7, 8, 9}, 1, 15);
  failing.constraint = constraint(0, /*fails_at=*/4);
  const auto one = scheduler.start(failing), two = scheduler.start(free);
  const std::optional<Answer> failed = collect(*one), beside = collect(*two);
  ASSERT_TRUE(expected && failed && beside);
  EXPECT_EQ(failed->end.reason, EndReason::kFailed);
  EXPECT_EQ(failed->end.error, "no token at place 4");
  EXPECT_EQ(failed->tokens.size(), 4u);
  EXPECT_EQ(beside->tokens, expected->tokens);
}

INSTANTIATE_TEST_SUITE_P(Devices, ConstrainedAnswers,
                         testing::Values(Way{"cpu", std::nullopt}, Way{"cpu_hybrid", std::nullopt, kHybrid},
                                         Way{"stream", LaunchMode::kStream}, Way{"graph", LaunchMode::kGraph},
                                         Way{"persistent", LaunchMode::kPersistent},
                                         Way{"hybrid_graph", LaunchMode::kGraph, kHybrid}),
                         [](const auto& c) { return std::string(c.param.name); });

}  // namespace
}  // namespace warpchat
