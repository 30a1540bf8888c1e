// Sequences over pages against a plain model: whatever is opened, continued, rewound, forked and ended, each position
// of a live sequence reads what was written for exactly its tokens, and no page is lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "engine/sequences/sequence_store.h"

namespace warpchat {
namespace {

constexpr uint32_t kPage = 4;  // positions

// A device whose cells hold the hash of all tokens up to their position.
class Device {
 public:
  Device(uint32_t n_slots, uint32_t n_pages) : n_slots_(n_slots), cells_(n_pages, std::vector<uint64_t>(kPage)) {}

  CachePages pages() {
    return {.n_slots = n_slots_,
            .n_pages = static_cast<uint32_t>(cells_.size()),
            .page_positions = kPage,
            .set_pages = [this](uint32_t slot,
                                std::span<const uint32_t> pages) { tables_[slot].assign(pages.begin(), pages.end()); },
            .copy_page = [this](uint32_t from, uint32_t to) { cells_.at(to) = cells_.at(from), ++n_copies; }};
  }

  static std::vector<uint64_t> hashes(std::span<const Token> tokens) {
    std::vector<uint64_t> all;
    uint64_t hash = 1469598103934665603u;
    for (const Token token : tokens) all.push_back(hash = (hash ^ static_cast<uint64_t>(token + 1)) * 1099511628211u);
    return all;
  }
  // Positions [first, tokens.size()) of the slot.
  void write(uint32_t slot, std::span<const Token> tokens, uint32_t first) {
    const std::vector<uint64_t> all = hashes(tokens);
    for (size_t i = first; i < all.size(); ++i) cells_.at(tables_[slot].at(i / kPage))[i % kPage] = all[i];
  }
  std::vector<uint64_t> read(uint32_t slot, uint32_t n) {
    std::vector<uint64_t> all;
    for (uint32_t i = 0; i < n; ++i) all.push_back(cells_.at(tables_[slot].at(i / kPage))[i % kPage]);
    return all;
  }

  uint32_t n_copies = 0;

 private:
  uint32_t n_slots_;
  std::vector<std::vector<uint64_t>> cells_;
  std::map<uint32_t, std::vector<uint32_t>> tables_;
};

// Computes what `tokens` has beyond the sequence's reach.
bool compute(Device& device, Sequence& sequence, std::span<const Token> tokens) {
  const uint32_t reach = sequence.reach();
  if (!sequence.reserve(static_cast<uint32_t>(tokens.size()) - reach)) return false;
  device.write(sequence.slot(), tokens, reach);
  sequence.append(tokens.subspan(reach));
  return true;
}

std::vector<Token> tokens_from(Token first, size_t n) {
  std::vector<Token> tokens(n);
  for (size_t i = 0; i < n; ++i) tokens[i] = first + static_cast<Token>(i);
  return tokens;
}

TEST(SequenceStore, AConversationGoesOnWhereItEndedWithoutACopy) {
  Device device(2, 8);
  SequenceStore store(device.pages());
  const std::vector<Token> turn = tokens_from(0, 10), next = tokens_from(0, 15);
  ASSERT_TRUE(compute(device, *store.open(turn), turn));
  const std::unique_ptr<Sequence> sequence = store.open(next);
  EXPECT_EQ(sequence->reach(), 10u);
  ASSERT_TRUE(compute(device, *sequence, next));
  EXPECT_EQ(device.read(sequence->slot(), 15), Device::hashes(next));
  EXPECT_EQ(device.n_copies, 0u);
}

TEST(SequenceStore, AnotherAnswerSharesWhatIsBeforeItAndLeavesTheFirstOne) {
  Device device(2, 16);
  SequenceStore store(device.pages());
  std::vector<Token> first = tokens_from(0, 11), second = tokens_from(0, 6);
  second.push_back(99);
  const std::unique_ptr<Sequence> one = store.open(first);
  ASSERT_TRUE(compute(device, *one, first));
  const std::unique_ptr<Sequence> other = store.open(second);
  EXPECT_EQ(other->reach(), 6u);
  ASSERT_TRUE(compute(device, *other, second));
  EXPECT_EQ(device.n_copies, 1u);
  EXPECT_EQ(device.read(one->slot(), 11), Device::hashes(first));
  EXPECT_EQ(device.read(other->slot(), 7), Device::hashes(second));
}

TEST(SequenceStore, WhatNobodyUsesLeavesInTheOrderOfItsLastUse) {
  Device device(1, 4);
  SequenceStore store(device.pages());
  const std::vector<Token> a = tokens_from(0, 8), b = tokens_from(100, 8), c = tokens_from(200, 4);
  ASSERT_TRUE(compute(device, *store.open(a), a));
  ASSERT_TRUE(compute(device, *store.open(b), b));
  EXPECT_EQ(store.open(a)->reach(), 8u);  // used again
  ASSERT_TRUE(compute(device, *store.open(c), c));
  EXPECT_EQ(store.open(a)->reach(), 8u);
  EXPECT_EQ(store.open(b)->reach(), 4u);
  EXPECT_EQ(store.open(c)->reach(), 4u);
}

TEST(SequenceStore, WithoutAFreePageNothingChanges) {
  Device device(2, 3);
  SequenceStore store(device.pages());
  const std::vector<Token> a = tokens_from(0, 6), b = tokens_from(100, 8);
  const std::unique_ptr<Sequence> one = store.open(a), other = store.open(b);
  ASSERT_TRUE(compute(device, *one, a));
  EXPECT_FALSE(other->reserve(8));
  EXPECT_EQ(store.n_available(), 1u);
  EXPECT_TRUE(other->reserve(4));
  EXPECT_EQ(device.read(one->slot(), 6), Device::hashes(a));
}

TEST(SequenceStore, ASlotIsFreeWhenItsSequenceEnds) {
  Device device(1, 4);
  SequenceStore store(device.pages());
  std::unique_ptr<Sequence> one = store.open(tokens_from(0, 3));
  EXPECT_EQ(store.open(tokens_from(0, 3)), nullptr);
  EXPECT_EQ(store.fork(*one, 0), nullptr);
  one.reset();
  EXPECT_NE(store.open(tokens_from(0, 3)), nullptr);
}

TEST(SequenceStore, AnyOperationsReadWhatWasWrittenForTheirTokensAndLoseNoPage) {
  constexpr uint32_t kOperations = 100'000, kSlots = 6, kPages = 24;
  std::mt19937 random(7);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  Device device(kSlots, kPages);
  SequenceStore store(device.pages());
  std::vector<std::unique_ptr<Sequence>> live;
  const auto check = [&](Sequence& sequence) {
    if (!sequence.reserve(1)) return;  // the device knows of the pages then
    ASSERT_EQ(device.read(sequence.slot(), sequence.reach()), Device::hashes(sequence.tokens()));
  };
  uint64_t n_reused = 0, n_refused = 0;
  for (uint32_t i = 0; i < kOperations; ++i) {
    const uint32_t what = below(16);
    if (live.empty() || what < 4) {
      std::vector<Token> prompt(1 + below(20));
      for (Token& token : prompt) token = static_cast<Token>(below(2));  // so few that prefixes meet
      if (std::unique_ptr<Sequence> opened = store.open(prompt)) {
        ASSERT_LE(opened->reach(), prompt.size());
        n_reused += opened->reach();
        n_refused += compute(device, *opened, prompt) ? 0 : 1;
        live.push_back(std::move(opened));
      } else {
        ASSERT_EQ(live.size(), kSlots);
      }
    } else {
      std::unique_ptr<Sequence>& one = live[below(static_cast<uint32_t>(live.size()))];
      if (what < 9) {
        std::vector<Token> more = one->tokens();
        for (uint32_t n = 1 + below(6); n > 0; --n) more.push_back(static_cast<Token>(below(2)));
        n_refused += compute(device, *one, more) ? 0 : 1;
      } else if (what < 11) {
        const uint32_t to = below(one->reach() + 2), reached = std::min(to, one->reach());
        ASSERT_EQ(one->rewind(to), reached);
      } else if (what < 13) {
        if (std::unique_ptr<Sequence> forked = store.fork(*one, below(one->reach() + 1)))
          live.push_back(std::move(forked));
      } else if (what < 15) {
        std::swap(one, live.back());
        live.pop_back();
      } else if (below(200) == 0) {
        for (const auto& sequence : live) sequence->rewind(0);
        store.forget();
      }
    }
    if (!live.empty()) check(*live[below(static_cast<uint32_t>(live.size()))]);
    ASSERT_EQ(store.n_live(), live.size());
  }
  EXPECT_GT(n_reused, kOperations / 10);
  EXPECT_GT(n_refused, 100u);  // pages were lacking, too
  EXPECT_GT(device.n_copies, 100u);
  for (const auto& sequence : live) sequence->rewind(0);
  live.clear();
  EXPECT_EQ(store.n_available(), kPages);
  store.forget();
  EXPECT_EQ(store.n_available(), kPages);
}

}  // namespace
}  // namespace warpchat
