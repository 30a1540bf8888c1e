// What the profiler computes before drawing: rows, order, words, colours, bars.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "app/gui/profiler/kernel_table.h"
#include "app/gui/profiler/kernel_text_panel.h"
#include "app/gui/profiler/plots.h"
#include "app/gui/profiler/token_strip.h"
#include "app/gui/profiler/why_this_speed.h"
#include "app/platform/text/numbers.h"

namespace warpchat::gui {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Two operations in ten passes of 10 ms each after a prompt, on a CPU.
ProfilerData some_data() {
  ProfilerData data;
  data.device = "cpu: 2 threads";
  data.token_rows = {{"norm_qkv", 20, 0.06, 600'000'000}, {"attention", 20, 0.02, 20'000'000}, {"embed", 0, 0, 0}};
  data.rows = {{"norm_qkv", 22, 0.15, 700'000'000}, {"attention", 22, 0.30, 90'000'000}, {"embed", 1, 0.05, 10}};
  data.n_passes = 10;
  for (int i = 0; i < 11; ++i) data.tokens.push_back({0.01 * i, i == 0 ? 5.0 : 0.01});
  data.weight_bytes_per_token = 100'000'000;
  data.history.assign(3, {});
  return data;
}

std::vector<std::string> names(const std::vector<KernelRow>& rows, const ProfilerData& data) {
  std::vector<std::string> list;
  for (const KernelRow& row : rows) list.push_back(data.rows[row.operation].name);
  return list;
}

TEST(ProfilerNumbers, HaveThreeDigitsThatMatter) {
  const std::pair<double, const char*> cases[] = {{0, "0"},         {0.12345, "0.123"}, {1.239, "1.24"},
                                                  {9.999, "10.0"},  {99.96, "100"},     {123.4, "123"},
                                                  {999.6, "1,000"}, {12345, "12,345"}};
  for (const auto& [value, text] : cases) EXPECT_EQ(three_digits(value), text);
}

TEST(ProfilerNumbers, TakeTheLargestUnitThatFits) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(999'900), "1.00 MB");  // not 1,000 kB
  EXPECT_EQ(bytes_text(398e6), "398 MB");
  EXPECT_EQ(duration_text(0.5e-6), "0.500 \u00b5s");
  EXPECT_EQ(duration_text(1.5e-3), "1.50 ms");
  EXPECT_EQ(duration_text(90), "90.0 s");
  EXPECT_EQ(compact_number(950), "950");
  EXPECT_EQ(compact_number(2.5), "2.50");
  EXPECT_EQ(compact_number(12'340), "12.3 k");
  EXPECT_EQ(percent_text(0), "0%");
  EXPECT_EQ(percent_text(0.042), "4.2%");
  EXPECT_EQ(percent_text(0.456), "46%");
}

TEST(KernelTable, SharesTheTokensPartOutOverItsPasses) {
  const ProfilerData data = some_data();
  const std::vector<KernelRow> rows = kernel_rows(data, RowsOf::kTokens);
  ASSERT_THAT(names(rows, data), ElementsAre("norm_qkv", "attention")) << "what never ran is left out";
  EXPECT_DOUBLE_EQ(rows[0][KernelColumn::kPerToken], 6'000);
  EXPECT_DOUBLE_EQ(rows[0][KernelColumn::kShare], 0.75);
  EXPECT_DOUBLE_EQ(rows[0][KernelColumn::kBandwidth], 1e10);
  EXPECT_TRUE(std::isnan(rows[0][KernelColumn::kOfPeak])) << "no peak is known";
}

// The same numbers as profile_table prints for the same rows.
TEST(KernelTable, ShowsTheWholeAnswerAsTheTerminalDoes) {
  const ProfilerData data = some_data();
  const std::vector<KernelRow> rows = kernel_rows(data, RowsOf::kAnswer);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_DOUBLE_EQ(rows[1][KernelColumn::kCalls], 22);
  EXPECT_DOUBLE_EQ(rows[1][KernelColumn::kMilliseconds], 300);
  EXPECT_NEAR(rows[1][KernelColumn::kPerCall], 13636.36, 0.01);
  EXPECT_DOUBLE_EQ(rows[1][KernelColumn::kShare], 0.6);
}

TEST(KernelTable, HasCountersPerTokenInTheEmulator) {
  ProfilerData data = some_data();
  data.rows[0].counters = data.token_rows[0].counters = {1'000, 16'000, 50, 10};
  ASSERT_TRUE(shows_counters(data));
  const std::vector<KernelRow> rows = kernel_rows(data, RowsOf::kTokens);
  EXPECT_DOUBLE_EQ(rows[0][KernelColumn::kInstructions], 100);
  EXPECT_DOUBLE_EQ(rows[0][KernelColumn::kLanes], 0.5);
  EXPECT_DOUBLE_EQ(rows[0][KernelColumn::kSectors], 5);
  EXPECT_DOUBLE_EQ(rows[0][KernelColumn::kConflicts], 1);
  EXPECT_TRUE(std::isnan(rows[1][KernelColumn::kInstructions])) << "a row that was not counted has no counters";
  EXPECT_THAT(kernel_columns(data, RowsOf::kTokens, 1000), Not(testing::Contains(KernelColumn::kBandwidth)));
}

// The launch of the persistent decoder is counted as a whole; its phases have no launches.
TEST(KernelTable, ShowsWhatWasCountedWithoutACall) {
  ProfilerData data = some_data();
  data.rows.push_back({"persistent_decoder_l4", 0, 0, 0, {5, 5, 5, 5}});
  data.token_rows.push_back(data.rows.back());
  EXPECT_THAT(names(kernel_rows(data, RowsOf::kTokens), data),
              ElementsAre("norm_qkv", "attention", "persistent_decoder_l4"));
}

TEST(KernelTable, LeavesColumnsOutWhereItIsNarrow) {
  ProfilerData data = some_data();
  data.peak_bandwidth = 1e11;
  using enum KernelColumn;
  EXPECT_THAT(kernel_columns(data, RowsOf::kTokens, 1000),
              ElementsAre(kName, kCalls, kPerToken, kShare, kBandwidth, kOfPeak, kTrend));
  EXPECT_THAT(kernel_columns(data, RowsOf::kTokens, 46), ElementsAre(kName, kPerToken, kShare, kBandwidth));
  EXPECT_THAT(kernel_columns(data, RowsOf::kTokens, 0), ElementsAre(kName, kPerToken)) << "the minimum";
  EXPECT_THAT(kernel_columns(data, RowsOf::kAnswer, 1000),
              ElementsAre(kName, kCalls, kMilliseconds, kPerCall, kShare, kBandwidth, kOfPeak));
}

TEST(KernelTable, SortsByAnyColumnWithMissingValuesLast) {
  ProfilerData data = some_data();
  data.rows[0].counters = data.token_rows[0].counters = {1'000, 16'000, 50, 10};
  std::vector<KernelRow> rows = kernel_rows(data, RowsOf::kAnswer);
  const auto sorted = [&](KernelColumn by, bool descending) {
    sort_rows(rows, data, by, descending);
    return names(rows, data);
  };
  EXPECT_THAT(sorted(KernelColumn::kName, false), ElementsAre("attention", "embed", "norm_qkv"));
  EXPECT_THAT(sorted(KernelColumn::kName, true), ElementsAre("norm_qkv", "embed", "attention"));
  EXPECT_THAT(sorted(KernelColumn::kCalls, false), ElementsAre("embed", "norm_qkv", "attention")) << "equal: as before";
  EXPECT_THAT(sorted(KernelColumn::kMilliseconds, true), ElementsAre("attention", "norm_qkv", "embed"));
  EXPECT_THAT(sorted(KernelColumn::kTrend, true), ElementsAre("attention", "norm_qkv", "embed")) << "by time, too";
  for (const bool descending : {false, true}) {
    const std::vector<std::string> by_counter = sorted(KernelColumn::kInstructions, descending);
    EXPECT_EQ(by_counter.front(), "norm_qkv") << "the only one with counters";
  }
}

TEST(KernelTable, WritesEachCell) {
  EXPECT_EQ(cell_text(KernelColumn::kCalls, 12345), "12,345");
  EXPECT_EQ(cell_text(KernelColumn::kPerToken, 12.345), "12.3");
  EXPECT_EQ(cell_text(KernelColumn::kBandwidth, 11.6e9), "11.6");
  EXPECT_EQ(cell_text(KernelColumn::kOfPeak, 0.46), "46%");
  EXPECT_EQ(cell_text(KernelColumn::kOfPeak, 1), "100%");
  EXPECT_EQ(cell_text(KernelColumn::kOfPeak, 1.01), "cache");
  EXPECT_EQ(cell_text(KernelColumn::kInstructions, 1.2e6), "1.20 M");
  EXPECT_EQ(cell_text(KernelColumn::kBytes, 1024), "1.02 kB");
  EXPECT_EQ(cell_text(KernelColumn::kOfPeak, std::nan("")), "");
}

TEST(KernelTable, FindsTheTextOfARow) {
  ProfilerData data;
  const auto text = std::make_shared<const std::string>("ptx");
  data.kernels = {{"gemv", "", text}, {"persistent_decoder_l4", "", text}};
  EXPECT_EQ(text_of(data, "gemv"), &data.kernels[0]);
  EXPECT_EQ(text_of(data, "persistent attention"), &data.kernels[1]) << "a phase is part of that kernel";
  EXPECT_EQ(text_of(data, "persistent_decoder_l4"), &data.kernels[1]);
  EXPECT_EQ(text_of(data, "no such kernel"), nullptr);
}

TEST(KernelTable, NamesPhasesBriefly) {
  EXPECT_EQ(label_of("persistent gate_up"), "gate_up");
  EXPECT_EQ(label_of("persistent_decoder_l4"), "persistent_decoder_l4");
}

TEST(KernelText, IsCutAtItsLineEnds) {
  EXPECT_THAT(line_starts("a\nbc\n"), ElementsAre(0, 2, 5));
  EXPECT_THAT(line_starts("a\nbc"), ElementsAre(0, 2, 5)) << "as if the last line ended";
  EXPECT_THAT(line_starts("\n"), ElementsAre(0, 1));
}

TEST(WhyThisSpeed, IsSilentBeforeThereIsASpeed) {
  EXPECT_EQ(why_this_speed({}), "");
  ProfilerData data = some_data();
  data.tokens.resize(1);  // from the prompt's pass
  data.n_passes = 0;
  EXPECT_EQ(why_this_speed(data), "");
}

TEST(WhyThisSpeed, HoldsTheWeightsAgainstTheMachine) {
  ProfilerData data = some_data();
  EXPECT_EQ(why_this_speed(data), "100 tokens/s: weights of 100 MB a token at 10.0 GB/s; attention takes 25%");
  data.peak_bandwidth = 25e9;
  EXPECT_EQ(why_this_speed(data),
            "100 tokens/s: weights of 100 MB a token at 10.0 GB/s are 40% of this machine's 25.0 GB/s; attention takes "
            "25%");
  data.peak_bandwidth = 9e9;
  EXPECT_EQ(why_this_speed(data),
            "100 tokens/s: weights of 100 MB a token at 10.0 GB/s, above this machine's 9.00 GB/s of memory: a cache "
            "holds them; attention takes 25%");
}

TEST(WhyThisSpeed, CountsThePassesWhereTokensWereDrafted) {
  ProfilerData data = some_data();
  data.peak_bandwidth = 25e9;
  for (size_t i = 2; i < data.tokens.size(); i += 2) data.tokens[i].was_drafted = true, data.tokens[i].seconds = 0;
  EXPECT_EQ(why_this_speed(data),
            "200 tokens/s, 2.00 a pass: weights of 100 MB a pass at 10.0 GB/s are 40% of this machine's 25.0 GB/s; "
            "attention takes 25%");
}

TEST(WhyThisSpeed, NamesWhatTakesMostWhereTheContextIsShort) {
  ProfilerData data = some_data();
  data.token_rows[1].seconds = 0.001;
  EXPECT_THAT(why_this_speed(data), testing::EndsWith("; most of it in norm_qkv, 98%"));
}

TEST(WhyThisSpeed, SaysWhenLaunchesTakeTheTime) {
  ProfilerData data = some_data();
  data.is_gpu = true;
  data.peak_bandwidth = 1e12;
  EXPECT_THAT(why_this_speed(data), HasSubstr("are 1.0% of this GPU's 1,000 GB/s; attention")) << "80% busy is busy";
  for (ProfiledToken& token : data.tokens) token.seconds = 0.04;
  EXPECT_EQ(why_this_speed(data),
            "25.0 tokens/s: weights of 100 MB a token at 2.50 GB/s are 0.3% of this GPU's 1,000 GB/s; kernels run 20% "
            "of the time, the rest is between kernels; attention takes 25%");
}

TEST(WhyThisSpeed, TellsHowMuchOfItIsWaiting) {
  ProfilerData data = some_data();
  EXPECT_THAT(why_this_speed(data), Not(HasSubstr("barriers")));
  data.token_rows[0].wait_seconds = 0.02;
  EXPECT_THAT(why_this_speed(data), testing::EndsWith("; 25% is waiting at barriers"));
  EXPECT_DOUBLE_EQ(kernel_rows(data, RowsOf::kTokens)[0][KernelColumn::kWaiting], 0.02 / 0.06);
  EXPECT_TRUE(std::isnan(kernel_rows(data, RowsOf::kTokens)[1][KernelColumn::kWaiting]));
}

TEST(WhyThisSpeed, CountsInTheEmulator) {
  ProfilerData data = some_data();
  data.is_gpu = data.is_emulated = true;
  EXPECT_EQ(why_this_speed(data), "100 tokens/s in the emulator, whose times do not predict a GPU's");
  data.token_rows[0].counters = {10'000'000, 160'000'000, 5'000, 0};
  EXPECT_EQ(
      why_this_speed(data),
      "100 tokens/s in the emulator: 1.00 M instructions a token on 50% of their lanes move 16.0 kB; its times do "
      "not predict a GPU's");
}

TEST(SecondsPerToken, LeaveOutTheAnswersFirst) {
  ProfilerData data = some_data();
  EXPECT_NEAR(*seconds_per_token(data), 0.01, 1e-12);
  data.first_token = 7;  // in a longer answer, the first kept token is like the others
  EXPECT_NEAR(*seconds_per_token(data), 5.1 / 11, 1e-12);
}

TEST(Sparkline, GoesFromZeroToTheLongest) {
  EXPECT_THAT(sparkline(std::vector<float>{1, 2, 4}, 10), ElementsAre(0.25f, 0.5f, 1.0f));
  EXPECT_THAT(sparkline(std::vector<float>{0, 0}, 10), ElementsAre(0.0f, 0.0f)) << "zero time causes no division";
  EXPECT_TRUE(sparkline({}, 10).empty());
  EXPECT_THAT(sparkline(std::vector<float>{1, 3, 2, 6}, 2), ElementsAre(0.5f, 1.0f)) << "means of neighbours";
}

TEST(Sparkline, IsNotFlattenedByOneSlowToken) {
  EXPECT_THAT(sparkline(std::vector<float>{1, 1, 1, 1, 100}, 10), ElementsAre(1 / 3.f, 1 / 3.f, 1 / 3.f, 1 / 3.f, 1.f));
}

TEST(TokenStrip, ShowsTheLastTokensOrThoseAroundThePointer) {
  const auto part = [](size_t n, size_t room, std::optional<size_t> focus) {
    const StripPart p = strip_part(n, room, focus);
    return std::pair(p.first, p.count);
  };
  EXPECT_EQ(part(10, 100, std::nullopt), std::pair(size_t{0}, size_t{10}));
  EXPECT_EQ(part(100, 10, std::nullopt), std::pair(size_t{90}, size_t{10}));
  EXPECT_EQ(part(100, 10, 95), std::pair(size_t{90}, size_t{10})) << "in view already";
  EXPECT_EQ(part(100, 10, 50), std::pair(size_t{45}, size_t{10}));
  EXPECT_EQ(part(100, 10, 2), std::pair(size_t{0}, size_t{10}));
}

TEST(TokenStrip, IsOfTheAnswerPointedAtElseTheLastWithTokens) {
  ChatState state;
  EXPECT_EQ(strip_message(state, std::nullopt), nullptr);
  state.open.messages.resize(3);
  for (size_t i = 0; i < 3; ++i) state.open.messages[i].key = 10 + i;
  state.open.messages[0].tokens = {{0, 1}};
  state.open.messages[1].tokens = {{0, 1}};
  EXPECT_EQ(strip_message(state, std::nullopt), &state.open.messages[1]);
  EXPECT_EQ(strip_message(state, TokenPlace{10, 0}), &state.open.messages[0]);
  EXPECT_EQ(strip_message(state, TokenPlace{12, 0}), &state.open.messages[1]) << "it has none of its own";
}

TEST(RowColours, AreOfTheNameAlone) {
  const std::vector<OperationProfile> rows = {{"attention"}, {"norm_qkv"}};
  const std::vector<OperationProfile> other = {{"norm_qkv"}};
  EXPECT_EQ(row_colours(rows, true)[1], row_colours(other, true)[0]);
  EXPECT_NE(row_colours(rows, true)[1], row_colours(rows, false)[1]) << "visible on both backgrounds";
}

TEST(RowColours, DifferWhileThereAreHues) {
  std::vector<OperationProfile> rows;
  for (int i = 0; i < 24; ++i) rows.push_back({"kernel " + std::to_string(i)});
  const std::vector<Colour> colours = row_colours(rows, true);
  EXPECT_EQ(std::set<Colour>(colours.begin(), colours.end()).size(), 24u);
  rows.resize(60);  // more rows than colours: each still gets one
  EXPECT_EQ(row_colours(rows, true).size(), 60u);
}

}  // namespace
}  // namespace warpchat::gui
