// Packed weights hold every bit of the file's blocks, at the places that kernels/matmul/weight_layout.h names.
#include "kernels/matmul/weight_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

namespace warpchat {
namespace {

std::vector<std::byte> random_bytes(size_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(n);
  for (std::byte& byte : bytes) byte = std::byte(random());
  return bytes;
}

std::vector<std::byte> packed_of(TensorType type, uint32_t k, uint64_t n_rows, const std::vector<std::byte>& blocks) {
  std::vector<std::byte> packed(n_rows * packed_bytes_per_row(type, k), std::byte{0xee});
  pack_rows(type, k, n_rows, blocks, packed);
  return packed;
}

class WeightLayout : public ::testing::TestWithParam<TensorTypeTraits> {
 protected:
  const TensorType type = GetParam().type;
  const uint32_t block = GetParam().block_weights;
};

uint64_t ones(const std::vector<std::byte>& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), uint64_t{0}, [](uint64_t n, std::byte byte) {
    return n + static_cast<uint64_t>(std::popcount(std::to_integer<unsigned>(byte)));
  });
}

// Blocks pack to what their bits pack to one by one, at as many places. Includes bytes that no quantiser writes and,
// for floats, every length of the last unit.
TEST_P(WeightLayout, KeepsEveryBit) {
  for (uint32_t n_blocks = 1; n_blocks < (block == 1 ? 12 : 5); ++n_blocks) {
    const uint32_t k = n_blocks * block;
    const std::vector<std::byte> all(bytes_per_row(type, k), std::byte{0xff});
    std::vector<std::byte> blocks = random_bytes(all.size(), n_blocks), expected(packed_bytes_per_row(type, k));
    for (size_t bit = 0; bit < 8 * blocks.size(); ++bit) {
      std::vector<std::byte> alone(blocks.size());
      alone[bit / 8] = std::byte(1u << bit % 8) & blocks[bit / 8];
      const std::vector<std::byte> packed = packed_of(type, k, 1, alone);
      std::ranges::transform(expected, packed, expected.begin(), std::bit_or<>{});
    }
    const std::vector<std::byte> packed = packed_of(type, k, 1, blocks);
    EXPECT_EQ(packed, expected) << "k " << k;
    EXPECT_EQ(ones(packed), ones(blocks)) << "k " << k;
    EXPECT_EQ(ones(packed_of(type, k, 1, all)), 8 * all.size()) << "k " << k;
  }
}

TEST_P(WeightLayout, PacksRowsAlike) {
  const uint32_t k = 3 * block;
  const std::vector<std::byte> row = random_bytes(bytes_per_row(type, k), 1), packed = packed_of(type, k, 1, row);
  std::vector<std::byte> rows, expected;
  for (int i = 0; i < 3; ++i) {
    rows.insert(rows.end(), row.begin(), row.end());
    expected.insert(expected.end(), packed.begin(), packed.end());
  }
  EXPECT_EQ(packed_of(type, k, 3, rows), expected);
}

// Each bit of a block has exactly one place: none is duplicated or made up.
TEST_P(WeightLayout, MovesEachBitToAPlaceOfItsOwn) {
  const uint32_t k = block * (block == 1 ? 9 : 1);
  const size_t n_bytes = bytes_per_row(type, k);
  std::vector<std::byte> taken(packed_bytes_per_row(type, k));
  for (size_t bit = 0; bit < 8 * n_bytes; ++bit) {
    std::vector<std::byte> blocks(n_bytes);
    blocks[bit / 8] = std::byte(1u << bit % 8);
    const std::vector<std::byte> packed = packed_of(type, k, 1, blocks);
    int n_set = 0;
    for (size_t i = 0; i < packed.size(); ++i) {
      n_set += std::popcount(std::to_integer<unsigned>(packed[i]));
      EXPECT_EQ(packed[i] & taken[i], std::byte{0}) << "bit " << bit;
      taken[i] |= packed[i];
    }
    EXPECT_EQ(n_set, 1) << "bit " << bit;
  }
}

TEST_P(WeightLayout, PacksRowsByThemselves) {
  const uint32_t k = 5 * block;
  const std::vector<std::byte> blocks = random_bytes(4 * bytes_per_row(type, k), 7);
  const std::vector<std::byte> all = packed_of(type, k, 4, blocks);
  const size_t row = bytes_per_row(type, k), packed_row = packed_bytes_per_row(type, k);
  const std::vector<std::byte> third = packed_of(type, k, 1, {blocks.begin() + 2 * row, blocks.begin() + 3 * row});
  EXPECT_EQ(third, std::vector(all.begin() + 2 * packed_row, all.begin() + 3 * packed_row));
}

TEST_P(WeightLayout, IsAlignedAndSmall) {
  for (uint32_t n_blocks : {1u, 3u, 8u, 2048 / block}) {
    const PackedStreams s = packed_streams(type, n_blocks * block);
    const uint64_t bytes = packed_bytes_per_row(type, n_blocks * block);
    EXPECT_EQ(bytes % 16, 0u);
    EXPECT_LE(s.end, bytes);
    EXPECT_EQ(s.high % (4 * std::max(1u, s.high_bits)), 0u);
    EXPECT_EQ(s.heads % std::max(1u, s.head_bytes), 0u);
    EXPECT_EQ(s.scales % std::max(1u, s.scale_bytes), 0u);
  }
  EXPECT_LE(packed_bytes_per_row(type, 2048), bytes_per_row(type, 2048) * 104 / 100);
}

TEST_P(WeightLayout, TakesWholeBlocks) {
  EXPECT_FALSE(is_packable(type, 0));
  EXPECT_TRUE(is_packable(type, 3 * block));
  if (block > 1) {
    EXPECT_FALSE(is_packable(type, 3 * block + 1));
    EXPECT_FALSE(is_packable(type, block / 2));
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, WeightLayout,
                         ::testing::ValuesIn(kernel_tensor_types().begin(), kernel_tensor_types().end()),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace warpchat
