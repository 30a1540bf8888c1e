// Atomics compiled by nvcc: every operation and type, in global and shared memory, with and without the old value.
#include <algorithm>
#include <functional>

#include "tests/cuda/cuda_text.h"

namespace ptx::emulator {
namespace {

constexpr int kN = 500, kCells = 7;  // two blocks of 256 threads, ragged; lanes of one warp share cells
constexpr Dim3 kGrid{2}, kBlock{256};

// The value after the operations of all threads in order, for operations whose order does not matter.
template <class T>
using Fold = std::function<T(T cell, T operand)>;

class Atomics : public CudaKernels {
 protected:
  // Checks the cells' last values. Then checks that the old values fit some order: each chain of one cell's operations,
  // sorted by the values found, must reproduce itself.
  template <class T>
  void expect_fold(const std::string& operation, const std::vector<T>& operands, T initial, const Fold<T>& fold) {
    auto *cells = filled<T>(kCells, initial), *old = zeros<T>(kN);
    const bool of_block = operation.find("_block_") != std::string::npos;  // atomic only within a block
    launch(operation.c_str(), of_block ? Dim3{1} : kGrid, of_block ? Dim3{512} : kBlock, cells, kCells,
           upload(operands), old, kN);
    std::vector<T> want(kCells, initial);
    for (int i = 0; i < kN; ++i) want[i % kCells] = fold(want[i % kCells], operands[i]);
    EXPECT_EQ(download(cells, kCells), want) << operation;
    for (int cell = 0; cell < kCells; ++cell) expect_chain(operation, operands, old, cell, initial, want[cell], fold);
  }
  // The multiset of values found, plus the last value, equals the initial value plus the values written.
  template <class T>
  static void expect_chain(const std::string& operation, const std::vector<T>& operands, const T* old, int cell,
                           T initial, T last, const Fold<T>& fold) {
    std::vector<T> found = {last}, made = {initial};
    for (int i = cell; i < kN; i += kCells) {
      found.push_back(old[i]);
      made.push_back(fold(old[i], operands[i]));
    }
    std::sort(found.begin(), found.end());
    std::sort(made.begin(), made.end());
    EXPECT_EQ(found, made) << operation << " cell " << cell;
  }
  template <class T>
  void expect_unused(const std::string& operation, const std::vector<T>& operands, T initial, const Fold<T>& fold) {
    auto* cells = filled<T>(kCells, initial);
    launch((operation + "_unused").c_str(), kGrid, kBlock, cells, kCells, upload(operands), kN);
    std::vector<T> want(kCells, initial);
    for (int i = 0; i < kN; ++i) want[i % kCells] = fold(want[i % kCells], operands[i]);
    EXPECT_EQ(download(cells, kCells), want) << operation;
  }
};

std::vector<uint32_t> words() { return random_integers<uint32_t>(kN, 0, UINT32_MAX); }
std::vector<int> signed_words() { return random_integers<int>(kN, INT32_MIN, INT32_MAX); }
std::vector<uint64_t> wide_words() {
  const auto halves = random_integers<int64_t>(kN, INT64_MIN, INT64_MAX, 5);
  return {halves.begin(), halves.end()};
}
template <class T>
std::vector<T> quarters() {  // their sums are exact in float
  std::vector<T> values;
  for (int v : random_integers<int>(kN, -1000, 1000)) values.push_back(static_cast<T>(v / 4.0));
  return values;
}

template <class T>
Fold<T> sum() {
  return [](T cell, T operand) { return static_cast<T>(cell + operand); };
}
template <class T>
T wrapped_sum(T a, T b) {
  return static_cast<T>(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b));
}
template <class T>
T min(T a, T b) {
  return std::min(a, b);
}
template <class T>
T greatest(T a, T b) {
  return std::max(a, b);
}

TEST_P(Atomics, Sums) {
  expect_fold<int>("atomicAdd_s32", signed_words(), -5, wrapped_sum<int>);
  expect_fold<uint32_t>("atomicAdd_u32", words(), 5, sum<uint32_t>());
  expect_fold<uint64_t>("atomicAdd_u64", wide_words(), 5, sum<uint64_t>());
  expect_fold<float>("atomicAdd_f32", quarters<float>(), 0.5f, sum<float>());
  expect_fold<double>("atomicAdd_f64", quarters<double>(), 0.5, sum<double>());
  expect_fold<int>("atomicSub_s32", signed_words(), 7, [](int a, int b) { return int(uint32_t(a) - uint32_t(b)); });
  expect_fold<uint32_t>("atomicSub_u32", words(), 7, [](uint32_t a, uint32_t b) { return a - b; });
  expect_fold<uint32_t>("atomicAdd_block_u32", words(), 5, sum<uint32_t>());
  expect_fold<uint64_t>("atomicAdd_system_u64", wide_words(), 5, sum<uint64_t>());
  expect_fold<float>("atomicAdd_system_f32", quarters<float>(), 0.5f, sum<float>());
}

TEST_P(Atomics, Extremes) {
  expect_fold<int>("atomicMin_s32", signed_words(), 0, min<int>);
  expect_fold<uint32_t>("atomicMin_u32", words(), UINT32_MAX, min<uint32_t>);
  expect_fold<uint64_t>("atomicMin_u64", wide_words(), UINT64_MAX, min<uint64_t>);
  expect_fold<int64_t>("atomicMin_s64", random_integers<int64_t>(kN, INT64_MIN, INT64_MAX), 0, min<int64_t>);
  expect_fold<int>("atomicMax_s32", signed_words(), 0, greatest<int>);
  expect_fold<uint32_t>("atomicMax_u32", words(), 0, greatest<uint32_t>);
  expect_fold<uint64_t>("atomicMax_u64", wide_words(), 0, greatest<uint64_t>);
  expect_fold<int64_t>("atomicMax_s64", random_integers<int64_t>(kN, INT64_MIN, INT64_MAX), 0, greatest<int64_t>);
  expect_fold<int>("atomicMax_system_s32", signed_words(), 0, greatest<int>);
}

TEST_P(Atomics, Bits) {
  expect_fold<uint32_t>("atomicAnd_u32", words(), UINT32_MAX, std::bit_and<uint32_t>());
  expect_fold<uint64_t>("atomicAnd_u64", wide_words(), UINT64_MAX, std::bit_and<uint64_t>());
  expect_fold<uint32_t>("atomicOr_u32", words(), 0, std::bit_or<uint32_t>());
  expect_fold<uint64_t>("atomicOr_u64", wide_words(), 0, std::bit_or<uint64_t>());
  expect_fold<uint32_t>("atomicXor_u32", words(), 1, std::bit_xor<uint32_t>());
  expect_fold<uint64_t>("atomicXor_u64", wide_words(), 1, std::bit_xor<uint64_t>());
  expect_fold<uint32_t>("atomicOr_block_u32", words(), 0, std::bit_or<uint32_t>());
}

TEST_P(Atomics, CountersThatWrap) {
  const std::vector<uint32_t> limits(kN, 10);
  const auto up = [](uint32_t a, uint32_t limit) { return a >= limit ? 0 : a + 1; };
  const auto down = [](uint32_t a, uint32_t limit) { return a == 0 || a > limit ? limit : a - 1; };
  expect_fold<uint32_t>("atomicInc_u32", limits, 3, up);
  expect_fold<uint32_t>("atomicInc_u32", limits, 99, up);  // starts above the limit
  expect_fold<uint32_t>("atomicDec_u32", limits, 3, down);
  expect_fold<uint32_t>("atomicDec_u32", limits, 99, down);
}

TEST_P(Atomics, ExchangesLoseNothing) {
  const auto run = [&](const std::string& kernel, const auto& operands) {
    using T = typename std::decay_t<decltype(operands)>::value_type;
    auto *cells = filled<T>(kCells, T(1)), *old = zeros<T>(kN);
    launch(kernel.c_str(), kGrid, kBlock, cells, kCells, upload(operands), old, kN);
    for (int cell = 0; cell < kCells; ++cell)
      expect_chain<T>(kernel, operands, old, cell, 1, cells[cell], [](T, T operand) { return operand; });
  };
  run("atomicExch_u32", words());
  run("atomicExch_u64", wide_words());
  run("atomicExch_f32", quarters<float>());
}

TEST_P(Atomics, WithoutTheOldValue) {
  expect_unused<uint32_t>("atomicAdd_u32", words(), 5, sum<uint32_t>());
  expect_unused<uint64_t>("atomicAdd_u64", wide_words(), 5, sum<uint64_t>());
  expect_unused<float>("atomicAdd_f32", quarters<float>(), 0, sum<float>());
  expect_unused<double>("atomicAdd_f64", quarters<double>(), 0, sum<double>());
  expect_unused<int>("atomicMin_s32", signed_words(), 0, min<int>);
  expect_unused<uint64_t>("atomicMax_u64", wide_words(), 0, greatest<uint64_t>);
  expect_unused<uint32_t>("atomicAnd_u32", words(), UINT32_MAX, std::bit_and<uint32_t>());
  expect_unused<uint32_t>("atomicXor_u32", words(), 0, std::bit_xor<uint32_t>());
  expect_unused<uint32_t>("atomicInc_u32", std::vector<uint32_t>(kN, 10), 3,
                          [](uint32_t a, uint32_t limit) { return a >= limit ? 0 : a + 1; });
}

// f16 holds integers up to 2048 exactly, bf16 up to 256: operands of -1, 0 and 1 keep within both.
TEST_P(Atomics, HalvesAndPairs) {
  const auto steps = random_integers<int>(kN, -1, 1);
  const auto run = [&](const char* kernel, auto bits_of, bool pairs, bool keeps_old) {
    std::vector<uint16_t> operands;
    for (int i = 0; i < kN; ++i) {
      operands.push_back(bits_of(steps[i]));
      if (pairs) operands.push_back(bits_of(2 * steps[(i + 1) % kN]));
    }
    const int per = pairs ? 2 : 1;
    auto *cells = zeros<uint16_t>(kCells * per), *old = zeros<uint16_t>(kN * per);
    if (keeps_old) {
      launch(kernel, kGrid, kBlock, cells, kCells, upload(operands), old, kN);
    } else {
      launch(kernel, kGrid, kBlock, cells, kCells, upload(operands), kN);
    }
    std::vector<int> want(kCells * per);
    for (int i = 0; i < kN; ++i) {
      want[i % kCells * per] += steps[i];
      if (pairs) want[i % kCells * per + 1] += 2 * steps[(i + 1) % kN];
    }
    for (int i = 0; i < kCells * per; ++i) EXPECT_EQ(cells[i], bits_of(want[i])) << kernel << " " << i;
  };
  const auto half = [](int value) {
    const _Float16 h = static_cast<_Float16>(value);
    uint16_t bits;
    std::memcpy(&bits, &h, 2);
    return bits;
  };
  const auto bfloat = [](int value) {
    const float f = static_cast<float>(value);
    uint32_t bits;
    std::memcpy(&bits, &f, 4);
    return static_cast<uint16_t>(bits >> 16);
  };
  run("atomicAdd_f16", half, false, true);
  run("atomicAdd_f16x2", half, true, true);
  // Below sm_90, the headers begin bf16's compare-and-swap loop with an ordinary load, which is a race.
  if (target() >= 90 || GetParam().mode != Mode::kChecked) {
    run("atomicAdd_bf16", bfloat, false, true);
    run("atomicAdd_bf16x2", bfloat, true, true);
  }
  run("atomicAdd_f16x2_unused", half, true, false);
}

class AtomicsOfSm90 : public Atomics {};

TEST_P(AtomicsOfSm90, VectorsAndWideWordsOfSm90) {
  for (int width : {2, 4}) {
    const auto operands = quarters<float>();
    auto *cells = zeros<float>(kCells * width), *old = zeros<float>(kN * width);
    const int n = kN / width;
    launch(width == 2 ? "atomicAdd_float2" : "atomicAdd_float4", kGrid, kBlock, cells, kCells, upload(operands), old,
           n);
    std::vector<float> want(kCells * width);
    for (int i = 0; i < n * width; ++i) want[i / width % kCells * width + i % width] += operands[i];
    EXPECT_EQ(download(cells, want.size()), want) << width;
  }
  using Wide = std::pair<uint64_t, uint64_t>;
  std::vector<Wide> operands;
  for (uint64_t word : wide_words()) operands.push_back({word, ~word});
  auto *cells = filled<Wide>(kCells, {1, 1}), *old = zeros<Wide>(kN);
  void* aligned = cells;
  launch("atomicExch_b128", kGrid, kBlock, aligned, kCells, upload(operands), old, kN);
  for (int cell = 0; cell < kCells; ++cell)
    expect_chain<Wide>("atomicExch_b128", operands, old, cell, {1, 1}, cells[cell], [](Wide, Wide v) { return v; });
}

TEST_P(Atomics, CompareAndSwapLoops) {
  const auto run = [&](const char* kernel, auto zero) {
    using T = decltype(zero);
    std::vector<T> operands;
    for (uint64_t word : wide_words()) operands.push_back(static_cast<T>(word | 1));
    auto* cells = filled<T>(kCells, T(3));
    launch(kernel, kGrid, kBlock, cells, kCells, upload(operands), kN);
    std::vector<T> want(kCells, 3);
    for (int i = 0; i < kN; ++i) want[i % kCells] = static_cast<T>(uint64_t{want[i % kCells]} * operands[i]);
    EXPECT_EQ(download(cells, kCells), want) << kernel;
  };
  run("multiply_u16", uint16_t{});
  run("multiply_u32", uint32_t{});
  run("multiply_u64", uint64_t{});
}

TEST_P(Atomics, HistogramThroughSharedMemory) {
  const int n = 3000;
  const auto bytes = random_integers<uint8_t>(n, 0, 200);
  auto* bins = zeros<unsigned>(256);
  launch("histogram", {3}, {128}, upload(bytes), n, bins);
  std::vector<unsigned> want(256);
  for (uint8_t byte : bytes) ++want[byte];
  EXPECT_EQ(download(bins, 256), want);
}

TEST_P(Atomics, SharedMemoryOfEveryType) {
  const auto operands = random_integers<int>(192, 1, 100000);
  auto* results = zeros<int>(3);
  auto* total = zeros<double>(1);
  auto* wide_min = zeros<uint64_t>(1);
  launch("shared_atomics", {1}, {192}, upload(operands), results, total, wide_min);
  int sum = 0;
  unsigned bits = 0;
  for (int v : operands) sum += v, bits |= 1u << (v & 31);
  EXPECT_EQ(results[0], sum);
  EXPECT_EQ(results[1], *std::max_element(operands.begin(), operands.end()));
  EXPECT_EQ(unsigned(results[2]), bits);
  EXPECT_EQ(*total, sum * 0.5);
  EXPECT_EQ(*wide_min, 3ull * *std::min_element(operands.begin(), operands.end()));
}

TEST_P(Atomics, GenericAddresses) {
  auto* cells = zeros<unsigned>(8);
  launch("generic_atomics", {1}, {64}, cells);
  std::vector<unsigned> want(8);
  for (unsigned t = 0; t < 64; ++t) want[t % 2 * 4 + t / 2 % 4] += t;
  EXPECT_EQ(download(cells, 8), want);
}
INSTANTIATE_CUDA(Atomics, "atomics");
INSTANTIATE_CUDA_FOR(AtomicsOfSm90, "atomics", from_sm_90);

}  // namespace
}  // namespace ptx::emulator
