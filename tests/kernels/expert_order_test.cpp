// Sorting assignments by expert, in the emulator: the order and its tiles.
#include "kernels/experts/expert_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/kernels/emulated_kernel.h"
#include "tests/support/error_of.h"

namespace warpchat {
namespace {

std::vector<uint32_t> random_experts(const ExpertOrderSpec& s, size_t n_assignments) {
  std::mt19937 random(3);
  std::vector<uint32_t> experts(n_assignments);
  for (uint32_t& e : experts) e = static_cast<uint32_t>(random() % s.n);
  return experts;
}

struct OrderCase {
  const char* name;
  ExpertOrderSpec spec;
  uint32_t n_columns;
  std::vector<uint32_t> (*experts)(const ExpertOrderSpec& spec, size_t n_assignments) = random_experts;
};
std::ostream& operator<<(std::ostream& out, const OrderCase& c) { return out << name_of(c.spec); }

class ExpertOrder : public ::testing::TestWithParam<OrderCase> {};

TEST_P(ExpertOrder, IsByExpertInTiles) {
  const ExpertOrderSpec& s = GetParam().spec;
  const uint32_t n_assignments = GetParam().n_columns * s.n_used;
  const std::vector<uint32_t> experts = GetParam().experts(s, n_assignments);
  std::vector<uint32_t> order(n_assignments), tiles;
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) { return experts[a] < experts[b]; });
  for (uint32_t first = 0; first < n_assignments;) {
    uint32_t count = 1;
    const auto expert_at = [&](uint32_t i) { return experts[order[i]]; };
    while (count < s.tile && first + count < n_assignments && expert_at(first + count) == expert_at(first)) ++count;
    tiles.insert(tiles.end(), {expert_at(first), first, count, 0});
    first += count;
  }
  const size_t max = max_expert_tiles(s.n, s.tile, s.columns * s.n_used);
  ASSERT_LE(tiles.size(), 4 * size_t{max_expert_tiles(s.n, s.tile, n_assignments)});
  tiles.resize(4 * max);
  for (uint64_t seed = 0; seed <= 2; ++seed) {
    GuardedDevice device(ptx::sm_75);
    auto* sorted = device.poisoned<uint32_t>(size_t{s.columns} * s.n_used);
    auto* dealt = device.poisoned<uint32_t>(tiles.size());
    const auto address = [](const auto* p) { return reinterpret_cast<uint64_t>(p); };
    std::vector<uint32_t> numbers;
    if (s.columns > 1) numbers.push_back(GetParam().n_columns);
    ASSERT_EQ(device.run_listed(seed == 0 ? kAllChecks : shaken(seed), expert_order(s, ptx::sm_75),
                                {address(device.upload(experts)), address(sorted), address(dealt)}, numbers),
              "");
    EXPECT_EQ(device.download(sorted, n_assignments), order);
    EXPECT_EQ(device.download(dealt, tiles.size()), tiles);
    for (const uint32_t beyond : device.download(sorted + n_assignments, size_t{s.columns} * s.n_used - n_assignments))
      EXPECT_EQ(beyond, ~0u) << "poison";
  }
}

const OrderCase kOrders[] = {
    {"one_use", {8, 1, 8, 1}, 1},
    {"a_token", {16, 4, 8, 1}, 1},
    {"as_of_qwen3_30b", {128, 8, 64, 512}, 512},
    {"as_of_qwen3_next", {512, 10, 24, 200}, 77},
    {"a_batch", {60, 4, 8, 40}, 33},
    {"one_expert", {1, 1, 24, 90}, 90},
    {"one_expert_of_many", {128, 4, 16, 30}, 29, [](const ExpertOrderSpec&, size_t n) { return std::vector(n, 77u); }},
    {"first_and_last",
     {1024, 3, 8, 50},
     50,
     [](const ExpertOrderSpec& s, size_t n) {
       std::vector<uint32_t> experts(n);
       for (size_t i = 0; i < n; ++i) experts[i] = i % 3 == 1 ? 0 : s.n - 1;
       return experts;
     }},
    {"most", {1024, 32, 40, 64}, 63},
    {"each_a_tile_more",  // the maximum number of tiles
     {3, 1, 8, 27},
     27,
     [](const ExpertOrderSpec&, size_t n) {
       std::vector<uint32_t> experts(n);
       for (size_t i = 0; i < n; ++i) experts[i] = static_cast<uint32_t>(i % 3);
       return experts;
     }},
};
INSTANTIATE_TEST_SUITE_P(Cases, ExpertOrder, ::testing::ValuesIn(kOrders), [](const auto& c) { return c.param.name; });

// Each mistake, put into the text, is found.

struct OrderMistake {
  const char* name;
  const char* text;  // removed at this occurrence
  int occurrence;
  const char* fault;  // part of the emulator's message
};
std::ostream& operator<<(std::ostream& out, const OrderMistake& m) { return out << m.name; }

class ExpertOrderMistake : public ::testing::TestWithParam<OrderMistake> {};

TEST_P(ExpertOrderMistake, IsFound) {
  const ExpertOrderSpec s{40, 2, 8, 1000};
  GuardedDevice device(ptx::sm_75);
  if (!device.is_emulated()) GTEST_SKIP() << "the emulator's checks find it";
  ptx::Kernel kernel = expert_order(s, ptx::sm_75);
  const std::string text = GetParam().text;
  size_t at = kernel.text.find(text);
  for (int i = 0; i < GetParam().occurrence; ++i) at = kernel.text.find(text, at + 1);
  ASSERT_NE(at, std::string::npos);
  kernel.text.erase(at, text.size());
  const size_t n_assignments = size_t{s.columns} * s.n_used;
  const auto address = [](const auto* p) { return reinterpret_cast<uint64_t>(p); };
  const std::string fault = device.run_listed(
      kAllChecks, kernel,
      {address(device.upload(random_experts(s, n_assignments))), address(device.poisoned<uint32_t>(n_assignments)),
       address(device.poisoned<uint32_t>(4 * max_expert_tiles(s.n, s.tile, static_cast<uint32_t>(n_assignments))))},
      {s.columns});
  EXPECT_NE(fault.find(GetParam().fault), fault.npos) << fault;
}
constexpr OrderMistake kOrderMistakes[] = {
    {"counts_before_all_are_zero", "bar.sync 0;", 0, "never written"},
    {"adds_up_while_others_count", "bar.sync 0;", 1, "without order"},
    {"places_before_all_begin", "bar.sync 0;", 4, "never written"},
    {"counts_a_group_beside_the_next", "bar.warp.sync 0xffffffff;", 0, "without order"},
    {"counts_up_before_all_have_read", "bar.warp.sync 0xffffffff;", 1, "without order"},
};
INSTANTIATE_TEST_SUITE_P(Barriers, ExpertOrderMistake, ::testing::ValuesIn(kOrderMistakes),
                         [](const auto& m) { return std::string(m.param.name); });

TEST(ExpertOrderSpecs, AreCheckedByName) {
  EXPECT_EQ(error_of([] { expert_order({2000, 8, 64}, ptx::sm_75); }), "expert_order: n is 2000, expected 1 to 1024");
  EXPECT_EQ(error_of([] { expert_order({8, 33, 64}, ptx::sm_75); }), "expert_order: n_used is 33, expected 1 to 32");
  EXPECT_EQ(error_of([] { expert_order({8, 2, 65}, ptx::sm_75); }), "expert_order: tile is 65, expected 1 to 64");
}

TEST(ExpertTiles, AreNoMoreThanUses) {
  EXPECT_EQ(max_expert_tiles(128, 64, 0), 0u);
  EXPECT_EQ(max_expert_tiles(128, 64, 16), 16u);
  EXPECT_EQ(max_expert_tiles(128, 64, 4096), 64u + 126);
  EXPECT_EQ(max_expert_tiles(1, 64, 65), 2u);
}

}  // namespace
}  // namespace warpchat
