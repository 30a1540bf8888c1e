// Products of packed matrices against double arithmetic on the same weights: every format, every instruction set of
// this machine, and shapes with partial groups, tiles and input blocks.
#include "engine/cpu/products.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "engine/cpu/thread_pool.h"
#include "engine/file_mappings.h"
#include "models/kernel_type.h"
#include "tests/engine/cpu_problems.h"

namespace warpchat {
namespace {

const FileMappings kNoFiles;  // no matrix of the tests lies in a file

struct Shape {
  const char* name;
  uint32_t rows, k, columns;
};

constexpr Shape kShapes[] = {
    {"one_column", 24, 512, 1},
    {"ragged_rows", 37, 256, 1},           // the last group is padded with empty rows
    {"fewer_rows_than_lanes", 3, 512, 2},  // one group, mostly padding
    {"full_tile", 32, 256, 8},             // for the widest instruction set
    {"tile_and_one_column", 32, 256, 9},   // the last tile has one column
    {"narrow_last_tile", 19, 512, 11},     // a tile of three columns
    {"several_tiles_of_every_kind", 24, 256, 31},
    {"short_last_input_block", 33, 544, 6},      // 544 = 2 * 256 + 32: only formats with blocks of 32
    {"less_than_an_input_block", 16, 96, 5},     // only formats with blocks of 32
    {"k_no_multiple_of_32", 21, 77, 7},          // only F32, F16 and BF16
    {"narrow_tile_of_short_blocks", 9, 800, 3},  // only formats with blocks of 32
    {"two_last_columns", 19, 800, 10},           // only formats with blocks of 32
    {"more_columns_than_at_once", 3, 512, 277},
    {"several_stretches", 17, 1280, 17},  // AVX-512 needs two full tiles to work in stretches
};

constexpr Shape kWideShapes[] = {
    {"wide_tiles", 33, 544, 37},          // two tiles of 16 columns and five more; only formats with blocks of 32
    {"unfilled_wide_tile", 48, 512, 29},  // the second tile has 13 columns
};

struct ProductCase {
  TensorType type;
  Shape shape;
  const CpuKernels* kernels;
};

std::vector<ProductCase> all_cases() {
  std::vector<ProductCase> cases;
  for (const TensorTypeTraits& format : supported_tensor_types()) {
    const auto add = [&](const Shape& shape, bool is_wide) {
      for (const CpuKernels* kernels : product_kernels()) {
        // Fewer than 8 columns never use a wide tile; their kernels have cases of their own.
        const bool has_wide = kernels->wide_columns > 0;
        if (shape.k % format.block_weights != 0 || (is_wide ? !has_wide : has_wide && shape.columns < 8)) continue;
        cases.push_back({format.type, shape, kernels});
      }
    };
    for (const Shape& shape : kShapes) add(shape, false);
    for (const Shape& shape : kWideShapes) add(shape, true);
  }
  return cases;
}

class Products : public testing::TestWithParam<ProductCase> {
 protected:
  // Packs the matrix and multiplies. Initial contents of `out` matter for Epilogue::kAdd.
  std::vector<float> multiply(const RandomMatrix& m, std::vector<float> x, std::vector<float> out, Product product,
                              const RandomMatrix* gate = nullptr, const float* gain = nullptr) {
    const Shape& s = GetParam().shape;
    const CpuKernels& kernels = *GetParam().kernels;
    ThreadPool pool(2);
    Arena arena(4 << 20, "weights");
    const PackedMatrix matrix(pool, kernels, m.tensor, kNoFiles, arena);
    const PackedMatrix packed_gate = gate ? PackedMatrix(pool, kernels, gate->tensor, kNoFiles, arena) : PackedMatrix();
    ProductRunner runner(pool, kernels, s.columns, s.k);
    const size_t guard = out.size();
    out.resize(guard + 16, kPoison);
    product.matrix = &matrix;
    product.gate = gate ? &packed_gate : nullptr;
    product.out = out.data();
    runner.run({x.data(), s.columns, s.k, gain, 1e-5f}, {&product, 1});
    for (size_t i = guard; i < out.size(); ++i) EXPECT_EQ(out[i], kPoison) << "written past the end";
    out.resize(guard);
    return out;
  }

  // [columns, rows] in double
  static std::vector<double> reference(const RandomMatrix& m, std::span<const float> x) {
    const Shape& s = GetParam().shape;
    std::vector<double> out(size_t{s.columns} * s.rows);
    for (uint32_t c = 0; c < s.columns; ++c)
      for (uint32_t r = 0; r < s.rows; ++r)
        for (uint32_t i = 0; i < s.k; ++i)
          out[size_t{c} * s.rows + r] += m.weights[size_t{r} * s.k + i] * x[size_t{c} * s.k + i];
    return out;
  }

  static constexpr float kPoison = 12345.0f;
  // An outlier of 200 leaves steps of 200 / 32,512 in its block of 128. That is 1e-4 of the output's norm if the other
  // weights are as large as the outlier's; small matrices can have more.
  static constexpr double kAllowed = 5e-4;
};

TEST_P(Products, MatchDouble) {
  const Shape& s = GetParam().shape;
  const RandomMatrix& m = random_matrix(GetParam().type, s.rows, s.k, /*seed=*/1);
  const std::vector<float> x = outlier_floats(s.columns, s.k, /*seed=*/2);
  const std::vector<float> got = multiply(m, x, std::vector<float>(size_t{s.columns} * s.rows, NAN), {});
  EXPECT_LE(relative_error(got, reference(m, x)), kAllowed);
}

TEST_P(Products, AreNearlyExactWithoutOutliers) {
  const Shape& s = GetParam().shape;
  std::vector<float> x = normal_floats(size_t{s.columns} * s.k, /*seed=*/3);
  const RandomMatrix& m = random_matrix(GetParam().type, s.rows, s.k, /*seed=*/4);
  std::vector<double> expected = reference(m, x);
  const std::vector<float> got = multiply(m, x, std::vector<float>(expected.size(), NAN), {});
  EXPECT_LE(relative_error(got, expected),
            5e-5);  // without an outlier, 16 bits give 4e-5 of a block's largest value
}

TEST_P(Products, AddBiasAndAddToTheOutput) {
  const Shape& s = GetParam().shape;
  const RandomMatrix& m = random_matrix(GetParam().type, s.rows, s.k, /*seed=*/5);
  const std::vector<float> x = outlier_floats(s.columns, s.k, /*seed=*/6), bias = normal_floats(s.rows, /*seed=*/7);
  const std::vector<float> before = normal_floats(size_t{s.columns} * s.rows, /*seed=*/8);
  std::vector<double> biased = reference(m, x), added = biased;
  for (size_t i = 0; i < added.size(); ++i) added[i] += before[i], biased[i] += bias[i % s.rows];
  std::vector<double> both = added;
  for (size_t i = 0; i < both.size(); ++i) both[i] += bias[i % s.rows];
  Product store, add, add_both;
  store.bias = add_both.bias = bias.data();
  add.epilogue = add_both.epilogue = Epilogue::kAdd;
  EXPECT_LE(relative_error(multiply(m, x, std::vector<float>(biased.size(), NAN), store), biased), kAllowed);
  EXPECT_LE(relative_error(multiply(m, x, before, add), added), kAllowed);
  EXPECT_LE(relative_error(multiply(m, x, before, add_both), both), kAllowed);
}

TEST_P(Products, NormaliseTheInput) {
  const Shape& s = GetParam().shape;
  const RandomMatrix& m = random_matrix(GetParam().type, s.rows, s.k, /*seed=*/9);
  const std::vector<float> x = outlier_floats(s.columns, s.k, /*seed=*/10), gain = normal_floats(s.k, /*seed=*/11);
  std::vector<float> normed = x;
  for (uint32_t c = 0; c < s.columns; ++c) {
    double squares = 0;
    for (uint32_t i = 0; i < s.k; ++i) squares += double{x[size_t{c} * s.k + i]} * x[size_t{c} * s.k + i];
    for (uint32_t i = 0; i < s.k; ++i)
      normed[size_t{c} * s.k + i] =
          static_cast<float>(x[size_t{c} * s.k + i] / std::sqrt(squares / s.k + 1e-5) * gain[i]);
  }
  const std::vector<double> expected = reference(m, normed);
  const std::vector<float> got = multiply(m, x, std::vector<float>(expected.size(), NAN), {}, nullptr, gain.data());
  EXPECT_LE(relative_error(got, expected), kAllowed);
}

TEST_P(Products, GateWithSilu) {
  const Shape& s = GetParam().shape;
  const RandomMatrix& up = random_matrix(GetParam().type, s.rows, s.k, /*seed=*/12);
  const RandomMatrix& gate = random_matrix(TensorType::kF16, s.rows, s.k, /*seed=*/13);
  for (const float size : {0.3f, 20.0f}) {  // exp of large gates overflows a float
    std::vector<float> x = normal_floats(size_t{s.columns} * s.k, /*seed=*/14);
    for (float& v : x) v *= size;
    std::vector<double> expected = reference(up, x);
    const std::vector<double> gates = reference(gate, x);
    for (size_t i = 0; i < expected.size(); ++i) expected[i] *= gates[i] / (1 + std::exp(-gates[i]));
    const std::vector<float> got = multiply(up, x, std::vector<float>(expected.size(), NAN), {}, &gate);
    EXPECT_LE(relative_error(got, expected), 3e-4) << size;  // of six outputs, the one with a large gate may be small
  }
}

TEST_P(Products, GateWithSiluOfBiasedProducts) {
  const Shape& s = GetParam().shape;
  const RandomMatrix& up = random_matrix(GetParam().type, s.rows, s.k, /*seed=*/12);
  const RandomMatrix& gate = random_matrix(TensorType::kF16, s.rows, s.k, /*seed=*/13);
  std::vector<float> x = normal_floats(size_t{s.columns} * s.k, /*seed=*/14);
  for (float& v : x) v *= 0.3f;
  const std::vector<float> bias = normal_floats(s.rows, /*seed=*/15), gate_bias = normal_floats(s.rows, /*seed=*/16);
  const std::vector<double> ups = reference(up, x), gates = reference(gate, x);
  for (const bool has_up : {true, false})
    for (const bool has_gate : {true, false}) {
      std::vector<double> expected = ups;
      for (size_t i = 0; i < expected.size(); ++i) {
        const double g = gates[i] + (has_gate ? gate_bias[i % s.rows] : 0);
        expected[i] = g / (1 + std::exp(-g)) * (ups[i] + (has_up ? bias[i % s.rows] : 0));
      }
      Product product;
      if (has_up) product.bias = bias.data();
      if (has_gate) product.gate_bias = gate_bias.data();
      const std::vector<float> got = multiply(up, x, std::vector<float>(expected.size(), NAN), product, &gate);
      EXPECT_LE(relative_error(got, expected), 3e-4) << has_up << has_gate;
    }
}

// Sequences can share a pass because a column's bits do not depend on its neighbours.
TEST_P(Products, AColumnAloneGivesTheSameBits) {
  const Shape& s = GetParam().shape;
  const RandomMatrix& m = random_matrix(GetParam().type, s.rows, s.k, /*seed=*/15);
  const std::vector<float> x = outlier_floats(s.columns, s.k, /*seed=*/16);
  const std::vector<float> together = multiply(m, x, std::vector<float>(size_t{s.columns} * s.rows, NAN), {});
  if (s.columns == 1) return;
  const CpuKernels& kernels = *GetParam().kernels;
  ThreadPool pool(1);
  Arena arena(4 << 20, "weights");
  const PackedMatrix matrix(pool, kernels, m.tensor, kNoFiles, arena);
  ProductRunner runner(pool, kernels, 1, s.k);
  for (uint32_t c = 0; c < s.columns; ++c) {
    std::vector<float> alone(s.rows, NAN);
    const Product product{&matrix, alone.data()};
    runner.run({x.data() + size_t{c} * s.k, 1, s.k}, {&product, 1});
    ASSERT_TRUE(std::equal(alone.begin(), alone.end(), together.begin() + size_t{c} * s.rows)) << "column " << c;
  }
}

TEST_P(Products, PackedRowsReadBackAsTheyWere) {
  const Shape& s = GetParam().shape;
  const RandomMatrix& m = random_matrix(GetParam().type, s.rows, s.k, /*seed=*/17);
  ThreadPool pool(1);
  Arena arena(4 << 20, "weights");
  const PackedMatrix matrix(pool, *GetParam().kernels, m.tensor, kNoFiles, arena);
  const TensorType type = kernel_type(GetParam().type);
  const size_t row_bytes = bytes_per_row(type, s.k);
  std::vector<std::byte> row(row_bytes), rows = m.data;
  if (type != GetParam().type) {
    rows.resize(s.rows * row_bytes);
    expand_rows(GetParam().type, m.data, rows);
  }
  EXPECT_EQ(matrix.type(), type);
  for (uint32_t r = 0; r < s.rows; ++r) {
    matrix.read_row(r, row);
    ASSERT_TRUE(std::equal(row.begin(), row.end(), rows.begin() + r * row_bytes)) << "row " << r;
  }
}

// Columns with different matrices give the same bits as alone, however they are tiled.
TEST(ProductGroups, GiveTheBitsOfColumnsAlone) {
  constexpr uint32_t kRows = 37, kK = 512, kColumns = 66;
  const std::vector<float> x = outlier_floats(kColumns, kK, /*seed=*/19);
  const RandomMatrix coded(TensorType::kQ6_K, kRows, kK, /*seed=*/20), floats(TensorType::kF16, kRows, kK, /*seed=*/21);
  std::vector<uint32_t> from(kColumns);
  for (uint32_t c = 0; c < kColumns; ++c) from[c] = c * 29 % kColumns;
  for (const CpuKernels* kernels : product_kernels()) {
    ThreadPool pool(2);
    Arena arena(1 << 20, "weights");
    const PackedMatrix q6k(pool, *kernels, coded.tensor, kNoFiles, arena);
    const PackedMatrix f16(pool, *kernels, floats.tensor, kNoFiles, arena);
    const ProductGroup groups[] = {{&q6k, nullptr, 0, 21}, {&f16, &q6k, 21, 61}, {&q6k, nullptr, 61, kColumns}};
    ProductRunner runner(pool, *kernels, 128, kK);
    std::vector<float> together(size_t{kColumns} * kRows, NAN), alone(kRows);
    ASSERT_EQ(runner.fitting(groups), std::size(groups));
    runner.run_groups({x.data(), kColumns, kK}, from.data(), groups, together.data());
    for (const ProductGroup& group : groups)
      for (uint32_t c = group.first; c < group.end; ++c) {
        const Product product{.matrix = group.matrix, .out = alone.data(), .gate = group.gate};
        runner.run({x.data() + size_t{from[c]} * kK, 1, kK}, {&product, 1});
        ASSERT_TRUE(std::equal(alone.begin(), alone.end(), together.begin() + size_t{c} * kRows))
            << kernels->name << ", column " << c;
      }
  }
}

// Packs in several parts, the last with a partial group. Copying from a mapped file releases its pages.
TEST(Packing, OfALargeMatrixInAFile) {
  constexpr uint32_t kRows = 2501, kColumns = 1024;
  const std::vector<float> values = normal_floats(size_t{kRows} * kColumns, /*seed=*/3);
  const size_t row_bytes = kColumns * sizeof(float), n_bytes = kRows * row_bytes;
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(std::fwrite(values.data(), 1, n_bytes, file), n_bytes);
  ASSERT_EQ(std::fflush(file), 0);
  void* mapped = mmap(nullptr, n_bytes, PROT_READ, MAP_PRIVATE, fileno(file), 0);
  ASSERT_NE(mapped, MAP_FAILED);
  const std::span<const std::byte> data(static_cast<const std::byte*>(mapped), n_bytes);
  const TensorInfo tensor{"large", TensorType::kF32, {kColumns, kRows, 1, 1}, 2, data};
  ThreadPool pool(2);
  Arena arena(n_bytes + (1 << 20), "weights");
  const PackedMatrix matrix(pool, choose_kernels(""), tensor, FileMappings(), arena);
  std::vector<std::byte> row(row_bytes);
  for (uint32_t r = 0; r < kRows; ++r) {
    matrix.read_row(r, row);
    ASSERT_EQ(std::memcmp(row.data(), values.data() + size_t{r} * kColumns, row_bytes), 0) << "row " << r;
  }
  munmap(mapped, n_bytes);
  std::fclose(file);
}

INSTANTIATE_TEST_SUITE_P(EveryFormat, Products, testing::ValuesIn(all_cases()), [](const auto& c) {
  return std::string(c.param.kernels->name) + "_" + std::string(traits(c.param.type).name) + "_" + c.param.shape.name;
});

// Inputs that no scale fits: all zero, subnormal, huge. NaN and infinity must not turn finite.
struct InputCase {
  const CpuKernels* kernels;
  uint32_t columns;
};
std::vector<InputCase> input_cases() {
  std::vector<InputCase> cases;
  for (const CpuKernels* kernels : product_kernels())
    for (uint32_t columns : {1u, 16u}) cases.push_back({kernels, columns});
  return cases;
}

TEST(ProductInputs, ExtremesOfScale) {
  for (const auto& [kernels, columns] : input_cases()) {
    const std::string what = kernels->name + (", columns: " + std::to_string(columns));
    const RandomMatrix m(TensorType::kQ4_K, 16, 256, /*seed=*/18);
    ThreadPool pool(1);
    Arena arena(1 << 20, "weights");
    const PackedMatrix matrix(pool, *kernels, m.tensor, kNoFiles, arena);
    ProductRunner runner(pool, *kernels, columns, 256);
    std::vector<float> out(16 * columns, NAN);
    const Product product{&matrix, out.data()};
    const auto run = [&, n = columns](const std::vector<float>& column) {
      std::vector<float> x;
      for (uint32_t c = 0; c < n; ++c) x.insert(x.end(), column.begin(), column.end());
      runner.run({x.data(), n, 256}, {&product, 1});
    };
    run(std::vector<float>(256, 0.0f));
    for (float v : out) EXPECT_EQ(v, 0.0f) << what;
    run(std::vector<float>(256, 1e-42f));
    for (float v : out) EXPECT_LE(std::abs(v), 1e-30f) << what;
    run(std::vector<float>(256, 1e35f));
    for (float v : out) EXPECT_TRUE(std::isfinite(v)) << what;
    for (float bad : {INFINITY, NAN}) {
      std::vector<float> one(256, 1.0f), behind_others(256, 1e30f);
      one[5] = bad;
      std::fill(behind_others.begin() + 30, behind_others.end(), 1e-20f);
      behind_others[31] = bad;
      for (const std::vector<float>& x : {one, behind_others, std::vector<float>(256, bad)}) {
        run(x);
        for (float v : out) EXPECT_TRUE(std::isnan(v)) << what << ": " << bad;
      }
    }
  }
}

}  // namespace
}  // namespace warpchat
