// Sequences over pages against a plain model: after any mix of opening, continuing, rewinding, forking and ending, each
// position of a live sequence reads what was written for its tokens, and no page is lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "engine/sequences/sequence_store.h"

namespace warpchat {
namespace {

constexpr uint32_t kPage = 4;  // positions

// A fake device: a cell holds the hash of all tokens up to its position. A recurrent state, if the model has one, holds
// the hash of all tokens that its sequence has computed.
class Device {
 public:
  Device(uint32_t n_slots, uint32_t n_pages, uint32_t n_states = 0)
      : n_slots_(n_slots), cells_(n_pages, std::vector<uint64_t>(kPage)), states_(n_states, kLost) {}

  CachePages pages() {
    return {.n_slots = n_slots_,
            .n_pages = static_cast<uint32_t>(cells_.size()),
            .page_positions = kPage,
            .set_pages = [this](uint32_t slot,
                                std::span<const uint32_t> pages) { tables_[slot].assign(pages.begin(), pages.end()); },
            .copy_page = [this](uint32_t from, uint32_t to) { cells_.at(to) = cells_.at(from), ++n_copies; },
            .n_states = static_cast<uint32_t>(states_.size()),
            .copy_state = [this](uint32_t from, uint32_t to) { states_.at(to) = states_.at(from); }};
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
    if (states_.empty() || first == all.size()) return;
    if (first > 0) {
      EXPECT_EQ(states_.at(slot), all[first - 1]);
    }
    states_.at(slot) = all.back();
  }
  void lose_state(uint32_t slot) { states_.at(slot) = kLost; }
  std::vector<uint64_t> read(uint32_t slot, uint32_t n) {
    std::vector<uint64_t> all;
    for (uint32_t i = 0; i < n; ++i) all.push_back(cells_.at(tables_[slot].at(i / kPage))[i % kPage]);
    return all;
  }

  uint32_t n_copies = 0;

 private:
  static constexpr uint64_t kLost = 1;
  uint32_t n_slots_;
  std::vector<std::vector<uint64_t>> cells_;
  std::vector<uint64_t> states_;
  std::map<uint32_t, std::vector<uint32_t>> tables_;
};

// Computes the tokens beyond the sequence's reach.
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

TEST(SequenceStore, UnusedPagesLeaveInTheOrderOfTheirLastUse) {
  Device device(1, 4);
  SequenceStore store(device.pages());
  const std::vector<Token> a = tokens_from(0, 8), b = tokens_from(100, 8), c = tokens_from(200, 4);
  ASSERT_TRUE(compute(device, *store.open(a), a));
  ASSERT_TRUE(compute(device, *store.open(b), b));
  EXPECT_EQ(store.open(a)->reach(), 8u);  // most recently used
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
  EXPECT_TRUE(other->reserve(4));
  EXPECT_EQ(device.read(one->slot(), 6), Device::hashes(a));
}

TEST(SequenceStore, ASlotIsFreeWhenItsSequenceEnds) {
  Device device(1, 4);
  SequenceStore store(device.pages());
  std::unique_ptr<Sequence> one = store.open(tokens_from(0, 3));
  EXPECT_EQ(store.open(tokens_from(0, 3)), nullptr);
  one.reset();
  EXPECT_NE(store.open(tokens_from(0, 3)), nullptr);
}

TEST(SequenceStore, WithStatesASequenceGoesOnWhereOneWasKept) {
  Device device(2, 32, /*n_states=*/2 + 3);
  SequenceStore store(device.pages());
  ASSERT_TRUE(store.is_recurrent());
  const std::vector<Token> prompt = tokens_from(0, 10), answered = tokens_from(0, 20);
  std::vector<Token> edited = tokens_from(0, 12);
  {
    const std::unique_ptr<Sequence> one = store.open(prompt);
    ASSERT_TRUE(compute(device, *one, prompt));
    one->keep_state();
    ASSERT_TRUE(compute(device, *one, answered));
  }
  edited.push_back(99);
  EXPECT_EQ(store.open(answered)->reach(), 20u) << "the end of a sequence is kept";
  EXPECT_EQ(store.open(edited)->reach(), 10u) << "its pages are known as far as 12";
  EXPECT_EQ(store.open(tokens_from(0, 9))->reach(), 0u);

  const std::unique_ptr<Sequence> again = store.open(answered);
  EXPECT_EQ(again->rewind(15), 10u);
  ASSERT_TRUE(compute(device, *again, edited));
  EXPECT_EQ(device.read(again->slot(), 13), Device::hashes(edited));
  device.lose_state(again->slot());
  again->invalidate();
  EXPECT_EQ(again->reach(), 10u);
}

TEST(SequenceStore, AStateThatIsHeldIsBesideThoseKept) {
  Device device(1, 8, /*n_states=*/1 + 2);
  SequenceStore store(device.pages());
  ASSERT_TRUE(store.can_hold());
  const std::vector<Token> tokens = tokens_from(0, 12);
  const std::unique_ptr<Sequence> one = store.open(tokens);
  ASSERT_TRUE(compute(device, *one, std::span(tokens).first(5)));
  one->keep_state();
  ASSERT_TRUE(compute(device, *one, std::span(tokens).first(7)));
  one->hold_state();
  ASSERT_TRUE(one->reserve(3));
  device.write(one->slot(), std::span(tokens).first(10), 7);  // none of it counts
  one->restore_checkpoint();
  EXPECT_EQ(one->reach(), 7u);
  ASSERT_TRUE(compute(device, *one, std::span(tokens).first(8)));
  EXPECT_EQ(one->rewind(6), 5u) << "the kept one is still there";
  ASSERT_TRUE(compute(device, *one, tokens));

  Device small(1, 8, /*n_states=*/1 + 1);
  EXPECT_FALSE(SequenceStore(small.pages()).can_hold()) << "the only one is kept at the end of answers";
  Device none(1, 8);
  EXPECT_FALSE(SequenceStore(none.pages()).can_hold());
}

TEST(SequenceStore, OfALongSequenceAStateIsKeptNowAndThen) {
  constexpr uint32_t kLong = 3000;
  Device device(1, 1000, /*n_states=*/1 + 8);
  SequenceStore store(device.pages());
  const std::vector<Token> tokens = tokens_from(0, kLong);
  {
    const std::unique_ptr<Sequence> one = store.open(tokens);
    for (uint32_t n = 100, kept = 0; n <= kLong; n += 100) {
      ASSERT_TRUE(compute(device, *one, std::span(tokens).first(n)));
      if (n - kept >= 1024) kept = n;
      EXPECT_EQ(one->until_copy(), 1024 - (n - kept));
    }
  }
  const std::unique_ptr<Sequence> again = store.open(std::span(tokens).first(kLong - 1));
  EXPECT_GT(again->reach(), kLong - 1 - 2 * 1100);
  EXPECT_LT(again->reach(), kLong - 1);
}

TEST(StateCheckpoints, TheLeastRecentlyUsedLeaves) {
  StateCheckpoints states(10, 2);
  const std::vector<Token> a = tokens_from(0, 3), b = tokens_from(0, 5), c = tokens_from(50, 2);
  EXPECT_EQ(states.add(a), 10u);
  EXPECT_EQ(states.add(b), 11u);
  EXPECT_EQ(states.add(a), std::nullopt) << "it is kept already, and just used";
  EXPECT_EQ(states.add(c), 11u);
  EXPECT_EQ(states.find(b)->n_tokens, 3u) << "b is gone";
  states.clear();
  EXPECT_EQ(states.find(a), std::nullopt);
  EXPECT_EQ(StateCheckpoints(4, 0).add(a), std::nullopt);
}

class AnySequences : public testing::TestWithParam<uint32_t> {};  // number of checkpoints; 0: no recurrent state

TEST_P(AnySequences, ReadWhatWasWrittenForTheirTokensAndLoseNoPage) {
  constexpr uint32_t kOperations = 100'000, kSlots = 6, kPages = 24;
  std::mt19937 random(7);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  const bool is_recurrent = GetParam() > 0;
  Device device(kSlots, kPages, is_recurrent ? kSlots + GetParam() : 0);
  SequenceStore store(device.pages());
  std::vector<std::unique_ptr<Sequence>> live;
  const auto check = [&](Sequence& sequence) {
    if (!sequence.reserve(1)) return;  // then the device knows of the pages
    ASSERT_EQ(device.read(sequence.slot(), sequence.reach()), Device::hashes(sequence.tokens()));
  };
  uint64_t n_reused = 0, n_refused = 0;
  for (uint32_t i = 0; i < kOperations; ++i) {
    const uint32_t what = below(16);
    if (live.empty() || what < 4) {
      std::vector<Token> prompt(1 + below(20));
      for (Token& token : prompt) token = static_cast<Token>(below(2));  // so few that prefixes coincide
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
        const uint32_t rewound = one->rewind(to);
        ASSERT_EQ(rewound, one->reach());
        ASSERT_TRUE(is_recurrent ? rewound <= reached : rewound == reached);
      } else if (what < 13) {
        if (auto shared = store.open(std::span(one->tokens()).first(below(one->reach() + 1))))
          live.push_back(std::move(shared));
      } else if (what < 15) {
        std::swap(one, live.back());
        live.pop_back();
      } else if (is_recurrent && below(4) == 0) {
        one->keep_state();
      } else if (store.can_hold() && one->reach() > 0 && below(4) == 0) {
        std::vector<Token> more = one->tokens();
        more.resize(more.size() + 1 + below(6), 1);
        const uint32_t reach = one->reach();
        one->hold_state();
        if (!one->reserve(static_cast<uint32_t>(more.size()) - reach)) continue;
        device.write(one->slot(), more, reach);
        one->restore_checkpoint();
        ASSERT_EQ(one->reach(), reach);
      } else if (is_recurrent && below(4) == 0) {
        device.lose_state(one->slot());
        one->invalidate();
      } else if (below(200) == 0) {
        for (const auto& sequence : live) sequence->rewind(0);
        store.forget();
      }
    }
    if (!live.empty()) check(*live[below(static_cast<uint32_t>(live.size()))]);
    ASSERT_EQ(store.n_live(), live.size());
  }
  EXPECT_GT(n_reused, is_recurrent ? kOperations / 200 : kOperations / 10);
  EXPECT_GT(n_refused, 100u);  // there was a shortage of pages, too
  EXPECT_GT(device.n_copies, 100u);
  for (const auto& sequence : live) sequence->rewind(0);
  live.clear();
  EXPECT_TRUE(store.open({})->reserve(kPages * kPage)) << "by an eviction of all known prefixes";
}
INSTANTIATE_TEST_SUITE_P(States, AnySequences, testing::Values(0, 1, 8),
                         [](const auto& n) { return "keeping_" + std::to_string(n.param); });

}  // namespace
}  // namespace warpchat
