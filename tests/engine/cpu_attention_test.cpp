// Attention over the cache against double arithmetic on the same rounded keys and values.
#include "engine/cpu/attention.h"

#include <gtest/gtest.h>

#include <cstring>

#include "engine/cpu/thread_pool.h"
#include "models/half.h"
#include "models/quant_blocks.h"
#include "tests/engine/cpu_problems.h"
#include "tests/support/gguf/quantise.h"

namespace warpchat {
namespace {

struct Case {
  const char* name;
  uint32_t n_heads, n_kv_heads, head_dim;
  uint32_t position, columns;
  KvTypes types = {};
};

constexpr KvTypes kQ8{KvType::kQ8_0, KvType::kQ8_0}, kF32{KvType::kF32, KvType::kF32};

constexpr Case kAttentionCases[] = {
    {"first_token", 4, 2, 64, 0, 1},
    {"second_token", 4, 2, 64, 1, 1},
    {"end_of_a_key_block", 4, 2, 64, 15, 1},
    {"start_of_a_tile", 4, 2, 64, 64, 1},
    {"two_stretches", 9, 3, 64, 300, 1},
    {"many_stretches", 2, 1, 64, 4200, 1},
    {"columns_at_the_border_of_stretches", 9, 3, 64, 509, 7},
    {"no_grouping", 5, 5, 32, 77, 1},
    {"all_heads_share_one", 14, 1, 64, 130, 1},
    {"more_rows_than_a_call_takes", 13, 1, 64, 90, 8},  // 104 query rows
    {"few_columns", 4, 2, 64, 63, 3},
    {"last_of_few_columns", 4, 2, 64, 120, 8},
    {"shortest_prefill", 4, 2, 64, 0, 9},
    {"prefill", 6, 2, 64, 0, 200},
    {"prefill_after_a_prefix", 6, 2, 64, 117, 75},
    {"prefill_of_several_stretches", 6, 2, 64, 300, 260},
    {"prefill_in_ragged_blocks", 7, 1, 48, 33, 101},
    {"head_dim_80", 4, 2, 80, 70, 1},
    {"head_dim_80_prefill", 4, 2, 80, 5, 70},
    {"head_dim_96_prefill", 4, 4, 96, 0, 66},
    {"head_dim_128", 4, 2, 128, 140, 1},
    {"head_dim_256_prefill", 2, 1, 256, 60, 20},
    {"head_dim_of_no_vector", 4, 2, 22, 70, 1},
    {"head_dim_of_no_vector_prefill", 4, 2, 22, 3, 70},
    {"smallest_head_dim", 2, 2, 2, 20, 11},
    {"q8", 4, 2, 64, 130, 1, kQ8},
    {"q8_two_stretches", 9, 3, 64, 300, 1, kQ8},
    {"q8_few_columns", 4, 2, 64, 63, 3, kQ8},
    {"q8_prefill", 6, 2, 64, 117, 75, kQ8},
    {"q8_keys", 6, 2, 64, 100, 1, {KvType::kQ8_0, KvType::kF16}},
    {"q8_values", 6, 2, 64, 100, 1, {KvType::kF16, KvType::kQ8_0}},
    {"q8_keys_prefill", 6, 2, 64, 17, 20, {KvType::kQ8_0, KvType::kF16}},
    {"q8_values_prefill", 6, 2, 64, 17, 20, {KvType::kF16, KvType::kQ8_0}},
    {"q8_head_dim_80", 4, 2, 80, 70, 1, kQ8},  // the last group has 16 values
    {"q8_head_dim_128_prefill", 4, 2, 128, 140, 11, kQ8},
    {"q8_head_dim_of_no_vector", 4, 2, 22, 70, 1, kQ8},
    {"f32", 4, 2, 64, 130, 1, kF32},
    {"f32_prefill", 6, 2, 64, 117, 75, kF32},
    {"f32_keys_prefill", 6, 2, 64, 17, 20, {KvType::kF32, KvType::kQ8_0}},
    {"f32_values", 6, 2, 64, 100, 1, {KvType::kF16, KvType::kF32}},
    {"f32_head_dim_of_no_vector", 4, 2, 22, 70, 1, kF32},
};

class Attention : public testing::TestWithParam<std::tuple<std::string, Case>> {};

// Rows of head_dim values as a cache of this type stores them.
std::vector<double> stored(KvType type, const std::vector<float>& rows, uint32_t head_dim) {
  std::vector<double> values;
  if (type == KvType::kF32) return {rows.begin(), rows.end()};
  for (size_t row = 0; row < rows.size(); row += head_dim) {
    for (uint32_t d = 0; d < head_dim && type == KvType::kF16; ++d) values.push_back(to_float(to_f16(rows[row + d])));
    for (uint32_t first = 0; first < head_dim && type == KvType::kQ8_0; first += 32) {
      const uint32_t n = std::min(32u, head_dim - first);
      float block[32] = {};
      std::copy_n(&rows[row + first], n, block);
      BlockQ8_0 quantised;
      std::memcpy(&quantised, quantise_row(TensorType::kQ8_0, block).data(), sizeof quantised);
      for (uint32_t i = 0; i < n; ++i) values.push_back(to_float(quantised.d) * double{1} * quantised.qs[i]);
    }
  }
  return values;
}

// One query row: head h of column c. keys, values: [positions, n_kv_heads, head_dim].
void reference_row(const Case& s, std::span<const float> q, std::span<const double> keys,
                   std::span<const double> values, uint32_t c, uint32_t h, std::span<double> out) {
  const uint32_t kv_head = h / (s.n_heads / s.n_kv_heads), length = s.position + c + 1;
  const auto at = [&](uint32_t p, uint32_t d) { return (size_t{p} * s.n_kv_heads + kv_head) * s.head_dim + d; };
  std::vector<double> weights(length);
  double sum = 0;
  for (uint32_t p = 0; p < length; ++p) {
    for (uint32_t d = 0; d < s.head_dim; ++d)
      weights[p] += q[(size_t{c} * s.n_heads + h) * s.head_dim + d] * keys[at(p, d)];
    sum += weights[p] = std::exp(weights[p] / std::sqrt(double(s.head_dim)));
  }
  for (uint32_t d = 0; d < s.head_dim; ++d)
    for (uint32_t p = 0; p < length; ++p) out[d] += weights[p] / sum * values[at(p, d)];
}

TEST_P(Attention, MatchesDouble) {
  const auto& [simd, s] = GetParam();
  const uint32_t positions = s.position + s.columns;
  const std::vector<float> keys = normal_floats(size_t{positions} * s.n_kv_heads * s.head_dim, /*seed=*/1);
  const std::vector<float> values = normal_floats(keys.size(), /*seed=*/2);
  const std::vector<float> q = normal_floats(size_t{s.columns} * s.n_heads * s.head_dim, /*seed=*/3);
  ModelConfig config{};
  config.n_layers = 2, config.n_heads = s.n_heads, config.n_kv_heads = s.n_kv_heads, config.head_dim = s.head_dim;
  ThreadPool pool(3);
  CachedAttention attention(pool, choose_kernels(simd), config, positions + 1, 1, s.types);
  const std::vector<float> poison(s.head_dim, INFINITY);  // after the end and in the other layer: must not be read
  for (uint32_t h = 0; h < s.n_kv_heads; ++h) {
    for (uint32_t p = 0; p <= positions; ++p) attention.store(0, 0, h, p, poison.data(), poison.data());
    attention.store(1, 0, h, positions, poison.data(), poison.data());
    for (uint32_t p = 0; p < positions; ++p) {
      const size_t at = (size_t{p} * s.n_kv_heads + h) * s.head_dim;
      attention.store(1, 0, h, p, &keys[at], &values[at]);
    }
  }
  std::vector<float> got(q.size(), NAN);
  const CachedRun run{0, s.position, s.columns};
  attention.run(1, {&run, 1}, q.data(), got.data());
  const std::vector<double> stored_keys = stored(s.types.k, keys, s.head_dim);
  const std::vector<double> stored_values = stored(s.types.v, values, s.head_dim);
  std::vector<double> expected(q.size());
  for (uint32_t c = 0; c < s.columns; ++c)
    for (uint32_t h = 0; h < s.n_heads; ++h)
      reference_row(s, q, stored_keys, stored_values, c, h,
                    std::span(expected).subspan((size_t{c} * s.n_heads + h) * s.head_dim, s.head_dim));
  EXPECT_LE(relative_error(got, expected), 2e-6);  // float sums of some hundred terms
}

INSTANTIATE_TEST_SUITE_P(EveryShape, Attention,
                         testing::Combine(testing::ValuesIn(instruction_sets()), testing::ValuesIn(kAttentionCases)),
                         [](const auto& c) { return std::get<0>(c.param) + "_" + std::get<1>(c.param).name; });

// Scores far beyond the range of exp: the running maximum keeps everything finite, with one block of keys and with
// many.
TEST(AttentionScores, MayBeHuge) {
  constexpr uint32_t kPositions = 600;
  for (const std::string& simd : instruction_sets())
    for (uint32_t columns : {1u, 20u}) {
      ModelConfig config{};
      config.n_layers = 1, config.n_heads = 1, config.n_kv_heads = 1, config.head_dim = 16;
      ThreadPool pool(2);
      CachedAttention attention(pool, choose_kernels(simd), config, kPositions);
      for (uint32_t p = 0; p < kPositions; ++p) {  // the key of position 130 dominates, early or late in the sequence
        const std::vector<float> key(16, p == 130 ? 100.0f : -100.0f), value(16, static_cast<float>(p));
        attention.store(0, 0, 0, p, key.data(), value.data());
      }
      const std::vector<float> q(size_t{columns} * 16, 50.0f);
      std::vector<float> got(q.size(), NAN);
      const CachedRun run{0, kPositions - columns, columns};
      attention.run(0, {&run, 1}, q.data(), got.data());
      for (float v : got) EXPECT_FLOAT_EQ(v, 130.0f) << simd << ", " << columns << " columns";
    }
}

// The bits do not depend on how a pass is cut, on the number of threads, or on other sequences.
TEST(AttentionColumns, DependOnTheirSequenceAlone) {
  constexpr uint32_t kHeads = 6, kKvHeads = 2, kHeadDim = 64, kPosition = 480, kColumns = 390;
  ModelConfig config{};
  config.n_layers = 1, config.n_heads = kHeads, config.n_kv_heads = kKvHeads, config.head_dim = kHeadDim;
  const std::vector<float> rows = normal_floats(size_t{kPosition + kColumns} * kHeadDim, /*seed=*/1);
  const std::vector<float> q = normal_floats(size_t{kColumns} * kHeads * kHeadDim, /*seed=*/2);
  for (const std::string& simd : instruction_sets())
    for (const KvTypes types : {KvTypes{}, kQ8}) {
      const auto attend = [&](uint32_t threads, const std::vector<uint32_t>& passes, bool another_model_loaded) {
        ThreadPool pool(threads);
        CachedAttention attention(pool, choose_kernels(simd), config, kPosition + kColumns, 2, types);
        for (uint32_t sequence = 0; sequence < 2; ++sequence)
          for (uint32_t p = 0; p < kPosition + kColumns; ++p)
            for (uint32_t h = 0; h < kKvHeads; ++h)
              attention.store(0, sequence, h, p, &rows[size_t{p} * kHeadDim], &rows[size_t{p} * kHeadDim]);
        std::vector<float> out;
        for (const uint32_t n : passes) {
          const auto done = static_cast<uint32_t>(out.size() / kHeads / kHeadDim);
          std::vector<CachedRun> runs = {{0, kPosition + done, n}};
          if (another_model_loaded) runs.insert(runs.begin(), {1, 700, 1});
          std::vector<float> in(q.begin() + static_cast<ptrdiff_t>(out.size()), q.end()), mixed(in.size() + q.size());
          if (another_model_loaded) in.insert(in.begin(), q.begin(), q.begin() + kHeads * kHeadDim);
          attention.run(0, runs, in.data(), mixed.data());
          const auto start = mixed.begin() + (another_model_loaded ? kHeads * kHeadDim : 0);
          out.insert(out.end(), start, start + static_cast<ptrdiff_t>(n) * kHeads * kHeadDim);
        }
        return out;
      };
      const std::vector<float> whole = attend(1, {kColumns}, false);
      EXPECT_EQ(attend(5, {kColumns}, false), whole) << simd;
      EXPECT_EQ(attend(2, {1, 2, 5, 16, 3, 100, 262, 1}, false), whole) << simd;
      EXPECT_EQ(attend(3, {300, 90}, true), whole) << simd;
    }
}

}  // namespace
}  // namespace warpchat
