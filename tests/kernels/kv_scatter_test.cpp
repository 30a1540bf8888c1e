// QK norm, RoPE and the KV scatter against double. All other cells of the cache must stay unchanged.
#include "kernels/attention/kv_scatter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "emulated_kernel.h"
#include "kernels/common/error_word.h"
#include "kv_image.h"
#include "models/error.h"
#include "models/half.h"
#include "models/rope.h"
#include "tests/support/random_floats.h"

namespace warpchat {
namespace {

constexpr uint16_t kUntouched = 0xffff;  // the poison

struct ScatterCase {
  const char* name;
  uint32_t n_heads, n_kv_heads, head_dim, rope_dims;
  RopePairing pairing;
  bool qk_norm;
  std::vector<uint32_t> positions;  // one per column
  RopeScaling scaling = {};
  KvType k_type = KvType::kF16, v_type = KvType::kF16;
};
std::ostream& operator<<(std::ostream& out, const ScatterCase& c) { return out << c.name; }

constexpr uint32_t kMaxPositions = 140;
constexpr auto kF16 = KvType::kF16, kQ8 = KvType::kQ8_0, kF32 = KvType::kF32;
constexpr auto kNeox = RopePairing::kNeox, kInterleaved = RopePairing::kInterleaved;
const RopeScaling kLinear{.kind = RopeScaling::Kind::kLinear, .factor = 4};
const RopeScaling kYarn{.kind = RopeScaling::Kind::kYarn, .factor = 4, .original_context = 32};

const ScatterCase kCases[] = {
    {"neox", 14, 2, 64, 64, kNeox, false, {7}},
    {"interleaved", 9, 3, 64, 64, kInterleaved, false, {7}},
    {"neox_norm", 16, 8, 128, 128, kNeox, true, {139}},
    {"interleaved_norm", 4, 2, 128, 128, kInterleaved, true, {139}},
    {"first_position_turns_nothing", 4, 2, 64, 64, kNeox, false, {0}},
    {"columns_of_several_sequences", 6, 2, 64, 64, kNeox, false, {3, 139, 0, 64, 63}},
    {"some_dimensions_pass", 4, 2, 64, 32, kNeox, false, {5, 6}},
    {"some_dimensions_pass_interleaved", 4, 2, 64, 32, kInterleaved, true, {5, 6}},
    {"odd_number_of_pairs", 4, 2, 64, 26, kNeox, true, {5}},
    {"head_of_80", 3, 1, 80, 80, kNeox, true, {11, 12}},  // half of a warp idles in its second round
    {"head_of_96", 2, 2, 96, 96, kInterleaved, true, {11, 12}},
    {"head_of_256", 2, 1, 256, 256, kNeox, true, {128}},
    {"head_of_8", 5, 1, 8, 8, kNeox, true, {128}},  // most lanes idle
    {"linear", 2, 1, 64, 64, kNeox, false, {139}, kLinear},
    {"yarn", 2, 1, 64, 64, kNeox, false, {139}, kYarn},  // a magnitude other than 1
    {"q8", 14, 2, 64, 64, kNeox, false, {7}, {}, kQ8, kQ8},
    {"q8_interleaved", 9, 3, 64, 64, kInterleaved, false, {7}, {}, kQ8, kQ8},
    {"q8_norm", 16, 8, 128, 128, kNeox, true, {139}, {}, kQ8, kQ8},
    {"q8_keys", 4, 2, 64, 64, kNeox, false, {7}, {}, kQ8, kF16},
    {"q8_values", 4, 2, 64, 64, kNeox, false, {7}, {}, kF16, kQ8},
    {"q8_columns_of_several_sequences", 6, 2, 64, 64, kNeox, false, {3, 139, 0, 64, 63}, {}, kQ8, kQ8},
    {"q8_some_dimensions_pass", 4, 2, 64, 26, kNeox, false, {5, 6}, {}, kQ8, kQ8},
    {"q8_head_of_80", 3, 1, 80, 80, kNeox, true, {11, 12}, {}, kQ8, kQ8},  // the last group has 16 values, no fourth
    {"q8_head_of_96", 2, 2, 96, 96, kInterleaved, true, {11, 12}, {}, kQ8, kQ8},
    {"q8_head_of_256", 2, 1, 256, 256, kNeox, true, {128}, {}, kQ8, kQ8},
    {"q8_head_of_8", 5, 1, 8, 8, kNeox, true, {128}, {}, kQ8, kQ8},
    {"f32", 6, 2, 64, 64, kNeox, false, {3, 139, 0, 64, 63}, {}, kF32, kF32},
    {"f32_norm", 16, 8, 128, 128, kInterleaved, true, {139}, {}, kF32, kF32},
    {"f32_keys", 3, 1, 80, 26, kNeox, true, {11, 12}, {}, kF32, kQ8},
    {"f32_values", 4, 2, 96, 96, kNeox, false, {7}, {}, kF16, kF32},
};

KvScatterSpec spec_of(const ScatterCase& c) {
  return {.n_heads = c.n_heads,
          .n_kv_heads = c.n_kv_heads,
          .head_dim = c.head_dim,
          .rope_dims = c.rope_dims,
          .pairing = c.pairing,
          .max_positions = kMaxPositions,
          .columns = static_cast<uint32_t>(c.positions.size()),
          .qk_norm = c.qk_norm,
          .eps = c.qk_norm ? 1e-6f : 0,
          .rope_magnitude = rope_magnitude(c.scaling),
          .frequencies = rope_frequencies(c.scaling, 1e6, c.rope_dims, {}),
          .k_type = c.k_type,
          .v_type = c.v_type};
}

// One head in double, normalised and rotated.
std::vector<double> rotated(const KvScatterSpec& s, const float* head, const std::vector<float>& gamma,
                            uint32_t position) {
  std::vector<double> x(head, head + s.head_dim);
  if (s.qk_norm) {
    double squares = 0;
    for (double value : x) squares += value * value;
    const double factor = 1 / std::sqrt(squares / s.head_dim + s.eps);
    for (uint32_t i = 0; i < s.head_dim; ++i) x[i] *= factor * gamma[i];
  }
  for (uint32_t i = 0; i < s.rope_dims / 2; ++i) {
    const bool neox = s.pairing == kNeox;
    double &a = x[neox ? i : 2 * i], &b = x[neox ? i + s.rope_dims / 2 : 2 * i + 1];
    const double angle = s.frequencies[i] * position;
    const double cosine = std::cos(angle) * s.rope_magnitude, sine = std::sin(angle) * s.rope_magnitude;
    const double first = a * cosine - b * sine;
    b = a * sine + b * cosine;
    a = first;
  }
  return x;
}

// The inputs of a spec on a device. If keys are stored in f16 or q8_0, the first query heads and their gamma equal the
// keys'. Then q shows to the bit what was stored or quantised.
class Scatter {
 public:
  Scatter(const KvScatterSpec& s, const std::vector<uint32_t>& at)
      : device(ptx::sm_75),
        spec(s),
        kernel(kv_scatter(s, ptx::sm_75)),
        n_columns(s.columns),
        q_values(normal_floats(size_t{s.columns} * s.n_heads * s.head_dim, 1)),
        k_values(normal_floats(size_t{s.columns} * s.n_kv_heads * s.head_dim, 2)),
        v_values(normal_floats(k_values.size(), 3)),
        q_gamma(normal_floats(s.head_dim, 4)),
        k_gamma(normal_floats(s.head_dim, s.k_type == kF16 ? 5 : 4)),
        k_layout{s.k_type, s.n_kv_heads, s.head_dim},
        v_layout{s.v_type, s.n_kv_heads, s.head_dim},
        cache(std::vector<uint32_t>(s.columns, s.max_positions), /*seed=*/1) {
    const size_t width = size_t{s.n_kv_heads} * s.head_dim;
    for (uint32_t column = 0; column < s.columns && s.k_type != kF16; ++column)
      std::copy_n(&k_values[column * width], width, &q_values[size_t{column} * s.n_heads * s.head_dim]);
    q = device.upload(q_values), k = device.upload(k_values), v = device.upload(v_values);
    gammas[0] = device.upload(q_gamma), gammas[1] = device.upload(k_gamma);
    positions = device.upload(at);
    k_pages = cache.upload(device, k_layout), v_pages = cache.upload(device, v_layout);
    page_tables = cache.upload(device);
    error = device.zeros<uint32_t>(4);
  }

  std::string run(ptx::emulator::LaunchOptions options = kAllChecks) {
    const auto launch = [&](auto... rest) {
      const auto& grid = kernel.launch.blocks;
      if (!spec.qk_norm) return device.run_as(options, kernel, grid, q, k, v, rest...);
      return device.run_as(options, kernel, grid, q, k, v, gammas[0], gammas[1], rest...);
    };
    if (spec.columns == 1) return launch(positions, k_pages, v_pages, page_tables, cache.n_pages, error);
    return launch(positions, k_pages, v_pages, page_tables, cache.n_pages, error, n_columns);
  }

  uint32_t* table(uint32_t column) const { return reinterpret_cast<uint32_t*>(page_tables[column]); }
  // Moves the position to an unused page and clears the record of written bytes.
  void move_page(uint32_t column, uint32_t position) {
    const auto is_used = [&](uint32_t page) {
      return std::ranges::any_of(cache.tables, [&](const auto& t) { return std::ranges::count(t, page) != 0; });
    };
    uint32_t page = 0;
    while (is_used(page)) ++page;
    cache.tables[column][position / kPagePositions] = table(column)[position / kPagePositions] = page;
    std::fill_n(k_pages, cache.n_pages * k_layout.n_bytes(), 0xff);
    std::fill_n(v_pages, cache.n_pages * v_layout.n_bytes(), 0xff);
  }

  // Checks queries, keys and values of the column at `position`; the rest of its pages must be unchanged.
  void expect_column(uint32_t column, uint32_t position) const {
    const uint32_t d = spec.head_dim;
    for (uint32_t head = 0; head < spec.n_heads; ++head) {
      const size_t at = (size_t{column} * spec.n_heads + head) * d;
      expect_close({q + at, d}, rotated(spec, &q_values[at], q_gamma, position), 5e-7);  // a few fp32 roundings
    }
    std::vector<double> halves(cache.tables[column].size() * k_layout.rows() * d, NAN);
    KvImage keys(k_layout, spec.max_positions), values(v_layout, spec.max_positions);
    for (uint32_t head = 0; head < spec.n_kv_heads; ++head) {
      const size_t from = (size_t{column} * spec.n_kv_heads + head) * d;
      const std::vector<double> key = rotated(spec, &k_values[from], k_gamma, position);
      const size_t row =
          position / kPagePositions * k_layout.rows() + head * kPagePositions + position % kPagePositions;
      std::ranges::copy(key, &halves[row * d]);
      keys.set(head, position, {q + (size_t{column} * spec.n_heads + head) * d, d});
      values.set(head, position, {&v_values[from], d});
    }
    if (spec.k_type == kF16)
      expect_halves(pages_of_column(k_pages, k_layout, column), halves);
    else
      EXPECT_EQ(pages_of_column(k_pages, k_layout, column), keys.bytes);
    EXPECT_EQ(pages_of_column(v_pages, v_layout, column), values.bytes);
  }
  void expect_no_page_touched(uint32_t column) const {
    EXPECT_EQ(pages_of_column(k_pages, k_layout, column), KvImage(k_layout, spec.max_positions).bytes);
    EXPECT_EQ(pages_of_column(v_pages, v_layout, column), KvImage(v_layout, spec.max_positions).bytes);
  }
  void expect_untouched(uint32_t column) const {
    const size_t width = size_t{spec.n_heads} * spec.head_dim;
    for (size_t i = column * width; i < (column + 1) * width; ++i) ASSERT_EQ(q[i], q_values[i]) << i;
    expect_no_page_touched(column);
  }
  // At most this many positions were written; the rest of the cache is still poison.
  void expect_written(uint64_t n_positions) const {
    const auto written = [&](const uint8_t* pages, const KvLayout& layout) {
      const uint64_t n_bytes = cache.n_pages * layout.n_bytes();
      return n_bytes - static_cast<uint64_t>(std::count(pages, pages + n_bytes, 0xff));
    };
    EXPECT_LE(written(k_pages, k_layout), n_positions * spec.n_kv_heads * k_layout.row_bytes());
    EXPECT_LE(written(v_pages, v_layout), n_positions * spec.n_kv_heads * v_layout.row_bytes());
  }
  std::vector<uint32_t> error_word() const { return device.download(error, 4); }

  GuardedDevice device;
  const KvScatterSpec spec;
  const ptx::Kernel kernel;
  uint32_t n_columns;
  std::vector<float> q_values, k_values, v_values;
  const std::vector<float> q_gamma, k_gamma;
  const KvLayout k_layout, v_layout;
  PagedCache cache;
  float *q, *k, *v, *gammas[2];
  uint32_t *positions, *error;
  uint8_t *k_pages, *v_pages;
  uint64_t* page_tables;

  // Returns the column's pages in the order of positions.
  std::vector<uint8_t> pages_of_column(const uint8_t* pages, const KvLayout& layout, uint32_t column) const {
    std::vector<uint8_t> bytes;
    for (const uint32_t page : cache.tables[column])
      bytes.insert(bytes.end(), pages + page * layout.n_bytes(), pages + (page + 1) * layout.n_bytes());
    return bytes;
  }

 private:
  // Values rounded once to fp16, with a few fp32 roundings before that. NaN: the cell is unchanged.
  static void expect_halves(const std::vector<uint8_t>& bytes, const std::vector<double>& expected) {
    for (size_t i = 0; i < expected.size(); ++i) {
      f16 half;
      std::memcpy(&half, &bytes[2 * i], sizeof half);
      if (std::isnan(expected[i]))
        ASSERT_EQ(half.bits, kUntouched) << "key cell " << i;
      else
        ASSERT_NEAR(to_float(half), expected[i], std::abs(expected[i]) * 0x1.01p-11 + 1e-6) << "key cell " << i;
    }
  }
};

class KvScatter : public ::testing::TestWithParam<ScatterCase> {};

TEST_P(KvScatter, MatchesDouble) {
  const ScatterCase& c = GetParam();
  for (uint64_t seed = 0; seed <= 2; ++seed) {
    Scatter scatter(spec_of(c), c.positions);
    ASSERT_EQ(scatter.run(seed == 0 ? kAllChecks : shaken(seed)), "");
    for (uint32_t column = 0; column < c.positions.size(); ++column) scatter.expect_column(column, c.positions[column]);
    scatter.expect_written(c.positions.size());
    EXPECT_EQ(scatter.error_word(), std::vector<uint32_t>(4));
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, KvScatter, ::testing::ValuesIn(kCases), [](const auto& row) { return row.param.name; });

// Repeats the same launch with the same arguments, as a captured graph does. Only device memory tells position and
// page.
TEST(KvScatterInputs, PositionAndPageAreReadFromDeviceMemory) {
  Scatter scatter(spec_of(kCases[0]), {3});
  ASSERT_EQ(scatter.run(), "");
  scatter.expect_column(0, 3);
  for (const uint32_t position : {4u, 70u}) {
    std::copy(scatter.q_values.begin(), scatter.q_values.end(), scatter.q);
    scatter.move_page(0, position);
    *scatter.positions = position;
    ASSERT_EQ(scatter.run(), "");
    scatter.expect_column(0, position);
  }
}

TEST(KvScatterInputs, ColumnsBeyondAreLeftAlone) {
  const KvScatterSpec spec = spec_of(kCases[5]);
  Scatter scatter(spec, {1, 2, kMaxPositions, ~0u, 0});  // wrong positions from n_columns on
  scatter.n_columns = 2;
  ASSERT_EQ(scatter.run(), "");
  for (uint32_t column = 0; column < 2; ++column) scatter.expect_column(column, column + 1);
  for (uint32_t column = 2; column < 5; ++column) scatter.expect_untouched(column);
  EXPECT_EQ(scatter.error_word(), std::vector<uint32_t>(4));
}

TEST(KvScatterErrors, WrongPositionsWriteNothing) {
  for (uint32_t position : {kMaxPositions, kMaxPositions + 1, 0x80000000u, ~0u}) {
    Scatter scatter(spec_of(kCases[5]), {1, 2, position, 3, 4});
    ASSERT_EQ(scatter.run(), "");
    for (uint32_t column : {0u, 1u, 3u, 4u}) scatter.expect_column(column, column == 0 ? 1 : column == 1 ? 2 : column);
    scatter.expect_untouched(2);
    EXPECT_EQ(scatter.error_word(), (std::vector<uint32_t>{static_cast<uint32_t>(KernelError::kPositionOutOfRange),
                                                           position, kMaxPositions, 2}));
  }
}

// Queries are rotated all the same, because they belong to the column.
TEST(KvScatterErrors, WrongPagesAreNotWritten) {
  for (const uint32_t beyond : {0u, 1u, 1u << 31}) {
    Scatter scatter(spec_of(kCases[5]), {1, 2, 70, 3, 4});
    const uint32_t page = scatter.table(2)[1] = scatter.cache.n_pages + beyond;
    ASSERT_EQ(scatter.run(), "");
    for (uint32_t column : {0u, 1u, 3u, 4u}) scatter.expect_column(column, column < 2 ? column + 1 : column);
    scatter.expect_no_page_touched(2);
    scatter.expect_written(4);
    EXPECT_EQ(scatter.error_word(), (std::vector<uint32_t>{static_cast<uint32_t>(KernelError::kPageOutOfRange), page,
                                                           scatter.cache.n_pages, 2}));
  }
}

// Several columns are wrong: exactly one is reported, with its own numbers.
TEST(KvScatterErrors, OneOfSeveralReports) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    Scatter scatter(spec_of(kCases[5]), {150, 151, 152, 153, 154});
    ASSERT_EQ(scatter.run(shaken(seed)), "");
    const std::vector<uint32_t> word = scatter.error_word();
    EXPECT_EQ(word[0], static_cast<uint32_t>(KernelError::kPositionOutOfRange));
    EXPECT_EQ(word[1], 150 + word[3]);
    ASSERT_EQ(scatter.run(), "");
    EXPECT_EQ(scatter.error_word(), word);  // kept until the host reads it
  }
}

// The page lies 4 GiB and more after the first one. Only it and its table entry exist.
TEST(KvScatterSizes, OffsetsHave64Bits) {
  for (KvType type : {kF16, kQ8, kF32}) {
    KvScatterSpec spec = spec_of({"", 1, 1, 64, 64, kNeox, false, {0}, {}, kF16, type});
    spec.max_positions = 1u << 26;
    const uint32_t position = spec.max_positions - 1, page = position / kPagePositions;
    const KvLayout k_layout{kF16, 1, 64}, v_layout{type, 1, 64};
    GuardedDevice device(ptx::sm_75);
    const std::vector<float> values = normal_floats(64, 1);
    auto *k_page = device.poisoned<uint8_t>(k_layout.n_bytes()), *v_page = device.poisoned<uint8_t>(v_layout.n_bytes());
    const uint32_t* table = device.upload(std::vector{page}) - page;
    ASSERT_EQ(
        device.run(kv_scatter(spec, ptx::sm_75), device.upload(values), device.upload(values), device.upload(values),
                   device.upload(std::vector{position}), k_page - page * k_layout.n_bytes(),
                   v_page - page * v_layout.n_bytes(), device.upload(std::vector{reinterpret_cast<uint64_t>(table)}),
                   page + 1, device.zeros<uint32_t>(4)),
        "");
    KvImage expected(v_layout, kPagePositions);
    expected.set(0, position % kPagePositions, values);
    EXPECT_EQ(device.download(v_page, v_layout.n_bytes()), expected.bytes);
  }
}

struct CodesCase {
  const char* name;
  float value, rest;  // every 32nd dimension, and the others
};
const CodesCase kCodesCases[] = {
    {"zeros", 0, 0},
    {"negative_zeros", -0.0f, -0.0f},
    {"ties", 127, 2.5f},
    {"negative_ties", 127, -2.5f},
    {"negative_extreme", -127, 63.5f},
    {"scale_rounded_down", 1, 0.3f},  // rounded to less than 1/127: the largest code would be 127.06
    {"scale_is_subnormal", 1e-4f, 3e-5f},
    {"scale_of_the_last_place", 5e-6f, -1e-6f},
    {"scale_vanishes", 1e-6f, 1e-6f},
    {"subnormal_values", 1e-40f, -1e-42f},
    {"the_largest_value", 65024, -65024},
    {"values_above_are_clamped", 65025, -7e4f},
    {"one_huge_value", 3.4e38f, 1000},
    {"one_huge_negative_value", -3.4e38f, -1000},
};

// RoPE leaves keys at position 0 unchanged.
TEST(KvScatterCodes, AreThoseOfTheQuantiserAtEveryExtreme) {
  const uint32_t n = std::size(kCodesCases);
  Scatter scatter(spec_of({"", 1, 1, 64, 64, kNeox, false, std::vector<uint32_t>(n), {}, kQ8, kQ8}),
                  std::vector<uint32_t>(n));
  for (size_t i = 0; i < n * 64; ++i) {
    const CodesCase& c = kCodesCases[i / 64];
    scatter.q[i] = scatter.k[i] = scatter.v[i] = scatter.v_values[i] = i % 32 == 5 ? c.value : c.rest;
  }
  ASSERT_EQ(scatter.run(), "");
  for (uint32_t column = 0; column < n; ++column) {
    KvImage image(scatter.k_layout, kMaxPositions);
    image.set(0, 0, {&scatter.v_values[column * 64], 64});
    for (const uint8_t* pages : {scatter.k_pages, scatter.v_pages})
      EXPECT_EQ(scatter.pages_of_column(pages, scatter.k_layout, column), image.bytes) << kCodesCases[column].name;
    for (uint32_t i = 0; i < 64; ++i) EXPECT_TRUE(std::isfinite(image.at(0, 0, i))) << kCodesCases[column].name;
  }
}

// A NaN makes its own group NaN. An infinity becomes the largest value.
TEST(KvScatterCodes, NaNStaysInItsGroup) {
  Scatter scatter(spec_of({"", 1, 1, 64, 64, kNeox, false, {0}, {}, kF16, kQ8}), {0});
  scatter.v[3] = NAN, scatter.v[40] = -INFINITY;
  ASSERT_EQ(scatter.run(), "");
  std::vector<float> row(scatter.v, scatter.v + 64);
  row[3] = 0;
  KvImage image(scatter.v_layout, kMaxPositions);
  image.set(0, 0, row);
  const std::vector<uint8_t> cache = scatter.pages_of_column(scatter.v_pages, scatter.v_layout, 0);
  EXPECT_TRUE(std::equal(&image.bytes[32], &image.bytes[64], &cache[32]));
  const auto scale = [&](uint64_t group) {
    f16 half;
    std::memcpy(&half, &cache[scatter.v_layout.scales_offset() + 2 * group], sizeof half);
    return to_float(half);
  };
  EXPECT_TRUE(std::isnan(scale(0)));
  EXPECT_EQ(scale(1), KvLayout::kMaxScale);
}

// Angles of a million turns are as exact as small ones. Each pair is (1, 0) before the rotation.
TEST(KvScatterAngles, AreExactAtEveryPosition) {
  std::vector<uint32_t> positions{0, 1, 2, 3, 100, 4095, 32767, 131071, 524287, (1u << 20) - 1, 1u << 20};
  std::mt19937 random(6);
  while (positions.size() < 64) positions.push_back(static_cast<uint32_t>(random() % (1u << 20)));
  KvScatterSpec spec = spec_of({"", 1, 1, 256, 256, kNeox, false, positions});
  spec.max_positions = (1u << 20) + 1;
  for (double base : {1e4, 1e6}) {
    spec.frequencies = rope_frequencies({}, base, 256, {});
    GuardedDevice device(ptx::sm_75);
    std::vector<float> ones(64 * 256);
    for (size_t i = 0; i < ones.size(); ++i) ones[i] = i % 256 < 128 ? 1 : 0;
    std::vector<uint64_t> tables;  // one page per column; only the entries at the positions exist
    for (uint32_t column = 0; column < positions.size(); ++column)
      tables.push_back(
          reinterpret_cast<uint64_t>(device.upload(std::vector{column}) - positions[column] / kPagePositions));
    const uint64_t n_bytes = positions.size() * KvLayout{kF16, 1, 256}.n_bytes();
    float* q = device.upload(ones);
    ASSERT_EQ(device.run(kv_scatter(spec, ptx::sm_75), q, device.upload(ones), device.upload(ones),
                         device.upload(positions), device.poisoned<uint8_t>(n_bytes), device.poisoned<uint8_t>(n_bytes),
                         device.upload(tables), spec.columns, device.zeros<uint32_t>(4), spec.columns),
              "");
    double worst = 0;
    for (size_t column = 0; column < positions.size(); ++column) {
      for (size_t i = 0; i < 128; ++i) {
        const long double angle = static_cast<long double>(spec.frequencies[i]) * positions[column];
        worst = std::max({worst, std::abs(static_cast<double>(q[column * 256 + i] - std::cos(angle))),
                          std::abs(static_cast<double>(q[column * 256 + 128 + i] - std::sin(angle)))});
      }
    }
    EXPECT_LT(worst, 2.5e-7) << "base " << base;
  }
}

struct WrongSpec {
  const char* message;
  void (*spoil)(KvScatterSpec&);
};
const WrongSpec kWrongSpecs[] = {
    {"kv_scatter: head_dim is 68, expected a multiple of 8 up to 256", [](KvScatterSpec& s) { s.head_dim = 68; }},
    {"kv_scatter: rope_dims is 33, expected an even number up to the head_dim of 64",
     [](KvScatterSpec& s) { s.rope_dims = 33; }},
    {"kv_scatter: rope_dims is 66, expected an even number up to the head_dim of 64",
     [](KvScatterSpec& s) { s.rope_dims = 66; }},
    {"kv_scatter: the number of frequencies is 31, expected 32, one for each pair",
     [](KvScatterSpec& s) { s.frequencies.pop_back(); }},
    {"kv_scatter: max_positions is 0, expected 1 to 2147483647", [](KvScatterSpec& s) { s.max_positions = 0; }},
    {"kv_scatter: columns is 0, expected 1 to 65535", [](KvScatterSpec& s) { s.columns = 0; }},
    {"kv_scatter: eps, the magnitude or a frequency is not finite", [](KvScatterSpec& s) { s.frequencies[3] = NAN; }},
};

TEST(KvScatterSpecs, AreCheckedByName) {
  for (const WrongSpec& wrong : kWrongSpecs) {
    KvScatterSpec spec = spec_of(kCases[0]);
    wrong.spoil(spec);
    try {
      kv_scatter(spec, ptx::sm_75);
      ADD_FAILURE() << "accepted: " << wrong.message;
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), wrong.message);
    }
  }
}

// A name identifies the text: another rotation gives another name.
TEST(KvScatterSpecs, NamesTellRotationsApart) {
  const KvScatterSpec spec = spec_of(kCases[0]);
  KvScatterSpec other = spec;
  EXPECT_THAT(name_of(spec), ::testing::StartsWith("kv_scatter_h14_kv2_d64_s140_c1_"));
  EXPECT_EQ(name_of(spec), name_of(other));
  other.k_type = kQ8;
  EXPECT_THAT(name_of(other), ::testing::StartsWith("kv_scatter_h14_kv2_d64_s140_c1_kq8_"));
  other.v_type = kQ8;
  EXPECT_THAT(name_of(other), ::testing::StartsWith("kv_scatter_h14_kv2_d64_s140_c1_kq8_vq8_"));
  other.k_type = kF32;
  EXPECT_THAT(name_of(other), ::testing::StartsWith("kv_scatter_h14_kv2_d64_s140_c1_kf32_vq8_"));
  other = spec;
  other.frequencies.back() /= 2;
  EXPECT_NE(name_of(spec), name_of(other));
}

}  // namespace
}  // namespace warpchat
