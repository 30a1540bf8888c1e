// Parallel algorithms compiled by nvcc: reductions, scans, sorts, softmax, barriers across the grid.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/cuda/cuda_text.h"

namespace ptx::emulator {
namespace {

constexpr uint32_t ceil_div(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

class Reductions : public CudaKernels {};

TEST_P(Reductions, SumOfBlocks) {
  const int n = 5001;
  const auto x = random_floats(n, -1, 1);
  auto* sums = zeros<float>(7);
  dynamic_shared_bytes = 128 * sizeof(float);
  launch("block_sums", {7}, {128}, upload(x), n, sums);
  std::vector<double> want(7);
  for (int i = 0; i < n; ++i) want[i / 128 % 7] += x[i];
  expect_close("sums", as_doubles(download(sums, 7)), want, 1e-4, 0);  // 715 terms below 1, each step rounds to 2^-24
}

TEST_P(Reductions, SumOfWarpsByAtomics) {
  const int n = 1000;  // the last warp is ragged
  const auto x = random_floats(n, 0, 1);
  auto* sum = zeros<float>(1);
  launch("warp_sums", {8}, {128}, upload(x), n, sum);
  expect_close("sum", {*sum}, {std::accumulate(x.begin(), x.end(), 0.0)}, 0, 1e-5);  // any order of 32 atomics
}

TEST_P(Reductions, LastBlockAddsThePartialSumsTwice) {
  const int n = 20000;
  std::vector<double> x(n);
  std::iota(x.begin(), x.end(), 0.25);
  auto *partial = zeros<double>(11), *sum = zeros<double>(1);
  auto* finished = zeros<unsigned>(1);
  const auto* values = upload(x);
  for (int round = 0; round < 2; ++round) {
    *sum = 0;
    launch("last_block_sum", {11}, {256}, values, n, partial, finished, sum);
    EXPECT_EQ(*sum, n * (n - 1.0) / 2 + n * 0.25);  // sums of quarters are exact
    EXPECT_EQ(*finished, 0u);
  }
}

TEST_P(Reductions, Extremes) {
  const auto x = random_integers<int>(777, INT32_MIN, INT32_MAX);
  auto *min = filled(1, INT32_MAX), *greatest = filled(1, INT32_MIN);
  launch("extremes", {4}, {256}, upload(x), 777, min, greatest);
  EXPECT_EQ(*min, *std::min_element(x.begin(), x.end()));
  EXPECT_EQ(*greatest, *std::max_element(x.begin(), x.end()));
}

TEST_P(Reductions, ArgMinTakesTheFirstOfEquals) {
  auto x = random_floats(900, 1, 2);
  x[613] = x[200] = x[899] = 0.5f;
  auto* best = filled(1, ~0ull);
  launch("arg_min", {1}, {256}, upload(x), 900u, best);
  EXPECT_EQ(*best & 0xffffffff, 200u);
}
INSTANTIATE_CUDA(Reductions, "reductions");

class Scan : public CudaKernels {};

TEST_P(Scan, WithinABlock) {
  const auto x = random_integers<int>(700, -1000, 1000);
  auto* y = zeros<int>(700);
  launch("block_scan", {1}, {1024}, upload(x), 700, y);
  std::vector<int> want(700);
  std::partial_sum(x.begin(), x.end(), want.begin());
  EXPECT_EQ(download(y, 700), want);
}

TEST_P(Scan, LookBackAcrossBlocks) {
  const int n = 20011, tiles = ceil_div(n, 256);  // 79 tiles: more than one step of 32 looks back, the last is ragged
  const auto x = random_integers<unsigned>(n, 0, UINT32_MAX);
  auto* y = zeros<unsigned>(n);
  launch("scan_look_back", {uint32_t(tiles)}, {256}, upload(x), n, y, zeros<unsigned>(1), zeros<uint64_t>(tiles));
  std::vector<unsigned> want(n);
  std::partial_sum(x.begin(), x.end(), want.begin());
  EXPECT_EQ(download(y, n), want);
}
INSTANTIATE_CUDA(Scan, "scan");

class SortBitonic : public CudaKernels {};

TEST_P(SortBitonic, BlocksInSharedMemory) {
  auto keys = random_integers<unsigned>(3 * 512, 0, UINT32_MAX);
  auto* sorted = upload(keys);
  launch("sort_block", {3}, {256}, sorted);
  for (int block = 0; block < 3; ++block) std::sort(keys.begin() + block * 512, keys.begin() + (block + 1) * 512);
  EXPECT_EQ(download(sorted, keys.size()), keys);
}

TEST_P(SortBitonic, PairsByStepsOverGlobalMemory) {
  struct Pair {
    float key;
    int value;
  };
  const unsigned n = 256;
  const auto keys = random_floats(n, -10, 10);
  std::vector<Pair> pairs(n);
  for (unsigned i = 0; i < n; ++i) pairs[i] = {keys[i], int(i)};
  auto* sorted = upload(pairs);
  for (unsigned run = 2; run <= n; run *= 2)
    for (unsigned distance = run / 2; distance > 0; distance /= 2)
      launch("bitonic_step", {2}, {128}, sorted, run, distance);
  for (unsigned i = 0; i < n; ++i) {
    EXPECT_EQ(sorted[i].key, keys[sorted[i].value]) << i;
    EXPECT_LE(sorted[i ? i - 1 : 0].key, sorted[i].key) << i;
  }
}

TEST_P(SortBitonic, WarpsByShuffles) {
  auto keys = random_integers<int64_t>(96, INT64_MIN, INT64_MAX);
  auto* sorted = upload(keys);
  launch("sort_warp", {3}, {32}, sorted);
  for (int warp = 0; warp < 3; ++warp) std::sort(keys.begin() + warp * 32, keys.begin() + (warp + 1) * 32);
  EXPECT_EQ(download(sorted, 96), keys);
}
INSTANTIATE_CUDA(SortBitonic, "sort_bitonic");

class SortRadix : public CudaKernels {};

TEST_P(SortRadix, EightPassesOfFourBits) {
  const int n = 1500;
  auto keys = random_integers<unsigned>(n, 0, UINT32_MAX);
  for (int i = 0; i < 100; ++i) keys[7 * i] = keys[0];  // equal keys share their digits
  const uint32_t blocks = ceil_div(n, 256);
  auto *from = upload(keys), *to = zeros<unsigned>(n), *counts = zeros<unsigned>(16 * blocks);
  for (int shift = 0; shift < 32; shift += 4) {
    launch("count_digits", {blocks}, {256}, from, n, shift, counts);
    launch("offsets_of_counts", {1}, {256}, counts, int(16 * blocks));
    launch("scatter", {blocks}, {256}, from, n, shift, counts, to);
    std::swap(from, to);
  }
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(download(from, n), keys);
}
INSTANTIATE_CUDA(SortRadix, "sort_radix");

class Softmax : public CudaKernels {
 protected:
  static std::vector<double> reference(const std::vector<double>& x, int columns, bool logarithm) {
    std::vector<double> y(x.size());
    for (size_t row = 0; row < x.size(); row += columns) {
      const double greatest = *std::max_element(x.begin() + row, x.begin() + row + columns);
      double sum = 0;
      for (int i = 0; i < columns; ++i) sum += std::exp(x[row + i] - greatest);
      for (int i = 0; i < columns; ++i) {
        const double shifted = x[row + i] - greatest;
        y[row + i] = logarithm ? shifted - std::log(sum) : std::exp(shifted) / sum;
      }
    }
    return y;
  }
};

TEST_P(Softmax, ByBlocks) {
  const int columns = 300;
  auto x = random_floats(4 * columns, -20, 20);
  x[columns + 5] = -INFINITY;  // a masked element
  auto* y = zeros<float>(x.size());
  launch("softmax_block", {4}, {128}, upload(x), y, columns);
  // expf of -40 errs by 2 ulp of the result; -use_fast_math by 2^-21 * 40 of it.
  expect_close("softmax", as_doubles(download(y, x.size())), reference(as_doubles(x), columns, false), 0,
               fast() ? 5e-5 : 3e-6);
}

TEST_P(Softmax, ByWarpsInHalf) {
  const int rows = 5, columns = 100;
  const auto values = random_integers<int>(rows * columns, -80, 80);
  std::vector<_Float16> x;
  for (int v : values) x.push_back(static_cast<_Float16>(v / 16.0f));
  auto* y = zeros<_Float16>(x.size());
  launch("softmax_warp", {2}, {32, 4}, upload(x), y, rows, columns);
  expect_close("softmax", as_doubles(download(y, x.size())), reference(as_doubles(x), columns, false), 0x1p-25,
               0x1p-11 + 1e-5);  // half a step of half's 11 bits, of its subnormals below
}

TEST_P(Softmax, Logarithm) {
  const int rows = 40, columns = 33;
  const auto x = random_floats(rows * columns, -8, 8);
  auto* y = zeros<float>(x.size());
  launch("log_softmax", {2}, {32}, upload(x), y, rows, columns);
  expect_close("log softmax", as_doubles(download(y, x.size())), reference(as_doubles(x), columns, true),
               fast() ? 2e-5 : 4e-6, 0);
}
INSTANTIATE_CUDA(Softmax, "softmax");

class GridBarriers : public CudaKernels {
 protected:
  static constexpr int kRounds = 9;
  static constexpr uint32_t kBlocks = 6, kThreads = 64, kCells = kBlocks * kThreads;

  template <class... State>
  void expect_rounds(const char* kernel, State*... state) {
    auto want = random_integers<unsigned>(kCells, 0, UINT32_MAX);
    auto *cells = upload(want), *next = zeros<unsigned>(kCells);
    cooperative = true;
    launch(kernel, {kBlocks}, {kThreads}, cells, next, kRounds, state...);
    for (int round = 0; round < kRounds; ++round) {
      const auto before = want;
      for (uint32_t i = 0; i < kCells; ++i) want[i] = before[i] + before[(i + kCells - 1) % kCells];
    }
    EXPECT_EQ(download(kRounds % 2 ? next : cells, kCells), want);
  }
};

TEST_P(GridBarriers, Tickets) { expect_rounds("barrier_of_tickets", zeros<unsigned>(1)); }
TEST_P(GridBarriers, Generations) { expect_rounds("barrier_of_generations", zeros<unsigned>(2)); }
TEST_P(GridBarriers, Flags) { expect_rounds("barrier_of_flags", zeros<unsigned>(kBlocks)); }
TEST_P(GridBarriers, CooperativeGroups) { expect_rounds("barrier_of_groups"); }
INSTANTIATE_CUDA(GridBarriers, "grid_barriers");

}  // namespace
}  // namespace ptx::emulator
