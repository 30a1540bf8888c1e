// A draft is what followed the same tokens before. Drafts that do not pay are stopped.
#include "engine/sequences/drafts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace warpchat {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The rightmost earlier place where the last kNgram tokens stand, by exhaustive search.
uint32_t place_behind(const std::vector<Token>& tokens) {
  const auto n = static_cast<uint32_t>(tokens.size());
  for (uint32_t behind = n - 1; behind >= PromptLookup::kNgram; --behind)
    if (std::equal(tokens.end() - PromptLookup::kNgram, tokens.end(), tokens.begin() + behind - PromptLookup::kNgram))
      return behind;
  return n;
}

TEST(PromptLookupTest, GivesWhatFollowedTheLastTime) {
  const std::vector<Token> tokens{1, 2, 3, 4, 5, 1, 2, 3, 6, 7, 8, 1, 2, 3};
  PromptLookup lookup;
  lookup.grow(tokens);
  const PromptLookup::Draft draft = lookup.next(tokens, 4);
  EXPECT_THAT(draft.tokens, ElementsAre(6, 7, 8, 1));
  EXPECT_EQ(draft.agreeing, 3u);
  EXPECT_THAT(lookup.next(tokens, 1).tokens, ElementsAre(6));
  EXPECT_THAT(lookup.next(tokens, 0).tokens, IsEmpty());
}

TEST(PromptLookupTest, KnowsNothingOfWhatIsNewOrShort) {
  PromptLookup lookup;
  const std::vector<Token> none, two{1, 2}, fresh{1, 2, 3, 4};
  for (const auto& tokens : {none, two, fresh}) {
    lookup.grow(tokens);
    EXPECT_THAT(lookup.next(tokens, 7).tokens, IsEmpty());
  }
}

TEST(PromptLookupTest, IsTheSameHoweverTheTokensGrew) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<Token> tokens;
    PromptLookup lookup;
    while (tokens.size() < 300) {
      for (uint32_t n = 1 + random() % 4; n > 0; --n) tokens.push_back(static_cast<Token>(random() % 4));
      lookup.grow(tokens);
      if (tokens.size() < PromptLookup::kNgram) continue;
      const PromptLookup::Draft draft = lookup.next(tokens, 7);
      const uint32_t behind = place_behind(tokens);
      ASSERT_EQ(draft.tokens.size(), std::min<size_t>(7, tokens.size() - behind));
      if (draft.tokens.empty()) continue;
      ASSERT_EQ(draft.tokens.data() - tokens.data(), behind);
      for (uint32_t i = 1; i <= draft.agreeing; ++i) ASSERT_EQ(tokens[behind - i], tokens[tokens.size() - i]);
      ASSERT_GE(draft.agreeing, PromptLookup::kNgram);
      ASSERT_LE(draft.agreeing, PromptLookup::kLongest);
    }
  }
}

// Seconds of an answer whose passes take one second without draft and 1 + n_drafted * more with one.
struct Simulated {
  double seconds = 0, n_tokens = 0;
  uint32_t n_drafts = 0;
};
Simulated simulate(double more, double likelihood, uint32_t agreeing, double n_tokens) {
  std::mt19937 random(2);
  DraftLength length;
  Simulated s;
  while (s.n_tokens < n_tokens) {
    const uint32_t n = length.next(agreeing, DraftLength::kMax);
    uint32_t n_accepted = 0;
    while (n_accepted < n && random() < likelihood * 0x1p32) ++n_accepted;
    length.record_time(n, n_accepted, 1 + n * more);
    s.seconds += 1 + n * more, s.n_tokens += n_accepted + 1, s.n_drafts += n > 0;
  }
  return s;
}

TEST(DraftLengthTest, SavesTimeWhereTokensAreAccepted) {
  const Simulated cheap = simulate(0.02, 1, DraftLength::kSure, 1000),
                  dear = simulate(0.25, 1, DraftLength::kSure, 1000);
  EXPECT_LT(cheap.seconds, 1000 / 6.0) << "nearly eight tokens in 1.14 s";
  EXPECT_LT(dear.seconds, 1000 / 2.0) << "eight tokens in 2.75 s";
}

// A second column costs almost nothing and a fourth one a whole pass, as on a CPU that waits for weights.
TEST(DraftLengthTest, DraftsOneTokenWhereMoreWouldNotPay) {
  std::mt19937 random(3);
  DraftLength length;
  double seconds = 0, n_tokens = 0;
  while (n_tokens < 1000) {
    const uint32_t n = length.next(PromptLookup::kNgram, DraftLength::kMax);
    uint32_t n_accepted = 0;
    while (n_accepted < n && random() < 0.4 * 0x1p32) ++n_accepted;
    const double took = n == 0 ? 1 : n == 1 ? 1.05 : n <= 3 ? 2 : 3;
    length.record_time(n, n_accepted, took);
    seconds += took, n_tokens += n_accepted + 1;
  }
  EXPECT_LT(seconds, 0.85 * n_tokens) << "1.4 tokens in 1.05 s";
}

TEST(DraftLengthTest, LosesLittleWhereTheyAreNot) {
  for (const double more : {0.02, 0.1, 0.3, 1.0})
    for (const double likelihood : {0.0, 0.1, 0.3})
      for (const uint32_t agreeing : {PromptLookup::kNgram, DraftLength::kSure}) {
        const Simulated s = simulate(more, likelihood, agreeing, 300);
        EXPECT_LT(s.seconds, 1.03 * s.n_tokens + 2 * (1 + more * DraftLength::kMax))
            << more << " " << likelihood << " " << agreeing;
      }
}

TEST(DraftLengthTest, NoticesWhenItBeginsToPay) {
  EXPECT_GT(simulate(0.1, 0, DraftLength::kSure, 1000).n_drafts, 2u) << "it keeps trying";
  DraftLength length;
  for (int i = 0; i < 200; ++i) {
    const uint32_t n = length.next(DraftLength::kSure, 7);
    length.record_time(n, 0, 1 + n * 0.1);
  }
  uint32_t n_tokens = 0, n_passes = 0;
  for (; n_passes < 400; ++n_passes) {
    const uint32_t n = length.next(DraftLength::kSure, 7);
    length.record_time(n, n, 1 + n * 0.1);
    n_tokens += n + 1;
  }
  EXPECT_GT(n_tokens, 4 * n_passes);
}

// Two of three accepted would pay if they were not computed again after each draft.
TEST(DraftLengthTest, CountsWhatMustBeComputedAgain) {
  const auto n_drafts = [](double seconds_again) {
    DraftLength length;
    uint32_t n = 0;
    for (int i = 0; i < 300; ++i) {
      const uint32_t drafted = length.next(DraftLength::kSure, 3);
      length.record_time(drafted, drafted > 0 ? 2 : 0, drafted > 0 ? 1.5 : 1);
      if (drafted > 0) length.caught_up(seconds_again);
      n += drafted > 0;
    }
    return n;
  };
  EXPECT_GT(n_drafts(1.2), 200u);
  EXPECT_LT(n_drafts(4), 30u);
}

TEST(DraftLengthTest, WantsToKnowWhatAPassTakesWithoutOne) {
  DraftLength length;
  EXPECT_EQ(length.next(PromptLookup::kLongest, 7), 0u);
  length.record_time(0, 0, 1);
  EXPECT_GT(length.next(PromptLookup::kLongest, 7), 0u);
  EXPECT_EQ(length.next(PromptLookup::kLongest, 2), 2u) << "no more than there are";
  EXPECT_EQ(length.next(PromptLookup::kLongest, 0), 0u);
}

}  // namespace
}  // namespace warpchat
