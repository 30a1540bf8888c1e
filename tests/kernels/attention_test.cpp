// Incremental attention against softmax in double over the dequantised cache. Cells after a column's last key are never
// written, so reading them is a fault.
#include "kernels/attention/attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "emulated_kernel.h"
#include "kernels/common/error_word.h"
#include "kernels/matmul/f16_activations.h"
#include "kv_image.h"
#include "models/error.h"
#include "models/half.h"

namespace warpchat {
namespace {

enum class Scores {
  kRandom,
  kRising,   // every key scores higher than all before: the maximum moves with each
  kFalling,  // the reverse: only the first keys count
  kHuge,     // differences of thousands: exponentials without the maximum subtracted would overflow
  kFar,      // keys and values beyond the range of f16, some tiny beside others
};

struct AttentionCase {
  const char* name;
  AttentionSpec spec;
  std::vector<uint32_t> lengths;
  Scores scores = Scores::kRandom;
};

constexpr auto kF16 = KvType::kF16, kQ8 = KvType::kQ8_0, kF32 = KvType::kF32;

// Other types of keys and values.
AttentionSpec typed(AttentionSpec spec, KvType k_type, KvType v_type) {
  spec.k_type = k_type, spec.v_type = v_type;
  return spec;
}
AttentionSpec q8(const AttentionSpec& spec) { return typed(spec, kQ8, kQ8); }
AttentionSpec f32(const AttentionSpec& spec) { return typed(spec, kF32, kF32); }
AttentionSpec gated(AttentionSpec spec) {
  spec.gated = true;
  return spec;
}

AttentionSpec paged(AttentionSpec spec, uint32_t pages_per_block) {
  spec.pages_per_block = pages_per_block;
  return spec;
}

AttentionSpec with_halves(AttentionSpec spec) {
  spec.writes_f16 = true;
  return spec;
}

std::string case_name(const auto& info) { return info.param.name; }
std::ostream& operator<<(std::ostream& out, const AttentionCase& c) { return out << c.name; }

// n_heads, n_kv_heads, head_dim, max_positions, columns
const AttentionCase kCases[] = {
    {"one_key", {14, 2, 64, 256, 1}, {1}},
    {"no_key_gives_zeros", {14, 2, 64, 256, 1}, {0}},
    {"no_key_beside_some", {4, 2, 64, 256, 4}, {0, 256, 0, 3}},
    {"below_a_split", {14, 2, 64, 256, 1}, {63}},
    {"a_whole_split", {14, 2, 64, 256, 1}, {64}},
    {"one_key_in_the_second_split", {14, 2, 64, 256, 1}, {65}},
    {"full_cache", {14, 2, 64, 256, 1}, {256}},
    {"cache_no_multiple_of_a_split", {3, 1, 64, 197, 2}, {197, 193}},
    {"columns_of_different_lengths", {6, 2, 64, 300, 5}, {300, 1, 129, 128, 127}},
    {"head_of_80", {8, 2, 80, 150, 2}, {150, 65}},  // 6 of 16 lanes idle
    {"head_of_96", {6, 2, 96, 150, 2}, {150, 65}},  // 4 of 16 lanes idle
    {"head_of_128", {16, 2, 128, 150, 2}, {150, 129}},
    {"head_of_256", {8, 1, 256, 150, 2}, {150, 65}},  // one key per warp
    {"head_of_8", {2, 1, 8, 100, 1}, {99}},
    {"no_groups", {3, 3, 64, 130, 1}, {130}},
    {"groups_of_2", {4, 2, 128, 130, 1}, {130}},
    {"groups_of_3", {9, 3, 64, 130, 1}, {130}},
    {"groups_of_5", {5, 1, 64, 130, 1}, {130}},
    {"groups_of_11", {11, 1, 64, 130, 1}, {130}},  // two rounds
    {"groups_of_16", {32, 2, 256, 70, 1}, {66}},
    {"rising_scores", {7, 1, 64, 400, 1}, {390}, Scores::kRising},
    {"falling_scores", {7, 1, 64, 400, 1}, {390}, Scores::kFalling},
    {"huge_scores", {7, 1, 64, 400, 1}, {390}, Scores::kHuge},
    {"merge_of_two_levels", {2, 1, 8, 64 * 40, 2}, {64 * 40, 64 * 33 + 1}},
    {"merge_that_ends_early", {2, 1, 8, 64 * 40, 2}, {64 * 32, 64 * 2}},
    {"scale_of_its_own", {2, 1, 64, 100, 1, 0.5f}, {100}},
    {"positions_for_lengths", {2, 1, 64, 100, 2, 0, true}, {100, 1}},
    {"gated", gated({4, 2, 64, 64, 1}), {40}},  // only one split is possible
    {"gated_no_key_beside_some", gated({6, 2, 80, 300, 3}), {0, 300, 3}},
    {"gated_merge_of_two_levels", gated({2, 1, 8, 64 * 40, 1}), {64 * 40}},
    {"q8", q8({14, 2, 64, 256, 1}), {65}},
    {"q8_no_key_beside_some", q8({4, 2, 64, 256, 4}), {0, 256, 0, 3}},
    {"q8_rows_no_multiple_of_the_alignment", q8({9, 3, 64, 197, 2}), {197, 193}},
    {"q8_keys", typed({6, 2, 64, 300, 2}, kQ8, kF16), {300, 129}},
    {"q8_values", typed({6, 2, 64, 300, 2}, kF16, kQ8), {300, 129}},
    {"q8_head_of_80", q8({8, 2, 80, 150, 2}), {150, 65}},  // the last group has 16 values, no fourth
    {"q8_head_of_96", q8({6, 2, 96, 150, 2}), {150, 65}},  // three groups
    {"q8_head_of_128", q8({16, 2, 128, 150, 2}), {150, 129}},
    {"q8_head_of_256", q8({8, 1, 256, 150, 2}), {150, 65}},
    {"q8_head_of_8", q8({2, 1, 8, 100, 1}), {99}},
    {"q8_groups_of_11", q8({11, 1, 64, 130, 1}), {130}},
    {"q8_rising_scores", q8({7, 1, 64, 400, 1}), {390}, Scores::kRising},
    {"q8_huge_scores", q8({7, 1, 64, 400, 1}), {390}, Scores::kHuge},
    {"q8_merge_of_two_levels", q8({2, 1, 8, 64 * 40, 2}), {64 * 40, 64 * 33 + 1}},
    {"f32", f32({14, 2, 64, 256, 1}), {65}},
    {"f32_no_key_beside_some", f32({4, 2, 64, 200, 4}), {0, 197, 0, 3}},
    {"f32_keys", typed({6, 2, 64, 300, 2}, kF32, kQ8), {300, 129}},
    {"f32_values", typed({6, 2, 64, 300, 2}, kF16, kF32), {300, 129}},
    {"f32_head_of_80", gated(f32({8, 2, 80, 150, 2})), {150, 65}},  // half a group remains; there is no fourth
    {"f32_head_of_128", f32({16, 2, 128, 150, 2}), {150, 129}},
    {"f32_head_of_256", f32({8, 1, 256, 150, 1}), {65}},
    {"f32_head_of_8", f32({2, 1, 8, 100, 1}), {99}},
    {"f32_groups_of_11", f32({11, 1, 64, 130, 1}), {130}},
    {"f32_huge_scores", f32({7, 1, 64, 400, 1}), {390}, Scores::kHuge},
    {"f32_beyond_halves", f32({4, 2, 64, 150, 1}), {150}, Scores::kFar},
    {"pages", paged({14, 2, 64, 1000, 4}, 4), {1000, 257, 256, 1}},  // the last split has one page or a part of one
    {"pages_no_multiple_of_a_split", paged({16, 2, 128, 500, 2}, 3), {500, 65}},
    {"pages_all_in_a_block", paged({8, 1, 128, 300, 2}, 8), {300, 129}},
    {"pages_as_many_as_lanes", paged({2, 1, 8, 64 * 70, 2}, 32), {64 * 70, 64 * 33 + 1}},
    {"pages_no_key_beside_some", paged({4, 2, 64, 256, 4}, 2), {0, 256, 0, 3}},
    {"pages_of_heads_of_80", paged({8, 2, 80, 350, 2}, 2), {350, 65}},
    {"pages_of_heads_of_96", paged({6, 2, 96, 350, 2}, 2), {350, 65}},
    {"pages_no_groups", paged({3, 3, 64, 330, 1}, 2), {330}},
    {"pages_rising_scores", paged({7, 1, 64, 400, 1}, 4), {390}, Scores::kRising},
    {"pages_falling_scores", paged({7, 1, 64, 400, 1}, 4), {390}, Scores::kFalling},
    {"pages_huge_scores", paged({7, 1, 64, 400, 1}, 4), {390}, Scores::kHuge},
    {"pages_merge_of_two_levels", paged({2, 1, 8, 64 * 2 * 40, 2}, 2), {64 * 2 * 40, 64 * 65 + 1}},
    {"pages_positions_for_lengths", paged({2, 1, 64, 200, 2, 0, true}, 2), {200, 1}},
    {"pages_gated", paged(gated({6, 2, 128, 300, 3}), 2), {300, 64, 3}},
    {"pages_q8", paged(q8({14, 2, 128, 600, 2}), 4), {600, 270}},
    {"pages_q8_keys", paged(typed({6, 2, 64, 300, 2}, kQ8, kF16), 2), {300, 129}},
    {"pages_q8_values", paged(typed({6, 2, 96, 300, 2}, kF16, kQ8), 2), {300, 129}},
    {"pages_q8_rising_scores", paged(q8({7, 1, 64, 400, 1}), 4), {390}, Scores::kRising},
};

// The inputs of a case, and the exact result.
class Problem {
 public:
  Problem(const AttentionSpec& s, const std::vector<uint32_t>& lengths, Scores scores, uint32_t seed)
      : spec(s), random_(seed) {
    for (uint32_t i = 0; i < s.columns * s.n_heads * s.head_dim; ++i) q.push_back(normal_(random_));
    for (size_t i = 0; s.gated && i < q.size(); ++i) gate.push_back(normal_(random_));
    for (uint32_t column = 0; column < s.columns; ++column) {
      keys.push_back(cache(s.k_type, lengths[column], scores));
      values.push_back(cache(s.v_type, lengths[column], scores == Scores::kFar ? scores : Scores::kRandom));
    }
    if (scores == Scores::kFar) {
      for (float& value : q) value *= 1e-20f;
    } else if (scores != Scores::kRandom) {  // one dimension decides the scores
      for (uint32_t i = 0; i < q.size(); i += s.head_dim) q[i] = 8;
    }
  }

  // lengths: at most those of the constructor.
  std::vector<double> expected(const std::vector<uint32_t>& lengths) const {
    std::vector<double> out;
    for (uint32_t column = 0; column < spec.columns; ++column) {
      for (uint32_t head = 0; head < spec.n_heads; ++head) attend(column, head, lengths[column], out);
    }
    for (size_t i = 0; i < gate.size(); ++i) out[i] /= 1 + std::exp(-double{gate[i]});
    return out;
  }

  const AttentionSpec spec;
  std::vector<float> q, gate;
  std::vector<KvImage> keys, values;  // one per column

 private:
  KvImage cache(KvType type, uint32_t n_keys, Scores scores) {
    KvImage image({type, spec.n_kv_heads, spec.head_dim}, n_keys);
    const auto first = [&](float key) {  // the deciding dimension: scores differ by a few, or by thousands
      return scores == Scores::kHuge ? 3e4f * std::sin(key) : (scores == Scores::kRising ? key : -key) / 16;
    };
    std::vector<float> row(spec.head_dim);
    for (uint32_t kv_head = 0; kv_head < spec.n_kv_heads; ++kv_head) {
      for (uint32_t key = 0; key < n_keys; ++key) {
        for (float& value : row) value = normal_(random_);
        for (size_t i = 0; scores == Scores::kFar && i < row.size(); ++i) row[i] *= i % 5 == 0 ? 1e14f : 1e20f;
        if (scores != Scores::kRandom && scores != Scores::kFar) row[0] = first(static_cast<float>(key));
        image.set(kv_head, key, row);
      }
    }
    return image;
  }

  void attend(uint32_t column, uint32_t head, uint32_t n_keys, std::vector<double>& out) const {
    const uint32_t kv_head = head / (spec.n_heads / spec.n_kv_heads);
    const double scale = spec.scale != 0 ? spec.scale : 1 / std::sqrt(double{1} * spec.head_dim);
    const float* query = &q[(uint64_t{column} * spec.n_heads + head) * spec.head_dim];
    std::vector<double> weights(n_keys), sums(spec.head_dim);
    for (uint32_t key = 0; key < n_keys; ++key) {
      for (uint32_t i = 0; i < spec.head_dim; ++i) weights[key] += scale * query[i] * keys[column].at(kv_head, key, i);
    }
    const double top = n_keys > 0 ? *std::max_element(weights.begin(), weights.end()) : 0;
    double total = 0;
    for (uint32_t key = 0; key < n_keys; ++key) {
      const double weight = std::exp(weights[key] - top);
      total += weight;
      for (uint32_t i = 0; i < spec.head_dim; ++i) sums[i] += weight * values[column].at(kv_head, key, i);
    }
    for (double sum : sums) out.push_back(n_keys > 0 ? sum / total : 0);
  }

  std::mt19937 random_;
  std::normal_distribution<float> normal_;
};

// A problem on a device, launched as often as a test likes.
class Attention {
 public:
  Attention(const Problem& problem, const std::vector<uint32_t>& n_keys, ptx::Target target = ptx::sm_75)
      : device(target), spec(problem.spec), kernel(incremental_attention(spec, target)), n_columns(spec.columns) {
    q = device.upload(problem.q);
    if (spec.gated) gate = device.upload(problem.gate);
    place(problem, /*seed=*/1);
    set_lengths(n_keys);
    scratch = device.zeros<uint8_t>(attention_scratch_bytes(spec));
    error = device.zeros<uint32_t>(4);
    out = device.poisoned<float>(out_size());
    if (!spec.writes_f16) return;
    halves = device.poisoned<uint16_t>(spec.columns * half_size());
    factors = device.poisoned<float>(spec.columns);
  }

  // Places the cache's pages by the seed.
  void place(const Problem& problem, uint32_t seed) {
    std::vector<uint32_t> positions;
    for (const KvImage& keys : problem.keys) positions.push_back(keys.n_pages() * kPagePositions);
    const PagedCache cache(positions, seed);
    k_pages = cache.upload(device, problem.keys[0].layout, problem.keys);
    v_pages = cache.upload(device, problem.values[0].layout, problem.values);
    page_tables = cache.upload(device);
  }

  void set_lengths(std::vector<uint32_t> values) {
    if (spec.lengths_are_positions) std::ranges::for_each(values, [](uint32_t& length) { --length; });
    lengths = device.upload(values);
  }

  // Runs with an output that was never written.
  std::string run(ptx::emulator::LaunchOptions options, ptx::Dimensions grid) {
    std::fill_n(out, out_size(), NAN);
    std::vector<uint64_t> pointers;
    for (const void* p : std::initializer_list<const void*>{q, k_pages, v_pages, page_tables, lengths,
                                                            halves ? static_cast<const void*>(halves) : out, factors,
                                                            gate, scratch, error})
      if (p != nullptr) pointers.push_back(reinterpret_cast<uint64_t>(p));
    ptx::Kernel of_grid = kernel;
    of_grid.launch.blocks = grid;
    return device.run_listed(options, of_grid, pointers,
                             spec.columns == 1 ? std::vector<uint32_t>{} : std::vector{n_columns});
  }
  std::string run(ptx::emulator::LaunchOptions options = kAllChecks) { return run(options, kernel.launch.blocks); }

  size_t half_size() const { return f16_activation_size(uint64_t{spec.n_heads} * spec.head_dim); }
  size_t out_size() const { return size_t{spec.columns} * spec.n_heads * spec.head_dim; }
  std::vector<float> result() const { return device.download(out, out_size()); }
  std::vector<uint32_t> error_word() const { return device.download(error, 4); }

  GuardedDevice device;
  const AttentionSpec spec;
  ptx::Kernel kernel;
  uint32_t n_columns;
  float *q, *out, *gate = nullptr, *factors = nullptr;
  uint16_t* halves = nullptr;
  uint8_t *k_pages, *v_pages;
  uint64_t* page_tables;
  uint32_t *lengths, *error;
  uint8_t* scratch;
};

// Covers sums of some hundred fp32 terms, and scores rounded to fp32 before exp.
constexpr double kTolerance = 5e-6;
constexpr double kToleranceOfHugeScores = 8e-3;  // a score of 4e4 is exact to 5e-3: a query is two f16 values

double tolerance(const AttentionCase& c) { return c.scores == Scores::kHuge ? kToleranceOfHugeScores : kTolerance; }

class IncrementalAttention : public ::testing::TestWithParam<AttentionCase> {};

TEST_P(IncrementalAttention, MatchesDouble) {
  const AttentionCase& c = GetParam();
  const Problem problem(c.spec, c.lengths, c.scores, /*seed=*/1);
  const std::vector<double> expected = problem.expected(c.lengths);
  Attention attention(problem, c.lengths);
  ASSERT_EQ(attention.run(), "");
  expect_close(attention.result(), expected, tolerance(c));
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    ASSERT_EQ(attention.run(shaken(seed)), "") << "seed " << seed;
    expect_close(attention.result(), expected, tolerance(c));
  }
  EXPECT_EQ(attention.error_word(), std::vector<uint32_t>(4));
}

// The result is the same for every grid, block order and page placement. Every launch leaves the scratch memory as it
// found it.
TEST_P(IncrementalAttention, RepeatsToTheBit) {
  const AttentionCase& c = GetParam();
  const Problem problem(c.spec, c.lengths, c.scores, /*seed=*/2);
  Attention attention(problem, c.lengths);
  ASSERT_EQ(attention.run(), "");
  const std::vector<float> first = attention.result();
  const uint32_t longest = *std::ranges::max_element(c.lengths);
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    ptx::emulator::LaunchOptions options = kAllChecks;
    options.seed = seed;
    options.weak_memory = true;
    attention.place(problem, static_cast<uint32_t>(10 + seed));
    const ptx::Dimensions grid = seed == 1 ? attention.kernel.launch.blocks : attention_grid(c.spec, longest);
    ASSERT_EQ(attention.run(options, grid), "") << "seed " << seed;
    ASSERT_EQ(attention.result(), first) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, IncrementalAttention, ::testing::ValuesIn(kCases),
                         [](const auto& row) { return case_name(row); });

// Checks the f16 output against the f32 output (order: f16_activations.h), and the means of 16 values.
void expect_halves_of(const std::vector<float>& floats, const std::vector<uint16_t>& halves) {
  const size_t k = floats.size();
  for (size_t i = 0; i < k; ++i) {
    const size_t unit = i / 32 * 32, octet = i / 4 % 4, at = unit + octet * 8 + i / 16 % 2 * 4 + i % 4;
    ASSERT_EQ(halves[at], to_f16(floats[i]).bits) << "value " << i;
  }
  for (size_t i = 0; i < k / kHalfMeanValues; ++i) {
    double sum = 0;
    for (size_t j = 0; j < kHalfMeanValues; ++j) sum += to_float(to_f16(floats[i * kHalfMeanValues + j]));
    const double mean = to_float(f16{halves[k + 2 * i]}), left = to_float(f16{halves[k + 2 * i + 1]});
    ASSERT_NEAR(mean + left, sum / kHalfMeanValues, 1e-6) << "mean " << i;
  }
}

TEST(IncrementalAttentionHalves, AreThoseOfItsFloats) {
  const struct {
    AttentionSpec spec;
    std::vector<uint32_t> lengths;
  } cases[] = {
      {{16, 2, 128, 300, 3}, {300, 1, 64}},
      {{14, 2, 128, 64, 1}, {64}},                       // seven warps have results; one split
      {{4, 2, 64, 300, 2}, {300, 0}},                    // one warp has results; a column without keys gives zeros
      {paged({16, 2, 128, 600, 3}, 4), {600, 64, 257}},  // one split and several
      {paged(gated(q8({12, 2, 128, 300, 2})), 2), {300, 70}},
  };
  for (const auto& [of_floats, lengths] : cases) {
    const AttentionSpec spec = with_halves(of_floats);
    Attention floats(Problem(of_floats, lengths, Scores::kRandom, 12), lengths);
    Attention halves(Problem(spec, lengths, Scores::kRandom, 12), lengths);
    ASSERT_EQ(floats.run(), "");
    ASSERT_EQ(halves.run(), "");
    const std::vector<float> all = floats.result();
    const size_t width = all.size() / spec.columns, size = halves.half_size();
    for (uint32_t column = 0; column < spec.columns; ++column) {
      expect_halves_of({all.begin() + column * width, all.begin() + (column + 1) * width},
                       halves.device.download(halves.halves + column * size, size));
      EXPECT_EQ(halves.factors[column], 1.0f);
    }
  }
}

// The arrival counters count to the current lengths and end at zero, so other lengths work in the next launch.
TEST(IncrementalAttentionInputs, LengthsChangeBetweenLaunches) {
  const AttentionSpec spec{4, 2, 64, 64 * 40, 2};
  const std::vector<uint32_t> full(2, spec.max_positions);
  const Problem problem(spec, full, Scores::kRandom, 3);
  Attention attention(problem, full);
  for (uint32_t length : {64 * 40, 1, 64 * 33, 0, 64 * 32, 65, 64 * 40}) {
    const std::vector<uint32_t> lengths{length, spec.max_positions - length};
    attention.set_lengths(lengths);
    ASSERT_EQ(attention.run(), "") << length;
    expect_close(attention.result(), problem.expected(lengths), kTolerance);
  }
}

// Columns from n_columns on need no length and no cache, and get no result.
TEST(IncrementalAttentionInputs, ColumnsBeyondAreLeftAlone) {
  const AttentionSpec spec{4, 2, 64, 128, 4};
  const std::vector<uint32_t> lengths{128, 70, 1, 1};
  const Problem problem(spec, lengths, Scores::kRandom, 4);
  Attention attention(problem, lengths);
  attention.n_columns = 2;
  attention.lengths = attention.device.poisoned<uint32_t>(4);
  attention.lengths[0] = 128, attention.lengths[1] = 70;
  attention.device.mark_initialised(attention.lengths, 8);
  ASSERT_EQ(attention.run(), "");
  std::vector<float> result = attention.result();
  EXPECT_TRUE(std::all_of(result.begin() + 2 * 256, result.end(), [](float x) { return std::isnan(x); }));
  std::vector<double> expected = problem.expected(lengths);
  result.resize(2 * 256), expected.resize(2 * 256);
  expect_close(result, expected, kTolerance);
}

struct WrongLength {
  const char* name;
  bool positions;
  uint32_t given;   // length of column 1
  uint32_t blocks;  // grid size; 0: the launch's own
  KernelError code;
  uint32_t limit;
};
const WrongLength kWrongLengths[] = {
    {"length_above_the_cache", false, 131, 0, KernelError::kLengthOutOfRange, 130},
    {"length_of_all_ones", false, ~0u, 0, KernelError::kLengthOutOfRange, 130},
    {"position_behind_the_cache", true, 130, 0, KernelError::kPositionOutOfRange, 130},
    {"position_that_wraps_to_no_key", true, ~0u, 0, KernelError::kPositionOutOfRange, 130},
    {"length_above_the_grid", false, 65, 1, KernelError::kLengthOutOfRange, 64},
    {"position_above_the_grid", true, 64, 1, KernelError::kPositionOutOfRange, 64},
};

class IncrementalAttentionErrors : public ::testing::TestWithParam<WrongLength> {};

TEST_P(IncrementalAttentionErrors, AreReportedAndWriteNothing) {
  const WrongLength& wrong = GetParam();
  AttentionSpec spec{4, 2, 64, 130, 3};
  spec.lengths_are_positions = wrong.positions;
  const std::vector<uint32_t> lengths{64, 64, 3};
  const Problem problem(spec, lengths, Scores::kRandom, 5);
  Attention attention(problem, lengths);
  attention.lengths[1] = wrong.given;
  ptx::Dimensions grid = attention.kernel.launch.blocks;
  if (wrong.blocks > 0) grid.x = wrong.blocks;
  ASSERT_EQ(attention.run(kAllChecks, grid), "");
  EXPECT_EQ(attention.error_word(),
            (std::vector<uint32_t>{static_cast<uint32_t>(wrong.code), wrong.given, wrong.limit, 1}));
  const std::vector<float> result = attention.result();
  const std::vector<double> expected = problem.expected(lengths);
  for (size_t i = 0; i < result.size(); ++i) {
    if (i / 256 == 1)
      EXPECT_TRUE(std::isnan(result[i])) << i;
    else
      EXPECT_NEAR(result[i], expected[i], 1e-5) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, IncrementalAttentionErrors, ::testing::ValuesIn(kWrongLengths),
                         [](const auto& row) { return case_name(row); });

TEST(IncrementalAttentionErrors, KeepTheFirstReport) {
  const AttentionSpec spec{1, 1, 8, 64, 1};
  const Problem problem(spec, {64}, Scores::kRandom, 6);
  Attention attention(problem, {65});
  std::copy_n(std::vector<uint32_t>{7, 8, 9, 10}.begin(), 4, attention.error);
  ASSERT_EQ(attention.run(), "");
  EXPECT_EQ(attention.error_word(), (std::vector<uint32_t>{7, 8, 9, 10}));
}

// The pages lie 4 GiB and more after the first, so a 32-bit offset would miss them.
TEST(IncrementalAttentionSizes, OffsetsHave64Bits) {
  for (KvType type : {kF16, kQ8, kF32}) {
    constexpr uint32_t kKeys = 70, kFar = 1u << 20;
    const AttentionSpec spec = typed({2, 2, 64, kKeys, 1}, type, type);
    const Problem problem(spec, {kKeys}, Scores::kRandom, 7);
    Attention attention(problem, {kKeys});
    const std::vector<uint32_t> table = {kFar + 2, kFar};
    const auto place = [&](const KvImage& image) {
      auto* pages = attention.device.poisoned<uint8_t>(3 * image.layout.n_bytes());
      for (uint32_t page : {0, 1})
        image.copy_page(attention.device, page, pages + (1 - page) * 2 * image.layout.n_bytes());
      return pages - kFar * image.layout.n_bytes();
    };
    attention.k_pages = place(problem.keys[0]), attention.v_pages = place(problem.values[0]);
    attention.page_tables =
        attention.device.upload(std::vector{reinterpret_cast<uint64_t>(attention.device.upload(table))});
    ASSERT_EQ(attention.run(), "");
    expect_close(attention.result(), problem.expected({kKeys}), kTolerance);
  }
}

TEST(IncrementalAttentionSizes, TakesThe131072ndKey) {
  const AttentionSpec spec{2, 1, 64, 131072};
  const Problem problem(spec, {131072}, Scores::kRandom, 8);
  Attention attention(problem, {131072});
  ASSERT_EQ(attention.run(), "");
  expect_close(attention.result(), problem.expected({131072}), kTolerance);
}

// Without acquire-release arrivals, the last block may read sums that others have not written yet.
TEST(IncrementalAttentionFaults, MergingWithoutReleaseIsARace) {
  const AttentionSpec spec{2, 1, 64, 300, 1};
  const Problem problem(spec, {300}, Scores::kRandom, 9);
  Attention attention(problem, {300});
  const size_t order = attention.kernel.text.find("atom.acq_rel");
  ASSERT_NE(order, std::string::npos);
  attention.kernel.text.replace(order, 12, "atom.relaxed");
  EXPECT_THAT(attention.run(), ::testing::HasSubstr("written without order by line"));
}

// With late stores, the missing order also changes the result.
TEST(IncrementalAttentionFaults, MergingWithoutReleaseMissesLateStores) {
  const AttentionSpec spec{2, 1, 64, 300, 1};
  const Problem problem(spec, {300}, Scores::kRandom, 9);
  Attention attention(problem, {300});
  ptx::emulator::LaunchOptions late;
  late.weak_memory = true;
  const auto is_wrong = [&](uint64_t seed) {
    late.seed = seed;
    EXPECT_EQ(attention.run(late), "") << "seed " << seed;
    return !(relative_error(attention.result(), problem.expected({300})) < kTolerance);
  };
  for (uint64_t seed = 1; seed <= 20; ++seed) EXPECT_FALSE(is_wrong(seed)) << "seed " << seed;
  attention.kernel.text.replace(attention.kernel.text.find("atom.acq_rel"), 12, "atom.relaxed");
  bool any_wrong = false;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    attention.scratch = attention.device.zeros<uint8_t>(attention_scratch_bytes(spec));
    any_wrong = any_wrong || is_wrong(seed);
  }
  EXPECT_TRUE(any_wrong);
}

// The heads of a group read no further sectors. Padding dimensions cost none either, except in an absent second half.
TEST(IncrementalAttentionCounters, EachByteOfTheCacheIsReadOnce) {
  for (const auto& [type, head_dim] : std::vector<std::pair<KvType, uint32_t>>{{kF16, 64},
                                                                               {kF16, 112},
                                                                               {kF16, 128},
                                                                               {kF16, 256},
                                                                               {kQ8, 64},
                                                                               {kQ8, 128},
                                                                               {kQ8, 256},
                                                                               {kF32, 64},
                                                                               {kF32, 256}}) {
    for (const uint32_t pages : {1u, 3u}) {
      const AttentionSpec spec = paged(typed({14, 2, head_dim, 256, 2}, type, type), pages);
      if (pages > 1 && !takes_several_pages(spec)) continue;
      const std::vector<uint32_t> lengths{256, 128};
      const Problem problem(spec, lengths, Scores::kRandom, 10);
      Attention attention(problem, lengths);
      ptx::emulator::LaunchOptions counting;
      counting.count = true;
      ASSERT_EQ(attention.run(counting), "");
      const uint64_t cells = (256 + 128) * 2 * head_dim,
                     sectors = cells * KvLayout{type, 1, head_dim}.value_bytes() / 32;
      for (const char* tag : {"keys", "values"}) {
        const ptx::emulator::Counts* counts = attention.device.counters().of_tag(tag);
        ASSERT_NE(counts, nullptr);
        EXPECT_EQ(counts->loads.sectors, sectors) << tag << " of heads of " << head_dim << ", pages " << pages;
      }
    }
  }
}

TEST(IncrementalAttentionSpecs, TellLaunchAndCost) {
  const AttentionSpec spec{14, 2, 64, 1000, 3};
  const ptx::Kernel kernel = incremental_attention(spec, ptx::sm_90);
  EXPECT_EQ(kernel.name, "incremental_attention_h14_kv2_d64_s1000_c3");
  const ptx::Dimensions& grid = kernel.launch.blocks;
  EXPECT_EQ((std::vector<uint32_t>{grid.x, grid.y, grid.z}), (std::vector<uint32_t>{16, 2, 3}));
  EXPECT_EQ(attention_grid(spec, 0).x, 1u);
  EXPECT_EQ(attention_grid(spec, 129).x, 3u);
  EXPECT_EQ(attention_grid(paged(spec, 2), 129).x, 2u);
  EXPECT_EQ(name_of(paged(spec, 2)), "incremental_attention_h14_kv2_d64_s1000_c3_p2");
  const uint64_t queries = 3 * 14 * 64;
  EXPECT_EQ(attention_cost(spec, 10).bytes, 10 * 2 * 64 * 4 + queries * 8);
  EXPECT_EQ(kernel.cost.bytes, attention_cost(spec, 3000).bytes);
  EXPECT_EQ(kernel.cost.flops, uint64_t{3000} * 14 * 64 * 4);
  EXPECT_EQ(attention_cost(with_halves({16, 2, 64, 1000}), 10).bytes, 10 * 2 * 64 * 4 + 1024 * (4 + 2 + 2 / 8.0) + 4);
  EXPECT_EQ(name_of(q8({14, 2, 80, 1000})), "incremental_attention_h14_kv2_d80_s1000_c1_kq8_vq8");
  EXPECT_EQ(attention_cost(q8({14, 2, 80, 1000}), 10).bytes, 10 * 2 * 2 * (80 + 8) + 14 * 80 * 8);
}

struct WrongSpec {
  AttentionSpec spec;
  const char* message;
};
const WrongSpec kWrongSpecs[] = {
    {{7, 2, 64, 64}, "incremental_attention: n_heads is 7, expected a multiple of the 2 KV heads, up to 128 for each"},
    {{129, 1, 64, 64},
     "incremental_attention: n_heads is 129, expected a multiple of the 1 KV heads, up to 128 for each"},
    {{4, 0, 64, 64}, "incremental_attention: n_kv_heads is 0, expected 1 to 65535"},
    {{4, 2, 65, 64}, "incremental_attention: head_dim is 65, expected a multiple of 8 up to 256"},
    {{4, 2, 264, 64}, "incremental_attention: head_dim is 264, expected a multiple of 8 up to 256"},
    {{4, 2, 64, 0}, "incremental_attention: max_positions is 0, expected 1 to 2147483647"},
    {{4, 2, 64, 64, 0}, "incremental_attention: columns is 0, expected 1 to 65535"},
    {{4, 2, 64, 64, 1, INFINITY}, "incremental_attention: the scale is not finite"},
    {paged({4, 2, 64, 64}, 0), "incremental_attention: pages_per_block is 0, expected 1 to 32"},
    {paged({4, 2, 64, 64}, 33), "incremental_attention: pages_per_block is 33, expected 1 to 32"},
    {paged({9, 1, 64, 64}, 2), "incremental_attention: pages_per_block is 2, expected 1 to 1"},
    {with_halves({2, 2, 64, 64}), "incremental_attention: it cannot write f16"},
    {paged({4, 2, 136, 64}, 2), "incremental_attention: pages_per_block is 2, expected 1 to 1"},
};

TEST(IncrementalAttentionSpecs, AreCheckedByName) {
  for (const WrongSpec& wrong : kWrongSpecs) {
    try {
      incremental_attention(wrong.spec, ptx::sm_75);
      ADD_FAILURE() << "accepted: " << wrong.message;
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), wrong.message);
    }
  }
}

}  // namespace
}  // namespace warpchat
