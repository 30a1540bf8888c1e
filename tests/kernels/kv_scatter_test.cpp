// QK norm, RoPE and the scatter into the caches against double. Every cell of a cache but the column's own must stay as
// it was.
#include "kernels/kv_scatter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "emulated_kernel.h"
#include "kernels/error_word.h"
#include "models/error.h"
#include "models/half.h"
#include "models/rope.h"
#include "tests/support/random_floats.h"

namespace warpchat {
namespace {

constexpr uint16_t kUntouched = 0xffff;  // the poison's

struct ScatterCase {
  const char* name;
  uint32_t n_heads, n_kv_heads, head_dim, rope_dims;
  RopePairing pairing;
  bool qk_norm;
  std::vector<uint32_t> positions;  // of the columns
  RopeScaling scaling = {};
};
std::ostream& operator<<(std::ostream& out, const ScatterCase& c) { return out << c.name; }

constexpr uint32_t kMaxPositions = 40;
constexpr auto kNeox = RopePairing::kNeox, kInterleaved = RopePairing::kInterleaved;
const RopeScaling kLinear{.kind = RopeScaling::Kind::kLinear, .factor = 4};
const RopeScaling kYarn{.kind = RopeScaling::Kind::kYarn, .factor = 4, .original_context = 32};

const ScatterCase kCases[] = {
    {"neox", 14, 2, 64, 64, kNeox, false, {7}},
    {"interleaved", 9, 3, 64, 64, kInterleaved, false, {7}},
    {"neox_norm", 16, 8, 128, 128, kNeox, true, {39}},
    {"interleaved_norm", 4, 2, 128, 128, kInterleaved, true, {39}},
    {"first_position_turns_nothing", 4, 2, 64, 64, kNeox, false, {0}},
    {"columns_of_several_sequences", 6, 2, 64, 64, kNeox, false, {3, 39, 0, 3, 17}},
    {"some_dimensions_pass", 4, 2, 64, 32, kNeox, false, {5, 6}},
    {"some_dimensions_pass_interleaved", 4, 2, 64, 32, kInterleaved, true, {5, 6}},
    {"odd_number_of_pairs", 4, 2, 64, 26, kNeox, true, {5}},
    {"head_of_80", 3, 1, 80, 80, kNeox, true, {11, 12}},  // the second round of a warp is half idle
    {"head_of_96", 2, 2, 96, 96, kInterleaved, true, {11, 12}},
    {"head_of_256", 2, 1, 256, 256, kNeox, true, {38}},
    {"head_of_8", 5, 1, 8, 8, kNeox, true, {38}},  // most lanes idle
    {"linear", 2, 1, 64, 64, kNeox, false, {39}, kLinear},
    {"yarn", 2, 1, 64, 64, kNeox, false, {39}, kYarn},  // a magnitude other than 1
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
          .frequencies = rope_frequencies(c.scaling, 1e6, c.rope_dims, {})};
}

// One head, normalised and turned in double.
std::vector<double> turned(const KvScatterSpec& s, const float* head, const std::vector<float>& gamma,
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

// The inputs of a spec on a device.
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
        k_gamma(normal_floats(s.head_dim, 5)),
        cells(size_t{s.n_kv_heads} * s.max_positions * s.head_dim) {
    q = device.upload(q_values), k = device.upload(k_values), v = device.upload(v_values);
    gammas[0] = device.upload(q_gamma), gammas[1] = device.upload(k_gamma);
    positions = device.upload(at);
    std::vector<uint64_t> tables[2];
    for (uint32_t column = 0; column < s.columns; ++column) {
      for (auto* caches : {&k_caches, &v_caches}) caches->push_back(device.poisoned<uint16_t>(cells));
      tables[0].push_back(reinterpret_cast<uint64_t>(k_caches.back()));
      tables[1].push_back(reinterpret_cast<uint64_t>(v_caches.back()));
    }
    k_table = device.upload(tables[0]), v_table = device.upload(tables[1]);
    error = device.zeros<uint32_t>(4);
  }

  std::string run(ptx::emulator::LaunchOptions options = kAllChecks) {
    const auto launch = [&](auto... rest) {
      const auto& grid = kernel.launch.blocks;
      if (!spec.qk_norm) return device.run_as(options, kernel, grid, q, k, v, positions, k_table, v_table, rest...);
      return device.run_as(options, kernel, grid, q, k, v, gammas[0], gammas[1], positions, k_table, v_table, rest...);
    };
    return spec.columns == 1 ? launch(error) : launch(error, n_columns);
  }

  // The column's queries, keys and values at `position`, nothing else in its caches.
  void expect_column(uint32_t column, uint32_t position) const {
    const uint32_t d = spec.head_dim;
    for (uint32_t head = 0; head < spec.n_heads; ++head) {
      const size_t at = (size_t{column} * spec.n_heads + head) * d;
      expect_close({q + at, d}, turned(spec, &q_values[at], q_gamma, position), 5e-7);  // some roundings of fp32
    }
    std::vector<double> k_expected(cells, NAN), v_expected(cells, NAN);
    for (uint32_t head = 0; head < spec.n_kv_heads; ++head) {
      const size_t from = (size_t{column} * spec.n_kv_heads + head) * d;
      const size_t to = (size_t{head} * spec.max_positions + position) * d;
      const std::vector<double> key = turned(spec, &k_values[from], k_gamma, position);
      for (uint32_t i = 0; i < d; ++i) k_expected[to + i] = key[i], v_expected[to + i] = v_values[from + i];
    }
    expect_halves(k_caches[column], k_expected, "key");
    expect_halves(v_caches[column], v_expected, "value");
  }
  void expect_untouched(uint32_t column) const {
    const size_t width = size_t{spec.n_heads} * spec.head_dim;
    for (size_t i = column * width; i < (column + 1) * width; ++i) ASSERT_EQ(q[i], q_values[i]) << i;
    for (const uint16_t* cache : {k_caches[column], v_caches[column]}) {
      for (size_t i = 0; i < cells; ++i) ASSERT_EQ(cache[i], kUntouched) << i;
    }
  }
  std::vector<uint32_t> error_word() const { return device.download(error, 4); }

  GuardedDevice device;
  const KvScatterSpec spec;
  const ptx::Kernel kernel;
  uint32_t n_columns;
  const std::vector<float> q_values, k_values, v_values, q_gamma, k_gamma;
  const size_t cells;  // of a cache
  float *q, *k, *v, *gammas[2];
  uint32_t *positions, *error;
  std::vector<uint16_t*> k_caches, v_caches;
  uint64_t *k_table, *v_table;

 private:
  // Rounded once to fp16 from what may be off by a few roundings of fp32.
  void expect_halves(const uint16_t* cache, const std::vector<double>& expected, const char* what) const {
    for (size_t i = 0; i < cells; ++i) {
      if (std::isnan(expected[i]))
        ASSERT_EQ(cache[i], kUntouched) << what << " cell " << i;
      else
        ASSERT_NEAR(to_float(f16{cache[i]}), expected[i], std::abs(expected[i]) * 0x1.01p-11 + 1e-6)
            << what << " cell " << i;
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
    EXPECT_EQ(scatter.error_word(), std::vector<uint32_t>(4));
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, KvScatter, ::testing::ValuesIn(kCases), [](const auto& row) { return row.param.name; });

// The very same launch, arguments and all, as a captured graph replays it: only the device's memory says where to.
TEST(KvScatterInputs, PositionIsReadFromDeviceMemory) {
  const KvScatterSpec spec = spec_of(kCases[0]);
  Scatter scatter(spec, {3});
  ASSERT_EQ(scatter.run(), "");
  scatter.expect_column(0, 3);
  std::copy(scatter.q_values.begin(), scatter.q_values.end(), scatter.q);
  std::fill_n(scatter.k_caches[0], scatter.cells, kUntouched);
  std::fill_n(scatter.v_caches[0], scatter.cells, kUntouched);
  *scatter.positions = 4;
  ASSERT_EQ(scatter.run(), "");
  scatter.expect_column(0, 4);
}

TEST(KvScatterInputs, ColumnsBeyondAreLeftAlone) {
  const KvScatterSpec spec = spec_of(kCases[5]);
  Scatter scatter(spec, {1, 2, kMaxPositions, ~0u, 0});  // wrong positions beyond
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

// Of several wrong columns one reports, with its own numbers.
TEST(KvScatterErrors, OneOfSeveralReports) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    Scatter scatter(spec_of(kCases[5]), {50, 51, 52, 53, 54});
    ASSERT_EQ(scatter.run(shaken(seed)), "");
    const std::vector<uint32_t> word = scatter.error_word();
    EXPECT_EQ(word[0], static_cast<uint32_t>(KernelError::kPositionOutOfRange));
    EXPECT_EQ(word[1], 50 + word[3]);
    ASSERT_EQ(scatter.run(), "");
    EXPECT_EQ(scatter.error_word(), word);  // until the host has read it
  }
}

// The cell lies 8 GiB behind the cache's start; only it exists.
TEST(KvScatterSizes, OffsetsHave64Bits) {
  KvScatterSpec spec = spec_of({"", 1, 1, 64, 64, kNeox, false, {0}});
  spec.max_positions = 1u << 26;
  const uint32_t position = spec.max_positions - 1;
  const uint64_t offset = uint64_t{position} * 64 * 2;
  GuardedDevice device(ptx::sm_75);
  const std::vector<float> values = normal_floats(64, 1);
  uint16_t *key = device.poisoned<uint16_t>(64), *value = device.poisoned<uint16_t>(64);
  ASSERT_EQ(device.run(kv_scatter(spec, ptx::sm_75), device.upload(values), device.upload(values),
                       device.upload(values), device.upload(std::vector<uint32_t>{position}),
                       device.upload(std::vector<uint64_t>{reinterpret_cast<uint64_t>(key) - offset}),
                       device.upload(std::vector<uint64_t>{reinterpret_cast<uint64_t>(value) - offset}),
                       device.zeros<uint32_t>(4)),
            "");
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(value[i], to_f16(values[i]).bits) << i;
}

// Angles of a million turns are as exact as small ones. The first of each pair is 1, the second 0.
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
    std::vector<uint64_t> caches[2];  // of which only the cells at the positions exist
    for (std::vector<uint64_t>& table : caches) {
      for (uint32_t position : positions) {
        const uint64_t cell = reinterpret_cast<uint64_t>(device.poisoned<uint16_t>(256));
        table.push_back(cell - uint64_t{position} * 512);
      }
    }
    float* q = device.upload(ones);
    ASSERT_EQ(
        device.run(kv_scatter(spec, ptx::sm_75), q, device.upload(ones), device.upload(ones), device.upload(positions),
                   device.upload(caches[0]), device.upload(caches[1]), device.zeros<uint32_t>(4), spec.columns),
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
    {"kv_scatter: eps, the magnitude or a frequency is no finite number",
     [](KvScatterSpec& s) { s.frequencies[3] = NAN; }},
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

// One text, one name: a rotation of its own has another.
TEST(KvScatterSpecs, NamesTellRotationsApart) {
  const KvScatterSpec spec = spec_of(kCases[0]);
  KvScatterSpec other = spec;
  EXPECT_THAT(name_of(spec), ::testing::StartsWith("kv_scatter_h14_kv2_d64_s40_c1_"));
  EXPECT_EQ(name_of(spec), name_of(other));
  other.frequencies.back() /= 2;
  EXPECT_NE(name_of(spec), name_of(other));
}

}  // namespace
}  // namespace warpchat
