// Quantised matrix-vector products compiled by nvcc; plain C++ decodes the blocks again.
#include <algorithm>
#include <cmath>

#include "tests/cuda/cuda_text.h"

namespace ptx::emulator {
namespace {

struct BlockX {  // 32 values x = d * q, and their sum
  _Float16 d, sum;
  int8_t q[32];
};
struct BlockQ8 {  // 32 weights w = d * q
  _Float16 d;
  int8_t q[32];
};
struct BlockQ4K {  // 256 weights w = d * scale * q - dmin * min
  _Float16 d, dmin;
  uint8_t scales[12], q[128];
};
static_assert(sizeof(BlockX) == 36 && sizeof(BlockQ8) == 34 && sizeof(BlockQ4K) == 144);

// Six-bit scale and minimum of each of the eight sub-blocks.
std::pair<int, int> scale_and_min(const uint8_t* s, int i) {
  if (i < 4) return {s[i] & 63, s[i + 4] & 63};
  return {(s[i + 4] & 15) | (s[i - 4] >> 6) << 4, s[i + 4] >> 4 | (s[i] >> 6) << 4};
}

double weight(const BlockQ4K& b, int i) {
  const auto [scale, min] = scale_and_min(b.scales, i / 32);
  const uint8_t byte = b.q[i / 64 * 32 + i % 32];
  return double(b.d) * scale * (i / 32 % 2 ? byte >> 4 : byte & 15) - double(b.dmin) * min;
}

class QuantisedGemv : public CudaKernels {
 protected:
  // Runs quantise_x on random x and checks that every value is its nearest multiple.
  BlockX* quantised_x(int blocks) {
    auto x = random_floats(blocks * 32, -3, 3, 5);
    for (int i = 0; i < 32; ++i) x[32 + i] = 0;  // a block without a scale
    auto* to = zeros<BlockX>(blocks);
    launch("quantise_x", {uint32_t(blocks + 3) / 4}, {128}, upload(x), to, blocks);
    for (int b = 0; b < blocks; ++b) {
      double sum = 0, greatest = 0;
      for (int i = 0; i < 32; ++i)
        sum += x[32 * b + i], greatest = std::max(greatest, std::fabs(double(x[32 * b + i])));
      EXPECT_NEAR(double(to[b].sum), sum, std::fabs(sum) * 0x1p-11 + 1e-5);
      EXPECT_NEAR(double(to[b].d), greatest / 127, greatest / 127 * 0x1p-10);
      for (int i = 0; i < 32; ++i) EXPECT_NEAR(to[b].q[i], greatest ? x[32 * b + i] / greatest * 127 : 0, 0.501);
    }
    return to;
  }
};

TEST_P(QuantisedGemv, Q4K) {
  const int rows = 10, blocks = 7;  // the last block of threads has two idle warps, the last step idle lanes
  const BlockX* x = quantised_x(blocks * 8);
  std::mt19937 random(3);
  std::vector<BlockQ4K> weights(rows * blocks);
  for (BlockQ4K& b : weights) {
    b.d = static_cast<_Float16>((random() % 1000) / 60000.0);
    b.dmin = static_cast<_Float16>((random() % 1000) / 50000.0);
    for (uint8_t& byte : b.scales) byte = static_cast<uint8_t>(random());
    for (uint8_t& byte : b.q) byte = static_cast<uint8_t>(random());
  }
  auto* y = filled<float>(rows, NAN);
  launch("gemv_q4k", {3}, {128}, upload(weights), x, y, rows, blocks);
  std::vector<double> want(rows);
  double size = 0;
  for (int row = 0; row < rows; ++row) {
    for (int i = 0; i < blocks * 256; ++i) {
      const BlockQ4K& b = weights[row * blocks + i / 256];
      const auto [scale, min] = scale_and_min(b.scales, i % 256 / 32);
      const double minimum = double(b.dmin) * min;  // multiplied with the block's sum, as the kernel does
      want[row] += (weight(b, i % 256) + minimum) * double(x[i / 32].d) * x[i / 32].q[i % 32];
      if (i % 32 == 0) want[row] -= minimum * double(x[i / 32].sum);
      size = std::max(size, std::fabs(want[row]));
    }
  }
  expect_close("y", as_doubles(download(y, rows)), want, size * 1e-6, 1e-6);  // dots are exact, 14 float terms a lane
}

TEST_P(QuantisedGemv, Q8) {
  const int rows = 9, blocks = 50;
  const BlockX* x = quantised_x(blocks);
  std::mt19937 random(4);
  std::vector<BlockQ8> weights(rows * blocks);
  for (BlockQ8& b : weights) {
    b.d = static_cast<_Float16>((random() % 1000) / 10000.0);
    for (int8_t& q : b.q) q = static_cast<int8_t>(random());
  }
  auto* y = filled<float>(rows, NAN);
  launch("gemv_q8_0", {3}, {128}, upload(weights), x, y, rows, blocks);
  std::vector<double> want(rows);
  for (int row = 0; row < rows; ++row) {
    for (int i = 0; i < blocks * 32; ++i) {
      const BlockQ8& b = weights[row * blocks + i / 32];
      want[row] += double(b.d) * b.q[i % 32] * double(x[i / 32].d) * x[i / 32].q[i % 32];
    }
  }
  const double size = std::fabs(*std::max_element(want.begin(), want.end()));
  expect_close("y", as_doubles(download(y, rows)), want, size * 1e-6, 1e-6);
}
INSTANTIATE_CUDA(QuantisedGemv, "quantised_gemv");

}  // namespace
}  // namespace ptx::emulator
