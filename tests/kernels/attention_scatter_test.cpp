// Attention that applies RoPE to its own queries and stores the token's key and value in the cache. It must match the
// separate kernels to the bit.
#include <gtest/gtest.h>

#include "emulated_kernel.h"
#include "kernels/attention/attention.h"
#include "kernels/common/error_word.h"
#include "kv_image.h"
#include "models/error.h"
#include "models/half.h"
#include "tests/support/random_floats.h"

namespace warpchat {
namespace {

constexpr auto kF16 = KvType::kF16, kQ8 = KvType::kQ8_0, kF32 = KvType::kF32;
constexpr uint32_t kMaxPositions = 300;

struct ScatterCase {
  const char* name;
  uint32_t n_heads, n_kv_heads, head_dim;
  std::vector<uint32_t> positions;  // of the columns
  bool qk_norm = false;
  KvType k_type = kF16, v_type = kF16;
  uint32_t n_ropes = 1;
  bool gated = false;
  uint32_t pages_per_block = 1;
};
std::ostream& operator<<(std::ostream& out, const ScatterCase& c) { return out << c.name; }

const ScatterCase kCases[] = {
    {"first_position", 14, 2, 64, {0}},
    {"the_last_row_of_a_page", 14, 2, 64, {127}},
    {"the_first_row_of_a_page", 14, 2, 64, {128}},
    {"columns", 6, 2, 64, {3, 299, 0, 64, 63}},
    {"norm", 16, 2, 128, {139}, true},
    {"norm_of_columns", 8, 4, 128, {200, 1}, true},
    {"no_groups", 3, 3, 80, {70}},
    {"a_head_for_each_key_and_more", 8, 1, 256, {130}, true},  // several rounds of loads
    {"groups_of_11", 11, 1, 64, {130}},                        // two rounds
    {"groups_of_16", 16, 1, 128, {65}, true},
    {"head_of_8", 2, 1, 8, {99}},
    {"q8", 14, 2, 64, {70}, false, kQ8, kQ8},
    {"q8_norm", 16, 2, 128, {139}, true, kQ8, kQ8},
    {"q8_keys", 4, 2, 96, {64, 5}, false, kQ8, kF16},
    {"q8_values", 4, 2, 96, {64, 5}, false, kF16, kQ8},
    {"q8_groups_of_11", 11, 1, 80, {130}, true, kQ8, kQ8},
    {"f32", 14, 2, 64, {70}, false, kF32, kF32},
    {"f32_keys", 11, 1, 80, {64, 5}, true, kF32, kQ8},
    {"f32_values", 4, 2, 96, {64, 5}, false, kQ8, kF32},
    {"the_second_rotation", 4, 2, 64, {77}, false, kF16, kF16, 2},
    {"the_third_rotation_of_columns", 4, 2, 64, {77, 3}, true, kQ8, kQ8, 3},
    {"gated", 8, 2, 64, {77}, true, kF16, kF16, 1, true},
    {"pages", 14, 2, 64, {3, 299, 0, 64, 63, 127, 128}, false, kF16, kF16, 1, false, 2},
    {"pages_norm", 16, 2, 128, {139, 299}, true, kF16, kF16, 2, true, 4},
    {"pages_q8", 8, 2, 96, {70, 200}, true, kQ8, kQ8, 1, false, 3},
};

std::vector<KvScatterSpec> scatters_of(const ScatterCase& c) {
  std::vector<KvScatterSpec> all;
  for (uint32_t rope = 0; rope < c.n_ropes; ++rope) {
    KvScatterSpec spec{c.n_heads, c.n_kv_heads, c.head_dim, c.head_dim / 2, RopePairing::kNeox, kMaxPositions};
    spec.columns = static_cast<uint32_t>(c.positions.size());
    spec.qk_norm = c.qk_norm, spec.eps = c.qk_norm ? 1e-6f : 0;
    spec.k_type = c.k_type, spec.v_type = c.v_type;
    spec.rope_magnitude = 1 + 0.25 * rope;
    for (uint32_t i = 0; i < c.head_dim / 4; ++i) spec.frequencies.push_back(1.0 / (1 + i + rope));
    all.push_back(spec);
  }
  return all;
}

AttentionSpec attention_of(const ScatterCase& c) {
  AttentionSpec spec{c.n_heads, c.n_kv_heads, c.head_dim, kMaxPositions, static_cast<uint32_t>(c.positions.size())};
  spec.lengths_are_positions = true;
  spec.k_type = c.k_type, spec.v_type = c.v_type;
  spec.gated = c.gated;
  spec.pages_per_block = c.pages_per_block;
  return spec;
}

// Two caches with the same past, and the projections of one token.
class Tokens {
 public:
  explicit Tokens(const ScatterCase& given)
      : c(given),
        device(ptx::sm_75),
        n_columns(static_cast<uint32_t>(c.positions.size())),
        k_layout{c.k_type, c.n_kv_heads, c.head_dim},
        v_layout{c.v_type, c.n_kv_heads, c.head_dim},
        cache(std::vector<uint32_t>(n_columns, kMaxPositions), /*seed=*/5) {
    const auto past = [&](const KvLayout& layout, uint32_t seed) {
      std::vector<KvImage> images;
      for (uint32_t column = 0; column < n_columns; ++column) {
        images.emplace_back(layout, kMaxPositions);
        for (uint32_t head = 0; head < c.n_kv_heads; ++head)
          for (uint32_t key = 0; key < c.positions[column] % kMaxPositions; ++key)
            images.back().set(head, key, normal_floats(c.head_dim, seed + 1000 * column + 100 * head + key));
      }
      return images;
    };
    const std::vector<KvImage> keys = past(k_layout, 100000), values = past(v_layout, 200000);
    for (auto* pages : {&separate, &joined}) {
      pages->k = cache.upload(device, k_layout, keys);
      pages->v = cache.upload(device, v_layout, values);
      pages->out = device.poisoned<float>(q_size());
      pages->scratch = device.zeros<uint8_t>(attention_scratch_bytes(attention_of(c)));
      pages->error = device.zeros<uint32_t>(kErrorWords);
    }
    const size_t kv_size = size_t{n_columns} * c.n_kv_heads * c.head_dim;
    q_values = normal_floats(q_size(), 1);
    q = device.upload(q_values), gate = device.upload(normal_floats(q_size(), 6));
    k = device.upload(normal_floats(kv_size, 2)), v = device.upload(normal_floats(kv_size, 3));
    gamma[0] = device.upload(normal_floats(c.head_dim, 4)), gamma[1] = device.upload(normal_floats(c.head_dim, 5));
    positions = device.upload(c.positions);
    page_tables = cache.upload(device);
  }

  size_t q_size() const { return size_t{n_columns} * c.n_heads * c.head_dim; }

  void run_separately() {
    Arguments scatter;
    scatter.add({q, k, v});
    if (c.qk_norm) scatter.add({gamma[0], gamma[1]});
    scatter.add({positions, separate.k, separate.v, page_tables, number(cache.n_pages), separate.error});
    run(kv_scatter(scatters_of(c).back(), ptx::sm_75), scatter, kAllChecks);
    Arguments attend;
    attend.add({q, separate.k, separate.v, page_tables, positions, separate.out});
    if (c.gated) attend.add({gate});
    attend.add({separate.scratch, separate.error});
    run(incremental_attention(attention_of(c), ptx::sm_75), attend, kAllChecks);
    std::copy(q_values.begin(), q_values.end(), q);
  }

  void run_joined(const ptx::emulator::LaunchOptions& options) {
    AttentionSpec spec = attention_of(c);
    spec.scatters = scatters_of(c);
    Arguments all;
    all.add({q, k, v});
    if (c.qk_norm) all.add({gamma[0], gamma[1]});
    all.add({joined.k, joined.v, page_tables});
    const uint64_t rope = c.n_ropes > 1 ? c.n_ropes - 1 : 0;  // two 32-bit parameters without padding
    all.add({number(cache.n_pages | rope << 32), positions, joined.out});
    if (c.gated) all.add({gate});
    all.add({joined.scratch, joined.error});
    run(incremental_attention(spec, ptx::sm_75), all, options);
  }

  struct Pages {
    uint8_t *k, *v, *scratch;
    float* out;
    uint32_t* error;
  };
  std::vector<uint8_t> bytes(const uint8_t* pages, const KvLayout& layout) const {
    return device.download(pages, cache.n_pages * layout.n_bytes());
  }

  const ScatterCase c;
  GuardedDevice device;
  const uint32_t n_columns;
  const KvLayout k_layout, v_layout;
  PagedCache cache;
  Pages separate, joined;
  std::vector<float> q_values;
  float *q, *k, *v, *gate, *gamma[2];
  uint32_t* positions;
  uint64_t* page_tables;

 private:
  struct Arguments {
    std::vector<uint64_t> pointers;
    void add(std::initializer_list<const void*> all) {
      for (const void* p : all) pointers.push_back(reinterpret_cast<uint64_t>(p));
    }
  };
  static const void* number(uint64_t n) { return reinterpret_cast<const void*>(uintptr_t{n}); }
  void run(const ptx::Kernel& kernel, const Arguments& arguments, const ptx::emulator::LaunchOptions& options) {
    const auto numbers = n_columns == 1 ? std::vector<uint32_t>{} : std::vector{n_columns};
    ASSERT_EQ(device.run_listed(options, kernel, arguments.pointers, numbers), "");
  }
};

class AttentionScatter : public ::testing::TestWithParam<ScatterCase> {};

TEST_P(AttentionScatter, GivesTheBitsOfBothKernels) {
  for (uint64_t seed = 0; seed <= 2; ++seed) {
    Tokens tokens(GetParam());
    tokens.run_separately();
    tokens.run_joined(seed == 0 ? kAllChecks : reordered(seed));
    EXPECT_EQ(tokens.device.download(tokens.joined.out, tokens.q_size()),
              tokens.device.download(tokens.separate.out, tokens.q_size()));
    EXPECT_EQ(tokens.bytes(tokens.joined.k, tokens.k_layout), tokens.bytes(tokens.separate.k, tokens.k_layout));
    EXPECT_EQ(tokens.bytes(tokens.joined.v, tokens.v_layout), tokens.bytes(tokens.separate.v, tokens.v_layout));
    EXPECT_EQ(tokens.device.download(tokens.q, tokens.q_size()), tokens.q_values);  // unchanged
    EXPECT_EQ(tokens.device.download(tokens.joined.error, kErrorWords), std::vector<uint32_t>(kErrorWords));
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, AttentionScatter, ::testing::ValuesIn(kCases),
                         [](const auto& row) { return row.param.name; });

// The rows read in place of a wrong page may belong to any sequence; they are never written.
TEST(AttentionScatterErrors, WrongPagesAreNotWritten) {
  for (const uint32_t beyond : {0u, 1u, 1u << 31}) {
    Tokens tokens({"", 6, 2, 64, {1, 70, 3}});
    const std::vector<uint8_t> keys = tokens.bytes(tokens.joined.k, tokens.k_layout);
    const uint32_t page = reinterpret_cast<uint32_t*>(tokens.page_tables[1])[1] = tokens.cache.n_pages + beyond;
    ptx::emulator::LaunchOptions options = kAllChecks;
    options.checks.uninitialised = options.checks.global_races = false;
    tokens.run_joined(options);
    for (const uint32_t own : tokens.cache.tables[1]) {
      const auto first = static_cast<ptrdiff_t>(own * tokens.k_layout.n_bytes());
      const auto last = first + static_cast<ptrdiff_t>(tokens.k_layout.n_bytes());
      EXPECT_TRUE(std::equal(keys.begin() + first, keys.begin() + last, tokens.joined.k + first));
    }
    EXPECT_NE(tokens.bytes(tokens.joined.k, tokens.k_layout), keys);  // the other columns were written
    EXPECT_EQ(
        tokens.device.download(tokens.joined.error, kErrorWords),
        (std::vector<uint32_t>{static_cast<uint32_t>(KernelError::kPageOutOfRange), page, tokens.cache.n_pages, 1}));
  }
}

TEST(AttentionScatterErrors, WrongPositionsWriteNothing) {
  for (const uint32_t position : {kMaxPositions, ~0u}) {
    Tokens tokens({"", 6, 2, 64, {position}});
    const std::vector<uint8_t> keys = tokens.bytes(tokens.joined.k, tokens.k_layout);
    tokens.run_joined(kAllChecks);
    EXPECT_EQ(tokens.bytes(tokens.joined.k, tokens.k_layout), keys);
    EXPECT_EQ(
        tokens.device.download(tokens.joined.error, kErrorWords),
        (std::vector<uint32_t>{static_cast<uint32_t>(KernelError::kPositionOutOfRange), position, kMaxPositions, 0}));
  }
}

TEST(AttentionScatterSpecs, AreOfTheSameCache) {
  const ScatterCase c{"", 4, 2, 64, {0}};
  const auto spoil = [&](void (*change)(AttentionSpec&)) {
    AttentionSpec spec = attention_of(c);
    spec.scatters = scatters_of(c);
    change(spec);
    EXPECT_THROW(incremental_attention(spec, ptx::sm_75), Error);
  };
  spoil([](AttentionSpec& s) { s.k_type = kQ8; });
  spoil([](AttentionSpec& s) { s.max_positions = 200; });
  spoil([](AttentionSpec& s) { s.lengths_are_positions = false; });
  spoil([](AttentionSpec& s) { s.one_sequence = true; });
  spoil([](AttentionSpec& s) { s.scatters[0].columns = 2; });
}

}  // namespace
}  // namespace warpchat
