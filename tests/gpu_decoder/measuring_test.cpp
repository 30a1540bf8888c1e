// The profile of a generation in each launch mode: calls, bytes and counters of every kernel, the sampler included.
// Without a request, nothing is measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "engine/gpu/gpu_steps.h"
#include "engine/profile_report.h"
#include "engine/token_source.h"
#include "tests/support/decoder_cases.h"
#include "tests/support/test_device.h"

namespace warpchat {
namespace {

using ::testing::ContainsRegex;

struct Measured {
  uint64_t calls, bytes, instructions, sectors, bank_conflicts;
  auto operator<=>(const Measured&) const = default;
};
using Rows = std::map<std::string, Measured>;

bool is_phase(const std::string& row) { return row.starts_with("persistent "); }

class Measuring : public testing::TestWithParam<LaunchMode> {
 protected:
  static constexpr uint32_t kTokens = 5;

  Decoder decoder(LaunchMode launch = GetParam()) const {
    return {model_.config, make_gpu_steps(model_.config, model_.tensors, {test_device(), {.context = 64}, launch, {}})};
  }
  // A prompt of three tokens and an answer of kTokens, as a conversation has them.
  static std::vector<Token> answer(Decoder& decoder) {
    const std::vector<Token> prompt = some_tokens(3);
    const uint32_t column = decoder.prefill(prompt, 0).value();
    decoder.wait();
    const auto source = make_token_source(decoder, {{}, prompt, 3, column, kTokens});
    std::vector<Token> tokens;
    while (tokens.size() < kTokens) tokens.push_back(*source->next(false));
    return tokens;
  }
  static Rows rows_of(Decoder& decoder) {
    Rows rows;
    for (const OperationProfile& row : decoder.steps().profile().rows()) {
      const KernelCounters& c = row.counters;
      if (row.calls > 0 || c.instructions > 0)
        rows[row.name] = {row.calls, row.bytes, c.instructions, c.sectors, c.bank_conflicts};
    }
    return rows;
  }
  static Rows measured_answer(Decoder& decoder) {
    decoder.steps().set_measuring(true);
    answer(decoder);
    return rows_of(decoder);
  }
  static uint64_t calls_of(const Rows& rows, std::string_view family) {
    uint64_t calls = 0;
    for (const auto& [name, row] : rows)
      if (name.starts_with(family)) calls += row.calls;
    return calls;
  }

  const std::vector<std::byte> bytes_ = build_tiny_model({.formats = TinyFormats::all(TensorType::kQ8_0)}, /*seed=*/1);
  const DecodableModel model_{GgufFile::view(bytes_, "tiny")};
  const bool is_persistent_ = GetParam() == LaunchMode::kPersistent;
};

TEST_P(Measuring, IsOffByDefaultAndChangesNoToken) {
  Decoder quiet = decoder();
  const std::vector<Token> tokens = answer(quiet);
  EXPECT_TRUE(rows_of(quiet).empty());
  EXPECT_TRUE(quiet.steps().profile().trace().empty());
  quiet.steps().set_measuring(true);
  EXPECT_EQ(answer(quiet), tokens);
  const Rows rows = rows_of(quiet);
  EXPECT_FALSE(rows.empty());
  quiet.steps().set_measuring(false);
  EXPECT_EQ(answer(quiet), tokens);
  EXPECT_EQ(rows_of(quiet), rows) << "off again";
}

TEST_P(Measuring, HasCallsAndCountersOfEveryKernel) {
  Decoder decoder = this->decoder();
  const Rows rows = measured_answer(decoder);
  EXPECT_EQ(calls_of(rows, "sample_"), is_persistent_ ? 1 : kTokens) << "the first token's, after the prompt";
  EXPECT_EQ(calls_of(rows, "persistent sample"), is_persistent_ ? kTokens - 1 : 0) << "and those of the launch";
  EXPECT_EQ(calls_of(rows, "persistent_decoder"), is_persistent_ ? 1 : 0);
  const std::string table = profile_table(decoder.steps().profile().rows());
  for (const auto& [name, row] : rows) {
    EXPECT_GT(row.calls, 0u) << name;
    EXPECT_THAT(table, testing::HasSubstr("\n" + name.substr(0, 26))) << "in the table";
    if (is_phase(name) || !test_device().gpu.is_emulated) continue;
    EXPECT_GT(row.instructions, 0u) << name;
    EXPECT_GT(row.sectors, 0u) << name;
  }
}

// A trace records the order of calls. Sums are the same with and without it.
TEST_P(Measuring, HasTheSameRowsWithATrace) {
  Decoder plain = decoder(), traced = decoder();
  traced.steps().profile().keep_trace();
  Rows with = measured_answer(traced), without = measured_answer(plain);
  uint64_t n_spans = 0;
  for (const TraceSpan& span : traced.steps().profile().trace()) n_spans += span.lane == TraceSpan::kWhole;
  EXPECT_EQ(n_spans, calls_of(with, "") - calls_of(with, "persistent_decoder"));
  for (Rows* rows : {&with, &without})  // persistent blocks record more stamps with a trace
    std::erase_if(*rows, [](const auto& row) { return row.first.starts_with("persistent_decoder"); });
  EXPECT_EQ(with, without);
}

class MeasuringGraphs : public Measuring {};

TEST_P(MeasuringGraphs, IsThatOfTheStream) {
  Decoder graphed = decoder(), streamed = decoder(LaunchMode::kStream);
  EXPECT_EQ(measured_answer(graphed), measured_answer(streamed));
}

// Given tokens are measured, too: `chat logits` and `chat bench` use them.
TEST_P(Measuring, IsOfGivenTokensToo) {
  Decoder decoder = this->decoder();
  decoder.steps().set_measuring(true);
  const std::vector<Token> tokens = some_tokens(kTokens);
  uint32_t n_taken = 0;
  ASSERT_EQ(decoder.steps().teacher_force(tokens, 0, [&](auto) { ++n_taken; }), is_persistent_);
  EXPECT_EQ(n_taken, is_persistent_ ? kTokens : 0);
  EXPECT_EQ(calls_of(rows_of(decoder), "persistent embed"), n_taken);
  EXPECT_EQ(calls_of(rows_of(decoder), "persistent_decoder"), is_persistent_ ? 1 : 0);
}

INSTANTIATE_TEST_SUITE_P(Modes, MeasuringGraphs, testing::Values(LaunchMode::kGraph),
                         [](const auto& c) { return std::string(name_of(c.param)); });
INSTANTIATE_TEST_SUITE_P(Modes, Measuring, testing::ValuesIn(kLaunchModes),
                         [](const auto& c) { return std::string(name_of(c.param)); });

}  // namespace
}  // namespace warpchat
