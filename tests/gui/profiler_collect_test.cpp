// From real decoders on CPU and emulator to the profiler's view.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "app/chat/profile/collect_profile.h"
#include "app/chat/profile/compare_answers.h"
#include "app/gui/profiler/kernel_table.h"
#include "engine/cpu/cpu_steps.h"
#include "engine/gpu/gpu_steps.h"
#include "engine/token_source.h"
#include "tests/support/decoder_cases.h"
#include "tests/support/test_device.h"

namespace warpchat::gui {
namespace {

class CollectProfile : public testing::Test {
 protected:
  Decoder on_cpu() const {
    return {model_.config, make_cpu_steps(model_.config, model_.tensors, {.threads = 1, .context = 128})};
  }
  Decoder on_gpu(LaunchMode launch) const {
    return {model_.config,
            make_gpu_steps(model_.config, model_.tensors, {test_device(), {.context = 128}, launch, {}})};
  }
  // A prompt of three tokens and an answer of n, as in a generation. Profiling starts at one of its tokens, or at the
  // beginning.
  static void answer(Decoder& decoder, uint32_t n, std::optional<uint32_t> watched_from = {}) {
    Profile& profile = decoder.steps().profile();
    if (!watched_from) watch_profile(decoder.steps(), true);
    profile.reset();
    const std::vector<Token> prompt = some_tokens(3);
    const uint32_t column = decoder.prefill(prompt, 0).value();
    decoder.wait();
    profile.begin_tokens();
    const auto source = make_token_source(decoder, {{}, prompt, 3, column, n});
    for (uint32_t i = 0; i < n; ++i) {
      if (i == watched_from) watch_profile(decoder.steps(), true);
      const double start = profile.now();
      source->next(false);
      profile.end_token(profile.now() - start);
    }
  }
  static const OperationProfile* row(const std::vector<OperationProfile>& rows, std::string_view part) {
    for (const OperationProfile& r : rows)
      if (r.calls > 0 && r.name.find(part) != std::string::npos) return &r;
    return nullptr;
  }

  const std::vector<std::byte> bytes_ = build_tiny_model({.formats = TinyFormats::all(TensorType::kQ8_0)}, 1);
  const DecodableModel model_{GgufFile::view(bytes_, "tiny")};
};

TEST_F(CollectProfile, HasNothingButMemoryBeforeTheFirstAnswer) {
  Decoder decoder = on_cpu();
  const auto data = collect_profile(decoder.steps(), "cpu");
  EXPECT_EQ(data->n_passes, 0u);
  EXPECT_TRUE(data->tokens.empty());
  EXPECT_TRUE(data->spans.empty());
  EXPECT_TRUE(kernel_rows(*data, RowsOf::kTokens).empty());
  EXPECT_FALSE(data->memory.empty());
  EXPECT_EQ(data->device, "cpu");
}

TEST_F(CollectProfile, TellsTokensFromThePromptOnTheCpu) {
  Decoder decoder = on_cpu();
  answer(decoder, 5);
  const auto data = collect_profile(decoder.steps(), "cpu");
  EXPECT_EQ(data->n_passes, 4u);
  EXPECT_EQ(data->tokens.size(), 4u);
  EXPECT_EQ(data->first_token, 1u) << "the prompt's pass gave the first token, without a call of its own";
  EXPECT_EQ(row(data->token_rows, "norm_logits")->calls, 4u);
  EXPECT_EQ(row(data->rows, "norm_logits")->calls, 5u) << "including the prompt's";
  // The calls of every pass are in the history of its token; none of the prompt's are.
  ASSERT_EQ(data->history.size(), data->rows.size());
  for (size_t i = 0; i < data->rows.size(); ++i) {
    double sum = 0;
    for (const float us : data->history[i]) sum += us;
    EXPECT_NEAR(sum, data->token_rows[i].seconds * 1e6, 1e-3 * sum + 1e-3) << data->rows[i].name;
  }
}

TEST_F(CollectProfile, LeavesOutTheTokensBeforeMeasuringBegan) {
  Decoder decoder = on_cpu();
  answer(decoder, 10, /*watched_from=*/6);
  const auto data = collect_profile(decoder.steps(), "cpu");
  EXPECT_EQ(data->n_passes, 4u);
  EXPECT_EQ(data->first_token, 6u);
  EXPECT_EQ(data->tokens.size(), 4u);
  for (const std::vector<float>& history : data->history)
    for (const float us : history) EXPECT_GT(us, 0);
}

TEST_F(CollectProfile, KeepsTheLastTokensOnly) {
  Decoder decoder = on_cpu();
  answer(decoder, 100);
  const auto data = collect_profile(decoder.steps(), "");
  EXPECT_EQ(data->tokens.size(), kShownTokens);
  EXPECT_EQ(data->first_token, 100 - kShownTokens);
  EXPECT_GE(data->spans.front().start + data->spans.front().seconds, data->tokens.front().start);
  EXPECT_EQ(data->n_passes, 99u);
  watch_profile(decoder.steps(), false);
  EXPECT_TRUE(collect_profile(decoder.steps(), "")->spans.empty()) << "profiling is off";
}

TEST_F(CollectProfile, HasCountersAndTextsInTheEmulator) {
  if (!test_device().gpu.is_emulated) GTEST_SKIP() << "the counters are the emulator's";
  for (const LaunchMode launch : {LaunchMode::kStream, LaunchMode::kGraph, LaunchMode::kPersistent}) {
    Decoder decoder = on_gpu(launch);
    answer(decoder, 6);
    decoder.wait();
    const auto data = collect_profile(decoder.steps(), "emulator");
    EXPECT_TRUE(data->is_gpu && data->is_emulated);
    EXPECT_TRUE(shows_counters(*data)) << name_of(launch);
    EXPECT_FALSE(data->spans.empty()) << name_of(launch);
    EXPECT_EQ(data->shares.empty(), launch != LaunchMode::kPersistent) << name_of(launch);
    AnswerProfile kept{.rows = data->token_rows, .n_passes = data->n_passes};
    EXPECT_GE(kept.n_passes, 5u) << name_of(launch) << ": the prompt's pass gave the first token";
    for (const ComparedRow& compared : compare_answers(kept, kept).parts)
      EXPECT_NE(compared.name, "other operations") << name_of(launch) << ": a kernel without a part";
    const std::vector<KernelColumn> columns = kernel_columns(*data, RowsOf::kTokens, 1000);
    EXPECT_EQ(std::ranges::count(columns, KernelColumn::kWaiting), launch == LaunchMode::kPersistent);
    for (const KernelRow& r : kernel_rows(*data, RowsOf::kTokens))
      EXPECT_NE(text_of(*data, data->rows[r.operation].name), nullptr) << data->rows[r.operation].name;
    watch_profile(decoder.steps(), false);
  }
}

}  // namespace
}  // namespace warpchat::gui
