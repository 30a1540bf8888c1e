// The comparison of two answers: words, numbers that add up, and missing data.
#include "app/chat/profile/compare_answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace warpchat {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Eleven tokens in ten passes, each with 2 ms of weights, 3 ms of attention and 1 ms of gaps.
AnswerProfile by_stream() {
  AnswerProfile answer;
  answer.number = 1;
  answer.model = "tiny", answer.device = "cuda:0", answer.launch = "stream";
  answer.timings = {.prompt_tokens = 8, .generated_tokens = 11, .prompt_seconds = 0.004, .generate_seconds = 0.06};
  answer.rows = {{"gemv_q8_0_64x64", 40, 0.012, 4'000'000},
                 {"gemv_q8_0_64x128", 10, 0.008, 4'000'000},
                 {"incremental_attention_h4", 20, 0.03, 2'000'000}};
  answer.n_passes = 10;
  return answer;
}

AnswerProfile by_graph() {
  AnswerProfile answer = by_stream();
  answer.number = 2;
  answer.launch = "graph";
  answer.timings.generate_seconds = 0.033;
  answer.rows[2].seconds = 0.009;
  return answer;
}

const ComparedRow* row(const std::vector<ComparedRow>& rows, const std::string& name) {
  const auto found = std::ranges::find(rows, name, &ComparedRow::name);
  return found == rows.end() ? nullptr : &*found;
}

std::vector<std::string> names(const std::vector<ComparedRow>& rows) {
  std::vector<std::string> all;
  for (const ComparedRow& r : rows) all.push_back((r.is_operation ? "  " : "") + r.name);
  return all;
}

// Sum of one side's parts.
double sum_of_parts(const AnswerComparison& comparison, std::optional<double> ComparedRow::*side) {
  double sum = 0;
  for (size_t i = 1; i < comparison.parts.size(); ++i)
    if (!comparison.parts[i].is_operation) sum += (comparison.parts[i].*side).value_or(0);
  return sum;
}

TEST(CompareAnswers, SaysWhatChangedAndWhere) {
  EXPECT_EQ(compare_answers(by_stream(), by_graph()).sentence,
            "graph instead of stream: 1.8 times faster, mostly attention");
  EXPECT_EQ(compare_answers(by_graph(), by_stream()).sentence,
            "stream instead of graph: 1.8 times slower, mostly attention");
  AnswerProfile other = by_stream();
  EXPECT_EQ(compare_answers(by_stream(), other).sentence, "the same model, device and launch mode: equally fast");
  other.model = "small", other.timings.generate_seconds = 0.05;
  EXPECT_EQ(compare_answers(by_stream(), other).sentence,
            "small instead of tiny: 20% faster, mostly between operations");
  other.device = "cpu", other.launch = "";
  EXPECT_THAT(compare_answers(by_stream(), other).sentence,
              HasSubstr("small instead of tiny, cpu instead of cuda:0 (stream): 20% faster"));
  other.timings.generated_tokens = 1;
  EXPECT_THAT(compare_answers(by_stream(), other).sentence, HasSubstr(": an answer of 1 token has no speed"));
}

TEST(CompareAnswers, HasPartsThatAddUpToATokenOfTheAnswer) {
  const AnswerComparison comparison = compare_answers(by_stream(), by_graph());
  EXPECT_THAT(names(comparison.parts), ElementsAre("time of a token", "attention", "between operations", "weights",
                                                   "  gemv_q8_0_64x64", "  gemv_q8_0_64x128"));
  EXPECT_NEAR(*comparison.parts[0].a, 0.006, 1e-9);
  EXPECT_NEAR(*comparison.parts[0].b, 0.0033, 1e-9);
  EXPECT_NEAR(sum_of_parts(comparison, &ComparedRow::a), *comparison.parts[0].a, 1e-12);
  EXPECT_NEAR(sum_of_parts(comparison, &ComparedRow::b), *comparison.parts[0].b, 1e-12);
  EXPECT_EQ(difference_text(comparison.parts[1]), "-2.10 ms");
  EXPECT_EQ(ratio_text(comparison.parts[1]), "0.300\u00d7");
  EXPECT_TRUE(comparison.parts[1].is_better());
}

TEST(CompareAnswers, HasTheTotalsOfBoth) {
  const AnswerComparison comparison = compare_answers(by_stream(), by_graph());
  EXPECT_NEAR(*row(comparison.totals, "tokens/s")->a, 11 / 0.06, 1e-9) << "as everywhere";
  EXPECT_TRUE(row(comparison.totals, "tokens/s")->is_better());
  EXPECT_NEAR(*row(comparison.totals, "prompt, tokens/s")->b, 2000, 1e-9);
  EXPECT_NEAR(*row(comparison.totals, "bytes a token")->a, 1e6, 1e-9);
  EXPECT_NEAR(*row(comparison.totals, "bandwidth")->a, 2e8, 1e-3);
}

// Rows of different devices have different names: only their parts are compared, and rows show which part they belong
// to.
TEST(CompareAnswers, BringsDevicesTogetherByTheirParts) {
  AnswerProfile cpu = by_stream();
  cpu.device = "cpu", cpu.launch = "";
  cpu.rows = {{"norm_qkv", 10, 0.02, 1}, {"attention", 10, 0.01, 1}};
  const AnswerComparison comparison = compare_answers(by_stream(), cpu);
  const ComparedRow& weights = *row(comparison.parts, "weights");
  EXPECT_NEAR(*weights.a, 0.002, 1e-12);
  EXPECT_NEAR(*weights.b, 0.002, 1e-12);
  EXPECT_FALSE(row(comparison.parts, "norm_qkv")->a) << "did not run there";
  EXPECT_FALSE(row(comparison.parts, "gemv_q8_0_64x64")->b);
  EXPECT_EQ(ratio_text(*row(comparison.parts, "norm_qkv")), "");
  EXPECT_EQ(comparison.absence, "");
}

TEST(CompareAnswers, TellsWaitingFromWork) {
  AnswerProfile persistent = by_graph();
  persistent.launch = "persistent";
  persistent.rows = {{"persistent qkv", 20, 0.02, 1, {}, 0.004}, {"persistent attention", 20, 0.01, 1, {}, 0.006}};
  const AnswerComparison comparison = compare_answers(by_graph(), persistent);
  EXPECT_NEAR(*row(comparison.parts, "waiting at barriers")->b, 0.001, 1e-12);
  EXPECT_FALSE(row(comparison.parts, "waiting at barriers")->a);
  EXPECT_NEAR(*row(comparison.parts, "attention")->b, 0.0004, 1e-12) << "without its wait";
  EXPECT_NEAR(sum_of_parts(comparison, &ComparedRow::b), *comparison.parts[0].b, 1e-12);
}

TEST(CompareAnswers, CountsInstructionsWhereBothRanInTheEmulator) {
  AnswerProfile a = by_stream(), b = by_graph();
  a.is_emulated = b.is_emulated = true;
  EXPECT_EQ(compare_answers(a, b).sentence,
            "graph instead of stream: 1.8 times faster, mostly attention; the emulator's times do not predict a "
            "GPU's");
  a.rows[0].counters.instructions = 600, a.rows[2].counters.instructions = 400;
  b.rows[0].counters.instructions = 600, b.rows[2].counters.instructions = 100;
  const AnswerComparison comparison = compare_answers(a, b);
  EXPECT_EQ(comparison.sentence, "graph instead of stream: 30% fewer instructions a token, mostly attention");
  EXPECT_EQ(comparison.parts[0].name, "instructions of a token");
  EXPECT_EQ(*comparison.parts[0].a, 100);
  EXPECT_EQ(sum_of_parts(comparison, &ComparedRow::b), *comparison.parts[0].b);
}

TEST(CompareAnswers, SaysWhichHasTotalsOnly) {
  AnswerProfile unwatched = by_graph();
  unwatched.rows.clear(), unwatched.n_passes = 0;
  const AnswerComparison comparison = compare_answers(by_stream(), unwatched);
  EXPECT_EQ(comparison.absence, "answer 2 has totals only: kernels were not timed yet");
  EXPECT_EQ(comparison.sentence, "graph instead of stream: 1.8 times faster");
  EXPECT_TRUE(comparison.parts[0].b);
  EXPECT_FALSE(row(comparison.parts, "attention")->b);
  EXPECT_FALSE(row(comparison.totals, "bytes a token")->b);
  EXPECT_THAT(compare_answers(unwatched, unwatched).absence, HasSubstr("answers 2 and 2 have totals only"));
}

TEST(CompareAnswers, IsTextForATerminal) {
  const std::string text = comparison_text(by_stream(), by_graph());
  EXPECT_THAT(text, HasSubstr("\nA\t1: cuda:0, stream, 11 tokens\nB\t2: cuda:0, graph, 11 tokens\n"));
  EXPECT_THAT(text, HasSubstr("\n3.00 ms\t900 \u00b5s\t-2.10 ms\t0.300\u00d7\tattention\n"));
}

}  // namespace
}  // namespace warpchat
