// Parts of the race check: clocks, sets of readers, the order of lanes.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <tuple>

#include "ptx/emulator/checks/clocks.h"
#include "ptx/emulator/checks/deferred_reads.h"
#include "ptx/emulator/checks/history.h"
#include "ptx/emulator/checks/lane_order.h"
#include "ptx/emulator/checks/shadow.h"

namespace ptx::emulator {
namespace {

TEST(Clock, KnowsWhatItJoined) {
  Clock mine(8, 4), other(0, 4), barrier;
  mine.raise(9, 3);
  other.raise(2, 5);
  other.raise(9, 7);  // as learnt from a warp of the first block
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
  EXPECT_EQ(members_of(history, without_lane(two) | 9), (Members{{11, 9}, {10, 9}}));  // another word
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
  EXPECT_EQ(shadow.history.add({7, 7}), 3u);  // the empty entry, 499 and 500
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

using LaneRead = std::tuple<uint64_t, uint64_t, uint32_t, uint32_t>;  // address, reader, place, lane

// Reads of one instruction by a warp: lane 0 at `first`, then `count - 1` more, each `step` further.
struct ReadPattern {
  const char* name;
  uint32_t lanes, bytes;
  int64_t lane_step, step;
  uint32_t count;
};
constexpr ReadPattern kReadPatterns[] = {
    {"words_side_by_side", kAllLanes, 4, 4, 128, 40},         {"backward_over_many_pages", kAllLanes, 8, -8, -1000, 60},
    {"halves_34_bytes_apart", kAllLanes, 2, 34, 2176, 9},     {"the_same_word_again", kAllLanes, 4, 0, 0, 5},
    {"the_same_place_twice_each", kAllLanes, 4, 4, 0, 7},     {"some_lanes_of_far_rows", 0x00f0f00e, 16, 9040, 16, 20},
    {"one_lane_in_great_leaps", 0x80000000, 1, 0, 70001, 30}, {"once", kAllLanes, 32, 32, 0, 1},
};

// Every read that note() accepted is reported exactly once: when its grain is written, or when all are reported.
TEST(DeferredReads, TellEachLaneOnce) {
  constexpr uint64_t kStart = 1ull << 33, kGrainBytes = 1u << ShadowPage::kGrainShift;
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    DeferredReads reads;
    Code code;
    code.instructions.resize(std::size(kReadPatterns));
    ReadTrail** trails = reads.trails_of(code);
    std::set<LaneRead> waiting, told;
    const auto tell = [&](const WaitingRead& read, uint32_t lane, uint64_t address, uint32_t) {
      told.emplace(address, read.reader, read.place, lane);
    };
    const auto end_waiting = [&](uint64_t address) {
      const uint64_t grain = address / kGrainBytes * kGrainBytes;
      told.clear();
      reads.end_waiting(address, tell);
      const auto from = waiting.lower_bound({grain, 0, 0, 0}), to = waiting.lower_bound({grain + kGrainBytes, 0, 0, 0});
      EXPECT_EQ(told, std::set<LaneRead>(from, to)) << "seed " << seed << ", grain " << std::hex << grain;
      waiting.erase(from, to);
    };
    uint32_t accepted = 0;
    for (uint32_t turn = 0; turn < 60; ++turn) {
      const uint32_t place = static_cast<uint32_t>(random() % std::size(kReadPatterns));
      const ReadPattern& pattern = kReadPatterns[place];
      const uint64_t first = kStart + random() % 2048 * 512, reader = random() % 4 + 1;
      for (uint32_t n = 0; n < pattern.count; ++n) {
        uint64_t addresses[kLanes];
        for (uint32_t l = 0; l < kLanes; ++l)
          addresses[l] =
              first + static_cast<uint64_t>(n * pattern.step / pattern.bytes * pattern.bytes + l * pattern.lane_step);
        if (random() % 40 == 0) end_waiting(addresses[random() % kLanes]);
        if (!reads.note(trails[2 * place], reader, place, pattern.lanes, pattern.bytes, addresses)) continue;
        ++accepted;
        for (uint32_t l = 0; l < kLanes; ++l) {
          if (pattern.lanes >> l & 1) waiting.emplace(addresses[l], reader, place, l);
        }
      }
    }
    EXPECT_GT(accepted, 500u);
    told.clear();
    reads.end_all(tell);
    EXPECT_EQ(told, waiting) << "seed " << seed;
    told.clear();
    reads.end_all(tell);
    EXPECT_TRUE(told.empty());
  }
}

TEST(LaneOrder, BarriersOfSomeLanesChain) {
  LaneOrder order;
  const uint32_t start = order.time();
  order.barrier(0b0011, kAllLanes);
  EXPECT_TRUE(order.knows(0, 1, start));
  EXPECT_FALSE(order.knows(0, 2, start));
  const uint32_t between = order.time();
  order.barrier(0b0110, kAllLanes);  // lane 1 passes on what lane 0 did
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
