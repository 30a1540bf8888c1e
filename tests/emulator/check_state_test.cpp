// What the race check is made of: clocks, sets of readers, the order of lanes.
#include <gtest/gtest.h>

#include "ptx/emulator/checks/clocks.h"
#include "ptx/emulator/checks/history.h"
#include "ptx/emulator/checks/lane_order.h"
#include "ptx/emulator/checks/shadow.h"

namespace ptx::emulator {
namespace {

TEST(Clock, KnowsWhatItJoined) {
  Clock mine(8, 4), other(0, 4), barrier;
  mine.raise(9, 3);
  other.raise(2, 5);
  other.raise(9, 7);  // heard of a warp of the first block
  barrier.join(other);
  mine.join(barrier);
  EXPECT_EQ(mine.of(2), 5u);
  EXPECT_EQ(mine.of(9), 7u);
  EXPECT_EQ(mine.of(8), 0u);
  EXPECT_EQ(mine.of(100), 0u);
  other.raise(2, 4);  // never backward
  EXPECT_EQ(other.of(2), 5u);
  EXPECT_EQ(barrier.of(9), 7u);
}

TEST(Clock, WarpsOfABlockShareWhatTheyHeard) {
  Clock a(0, 2), b(0, 2), far(64, 2);
  far.raise(64, 1);
  far.raise(65, 9);
  a.join(far);
  b.raise(70, 2);
  b.join(a);
  EXPECT_EQ(b.of(64), 1u);
  EXPECT_EQ(b.of(65), 9u);
  EXPECT_EQ(b.of(70), 2u);
  EXPECT_EQ(a.of(70), 0u);
}

std::vector<std::pair<uint32_t, uint32_t>> members_of(const History& history, Ref ref) {  // warp, lane
  std::vector<std::pair<uint32_t, uint32_t>> members;
  history.any(ref, [&](const Event& e, uint32_t lane) {
    members.emplace_back(e.warp, lane);
    return false;
  });
  return members;
}
using Members = std::vector<std::pair<uint32_t, uint32_t>>;

TEST(History, SetsServeAllLanes) {
  History history;
  const uint32_t a = history.add({10, 1}), b = history.add({11, 1}), c = history.add({12, 1});
  const Ref one = ref_of(a, 3);
  const Ref two = history.with(one, b, 3, true);
  EXPECT_EQ(members_of(history, two), (Members{{11, 3}, {10, 3}}));
  EXPECT_EQ(members_of(history, without_lane(two) | 9), (Members{{11, 9}, {10, 9}}));  // of another word
  const Ref three = history.with(two, c, 5, false);
  EXPECT_EQ(members_of(history, three), (Members{{12, 5}, {11, 3}, {10, 3}}));
  EXPECT_EQ(members_of(history, without_lane(three) | 9), (Members{{12, 9}, {11, 3}, {10, 3}}));
  EXPECT_EQ(history.newest_warp(three), 12u);
  EXPECT_EQ(history.depth(three), 3u);
}

TEST(History, FilteredSetsKeepTheirLanes) {
  History history;
  Ref all = 0;
  for (uint32_t warp = 0; warp < 6; ++warp)
    all = history.with(all, history.add({warp, 1}), warp < 3 ? 7 : 8, warp != 3);
  EXPECT_EQ(members_of(history, all), (Members{{5, 8}, {4, 8}, {3, 8}, {2, 7}, {1, 7}, {0, 7}}));
  const auto even = [](const Event& e, uint32_t) { return e.warp % 2 == 0; };
  EXPECT_EQ(members_of(history, history.filtered(all, even)), (Members{{4, 8}, {2, 7}, {0, 7}}));
  const auto few = [](const Event& e, uint32_t) { return e.warp == 1; };
  EXPECT_EQ(members_of(history, history.filtered(all, few)), (Members{{1, 7}}));
}

TEST(Shadow, CollectsWhatNoCellHolds) {
  Shadow shadow;
  uint32_t kept = 0;
  for (uint32_t k = 0; k < 1000; ++k) {
    const uint32_t event = shadow.history.add({k, k + 1});
    if (k != 500) continue;
    kept = event;
    shadow.page_of(4096).cells[5] = {ref_of(event, 4), 0};
    Cell& contended = shadow.page_of(1 << 20).cells[0];
    shadow.contend(contended).strong_write = shadow.history.with(ref_of(event, 4), event - 1, 6, false);
  }
  shadow.collect();
  const Cell& cell = shadow.page_of(4096).cells[5];
  EXPECT_NE(cell.write, ref_of(kept, 4));
  EXPECT_EQ(members_of(shadow.history, cell.write), (Members{{500, 4}}));
  const Ref strong = shadow.contend(shadow.page_of(1 << 20).cells[0]).strong_write;
  EXPECT_EQ(members_of(shadow.history, strong), (Members{{499, 6}, {500, 4}}));
  EXPECT_EQ(shadow.history.add({7, 7}), 3u);  // after nobody, 499 and 500
}

TEST(Shadow, RefinedPagesKeepWhatTheyHeld) {
  Shadow shadow;
  ShadowPage& page = shadow.page_of(0);
  page.cells[2] = {ref_of(1, 4), ref_of(2, 5)};
  shadow.contend(page.cells[3]).strong_read = ref_of(3, 6);
  shadow.refine(page, 0);
  EXPECT_EQ(page.cells[7].write, 0u);
  for (uint32_t byte = 8; byte < 12; ++byte) EXPECT_EQ(page.cells[byte].read, ref_of(2, 5));
  for (uint32_t byte = 12; byte < 16; ++byte) EXPECT_EQ(shadow.contend(page.cells[byte]).strong_read, ref_of(3, 6));
  shadow.contend(page.cells[12]).strong_read = 0;  // each byte has its own
  EXPECT_EQ(shadow.contend(page.cells[13]).strong_read, ref_of(3, 6));
}

TEST(LaneOrder, BarriersOfSomeLanesChain) {
  LaneOrder order;
  const uint32_t start = order.time();
  order.barrier(0b0011, kAllLanes);
  EXPECT_TRUE(order.knows(0, 1, start));
  EXPECT_FALSE(order.knows(0, 2, start));
  const uint32_t between = order.time();
  order.barrier(0b0110, kAllLanes);  // lane 1 brings what lane 0 did
  EXPECT_TRUE(order.knows(2, 0, start));
  EXPECT_FALSE(order.knows(0, 2, start));
  EXPECT_FALSE(order.knows(2, 0, between));
  EXPECT_TRUE(order.knows(2, 1, between));
  order.barrier(kAllLanes, kAllLanes);
  EXPECT_TRUE(order.knows(31, 0, between));
  EXPECT_FALSE(order.knows(31, 0, order.time()));
}

TEST(LaneOrder, LanesThatLeftAreNotWaitedFor) {
  LaneOrder order;
  order.barrier(0xffff, 0xffff);
  EXPECT_TRUE(order.knows(0, 20, 0));
}

}  // namespace
}  // namespace ptx::emulator
