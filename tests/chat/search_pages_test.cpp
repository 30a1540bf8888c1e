// Hits of a search, page by page.
#include <gtest/gtest.h>

#include "tests/chat/chat_bench.h"

namespace warpchat {
namespace {

TEST(SearchPages, ALimitIsRaised) {
  Bench bench;
  {
    const auto store = ConversationStore::open(bench.path("warpchat")).store;
    for (int i = 0; i < 120; ++i)
      store->start({"apples " + std::to_string(i), "", ""}, {.role = "user", .content = "x"});
  }
  bench.submit(Search{"apples"}), bench.settle();
  ASSERT_TRUE(bench.state().search);
  EXPECT_EQ(bench.state().search->hits.size(), kListedHits);
  EXPECT_TRUE(bench.state().search->has_more);
  const std::vector<SearchHit> first = bench.state().search->hits;
  bench.submit(Search{"apples", 2 * kListedHits}), bench.settle();
  EXPECT_EQ(bench.state().search->hits.size(), 120u);
  EXPECT_FALSE(bench.state().search->has_more);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), bench.state().search->hits.begin()));
  bench.submit(Rename{first[0].conversation.id, "pears"}), bench.settle();
  EXPECT_EQ(bench.state().search->hits.size(), 119u) << "a change keeps the limit";
  bench.submit(Search{"is:pinned"}), bench.settle();
  EXPECT_FALSE(bench.state().search->has_more);
  bench.submit(Search{"sort:title", 50}), bench.settle();
  EXPECT_EQ(bench.state().search->hits.size(), 50u) << "filters alone";
  EXPECT_TRUE(bench.state().search->has_more);
  EXPECT_TRUE(bench.replayed == bench.state());
}

}  // namespace
}  // namespace warpchat
