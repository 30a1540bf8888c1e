// The embedding against the exact weights, to the bit.
#include "kernels/matmul/embedding.h"

#include <gtest/gtest.h>

#include "kernels/common/error_word.h"
#include "models/error.h"
#include "tests/kernels/gemv_problem.h"

namespace warpchat {
namespace {

struct Result {
  std::string fault;
  std::vector<float> out;
  std::vector<uint32_t> error;
};

// Only the first n_columns tokens exist.
Result embed(const EmbeddingSpec& spec, const PackedWeights& weights, const std::vector<uint32_t>& tokens,
             const std::vector<uint32_t>& error_before = {0, 0, 0, 0}) {
  GuardedDevice device(ptx::sm_75);
  float* out = device.poisoned<float>(size_t{spec.columns} * spec.hidden);
  uint32_t* error = device.upload(error_before);
  const std::vector<uint64_t> pointers = {reinterpret_cast<uint64_t>(device.upload(weights.bytes)),
                                          reinterpret_cast<uint64_t>(device.upload(tokens)),
                                          reinterpret_cast<uint64_t>(out), reinterpret_cast<uint64_t>(error)};
  std::vector<uint32_t> numbers;
  if (spec.columns > 1) numbers.push_back(static_cast<uint32_t>(tokens.size()));
  const std::string fault = device.run_listed(kAllChecks, embedding(spec, ptx::sm_75), pointers, numbers);
  return {fault, device.download(out, size_t{spec.columns} * spec.hidden), device.download(error, kErrorWords)};
}

void expect_row(const Result& result, const PackedWeights& weights, size_t hidden, size_t column, size_t token) {
  for (size_t i = 0; i < hidden; ++i) {
    ASSERT_EQ(result.out[column * hidden + i], static_cast<float>(weights.values[token * hidden + i]))
        << "column " << column << " token " << token << " value " << i;
  }
}

// Compares every weight of every format. A wrong byte for Q5_K's fifth bit, or a wrong scale in Q4_K's last four
// sub-blocks, would show.
class Embedding : public ::testing::TestWithParam<TensorTypeTraits> {};

TEST_P(Embedding, IsExact) {
  const uint32_t block = GetParam().block_weights;
  // The row has more units than a block has threads; with floats, the last unit is partial.
  const uint32_t hidden = block == 1 ? 531 : block == 32 ? 32 * 67 : 256 * 9;
  const EmbeddingSpec spec{GetParam().type, 11, hidden, 3};
  const PackedWeights weights(spec.weights, spec.n_vocab, hidden, 5);
  const Result result = embed(spec, weights, {10, 0, 7});
  EXPECT_EQ(result.fault, "");
  EXPECT_EQ(result.error, std::vector<uint32_t>(4));
  for (size_t column = 0; column < 3; ++column)
    expect_row(result, weights, hidden, column, std::array{10, 0, 7}[column]);
}

INSTANTIATE_TEST_SUITE_P(Formats, Embedding,
                         ::testing::ValuesIn(kernel_tensor_types().begin(), kernel_tensor_types().end()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(EmbeddingTest, ReportsATokenOutOfRangeAndWritesNothing) {
  const EmbeddingSpec spec{TensorType::kQ4_0, 9, 64, 4};
  const PackedWeights weights(spec.weights, spec.n_vocab, spec.hidden, 5);
  const Result result = embed(spec, weights, {8, 9, 3});
  EXPECT_EQ(result.fault, "");
  const auto code = static_cast<uint32_t>(KernelError::kTokenOutOfRange);
  EXPECT_EQ(result.error, (std::vector<uint32_t>{code, 9, 9, 1}));
  expect_row(result, weights, 64, 0, 8);
  expect_row(result, weights, 64, 2, 3);
  for (size_t i = 0; i < 64; ++i) {
    EXPECT_TRUE(std::isnan(result.out[64 + i])) << i;      // the column of the invalid token
    EXPECT_TRUE(std::isnan(result.out[3 * 64 + i])) << i;  // beyond n_columns
  }
}

TEST(EmbeddingTest, KeepsTheFirstReport) {
  const EmbeddingSpec spec{TensorType::kF16, 9, 5};
  const PackedWeights weights(spec.weights, spec.n_vocab, spec.hidden, 5);
  const std::vector<uint32_t> before = {77, 1, 2, 3};
  const Result result = embed(spec, weights, {0xffffffff}, before);
  EXPECT_EQ(result.fault, "");
  EXPECT_EQ(result.error, before);
  EXPECT_EQ(embed(spec, weights, {0xffffffff}).error[1], 0xffffffff);
}

// The last row begins beyond 4 GiB. The rows between are never touched.
TEST(EmbeddingTest, OffsetsHave64Bits) {
  const EmbeddingSpec spec{TensorType::kF32, 300'000, 4096};
  const uint64_t row_bytes = packed_bytes_per_row(spec.weights, spec.hidden), offset = (spec.n_vocab - 1) * row_bytes;
  ASSERT_GT(offset, uint64_t{1} << 32);
  GuardedDevice device(ptx::sm_75);
  uint8_t* table = device.plain(offset + row_bytes);
  device.mark_initialised(table, offset + row_bytes);
  const std::vector<float> row = normal_floats(spec.hidden, 3);
  std::memcpy(table + offset, row.data(), row_bytes);
  float* out = device.poisoned<float>(spec.hidden);
  const std::vector<uint32_t> token = {spec.n_vocab - 1};
  EXPECT_EQ(device.run(embedding(spec, ptx::sm_75), table, device.upload(token), out, device.zeros<uint32_t>(4)), "");
  EXPECT_EQ(device.download(out, spec.hidden), row);
}

TEST(EmbeddingTest, RefusesWithASentence) {
  EXPECT_THROW(embedding({TensorType::kQ4_K, 0, 256}, ptx::sm_75), Error);
  try {
    embedding({TensorType::kQ4_K, 9, 300}, ptx::sm_75);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "cannot generate embedding_q4k_9x300_c1: hidden is 300; Q4_K needs a multiple of 256");
  }
}

}  // namespace
}  // namespace warpchat
