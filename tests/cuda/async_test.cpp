// Asynchronous copies compiled by nvcc: cp.async, mbarrier through libcu++, bulk copies.
#include <algorithm>
#include <numeric>

#include "tests/cuda/cuda_text.h"

namespace ptx::emulator {
namespace {

class AsyncCopies : public CudaKernels {};

TEST_P(AsyncCopies, GroupsOfEveryWidth) {
  const uint32_t blocks = 3;
  const auto from = random_integers<int>(448 * blocks, -1000, 1000);
  const std::vector<float> floats(from.begin(), from.end());
  auto* to = zeros<float>(64 * blocks);
  launch("copies_by_group", {blocks}, {64}, upload(floats), to);
  for (uint32_t b = 0; b < blocks; ++b) {
    const float* mine = &floats[448 * b];
    for (int t = 0; t < 64; ++t) EXPECT_EQ(to[64 * b + t], mine[t] + mine[64 + t] + mine[447 - t]);
  }
}

TEST_P(AsyncCopies, ZerosBehindTheSource) {
  for (int n : {128, 127, 66, 5, 1}) {
    std::vector<float> from(n);
    std::iota(from.begin(), from.end(), 1.0f);
    auto* to = filled<float>(128, -1);
    launch("copies_with_zeros", {1}, {32}, upload(from), to, n);
    for (int i = 0; i < 128; ++i) EXPECT_EQ(to[i], i < n ? i + 1 : 0) << n;
  }
}

TEST_P(AsyncCopies, SplitArrival) {
  const int n = 128, rounds = 7;
  const auto from = random_integers<int>(n, -5, 5);
  auto* to = zeros<int>(n);
  launch("split_barrier", {1}, {n}, upload(from), to, rounds);
  auto want = from;
  for (int round = 0; round < rounds; ++round) {
    const auto before = want;
    for (int i = 0; i < n; ++i) want[i] = before[i] * 3 + before[(i + 1) % n];
  }
  EXPECT_EQ(download(to, n), want);
}

TEST_P(AsyncCopies, PipelineOfTwoStages) {
  const int tiles = 9;
  const auto from = random_integers<int>(128 * tiles, -1000, 1000);
  auto* to = zeros<int>(64);
  launch("pipelined_sum", {1}, {64}, upload(from), tiles, to);
  for (int t = 0; t < 64; ++t) {
    int sum = 0;
    for (int tile = 0; tile < tiles; ++tile) sum += from[128 * tile + (t + tile) % 128];
    EXPECT_EQ(to[t], sum) << t;
  }
}

TEST_P(AsyncCopies, PublishedByAnAtomicFlag) {
  const uint32_t blocks = 4, threads = 64;
  const std::vector<int> from = {5, 6, 7, 8};
  auto* to = zeros<int>(blocks * threads + 1);
  launch("publish", {blocks}, {threads}, upload(from), to);
  for (uint32_t i = 0; i < blocks * threads; ++i) EXPECT_EQ(to[i], 2 * from[i / threads] + int(i % threads));
  EXPECT_EQ(to[blocks * threads], 64 * 2 * (5 + 6 + 7 + 8));
}
INSTANTIATE_CUDA(AsyncCopies, "async_copies");

class BulkCopies : public CudaKernels {};

TEST_P(BulkCopies, InAndOut) {
  const auto from = random_integers<int>(1024, -100000, 100000);
  auto* to = zeros<int>(1024);
  launch("double_by_bulk", {4}, {256}, upload(from), to);
  for (int i = 0; i < 1024; ++i) ASSERT_EQ(to[i], 2 * from[i]) << i;
}

TEST_P(BulkCopies, RingOfBuffers) {
  for (int tiles : {1, 3, 4, 17}) {
    const auto from = random_integers<int>(128 * tiles, -1000, 1000);
    auto* sums = zeros<int>(128);
    launch("ring_of_buffers", {1}, {160}, upload(from), tiles, sums);
    for (int t = 0; t < 128; ++t) {
      int sum = 0;
      for (int tile = 0; tile < tiles; ++tile) sum += from[128 * tile + t];
      ASSERT_EQ(sums[t], sum) << t << " of " << tiles;
    }
  }
}
INSTANTIATE_CUDA(BulkCopies, "bulk_copies");

}  // namespace
}  // namespace ptx::emulator
