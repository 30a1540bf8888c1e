// Flash attention against softmax in double over the dequantised cache, row by row. Cells after the last key are never
// written, so reading them is a fault.
#include "kernels/attention/flash_attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "emulated_kernel.h"
#include "kernels/common/error_word.h"
#include "kv_image.h"
#include "models/error.h"
#include "tests/ptx/ptxas.h"

namespace warpchat {
namespace {

enum class Scores {
  kRandom,
  kRising,   // every key scores higher than all before: the maximum moves, and masked keys would count most
  kFalling,  // the reverse: only the first keys count
  kApart,    // the heads of a group, and odd and even queries, look for different keys: their maxima differ
  kFifty,    // up to 50 either way, spread over all channels
  kOutlier,  // up to 50 either way, nearly all from one channel at 200 times the others
  kHuge,     // hundreds of thousands, keys up to the largest f16: sums of products overflow f16
};

struct FlashCase {
  const char* name;
  FlashAttentionSpec spec;
  uint32_t n_queries, past;
  Scores scores = Scores::kRandom;
};

std::string case_name(const auto& info) { return info.param.name; }
std::ostream& operator<<(std::ostream& out, const FlashCase& c) { return out << c.name; }

constexpr bool kFull = false;
constexpr auto kF16 = KvType::kF16, kQ8 = KvType::kQ8_0, kF32 = KvType::kF32;

// n_heads, n_kv_heads, head_dim, max_positions, causal, scale, k_type, v_type, gated
const FlashCase kCases[] = {
    {"one_query_no_past", {2, 1, 64, 64}, 1, 0},
    {"one_query_and_past", {7, 1, 64, 320}, 1, 300},
    {"two_keys", {2, 2, 64, 64}, 2, 0},
    {"a_whole_tile", {1, 1, 64, 64}, 64, 0},
    {"the_diagonal_tile_has_its_mask", {1, 1, 64, 64}, 64, 0, Scores::kRising},
    {"one_row_in_the_second_tile", {1, 1, 64, 70}, 65, 0},
    {"one_key_in_the_second_tile", {1, 1, 64, 70}, 2, 63},
    {"ragged_rows_and_keys", {3, 1, 64, 200}, 43, 34},
    {"past_of_a_whole_tile", {2, 1, 64, 200}, 33, 64},
    {"past_longer_than_the_queries", {2, 1, 64, 320}, 19, 300},
    {"no_groups", {2, 2, 64, 130}, 130, 0},
    {"groups_of_7", {14, 2, 64, 130}, 21, 5},
    {"groups_of_2_with_their_own_maxima", {4, 2, 64, 130}, 40, 21, Scores::kApart},
    {"rows_with_their_own_maxima", {1, 1, 64, 130}, 130, 0, Scores::kApart},
    {"groups_larger_than_a_warp", {20, 1, 64, 130}, 9, 61},
    {"full_cache", {2, 1, 64, 96}, 32, 64},
    {"head_of_80", {4, 2, 80, 130}, 45, 50},
    {"head_of_96", {4, 2, 96, 130}, 25, 50},
    {"head_of_128", {4, 2, 128, 200}, 35, 100},
    {"head_of_144", {2, 1, 144, 130}, 20, 30},  // more threads than a tile's keys need for copying
    {"head_of_256", {2, 1, 256, 130}, 45, 50},
    {"full", {3, 1, 64, 130, kFull}, 43, 0},
    {"full_and_past", {2, 1, 128, 130, kFull}, 40, 33},
    {"full_head_of_256", {2, 2, 256, 130, kFull}, 17, 30},
    {"full_one_query", {2, 2, 80, 130, kFull}, 1, 0},
    {"rising_scores", {2, 1, 64, 320}, 20, 250, Scores::kRising},
    {"falling_scores", {2, 1, 64, 320}, 20, 250, Scores::kFalling},
    {"scores_of_fifty", {2, 1, 64, 200}, 40, 150, Scores::kFifty},
    {"scores_of_fifty_head_of_128", {2, 1, 128, 200}, 20, 150, Scores::kFifty},
    {"one_outlier_channel", {2, 1, 128, 200}, 20, 150, Scores::kOutlier},
    {"one_outlier_channel_head_of_256", {2, 1, 256, 200}, 20, 100, Scores::kOutlier},
    {"huge_scores", {2, 1, 64, 200}, 40, 70, Scores::kHuge},
    {"scale_of_its_own", {2, 1, 64, 100, true, 0.5f}, 30, 20},
    {"negative_scale", {2, 1, 64, 100, true, -0.2f}, 30, 20},
    {"gated", {4, 2, 64, 130, true, 0, kF16, kF16, true}, 43, 34},
    {"gated_head_of_256", {2, 1, 256, 70, true, 0, kQ8, kQ8, true}, 17, 20},
    {"q8", {4, 2, 64, 200, true, 0, kQ8, kQ8}, 43, 34},
    {"q8_one_query_no_past", {2, 1, 64, 64, true, 0, kQ8, kQ8}, 1, 0},
    {"q8_one_key_in_the_second_tile", {1, 1, 64, 70, true, 0, kQ8, kQ8}, 2, 63},
    {"q8_full_cache", {2, 1, 64, 96, true, 0, kQ8, kQ8}, 32, 64},
    {"q8_rows_no_multiple_of_the_alignment", {6, 3, 64, 71, true, 0, kQ8, kQ8}, 31, 40},
    {"q8_keys", {4, 2, 64, 200, true, 0, kQ8, kF16}, 43, 34},
    {"q8_values", {4, 2, 64, 200, true, 0, kF16, kQ8}, 43, 34},
    {"q8_head_of_80", {4, 2, 80, 130, true, 0, kQ8, kQ8}, 45, 50},  // the last group has 16 values, no fourth
    {"q8_head_of_96", {4, 2, 96, 130, true, 0, kQ8, kQ8}, 25, 50},  // three groups
    {"q8_head_of_128", {4, 2, 128, 200, true, 0, kQ8, kQ8}, 35, 100},
    {"q8_head_of_144", {2, 1, 144, 130, kFull, 0, kQ8, kQ8}, 20, 30},  // nothing is staged; five groups
    {"q8_head_of_256", {2, 1, 256, 130, true, 0, kQ8, kQ8}, 45, 50},
    {"q8_keys_head_of_256", {2, 1, 256, 130, true, 0, kQ8, kF16}, 20, 50},
    {"q8_values_head_of_256", {2, 1, 256, 130, true, 0, kF16, kQ8}, 20, 50},
    {"q8_rising_scores", {2, 1, 64, 320, true, 0, kQ8, kQ8}, 20, 250, Scores::kRising},
    {"q8_groups_of_2_with_their_own_maxima", {4, 2, 64, 130, true, 0, kQ8, kQ8}, 40, 21, Scores::kApart},
    {"q8_scores_of_fifty", {2, 1, 64, 200, true, 0, kQ8, kQ8}, 40, 150, Scores::kFifty},
    {"q8_one_outlier_channel", {2, 1, 128, 200, true, 0, kQ8, kQ8}, 20, 150, Scores::kOutlier},
    {"q8_huge_scores", {2, 1, 64, 200, true, 0, kQ8, kQ8}, 40, 70, Scores::kHuge},  // the largest scale
    {"f32", {4, 2, 64, 200, true, 0, kF32, kF32}, 43, 34},
    {"f32_one_key_in_the_second_tile", {1, 1, 64, 70, true, 0, kF32, kF32}, 2, 63},
    {"f32_keys", {4, 2, 80, 130, true, 0, kF32, kQ8}, 20, 50},  // codes and floats share one staging buffer
    {"f32_values", {4, 2, 64, 130, true, 0, kQ8, kF32}, 20, 50},
    {"f32_keys_beside_halves", {2, 1, 64, 130, true, 0, kF32, kF16}, 20, 50},
    {"f32_one_outlier_channel", {2, 1, 128, 200, true, 0, kF32, kF32}, 20, 150, Scores::kOutlier},
    {"f32_head_of_256", {2, 1, 256, 130, kFull, 0, kF32, kF32, true}, 17, 50},  // nothing is staged
    {"f32_values_head_of_144", {2, 1, 144, 130, true, 0, kF16, kF32}, 20, 30},
    {"f32_huge_scores", {2, 1, 64, 200, true, 0, kF32, kF32}, 40, 70, Scores::kHuge},
};

// The inputs of a case, and the exact result.
class Problem {
 public:
  Problem(const FlashAttentionSpec& s, uint32_t queries, uint32_t past_keys, Scores scores, uint32_t seed)
      : spec(s),
        n_queries(queries),
        past(past_keys),
        n_keys(queries + past_keys),
        keys({s.k_type, s.n_kv_heads, s.head_dim}, n_keys),
        values({s.v_type, s.n_kv_heads, s.head_dim}, n_keys),
        random_(seed) {
    for (uint32_t i = 0; i < n_queries * row_width(); ++i) q.push_back(normal_(random_));
    for (size_t i = 0; s.gated && i < q.size(); ++i) gate.push_back(normal_(random_));
    std::vector<float> key(s.head_dim), value(s.head_dim);
    for (uint32_t head = 0; head < s.n_kv_heads; ++head) {
      for (uint32_t position = 0; position < n_keys; ++position) {
        for (uint32_t i = 0; i < s.head_dim; ++i) key[i] = normal_(random_), value[i] = normal_(random_);
        shape_key(scores, static_cast<float>(position), key[0]);
        keys.set(head, position, key), values.set(head, position, value);
      }
    }
    shape_queries(scores);
  }

  uint32_t row_width() const { return spec.n_heads * spec.head_dim; }
  uint32_t n_rows() const { return n_queries * spec.n_heads; }  // rows of head_dim outputs

  std::vector<double> expected() const {
    std::vector<double> out;
    for (uint32_t query = 0; query < n_queries; ++query) {
      for (uint32_t head = 0; head < spec.n_heads; ++head) attend(query, head, out);
    }
    for (size_t i = 0; i < gate.size(); ++i) out[i] /= 1 + std::exp(-double{gate[i]});
    return out;
  }

  const FlashAttentionSpec spec;
  const uint32_t n_queries, past, n_keys;
  std::vector<float> q, gate;  // [n_queries, n_heads, head_dim]
  KvImage keys, values;

 private:
  // Set the first channel of each key and query, or all of them, to produce the scores.
  void shape_key(Scores scores, float position, float& first) {
    if (scores == Scores::kRising || scores == Scores::kFalling) first = position / 16;
    if (scores == Scores::kApart) first = 8 * std::sin(position);
    if (scores == Scores::kOutlier) first = 200 * normal_(random_) / 3;
    if (scores == Scores::kHuge) first = 65504 * std::sin(position);
  }
  void shape_queries(Scores scores) {
    const uint32_t d = spec.head_dim;
    const float root = std::sqrt(static_cast<float>(d));
    if (scores == Scores::kFifty) {  // products of a random sign and size, the largest about 4 root(d) before scaling
      for (float& x : q) x *= 12;
    }
    for (size_t i = 0; i < q.size(); i += d) {
      const size_t head = i / d % spec.n_heads, query = i / d / spec.n_heads;
      if (scores == Scores::kRising) q[i] = root / 2;
      if (scores == Scores::kFalling) q[i] = -root / 2;
      if (scores == Scores::kApart) q[i] = (head + query) % 2 == 0 ? 2 * root : -root;
      if (scores == Scores::kOutlier) q[i] = 50 * root / 200 * normal_(random_);
      if (scores == Scores::kHuge) q[i] = 7 * root;
    }
  }

  void attend(uint32_t query, uint32_t head, std::vector<double>& out) const {
    const uint32_t d = spec.head_dim, kv_head = head / (spec.n_heads / spec.n_kv_heads);
    const double scale = spec.scale != 0 ? spec.scale : 1 / std::sqrt(double{1} * d);
    const float* from = &q[(size_t{query} * spec.n_heads + head) * d];
    std::vector<double> weights(spec.causal ? past + query + 1 : n_keys), sums(d);
    for (uint32_t key = 0; key < weights.size(); ++key) {
      for (uint32_t i = 0; i < d; ++i) weights[key] += scale * from[i] * keys.at(kv_head, key, i);
    }
    const double top = *std::max_element(weights.begin(), weights.end());
    double total = 0;
    for (uint32_t key = 0; key < weights.size(); ++key) {
      const double weight = std::exp(weights[key] - top);
      total += weight;
      for (uint32_t i = 0; i < d; ++i) sums[i] += weight * values.at(kv_head, key, i);
    }
    for (double sum : sums) out.push_back(sum / total);
  }

  std::mt19937 random_;
  std::normal_distribution<float> normal_;
};

// A problem on a device, launched as often as a test likes.
class Flash {
 public:
  Flash(const Problem& problem, ptx::Target target)
      : device(target), spec(problem.spec), kernel(flash_attention(spec, target)), n_queries(problem.n_queries) {
    q = device.upload(problem.q);
    if (spec.gated) gate = device.upload(problem.gate);
    place(problem, /*seed=*/1);
    positions = device.upload(std::vector<uint32_t>{problem.past});
    error = device.zeros<uint32_t>(4);
    out = device.poisoned<float>(problem.q.size());
    n_out = problem.q.size();
  }

  // Places the cache's pages by the seed.
  void place(const Problem& problem, uint32_t seed) {
    const PagedCache cache({problem.n_keys}, seed);
    k_pages = cache.upload(device, problem.keys.layout, {problem.keys});
    v_pages = cache.upload(device, problem.values.layout, {problem.values});
    page_tables = cache.upload(device);
  }

  // Runs with an output that was never written.
  std::string run(ptx::emulator::LaunchOptions options, ptx::Dimensions grid) {
    std::fill_n(out, n_out, NAN);
    if (spec.gated)
      return device.run_as(options, kernel, grid, q, k_pages, v_pages, page_tables, positions, out, gate, error,
                           n_queries);
    return device.run_as(options, kernel, grid, q, k_pages, v_pages, page_tables, positions, out, error, n_queries);
  }
  std::string run(ptx::emulator::LaunchOptions options = kAllChecks) {
    return run(options, flash_attention_grid(spec, n_queries));
  }
  std::vector<float> result() const { return device.download(out, n_out); }
  std::vector<uint32_t> error_word() const { return device.download(error, 4); }

  GuardedDevice device;
  const FlashAttentionSpec spec;
  ptx::Kernel kernel;
  uint32_t n_queries;
  float *q, *out, *gate = nullptr;
  uint8_t *k_pages, *v_pages;
  uint64_t* page_tables;
  uint32_t *positions, *error;
  size_t n_out;
};

// Softmax weights are rounded to f16: up to 1.8e-4 of the norm, 3.6e-4 of a row's norm. With a single f16 per element
// of q, scores of fifty would err by 7e-4 and 3e-3.
constexpr double kTolerance = 3e-4;
constexpr double kToleranceOfCodes = 4e-4;      // values in q8_0 and f32 are rounded, too
constexpr double kToleranceOfHugeCodes = 2e-2;  // scores of 4e5 are exact to 0.03 in fp32, and many keys tie

double tolerance_of(const FlashAttentionSpec& spec, Scores scores = Scores::kRandom) {
  if (scores == Scores::kHuge && spec.k_type == kQ8) return kToleranceOfHugeCodes;
  return spec.v_type != kF16 ? kToleranceOfCodes : kTolerance;
}

// tolerance: relative to the norm of all rows; a single row may err by twice as much.
void expect_rows_close(const std::vector<float>& got, const std::vector<double>& expected, uint32_t head_dim,
                       double tolerance) {
  expect_close(got, expected, tolerance);
  double worst = 0;
  for (size_t i = 0; i < got.size(); i += head_dim) {
    const double error = relative_error({&got[i], head_dim}, {&expected[i], head_dim});
    if (!(error <= worst)) worst = error;
  }
  EXPECT_LE(worst, 2 * tolerance) << "of the worst row's norm";
}

class FlashAttention : public ::testing::TestWithParam<FlashCase> {};

TEST_P(FlashAttention, MatchesDouble) {
  const FlashCase& c = GetParam();
  const Problem problem(c.spec, c.n_queries, c.past, c.scores, /*seed=*/1);
  const std::vector<double> expected = problem.expected();
  for (ptx::Target target : {ptx::sm_75, ptx::sm_80}) {
    Flash flash(problem, target);
    ASSERT_EQ(flash.run(), "") << ptx::spell(target);
    expect_rows_close(flash.result(), expected, c.spec.head_dim, tolerance_of(c.spec, c.scores));
    ASSERT_EQ(flash.run(shaken(static_cast<uint64_t>(target.sm))), "") << ptx::spell(target);
    expect_rows_close(flash.result(), expected, c.spec.head_dim, tolerance_of(c.spec, c.scores));
    EXPECT_EQ(flash.error_word(), std::vector<uint32_t>(4));
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, FlashAttention, ::testing::ValuesIn(kCases),
                         [](const auto& row) { return case_name(row); });

const FlashAttentionSpec kSmall{4, 2, 64, 200};

// The bits are the same for every grid, schedule and page placement.
TEST(FlashAttentionBits, AreThoseOfEveryGridAndSchedule) {
  const Problem problem(kSmall, 40, 70, Scores::kApart, 2);
  for (ptx::Target target : {ptx::sm_75, ptx::sm_80}) {
    Flash flash(problem, target);
    ASSERT_EQ(flash.run(), "");
    const std::vector<float> first = flash.result();
    uint64_t seed = 1;
    for (const ptx::Dimensions& grid : {flash.kernel.launch.blocks, {1, 2}, {2, 2}, {17, 2}}) {
      ptx::emulator::LaunchOptions options = kAllChecks;
      options.seed = seed++;
      options.weak_memory = true;
      flash.place(problem, static_cast<uint32_t>(seed));
      ASSERT_EQ(flash.run(options, grid), "") << grid.x << " blocks";
      EXPECT_EQ(flash.result(), first) << grid.x << " blocks";
    }
  }
}

// A prefill in two passes gives the same bits as in one.
TEST(FlashAttentionBits, AreThoseOfEveryCutOfThePrompt) {
  const Problem problem(kSmall, 90, 70, Scores::kRandom, 3);
  Flash flash(problem, ptx::sm_80);
  ASSERT_EQ(flash.run(), "");
  const std::vector<float> whole = flash.result();
  for (uint32_t cut : {1, 31, 58, 89}) {
    const size_t cells = size_t{cut} * problem.row_width();
    flash.n_queries = cut, flash.positions[0] = problem.past;
    ASSERT_EQ(flash.run(), "") << cut;
    std::vector<float> parts = flash.result();
    flash.n_queries = problem.n_queries - cut, flash.positions[0] = problem.past + cut;
    flash.q += cells;
    ASSERT_EQ(flash.run(), "") << cut;
    flash.q -= cells;
    std::copy_n(flash.result().begin(), whole.size() - cells, parts.begin() + cells);
    EXPECT_EQ(parts, whole) << cut;
  }
}

TEST(FlashAttentionInputs, NoNumberStaysInItsRow) {
  Problem problem(kSmall, 20, 50, Scores::kRandom, 4);
  problem.q[5 * problem.row_width() + 64 + 3] = NAN;  // query 5, head 1
  const size_t bad = 5 * 4 + 1;
  Flash flash(problem, ptx::sm_80);
  ASSERT_EQ(flash.run(), "");
  const std::vector<float> result = flash.result();
  const std::vector<double> expected = problem.expected();
  for (size_t i = 0; i < result.size(); ++i) {
    if (i / 64 == bad)
      EXPECT_TRUE(std::isnan(result[i])) << i;
    else
      EXPECT_NEAR(result[i], expected[i], 2e-3) << i;
  }
}

// f32 keys and values beyond the range of f16 count as the largest f16. A NaN stays in its dimension.
TEST(FlashAttentionInputs, FloatsBeyondHalvesAreTheLargestHalf) {
  FlashAttentionSpec spec = kSmall;
  spec.k_type = spec.v_type = kF32;
  const auto result = [&](float key, float value, float special) {
    Problem problem(spec, 20, 50, Scores::kRandom, 8);
    std::vector<float> keys(64, 0.0f), values(64, value);
    keys[5] = key, values[3] = special;
    problem.keys.set(1, 12, keys), problem.values.set(1, 12, values);
    Flash flash(problem, ptx::sm_80);
    EXPECT_EQ(flash.run(), "");
    return flash.result();
  };
  EXPECT_EQ(result(1e30f, -1e6f, 7e4f), result(65504, -65504, 65504));
  const std::vector<float> with_nan = result(1, 1, NAN);
  for (size_t i = 0; i < with_nan.size(); ++i) EXPECT_EQ(std::isnan(with_nan[i]), i / 64 % 4 >= 2 && i % 64 == 3) << i;
}

struct WrongPosition {
  const char* name;
  uint32_t position, n_queries, value, column;  // the last two: as reported
};
const WrongPosition kWrongPositions[] = {
    {"the_last_query_is_behind_the_cache", 181, 20, 200, 19},
    {"half_of_the_queries_are", 190, 20, 200, 10},
    {"all_queries_are", 200, 20, 200, 0},
    {"position_of_all_ones", ~0u, 20, ~0u, 0},
    {"sum_that_wraps", 100, ~0u - 50, 200, 100},
};

class FlashAttentionErrors : public ::testing::TestWithParam<WrongPosition> {};

TEST_P(FlashAttentionErrors, AreReportedAndWriteNothing) {
  const WrongPosition& wrong = GetParam();
  const Problem problem(kSmall, 20, 180, Scores::kRandom, 5);  // just fits
  Flash flash(problem, ptx::sm_80);
  ASSERT_EQ(flash.run(), "");
  EXPECT_EQ(flash.error_word(), std::vector<uint32_t>(4));
  flash.positions[0] = wrong.position, flash.n_queries = wrong.n_queries;
  ASSERT_EQ(flash.run(kAllChecks, {3, 2}), "");
  EXPECT_EQ(flash.error_word(), (std::vector<uint32_t>{static_cast<uint32_t>(KernelError::kPositionOutOfRange),
                                                       wrong.value, 200, wrong.column}));
  const std::vector<float> result = flash.result();
  EXPECT_TRUE(std::ranges::all_of(result, [](float x) { return std::isnan(x); }));
}

INSTANTIATE_TEST_SUITE_P(Cases, FlashAttentionErrors, ::testing::ValuesIn(kWrongPositions),
                         [](const auto& row) { return case_name(row); });

// The pages lie 4 GiB and more after the first, so a 32-bit offset would miss them.
TEST(FlashAttentionSizes, OffsetsHave64Bits) {
  for (KvType type : {kF16, kQ8, kF32}) {
    constexpr uint32_t kFar = 1u << 20;
    const Problem problem({2, 2, 64, 70, true, 0, type, type}, 20, 50, Scores::kRandom, 6);
    Flash flash(problem, ptx::sm_80);
    const std::vector<uint32_t> table = {kFar + 2, kFar};
    const auto place = [&](const KvImage& image) {
      auto* pages = flash.device.poisoned<uint8_t>(3 * image.layout.n_bytes());
      for (uint32_t page : {0, 1}) image.copy_page(flash.device, page, pages + (1 - page) * 2 * image.layout.n_bytes());
      return pages - kFar * image.layout.n_bytes();
    };
    flash.k_pages = place(problem.keys), flash.v_pages = place(problem.values);
    flash.page_tables = flash.device.upload(std::vector{reinterpret_cast<uint64_t>(flash.device.upload(table))});
    ASSERT_EQ(flash.run(), "");
    expect_rows_close(flash.result(), problem.expected(), 64, tolerance_of(flash.spec));
  }
}

// The first barrier separates staging the queries (in the values' buffer) from reads of the previous rows. The others
// separate the copies into each of the two buffers from their readers. One block handles all rows here.
TEST(FlashAttentionFaults, WithoutABarrierCopiesRaceWithReaders) {
  for (ptx::Target target : {ptx::sm_75, ptx::sm_80}) {
    for (int which = 0; which < 6; ++which) {
      const KvType type = which < 3 ? kF16 : kQ8;
      const Problem problem({4, 2, 64, 200, true, 0, type, type}, 40, 100, Scores::kRandom, 7);
      Flash flash(problem, target);
      const std::string barrier = "bar.sync 0;";
      size_t at = flash.kernel.text.find(barrier);
      for (int i = 0; i < which % 3; ++i) at = flash.kernel.text.find(barrier, at + 1);
      ASSERT_NE(at, std::string::npos);
      flash.kernel.text.replace(at, barrier.size(), "");
      ptx::emulator::LaunchOptions options = kAllChecks;
      options.checks.uninitialised = false;
      EXPECT_THAT(flash.run(options, {1, 2}), ::testing::HasSubstr("without order by line"))
          << ptx::spell(target) << " " << which;
    }
  }
}

TEST(FlashAttentionSpecs, TellLaunchAndCost) {
  const FlashAttentionSpec spec{14, 2, 64, 1000};
  const ptx::Kernel kernel = flash_attention(spec, ptx::sm_90);
  EXPECT_EQ(kernel.name, "flash_attention_causal_h14_kv2_d64_s1000");
  EXPECT_EQ(name_of({14, 2, 64, 1000, kFull, 0.5f}), "flash_attention_full_h14_kv2_d64_s1000_scale1056964608");
  const auto blocks = [](const ptx::Dimensions& grid) { return std::vector<uint32_t>{grid.x, grid.y, grid.z}; };
  EXPECT_EQ(blocks(kernel.launch.blocks), (std::vector<uint32_t>{110, 2, 1}));  // 7,000 rows, 64 a block
  EXPECT_EQ(blocks(flash_attention_grid(spec, 1)), (std::vector<uint32_t>{1, 2, 1}));
  EXPECT_EQ(blocks(flash_attention_grid(spec, 10)), (std::vector<uint32_t>{2, 2, 1}));
  EXPECT_EQ(flash_attention_cost(spec, 10, 90).bytes, 100 * 2 * 64 * 4 + 10 * 14 * 64 * 8);
  EXPECT_EQ(flash_attention_cost(spec, 10, 90).flops, (10 * 90 + 55) * 14 * 64 * 4);
  EXPECT_EQ(flash_attention_cost({14, 2, 64, 1000, kFull}, 10, 90).flops, 10 * 100 * 14 * 64 * 4);
  EXPECT_EQ(kernel.cost.flops, flash_attention_cost(spec, 1000, 0).flops);
  EXPECT_EQ(name_of({14, 2, 80, 1000, true, 0, kQ8, kF16}), "flash_attention_causal_h14_kv2_d80_s1000_kq8");
  EXPECT_EQ(flash_attention_cost({14, 2, 80, 1000, true, 0, kF16, kQ8}, 10, 90).bytes,
            100 * 2 * (160 + 80 + 8) + 10 * 14 * 80 * 8);
}

struct WrongSpec {
  FlashAttentionSpec spec;
  const char* message;
};
const WrongSpec kWrongSpecs[] = {
    {{7, 2, 64, 64}, "flash_attention: n_heads is 7, expected a multiple of the 2 KV heads, up to 128 for each"},
    {{129, 1, 64, 64}, "flash_attention: n_heads is 129, expected a multiple of the 1 KV heads, up to 128 for each"},
    {{4, 0, 64, 64}, "flash_attention: n_kv_heads is 0, expected 1 to 65535"},
    {{4, 2, 48, 64}, "flash_attention: head_dim is 48, expected a multiple of 16 from 64 to 256"},
    {{4, 2, 72, 64}, "flash_attention: head_dim is 72, expected a multiple of 16 from 64 to 256"},
    {{4, 2, 272, 64}, "flash_attention: head_dim is 272, expected a multiple of 16 from 64 to 256"},
    {{4, 2, 64, 0}, "flash_attention: max_positions is 0, expected 1 to 1073741823"},
    {{4, 2, 64, 64, true, INFINITY}, "flash_attention: the scale is not finite"},
};

TEST(FlashAttentionSpecs, AreCheckedByName) {
  for (const WrongSpec& wrong : kWrongSpecs) {
    try {
      flash_attention(wrong.spec, ptx::sm_75);
      ADD_FAILURE() << "accepted: " << wrong.message;
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), wrong.message);
    }
  }
}

class FlashAttentionPtxas : public ::testing::TestWithParam<ptx::Target> {};

TEST_P(FlashAttentionPtxas, AssemblesWithoutSpills) {
  if (ptx::testing::find_ptxas().empty()) GTEST_SKIP() << "ptxas is not installed; nothing assembles the text here";
  std::vector<ptx::Kernel> kernels;
  const bool alike = GetParam() == ptx::sm_86 || GetParam() == ptx::sm_89;  // same code as sm_80
  for (uint32_t head_dim : alike ? std::vector<uint32_t>{128} : std::vector<uint32_t>{64, 80, 96, 128, 256}) {
    kernels.push_back(flash_attention({14, 2, head_dim, 32768, head_dim != 80}, GetParam()));
    kernels.push_back(flash_attention({14, 2, head_dim, 32768, true, 0, kQ8, kQ8, head_dim == 256}, GetParam()));
    if (head_dim < 128) continue;
    kernels.push_back(flash_attention({14, 2, head_dim, 32768, true, 0, kF32, kF32, true}, GetParam()));
  }
  const ptx::testing::Assembly assembly = ptx::testing::assemble(ptx::module_text(kernels), GetParam());
  EXPECT_TRUE(assembly.accepted);
  EXPECT_EQ(assembly.output, "");
}

INSTANTIATE_TEST_SUITE_P(Targets, FlashAttentionPtxas, ::testing::ValuesIn(ptx::testing::assembled_targets()),
                         [](const auto& row) { return ptx::spell(row.param); });

}  // namespace
}  // namespace warpchat
