// The profile's rows and their table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/profile_report.h"

namespace warpchat {
namespace {

TEST(Profile, AddsUpByOperationInOrderOfRegistration) {
  Profile profile;
  const uint32_t attention = profile.operation("attention"), embed = profile.operation("embed");
  EXPECT_EQ(profile.operation("attention"), attention);
  profile.record(embed, 0, 0.25, 100);
  profile.record(attention, 0, 0.5, 7);
  profile.record(attention, 0, 1.0, 3);
  const std::vector<OperationProfile> rows = profile.rows();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "attention");
  EXPECT_EQ(rows[0].calls, 2u);
  EXPECT_DOUBLE_EQ(rows[0].seconds, 1.5);
  EXPECT_EQ(rows[0].bytes, 10u);
  EXPECT_EQ(rows[1].calls, 1u);
  profile.reset();
  EXPECT_EQ(profile.rows()[0].calls, 0u);
  EXPECT_EQ(profile.operation("embed"), embed);
}

TEST(Profile, TimesFromConstructionToDestruction) {
  Profile profile;
  const uint32_t id = profile.operation("embed");
  { const OperationTimer timer(profile, id, 42); }
  EXPECT_EQ(profile.rows()[0].calls, 0u) << "off by default";
  profile.set_enabled(true);
  {
    const OperationTimer timer(profile, id, 42);
    EXPECT_EQ(profile.rows()[0].calls, 0u);
  }
  EXPECT_EQ(profile.rows()[0].calls, 1u);
  EXPECT_EQ(profile.rows()[0].bytes, 42u);
  EXPECT_GT(profile.rows()[0].seconds, 0.0);
}

TEST(Profile, IsReadWhileItIsWritten) {
  Profile profile;
  const uint32_t id = profile.operation("embed");
  std::thread writer([&] {
    for (int i = 0; i < 1000; ++i) profile.record(id, 0, 1, 1);
  });
  for (int i = 0; i < 100; ++i) {
    const OperationProfile row = profile.rows()[0];
    EXPECT_EQ(row.calls, row.bytes);  // never half a record
  }
  writer.join();
  EXPECT_EQ(profile.rows()[0].calls, 1000u);
}

TEST(ProfileSnapshot, TellsTheTokensFromThePrompt) {
  Profile profile;
  const uint32_t embed = profile.operation("embed");
  profile.record(embed, 0, 8, 800);
  profile.count(embed, {100, 200, 300, 400});
  EXPECT_EQ(profile.snapshot(Profile::kKeptTokens, 0).token_rows[0].calls, 0u) << "it all belongs to the prompt";
  profile.begin_tokens();
  profile.record(embed, 8, 0.5, 7);
  profile.count(embed, {1, 2, 3, 4});
  profile.record(profile.operation("sample"), 9, 0.25, 3);  // no such row in the prompt
  profile.end_token(0.75);
  const ProfileSnapshot shot = profile.snapshot(Profile::kKeptTokens, 0);
  EXPECT_EQ(shot.rows[0].calls, 2u);
  EXPECT_EQ(shot.token_rows[0].name, "embed");
  EXPECT_EQ(shot.token_rows[0].calls, 1u);
  EXPECT_DOUBLE_EQ(shot.token_rows[0].seconds, 0.5);
  EXPECT_EQ(shot.token_rows[0].bytes, 7u);
  EXPECT_EQ(shot.token_rows[0].counters.lane_instructions, 2u);
  EXPECT_EQ(shot.token_rows[0].counters.bank_conflicts, 4u);
  EXPECT_DOUBLE_EQ(shot.token_rows[1].seconds, 0.25);
  ASSERT_EQ(shot.tokens.size(), 1u);
  EXPECT_DOUBLE_EQ(shot.tokens[0].seconds, 0.75);
  profile.reset();
  EXPECT_EQ(profile.snapshot(Profile::kKeptTokens, 0).n_tokens, 0u);
  EXPECT_TRUE(profile.snapshot(Profile::kKeptTokens, 0).tokens.empty());
}

// A device may have measured something before profiling began. Those rows must not be shared out over tokens that they
// do not belong to.
TEST(ProfileSnapshot, BeginsTheRowsAnewWhenMeasuringBegins) {
  Profile profile;
  const uint32_t embed = profile.operation("embed");
  profile.begin_watching();
  profile.begin_tokens();
  profile.end_token(1);
  profile.record(embed, 0, 1, 1);
  profile.end_token(1);
  EXPECT_EQ(profile.snapshot(Profile::kKeptTokens, 0).token_rows[0].calls, 1u);
  profile.begin_watching();
  EXPECT_EQ(profile.snapshot(Profile::kKeptTokens, 0).token_rows[0].calls, 0u);
  profile.record(embed, 0, 1, 1);
  profile.end_token(1);
  const ProfileSnapshot shot = profile.snapshot(Profile::kKeptTokens, 0);
  EXPECT_EQ(shot.token_rows[0].calls, 1u);
  EXPECT_EQ(shot.rows[0].calls, 2u);
  EXPECT_EQ(shot.n_tokens, 3u) << "the tokens of the whole answer";
}

TEST(ProfileSnapshot, KeepsTheLastTokensAndCountsAll) {
  Profile profile;
  profile.begin_tokens();
  for (size_t i = 0; i < Profile::kKeptTokens + 10; ++i) profile.end_token(static_cast<double>(i));
  const ProfileSnapshot shot = profile.snapshot(Profile::kKeptTokens, 0);
  EXPECT_EQ(shot.n_tokens, Profile::kKeptTokens + 10);
  ASSERT_EQ(shot.tokens.size(), Profile::kKeptTokens);
  EXPECT_EQ(shot.tokens.front().seconds, 10);
  profile.begin_tokens();
  EXPECT_EQ(profile.snapshot(Profile::kKeptTokens, 0).n_tokens, 0u) << "another answer";
}

TEST(ProfileSnapshot, HasTheLastSpansOfARingThatHasWrapped) {
  Profile profile;
  profile.keep_trace(4);
  const uint32_t id = profile.operation("embed");
  for (int i = 1; i <= 6; ++i) profile.record(id, i, 0.5, 1);  // 5 and 6 are older than 3 and 4
  EXPECT_TRUE(profile.snapshot(1, 4).spans.empty()) << "there is no token yet";
  profile.end_token(100);  // the token began long ago
  for (const size_t max : {0, 1, 2, 3, 4, 100}) {
    const std::vector<TraceSpan> spans = profile.snapshot(1, max).spans;
    ASSERT_EQ(spans.size(), std::min<size_t>(max, 4));
    for (size_t i = 0; i < spans.size(); ++i) EXPECT_EQ(spans[i].start, 7.0 - static_cast<double>(spans.size() - i));
  }
}

TEST(ProfileSnapshot, HasTheCallsOfItsTokensAlone) {
  Profile profile;
  profile.keep_trace(8);
  const uint32_t id = profile.operation("embed");
  profile.end_token(50);
  const double began = profile.snapshot(1, 0).tokens[0].start;
  profile.record(id, began - 2, 1, 1);  // ended before the token began
  profile.record(id, began - 1, 2, 1);
  profile.record(id, began + 3, 1, 1);
  EXPECT_EQ(profile.snapshot(1, 8).spans.size(), 2u);
}

TEST(ProfileTable, ShowsShareAndBandwidthAndSkipsWhatNeverRan) {
  const std::string table =
      profile_table({{"attention", 4, 0.003, 6'000'000}, {"embed", 0, 0, 0}, {"norm_qkv", 2, 0.001, 0}});
  EXPECT_THAT(table, testing::HasSubstr("GB/s"));
  EXPECT_THAT(table, testing::ContainsRegex("attention +4 +3.00 +750.00 +75.0% +2.00\n"));
  EXPECT_THAT(table, testing::ContainsRegex("norm_qkv +2 +1.00 +500.00 +25.0% +0.00\n"));
  EXPECT_THAT(table, testing::Not(testing::HasSubstr("embed")));
}

TEST(ProfileTable, ShowsTheShareOfThePeakWhereItIsKnown) {
  EXPECT_THAT(profile_table({{"attention", 1, 0.001, 1'000'000}}, 4e9), testing::HasSubstr("25.0%"));
}

// "Of peak" is a share: a row faster than memory was served by a cache.
TEST(ProfileTable, NeverShowsMoreThanThePeak) {
  const std::string table = profile_table({{"gemv", 1, 0.001, 4'000'000}, {"rope_scatter", 1, 0.001, 4'000'001}}, 4e9);
  EXPECT_THAT(table, testing::ContainsRegex("gemv .* 100.0%\n"));
  EXPECT_THAT(table, testing::ContainsRegex("rope_scatter .* cache\n"));
}

// A peak measured beside other load is too low. Only rows that just read memory correct it.
TEST(ProfilePeak, IsAtLeastWhatWasReached) {
  Profile profile;
  const uint32_t weights = profile.operation("norm_qkv"), cached = profile.operation("rope_scatter");
  profile.record(weights, 0, 1, 20);
  EXPECT_EQ(profile.peak_bandwidth(), 0) << "unknown";
  profile.set_peak_bandwidth(10, {weights});
  EXPECT_EQ(profile.peak_bandwidth(), 20);
  profile.record(cached, 0, 1, 1000);
  EXPECT_EQ(profile.peak_bandwidth(), 20);
  profile.record(weights, 0, 9, 0);  // 2 bytes/s in all
  EXPECT_EQ(profile.peak_bandwidth(), 10);
  profile.begin_tokens();
  profile.record(weights, 0, 1, 30);
  EXPECT_EQ(profile.peak_bandwidth(), 30) << "after a slow prompt";
  EXPECT_EQ(profile.snapshot(0, 0).peak_bandwidth, 30);
  for (const std::vector<OperationProfile>& rows : {profile.rows(), profile.snapshot(0, 0).token_rows})
    EXPECT_THAT(profile_table({rows[0]}, profile.peak_bandwidth()), testing::HasSubstr("%"));
}

TEST(ProfileTable, ShortensLongNamesInTheMiddle) {
  const std::string table = profile_table({{"incremental_attention_h9_kv3_d64_s8192_c1_positions", 1, 1, 1}});
  EXPECT_THAT(table, testing::HasSubstr("incremental_attention_h9_k..2_c1_positions "));
}

TEST(ProfileTable, ShowsCountersWhereTimeMeansNothing) {
  const std::string table = profile_table({{"gemv", 2, 0.5, 64, {2'000, 64'000, 4, 0}}});
  EXPECT_THAT(table, testing::ContainsRegex("gemv +2 +1,000 +2 +0 +32\n"));
  EXPECT_THAT(table, testing::Not(testing::HasSubstr("GB/s")));
}

// The persistent decoder's phases have times and bytes; its kernel has calls and counters.
TEST(ProfileTable, ShowsNothingOfWhatARowDoesNotHave) {
  const OperationProfile phase{"persistent qkv", 8, 0.5, 64}, kernel{"persistent_decoder", 2, 0, 0};
  OperationProfile counted = kernel;
  counted.counters = {2'000, 64'000, 4, 0};
  EXPECT_THAT(profile_table({phase, kernel}, 1e9), testing::ContainsRegex("persistent_decoder +2 +- +- +- +- +-\n"));
  const std::string counters = profile_table({phase, counted});
  EXPECT_THAT(counters, testing::ContainsRegex("persistent qkv +8 +- +- +- +8\n"));
  EXPECT_THAT(counters, testing::ContainsRegex("persistent_decoder +2 +1,000 +2 +0 +-\n"));
}

TEST(Profile, TellsWaitingFromWork) {
  Profile profile;
  profile.keep_trace();
  const uint32_t qkv = profile.operation("persistent qkv");
  profile.record(qkv, 0, 3, 10, /*wait_seconds=*/2);
  profile.begin_tokens();
  profile.record(qkv, 3, 2, 10, 0.5);
  profile.record(profile.operation("embedding"), 5, 1, 10);
  EXPECT_DOUBLE_EQ(profile.rows()[0].wait_seconds, 2.5);
  EXPECT_DOUBLE_EQ(profile.snapshot(0, 0).token_rows[0].wait_seconds, 0.5) << "after the prompt";
  EXPECT_EQ(profile.trace()[1].wait, 0.5f);
  const std::string table = profile_table(profile.rows());
  EXPECT_THAT(table, testing::ContainsRegex("GB/s +waiting\n"));
  EXPECT_THAT(table, testing::ContainsRegex("persistent qkv .* 50.0%\n"));
  EXPECT_THAT(table, testing::ContainsRegex("embedding .* -\n"));
  EXPECT_THAT(profile_table({{"embedding", 1, 1, 1}}), testing::Not(testing::HasSubstr("waiting")));
  EXPECT_THAT(profile_trace_json(profile, ""), testing::HasSubstr("\"waiting_us\":500000.0"));
  profile.reset();
  EXPECT_EQ(profile.rows()[0].wait_seconds, 0);
}

TEST(ProfileTrace, KeepsTheLastCallsInOrder) {
  Profile profile;
  const uint32_t id = profile.operation("embed");
  profile.record(id, 0, 1, 1);
  EXPECT_TRUE(profile.trace().empty()) << "no trace was requested yet";
  profile.keep_trace(3);
  for (int i = 1; i <= 5; ++i) profile.record(id, i, 0.5, 1);
  const std::vector<TraceSpan> spans = profile.trace();
  ASSERT_EQ(spans.size(), 3u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(spans[i].start, i + 3);
}

TEST(ProfileTrace, KeepsTheLastOfAChangedBoundAndDropsAllWithout) {
  Profile profile;
  const uint32_t id = profile.operation("embed");
  profile.keep_trace(4);
  for (int i = 1; i <= 6; ++i) profile.record(id, i, 0.5, 1);
  profile.keep_trace(2);
  ASSERT_EQ(profile.trace().size(), 2u);
  EXPECT_EQ(profile.trace()[0].start, 5);
  profile.record(id, 7, 0.5, 1);
  EXPECT_EQ(profile.trace()[0].start, 6);
  EXPECT_EQ(profile.trace()[1].start, 7);
  profile.keep_trace(0);
  EXPECT_TRUE(profile.trace().empty());
  EXPECT_FALSE(profile.keeps_trace());
}

TEST(ProfileTrace, IsChromesJson) {
  Profile profile;
  profile.keep_trace();
  profile.record(profile.operation("embed"), 0.25, 0.5, 7);
  const auto trace = nlohmann::json::parse(profile_trace_json(profile, "a \"model\""));
  const auto& events = trace.at("traceEvents");
  EXPECT_EQ(events.at(0).at("args").at("name"), "a \"model\"");
  const auto& call = events.back();
  EXPECT_EQ(call.at("ph"), "X");
  EXPECT_EQ(call.at("name"), "embed");
  EXPECT_EQ(call.at("ts"), 0.25e6);
  EXPECT_EQ(call.at("dur"), 0.5e6);
}

TEST(ProfileTrace, GivesSharesOfACallThreadsOfTheirOwn) {
  Profile profile;
  const uint32_t id = profile.operation("persistent qkv");
  const std::vector<TraceSpan> shares{{id, 1, 2, 0, 7}, {id, 1, 3, 0, 0}};
  profile.record_shares(shares);
  EXPECT_TRUE(profile.trace().empty()) << "no trace was requested yet";
  profile.keep_trace();
  profile.record(id, 1, 3, 100);
  profile.record_shares(shares);
  EXPECT_EQ(profile.rows()[0].calls, 1u) << "shares are not calls";
  EXPECT_EQ(profile.rows()[0].seconds, 3);
  std::map<std::string, int> threads;
  std::vector<int> used;
  const auto trace = nlohmann::json::parse(profile_trace_json(profile, "demo"));
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("name") == "thread_name") threads[event.at("args").at("name")] = event.at("tid");
    if (event.at("ph") == "X") used.push_back(event.at("tid"));
  }
  EXPECT_EQ(used, (std::vector{threads.at("stream"), threads.at("SM 7"), threads.at("SM 0")}));
  EXPECT_LT(threads.at("stream"), threads.at("SM 0"));
  EXPECT_LT(threads.at("SM 0"), threads.at("SM 7"));
}

TEST(ProfileMarkdown, IsATableUnderAHeading) {
  Profile profile;
  profile.record(profile.operation("embed"), 0, 0.001, 2'000'000);
  EXPECT_THAT(profile_markdown(profile, "demo"), testing::StartsWith("# demo\n\n| operation | calls |"));
  EXPECT_THAT(profile_markdown(profile, "demo"), testing::HasSubstr("| embed | 1 | 1.00 | 1000.00 | 100.0% | 2.00 |"));
}

}  // namespace
}  // namespace warpchat
