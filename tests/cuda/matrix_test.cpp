// Matrix products compiled by nvcc: tiles on ordinary cores, wmma and mma.sync on tensor cores. Tensor-core operands
// are small integers, so every sum is exact in every type and any wrong element shows.
#include <algorithm>
#include <cmath>

#include "tests/cuda/cuda_text.h"

namespace ptx::emulator {
namespace {

// c[m][n] = a[m][k] * b[k][n] + c, row-major, in double.
std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b, std::vector<double> c, int m,
                            int n, int k) {
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < n; ++column)
      for (int i = 0; i < k; ++i) c[row * n + column] += a[row * k + i] * b[i * n + column];
  return c;
}

struct Bfloat16 {  // the upper half of an f32, exact for the test values
  uint16_t bits = 0;
  Bfloat16() = default;
  explicit Bfloat16(double value) {
    const float f = static_cast<float>(value);
    uint32_t word;
    std::memcpy(&word, &f, 4);
    bits = static_cast<uint16_t>(word >> 16);
  }
  operator double() const {
    const uint32_t word = uint32_t{bits} << 16;
    float f;
    std::memcpy(&f, &word, 4);
    return f;
  }
};

template <class T>
std::vector<T> cast_all(const std::vector<double>& values) {
  std::vector<T> cast;
  for (double v : values) cast.push_back(static_cast<T>(v));
  return cast;
}

std::vector<double> small_integers(size_t count, int min, int greatest, unsigned seed) {
  return as_doubles(random_integers<int>(count, min, greatest, seed));
}

class MatmulTiled : public CudaKernels {};

TEST_P(MatmulTiled, FloatAndDoubleWithRaggedEdges) {
  const int m = 37, n = 50, k = 21;
  const auto a = random_floats(m * k, -1, 1, 1), b = random_floats(k * n, -1, 1, 2);
  const auto want = product(as_doubles(a), as_doubles(b), std::vector<double>(m * n), m, n, k);
  auto* single = zeros<float>(m * n);
  launch("matmul_f32", {4, 3}, {16, 16}, upload(a), upload(b), single, m, n, k);
  expect_close("float", as_doubles(download(single, m * n)), want, 21 * 0x1p-23, 0);  // 21 steps of sums below 4
  auto* twofold = zeros<double>(m * n);
  launch("matmul_f64", {4, 3}, {16, 16}, upload(as_doubles(a)), upload(as_doubles(b)), twofold, m, n, k);
  expect_close("double", download(twofold, m * n), want, 21 * 0x1p-52, 0);
}

TEST_P(MatmulTiled, RegisterTilesWithWideLoads) {
  const int m = 128, n = 64, k = 48;
  const auto a = random_floats(m * k, -1, 1, 1), b = random_floats(k * n, -1, 1, 2);
  auto* c = zeros<float>(m * n);
  launch("matmul_f32_registers", {1, 2}, {256}, upload(a), upload(b), c, n, k);
  expect_close("c", as_doubles(download(c, m * n)),
               product(as_doubles(a), as_doubles(b), std::vector<double>(m * n), m, n, k), 48 * 0x1p-23, 0);
}
INSTANTIATE_CUDA(MatmulTiled, "matmul_tiled");

// Copies a row-major [rows, columns] matrix to row- or column-major order with rows padded to `stride` elements.
std::vector<double> in_order(const std::vector<double>& matrix, int rows, int columns, bool by_rows, int stride) {
  std::vector<double> copy((by_rows ? rows : columns) * stride, -99);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) copy[by_rows ? r * stride + c : c * stride + r] = matrix[r * columns + c];
  return copy;
}

class MatmulWmma : public CudaKernels {
 protected:
  // Multiplies [2 m, 3 k] by [3 k, 2 n] matrices in m x n x k tiles; orders is "rcr" for a by rows, b by columns, ...
  template <class T, class Sum>
  void expect_product(const std::string& name, int m, int n, int k, const std::string& orders, int min) {
    const std::string kernel =
        name + "_" + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) + "_" + orders;
    const int rows = 2 * m, columns = 2 * n, depth = 3 * k;
    const auto a = small_integers(rows * depth, min, 5, 1), b = small_integers(depth * columns, min, 5, 2);
    const auto c = small_integers(rows * columns, -9, 9, 3);
    const bool a_rows = orders[0] == 'r', b_rows = orders[1] == 'r', c_rows = orders[2] == 'r';
    const int lda = (a_rows ? depth : rows) + 16, ldb = (b_rows ? columns : depth) + 16;
    const int ldc = (c_rows ? columns : rows) + 8;
    auto* sums = upload(cast_all<Sum>(in_order(c, rows, columns, c_rows, ldc)));
    launch(kernel.c_str(), {2, 2}, {32}, upload(cast_all<T>(in_order(a, rows, depth, a_rows, lda))),
           upload(cast_all<T>(in_order(b, depth, columns, b_rows, ldb))), sums, lda, ldb, ldc, depth);
    const auto want = in_order(product(a, b, c, rows, columns, depth), rows, columns, c_rows, ldc);
    expect_close(kernel, as_doubles(download(sums, want.size())), want, 0, 0);
  }
  template <class T, class Sum>
  void expect_shapes(const std::string& name, int min) {
    for (const char* orders : {"rrr", "rcr", "crc", "ccc"}) expect_product<T, Sum>(name, 16, 16, 16, orders, min);
    for (const char* orders : {"rcr", "crc"}) {
      expect_product<T, Sum>(name, 32, 8, 16, orders, min);
      expect_product<T, Sum>(name, 8, 32, 16, orders, min);
    }
  }
};

TEST_P(MatmulWmma, HalfWithFloatSums) { expect_shapes<_Float16, float>("wmma_f16_f32", -5); }
TEST_P(MatmulWmma, HalfWithHalfSums) { expect_shapes<_Float16, _Float16>("wmma_f16_f16", -5); }
TEST_P(MatmulWmma, SignedBytes) { expect_shapes<int8_t, int>("wmma_s8", -5); }
TEST_P(MatmulWmma, UnsignedBytes) { expect_shapes<uint8_t, int>("wmma_u8", 0); }
class MatmulWmmaOfSm80 : public MatmulWmma {};

TEST_P(MatmulWmmaOfSm80, Bfloat) { expect_shapes<Bfloat16, float>("wmma_bf16", -5); }
TEST_P(MatmulWmmaOfSm80, Tf32AndDouble) {
  for (const char* orders : {"rrr", "rcr", "crc", "ccc"}) {
    expect_product<float, float>("wmma_tf32", 16, 16, 8, orders, -5);
    expect_product<double, double>("wmma_f64", 8, 8, 4, orders, -5);
  }
}

TEST_P(MatmulWmma, EpilogueOnFragments) {
  const int k = 48;
  const auto a = small_integers(16 * k, -4, 4, 1), b = small_integers(k * 16, -4, 4, 2);
  auto* c = zeros<float>(256);
  launch("wmma_epilogue", {1}, {32}, upload(cast_all<_Float16>(a)), upload(cast_all<_Float16>(b)), c, k, 0.5f);
  auto want = product(a, b, std::vector<double>(256), 16, 16, k);
  for (double& value : want) value = std::max(0.5 * value, 0.0);
  expect_close("c", as_doubles(download(c, 256)), want, 0, 0);
}

TEST_P(MatmulWmma, SaturatingBytes) {
  const int k = 32;
  auto a = small_integers(16 * k, -128, 127, 1);  // [16, k]
  const auto by_columns = small_integers(16 * k, -128, 127, 2);
  std::vector<double> b(k * 16), c(256);
  for (int column = 0; column < 16; ++column)
    for (int i = 0; i < k; ++i) b[i * 16 + column] = by_columns[column * k + i];
  for (int i = 0; i < 256; ++i) c[i] = i % 3 ? (i % 2 ? INT32_MAX - 100 : INT32_MIN + 100) : i;
  auto* sums = upload(cast_all<int>(c));
  launch("wmma_s8_saturating", {1}, {32}, upload(cast_all<int8_t>(a)), upload(cast_all<int8_t>(by_columns)), sums, k);
  for (int part = 0; part < k; part += 16) {  // each instruction clamps
    for (int row = 0; row < 16; ++row)
      for (int column = 0; column < 16; ++column) {
        double& sum = c[row * 16 + column];
        for (int i = part; i < part + 16; ++i) sum += a[row * k + i] * b[i * 16 + column];
        sum = std::clamp(sum, double{INT32_MIN}, double{INT32_MAX});
      }
  }
  expect_close("sums", as_doubles(download(sums, 256)), c, 0, 0);
}
INSTANTIATE_CUDA(MatmulWmma, "matmul_wmma");
INSTANTIATE_CUDA_FOR(MatmulWmmaOfSm80, "matmul_wmma", from_sm_80);

class MatmulMma : public CudaKernels {
 protected:
  template <class T, class Sum, class TypeB = T>
  void expect_product(const char* kernel, int m, int k, int min, int greatest) {
    const auto a = small_integers(m * k, min, greatest, 1);
    const auto b = small_integers(k * 8, std::is_unsigned_v<TypeB> ? 0 : min, greatest, 2);
    const auto c = small_integers(m * 8, -9, 9, 3);
    auto* sums = upload(cast_all<Sum>(c));
    launch(kernel, {1}, {32}, upload(cast_all<T>(a)), upload(cast_all<TypeB>(b)), sums);
    expect_close(kernel, as_doubles(download(sums, m * 8)), product(a, b, c, m, 8, k), 0, 0);
  }
  template <class T>
  void expect_saturation(const char* kernel, int m, int k) {
    const std::vector<double> a(m * k, 127), b(k * 8, 127), minus_b(k * 8, -128);
    for (bool positive : {true, false}) {
      auto* sums = filled<int>(m * 8, positive ? INT32_MAX - 1000 : INT32_MIN + 1000);
      launch(kernel, {1}, {32}, upload(cast_all<T>(a)), upload(cast_all<T>(positive ? b : minus_b)), sums);
      EXPECT_EQ(download(sums, m * 8), std::vector<int>(m * 8, positive ? INT32_MAX : INT32_MIN)) << kernel;
    }
  }
};

TEST_P(MatmulMma, ShapesOfSm75) {
  expect_product<_Float16, float>("mma_f16_f32_k8", 16, 8, -20, 20);
  expect_product<_Float16, _Float16>("mma_f16_f16_k8", 16, 8, -10, 10);
  expect_product<int8_t, int>("mma_s8_m8_k16", 8, 16, -128, 127);
  expect_product<uint8_t, int>("mma_u8_m8_k16", 8, 16, 0, 255);
  expect_saturation<int8_t>("mma_s8_m8_k16_sat", 8, 16);
}

class MatmulMmaOfSm80 : public MatmulMma {};

TEST_P(MatmulMmaOfSm80, ShapesOfSm80) {
  expect_product<_Float16, float>("mma_f16_f32_k16", 16, 16, -20, 20);
  expect_product<_Float16, _Float16>("mma_f16_f16_k16", 16, 16, -8, 8);
  expect_product<Bfloat16, float>("mma_bf16_k8", 16, 8, -20, 20);
  expect_product<Bfloat16, float>("mma_bf16_k16", 16, 16, -20, 20);
  expect_product<float, float>("mma_tf32_k4", 16, 4, -500, 500);
  expect_product<float, float>("mma_tf32_k8", 16, 8, -500, 500);
  expect_product<double, double>("mma_f64_k4", 8, 4, -100000, 100000);
  expect_product<int8_t, int>("mma_s8_k16", 16, 16, -128, 127);
  expect_product<int8_t, int>("mma_s8_k32", 16, 32, -128, 127);
  expect_product<uint8_t, int>("mma_u8_k32", 16, 32, 0, 255);
  expect_product<int8_t, int, uint8_t>("mma_s8_u8_k32", 16, 32, -128, 127);
  expect_saturation<int8_t>("mma_s8_k32_sat", 16, 32);
}

TEST_P(MatmulMma, HalvesThatAreNoIntegers) {
  const auto a = random_floats(16 * 8, -1, 1, 1), b = random_floats(8 * 8, -1, 1, 2),
             c = random_floats(16 * 8, -1, 1, 3);
  const auto half_a = cast_all<_Float16>(as_doubles(a)), half_b = cast_all<_Float16>(as_doubles(b));
  auto* sums = upload(c);
  launch("mma_f16_f32_k8", {1}, {32}, upload(half_a), upload(half_b), sums);
  // Products are exact in f32. A device aligns terms and truncates, each by at most 2^-23 of the largest.
  expect_close("sums", as_doubles(download(sums, 128)),
               product(as_doubles(half_a), as_doubles(half_b), as_doubles(c), 16, 8, 8), 9 * 0x1p-22, 0);
}

TEST_P(MatmulMma, FragmentsByLdmatrix) {
  const auto a = small_integers(256, -20, 20, 1), b = small_integers(128, -20, 20, 2),
             c = small_integers(128, -9, 9, 3);
  auto* sums = upload(cast_all<float>(c));
  launch("mma_from_ldmatrix", {1}, {32}, upload(cast_all<_Float16>(a)), upload(cast_all<_Float16>(b)), sums);
  expect_close("sums", as_doubles(download(sums, 128)), product(a, b, c, 16, 8, 16), 0, 0);
  std::vector<uint16_t> matrix(64);
  for (int i = 0; i < 64; ++i) matrix[i] = static_cast<uint16_t>(i / 8 * 256 + i % 8);  // row and column
  auto* lanes = zeros<uint32_t>(64);
  launch("ldmatrix_single", {1}, {32}, upload(matrix), lanes);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t row = lane / 4, column = lane % 4 * 2;
    EXPECT_EQ(lanes[lane], (row << 8 | column) | (row << 8 | (column + 1)) << 16) << lane;
    EXPECT_EQ(lanes[32 + lane], (column << 8 | row) | ((column + 1) << 8 | row) << 16) << lane;
  }
}
INSTANTIATE_CUDA(MatmulMma, "matmul_mma");
INSTANTIATE_CUDA_FOR(MatmulMmaOfSm80, "matmul_mma", from_sm_80);

}  // namespace
}  // namespace ptx::emulator
