// The GEMM against double precision in the emulator, over every format and the shapes that break kernels.
#include "kernels/matmul/gemm.h"

#include <gtest/gtest.h>

#include <limits>

#include "kernels/matmul/gemm_plan.h"
#include "models/block_types.h"
#include "models/error.h"
#include "tests/kernels/gemv_problem.h"

namespace warpchat {
namespace {

using enum GemvPrologue;
using enum GemvEpilogue;
using enum TensorType;

constexpr double kTolerance = 1e-3;  // relative to the norm: half of 2^-10 if one value dominates; swiglu doubles it
constexpr float kEps = 1e-6f;

// A product of n_columns columns, normalised or not, plus one column after them that nothing may touch.
class GemmProblem {
 public:
  GemmProblem(const GemmSpec& s, uint32_t n_columns, GemvPrologue prologue = kNone, uint32_t seed = 1)
      : spec(s),
        n_columns_(n_columns),
        gemv({s.weights, s.rows, s.k, n_columns + 1, prologue, s.epilogue, kEps, s.up}, seed) {
    for (float& v : gemv.x) v *= 1.0003f;  // otherwise f16 would hold the outliers exactly
  }

  std::vector<float> run(ptx::Target target, ptx::emulator::LaunchOptions options = kAllChecks) const {
    return run(gemm(spec, target), target, options);
  }
  std::vector<float> run(ptx::Kernel kernel, ptx::Target target, ptx::emulator::LaunchOptions options = kAllChecks,
                         std::string* fault = nullptr) const {
    kernel.launch.blocks = gemm_grid(spec, n_columns_);
    return gemv.run_f16(kernel, target, n_columns_, {spec.rows, spec.k, n_columns_}, options, fault,
                        {gemm_scratch_bytes(spec, n_columns_), kGemmArrivalsBytes});
  }

  void expect_right(ptx::Target target, ptx::emulator::LaunchOptions options = kAllChecks) const {
    expect_right(run(target, options), target);
  }
  void expect_right(const std::vector<float>& y, ptx::Target target) const {
    const std::vector<double> reference = gemv.reference(n_columns_);
    for (uint32_t c = 0; c < n_columns_; ++c) {
      SCOPED_TRACE("column " + std::to_string(c) + " of " + std::to_string(n_columns_) + ", " + name_of(spec) + ", " +
                   ptx::spell(target));
      expect_close(column(y, c), std::span(reference).subspan(size_t{c} * spec.rows, spec.rows), kTolerance);
    }
    for (uint32_t row = 0; row < spec.rows; ++row) {
      const float after = column(y, n_columns_)[row], before = gemv.y[size_t{n_columns_} * spec.rows + row];
      EXPECT_TRUE(adds_residual(spec.epilogue) ? after == before : std::isnan(after)) << "beyond the columns, " << row;
    }
  }
  double worst_error(ptx::Target target) const {
    const std::vector<float> y = run(target);
    const std::vector<double> reference = gemv.reference(n_columns_);
    double worst = 0;
    for (uint32_t c = 0; c < n_columns_; ++c)
      worst =
          std::max(worst, relative_error(column(y, c), std::span(reference).subspan(size_t{c} * spec.rows, spec.rows)));
    return worst;
  }
  std::span<const float> column(const std::vector<float>& y, uint32_t c) const {
    return std::span(y).subspan(size_t{c} * spec.rows, spec.rows);
  }
  float* x(uint32_t c) { return gemv.x.data() + size_t{c} * spec.k; }

  GemmSpec spec;

 private:
  uint32_t n_columns_;

 public:
  GemvProblem gemv;
};

struct GemmCase {
  const char* name;
  GemmSpec spec;
  uint32_t n_columns;
  GemvPrologue prologue = kNone;
};
std::ostream& operator<<(std::ostream& out, const GemmCase& c) { return out << name_of(c.spec); }
std::string name_of_case(const ::testing::TestParamInfo<GemmCase>& c) { return c.param.name; }

class Gemm : public ::testing::TestWithParam<GemmCase> {};

// sm_75 multiplies fragments of 8 values of k, sm_80 fragments of 16.
TEST_P(Gemm, MatchesDouble) {
  const GemmProblem problem(GetParam().spec, GetParam().n_columns, GetParam().prologue);
  for (ptx::Target target : {ptx::sm_75, ptx::sm_80}) problem.expect_right(target);
}

// The last warp overlaps the one before, the second column tile has one column, and k ends inside a tile.
GemmSpec ragged(TensorType type, uint32_t k, GemvEpilogue epilogue = kBias) {
  return {.weights = type, .rows = 37, .k = k, .epilogue = epilogue, .warps = 2, .columns_per_block = 16};
}
const GemmCase kFormats[] = {
    {"F16", ragged(kF16, 200), 9, kRmsNorm},
    {"Q4_K", ragged(kQ4_K, 256), 9, kRmsNorm},
    {"Q6_K", ragged(kQ6_K, 256), 9, kRmsNorm},
    {"Q5_0", ragged(kQ5_0, 160), 9, kRmsNorm},
    {"Q8_0", ragged(kQ8_0, 160), 9, kRmsNorm},
    {"Q4_1", ragged(kQ4_1, 160), 9, kRmsNorm},
    {"Q4_0", ragged(kQ4_0, 160), 9, kRmsNorm},
    {"Q5_1", ragged(kQ5_1, 160), 9, kRmsNorm},
    {"Q5_K", ragged(kQ5_K, 256), 9, kRmsNorm},
    {"Q3_K", ragged(kQ3_K, 256), 9, kRmsNorm},
    {"Q2_K", ragged(kQ2_K, 256), 9, kRmsNorm},
    {"IQ4_NL", ragged(kIQ4_NL, 160), 9, kRmsNorm},
    {"IQ4_XS", ragged(kIQ4_XS, 256), 9, kRmsNorm},
    {"MXFP4", ragged(kMXFP4, 160), 9, kRmsNorm},
    {"IQ2Expanded", ragged(kIQ2Expanded, 256), 9, kRmsNorm},
    {"IQ3XXSExpanded", ragged(kIQ3XXSExpanded, 256), 9, kRmsNorm},
    {"IQ3SExpanded", ragged(kIQ3SExpanded, 256), 9, kRmsNorm},
};
static_assert(std::size(kFormats) == KernelBlocks::kCount - 2);  // F32 and BF16 have a gemv only
INSTANTIATE_TEST_SUITE_P(Formats, Gemm, ::testing::ValuesIn(kFormats), name_of_case);

const GemmCase kShapes[] = {
    {"one_unit_of_one_column", {kQ4_0, 16, 32}, 1},
    {"one_column", {kQ4_K, 64, 512}, 1},
    {"k_of_tiles_and_a_half", {.weights = kQ4_1, .rows = 40, .k = 576}, 5, kRmsNorm},
    {"full_blocks", {.weights = kQ6_K, .rows = 256, .k = 256, .epilogue = kResidual}, 64},
    {"one_column_more", {.weights = kQ8_0, .rows = 33, .k = 96, .epilogue = kResidual}, 65},
    {"two_hundred_columns", {.weights = kQ5_0, .rows = 70, .k = 64, .epilogue = kBias}, 200},
    {"odd_k_of_halves", {.weights = kF16, .rows = 19, .k = 37}, 3, kRmsNorm},
    {"k_of_halves_ends_in_a_quad", {.weights = kF16, .rows = 130, .k = 257, .epilogue = kBias}, 12},
    {"k_of_halves_ends_with_a_unit", {.weights = kF16, .rows = 16, .k = 136, .epilogue = kResidual}, 7},
    {"swiglu", {.weights = kQ4_K, .rows = 48, .k = 256, .epilogue = kSwiglu}, 10, kRmsNorm},
    {"bias_and_residual", {.weights = kQ4_K, .rows = 70, .k = 256, .epilogue = kBiasResidual}, 33, kRmsNorm},
    {"bias_and_residual_in_parts",
     {.weights = kQ4_K, .rows = 70, .k = 256, .epilogue = kBiasResidual, .warps = 4, .split_k = 2},
     40},
    {"biases_of_swiglu", {.weights = kQ4_K, .rows = 53, .k = 256, .epilogue = kBiasSwiglu, .up = kQ6_K}, 10, kRmsNorm},
    {"biases_of_swiglu_of_two_row_tiles",
     {.weights = kQ4_1, .rows = 45, .k = 64, .epilogue = kBiasSwiglu, .rows_per_warp = 32, .columns_per_block = 24},
     50},
    {"swiglu_of_halves", {.weights = kF16, .rows = 80, .k = 128, .epilogue = kSwiglu}, 17},
    {"mixed_formats", {.weights = kQ4_K, .rows = 21, .k = 256, .epilogue = kSwiglu, .up = kQ6_K}, 9, kRmsNorm},
    {"two_scales_beside_one", {.weights = kQ2_K, .rows = 21, .k = 256, .epilogue = kSwiglu, .up = kQ5_K}, 9},
    {"one_warp", {.weights = kQ5_K, .rows = 50, .k = 256, .warps = 1}, 9, kRmsNorm},
    {"many_warps", {.weights = kQ5_1, .rows = 100, .k = 96, .warps = 7}, 33, kRmsNorm},
    {"two_row_tiles_of_two_matrices",
     {.weights = kQ4_1, .rows = 45, .k = 64, .epilogue = kSwiglu, .rows_per_warp = 32, .columns_per_block = 24},
     50},
    {"two_parts", {.weights = kQ4_K, .rows = 70, .k = 256, .epilogue = kResidual, .warps = 4, .split_k = 2}, 40},
    {"parts_of_one_and_two_tiles",
     {.weights = kQ6_K, .rows = 40, .k = 768, .epilogue = kBias, .warps = 2, .rows_per_warp = 16, .split_k = 4},
     65},
    {"a_part_ends_in_a_tile",
     {.weights = kQ5_0,
      .rows = 37,
      .k = 160,
      .epilogue = kBias,
      .warps = 4,
      .rows_per_warp = 16,
      .columns_per_block = 32,
      .split_k = 2},
     33},
    {"parts_of_halves",
     {.weights = kF16, .rows = 50, .k = 300, .warps = 2, .rows_per_warp = 16, .columns_per_block = 16, .split_k = 3},
     17},
    {"more_parts_than_tiles", {.weights = kQ4_1, .rows = 33, .k = 96, .epilogue = kResidual, .split_k = 8}, 12},
    {"eight_parts", {.weights = kQ4_K, .rows = 32, .k = 1024, .warps = 1, .rows_per_warp = 32, .split_k = 8}, 24},
    {"narrow_blocks", {.weights = kQ3_K, .rows = 17, .k = 256, .epilogue = kResidual, .columns_per_block = 8}, 20},
};
INSTANTIATE_TEST_SUITE_P(Shapes, Gemm, ::testing::ValuesIn(kShapes), name_of_case);

// A column's results are the same to the bit for every split of the work and for any other columns.
TEST(GemmReproducibilityTest, DoesNotDependOnTheSharingOrTheColumnsBeside) {
  const GemmSpec base{.weights = kQ4_K, .rows = 70, .k = 512};
  const GemmProblem many(base, 20, kRmsNorm);
  const std::vector<float> expected = many.run(ptx::sm_80);
  for (GemmSpec spec : {GemmSpec{.warps = 1, .rows_per_warp = 16, .columns_per_block = 8},
                        GemmSpec{.warps = 3, .rows_per_warp = 32, .columns_per_block = 40}}) {
    GemmProblem other(base, 20, kRmsNorm);
    other.spec.warps = spec.warps, other.spec.rows_per_warp = spec.rows_per_warp;
    other.spec.columns_per_block = spec.columns_per_block;
    const std::vector<float> y = other.run(ptx::sm_80);
    EXPECT_TRUE(std::equal(y.begin(), y.begin() + 20 * 70, expected.begin())) << name_of(other.spec);
  }
  GemmProblem one(base, 1, kRmsNorm);
  std::copy_n(many.gemv.x.begin() + 13 * 512, 512, one.x(0));
  const std::vector<float> alone = one.run(ptx::sm_80);
  EXPECT_TRUE(std::equal(alone.begin(), alone.begin() + 70, expected.begin() + 13 * 70));
}

// Products that differ only in rows, k and bias share one kernel: same name, same text.
struct SameKernelCase {
  const char* name;
  GemmSpec base;
  struct Other {
    uint32_t rows, k;
    GemvEpilogue epilogue;
  } others[3];
};
const SameKernelCase kSameKernels[] = {
    {"whole_tiles", {kQ4_K, 70, 256}, {{70, 256, kBias}, {32, 1280, kStore}, {300, 768, kBiasResidual}}},
    {"ends_in_a_tile", {kQ8_0, 40, 128}, {{40, 32, kBias}, {70, 160, kStore}, {33, 288, kBias}}},
    {"ends_in_a_quad", {kF16, 40, 128}, {{40, 1, kBias}, {70, 129, kStore}, {33, 258, kStore}}},
    {"two_matrices", {kQ6_K, 40, 256, kSwiglu}, {{40, 512, kSwiglu}, {70, 256, kSwiglu}, {33, 768, kSwiglu}}},
};
TEST(GemmReproducibilityTest, IsTheSameKernelForAllRowsAndKWithABiasOrWithout) {
  for (const SameKernelCase& c : kSameKernels) {
    SCOPED_TRACE(c.name);
    GemmSpec spec = c.base;
    const ptx::Kernel kernel = gemm(spec, ptx::sm_80);
    for (const SameKernelCase::Other& other : c.others) {
      spec.rows = other.rows, spec.k = other.k, spec.epilogue = other.epilogue;
      EXPECT_EQ(gemm(spec, ptx::sm_80).text, kernel.text);
      const GemmProblem problem(spec, 9);
      problem.expect_right(problem.run(kernel, ptx::sm_80), ptx::sm_80);
    }
  }
}

// Fused products give the bits of separate ones, in any order and for any mix of formats.
struct FusedCase {
  const char* name;
  uint32_t k, n_columns, split_k;
  std::vector<TensorType> formats, of_products;
};
std::ostream& operator<<(std::ostream& out, const FusedCase& c) { return out << c.name; }

class FusedGemms : public ::testing::TestWithParam<FusedCase> {
 protected:
  FusedGemms() {
    constexpr uint32_t kRows[] = {70, 37, 16, 33};  // one to three blocks
    constexpr GemvEpilogue kEpilogues[] = {kBias, kStore, kResidual, kBiasResidual};
    const FusedCase& c = GetParam();
    for (size_t i = 0; i < c.of_products.size(); ++i) {
      GemmSpec spec{c.of_products[i], kRows[i], c.k, kEpilogues[i]};
      spec.warps = 2, spec.columns_per_block = 16, spec.split_k = c.split_k;
      problems_.emplace_back(spec, c.n_columns, kRmsNorm);
      problems_[i].gemv.x = problems_[0].gemv.x, problems_[i].gemv.gamma = problems_[0].gemv.gamma;
      spec.formats = c.formats;
      all_.products.push_back(spec);
    }
    options_.jitter = false;  // on a GPU, approximations always give the same bits
  }

  std::vector<std::vector<float>> run(ptx::Target target) {
    const FusedCase& c = GetParam();
    GuardedDevice device(target);
    const std::vector<float>& x = problems_[0].gemv.x;
    const std::vector<float> used(x.begin(), x.begin() + static_cast<ptrdiff_t>(size_t{c.n_columns} * c.k));
    const F16Activations made = made_f16_activations(
        device, target, device.upload(used), device.upload(problems_[0].gemv.gamma), kEps, c.k, c.n_columns, options_);
    std::vector<uint64_t> pointers;
    std::vector<float*> outputs;
    const auto add = [&](const auto* p) { pointers.push_back(reinterpret_cast<uint64_t>(p)); };
    for (const GemmProblem& problem : problems_) {
      const GemvProblem& gemv = problem.gemv;
      const bool adds = adds_residual(problem.spec.epilogue), has_bias = adds_bias(problem.spec.epilogue);
      float* y = outputs.emplace_back(adds ? device.upload(gemv.y) : device.poisoned<float>(gemv.y.size()));
      add(device.upload(gemv.weights.bytes));
      pointers.push_back(has_bias ? reinterpret_cast<uint64_t>(device.upload(gemv.bias)) : 0);
      pointers.push_back(adds ? reinterpret_cast<uint64_t>(y) : 0);
      add(y);
    }
    pointers.resize(size_t{4} * kMaxGemmProducts);
    add(made.halves), add(made.factors);
    const uint64_t scratch_bytes = gemm_scratch_bytes(all_, c.n_columns);
    if (scratch_bytes > 0) add(device.upload(std::vector<std::byte>(scratch_bytes)));
    std::vector<uint32_t> numbers(kMaxGemmProducts), formats(kMaxGemmProducts);
    for (size_t i = 0; i < problems_.size(); ++i)
      numbers[i] = all_.products[i].rows, formats[i] = format_number(all_.products[i]);
    if (c.formats.size() > 1) numbers.insert(numbers.end(), formats.begin(), formats.end());
    numbers.insert(numbers.end(), {c.k, c.n_columns});
    ptx::Kernel kernel = gemm(all_.products.back(), target);
    kernel.launch.blocks = gemm_grid(all_, c.n_columns);
    EXPECT_EQ(device.run_listed(options_, kernel, pointers, numbers), "");
    std::vector<std::vector<float>> results;
    for (size_t i = 0; i < problems_.size(); ++i)
      results.push_back(device.download(outputs[i], problems_[i].gemv.y.size()));
    return results;
  }

  ptx::emulator::LaunchOptions options_ = kAllChecks;
  FusedGemm all_;
  std::vector<GemmProblem> problems_;
};

TEST_P(FusedGemms, AreThoseOfEachByItself) {
  for (const ptx::Target target : {ptx::sm_75, ptx::sm_90}) {
    const std::vector<std::vector<float>> results = run(target);
    for (size_t i = 0; i < problems_.size(); ++i) {
      const std::vector<float> alone = problems_[i].run(target, options_);
      const size_t n = size_t{GetParam().n_columns} * problems_[i].spec.rows;
      EXPECT_TRUE(std::equal(alone.begin(), alone.begin() + static_cast<ptrdiff_t>(n), results[i].begin())) << i;
    }
  }
}
const FusedCase kFused[] = {
    {"one_format", 256, 9, 0, {kQ4_K}, {kQ4_K, kQ4_K, kQ4_K}},
    {"two_formats_in_parts", 768, 19, 3, {kQ4_K, kQ6_K}, {kQ4_K, kQ4_K, kQ6_K}},
    {"three_formats", 256, 17, 0, {kQ5_K, kQ8_0, kF16}, {kF16, kQ8_0, kQ5_K, kQ8_0}},
    {"one_product_of_the_last_format", 512, 8, 2, {kQ4_0, kQ4_1}, {kQ4_1}},
    {"formats_of_many_registers", 256, 5, 0, {kQ2_K, kQ3_K}, {kQ2_K, kQ3_K}},
};
INSTANTIATE_TEST_SUITE_P(Formats, FusedGemms, ::testing::ValuesIn(kFused),
                         [](const auto& c) { return std::string(c.param.name); });

TEST(GemmReproducibilityTest, IsTheSameUnderEverySchedule) {
  const GemmProblem problem({.weights = kQ6_K, .rows = 40, .k = 512}, 11, kRmsNorm);
  const std::vector<float> expected = problem.run(ptx::sm_80);
  for (uint64_t seed = 1; seed < 4; ++seed) {
    ptx::emulator::LaunchOptions options = shaken(seed);
    options.jitter = false;  // on a GPU, approximations always give the same bits
    const std::vector<float> y = problem.run(ptx::sm_80, options);
    EXPECT_TRUE(std::equal(y.begin(), y.begin() + 11 * 40, expected.begin())) << "seed " << seed;
  }
}

TEST(GemmReproducibilityTest, IsRightUnderEverySchedule) {  // the order of tensor-core sums is unspecified
  const GemmProblem codes({.weights = kQ4_K, .rows = 40, .k = 512, .epilogue = kSwiglu}, 11, kRmsNorm);
  const GemmProblem halves({.weights = kF16, .rows = 40, .k = 512, .columns_per_block = 16, .split_k = 4}, 11);
  for (uint64_t seed = 1; seed < 4; ++seed) {
    for (ptx::Target target : {ptx::sm_75, ptx::sm_90}) {
      codes.expect_right(target, shaken(seed));
      halves.expect_right(target, shaken(seed));
    }
  }
}

// Inputs.

TEST(GemmInputTest, TakesLargeValues) {  // fp16 would overflow
  for (TensorType type : {kQ4_K, kQ6_K, kF16}) {
    for (GemvPrologue prologue : {kNone, kRmsNorm}) {
      GemmProblem problem({.weights = type, .rows = 20, .k = 512}, 3, prologue);
      for (float& v : problem.gemv.x) v *= 1e5f / 200;
      problem.expect_right(ptx::sm_75);
      for (float& v : problem.gemv.x) v *= 1e25f;
      if (prologue == kNone) problem.expect_right(ptx::sm_75);  // the squares would be infinite
    }
  }
}

TEST(GemmInputTest, TakesTinyValuesAndZeros) {
  for (TensorType type : {kQ4_K, kQ4_0, kF16}) {
    for (float scale : {0.0f, 1e-20f}) {
      GemmProblem problem({.weights = type, .rows = 20, .k = 512, .epilogue = kBias}, 2, kRmsNorm);
      for (float& v : problem.gemv.x) v *= scale;
      problem.expect_right(ptx::sm_75);
    }
    GemmProblem small({.weights = type, .rows = 20, .k = 512}, 2);
    for (float& v : small.gemv.x) v *= 1e-30f;
    small.expect_right(ptx::sm_75);
  }
}

// A column's scale follows its largest value, wherever it is.
TEST(GemmInputTest, FollowsValuesThatRiseAndFall) {
  for (TensorType type : {kQ4_K, kF16}) {
    GemmProblem problem({.weights = type, .rows = 40, .k = 1024, .epilogue = kResidual}, 4);
    for (uint32_t i = 0; i < 1024; ++i) {
      const float tile = static_cast<float>(i / 128);
      problem.x(0)[i] *= std::pow(3.7f, tile);           // each tile is larger
      problem.x(1)[i] *= std::pow(0.3f, tile);           // smaller
      problem.x(2)[i] *= i / 128 == 5 ? 1e38f : 1e-10f;  // all but one tile vanish
      problem.x(3)[i] *= i / 128 == 2 ? 0.0f : 1.0f;
    }
    for (float& v : std::span(problem.x(2), 1024)) v /= 1e30f;
    problem.expect_right(ptx::sm_80);
  }
}

TEST(GemmInputTest, NonFiniteInputStaysInItsColumn) {
  for (TensorType type : {kQ4_K, kQ6_K, kQ8_0, kF16}) {
    for (float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      for (GemvPrologue prologue : {kNone, kRmsNorm}) {
        GemmProblem problem({.weights = type, .rows = 17, .k = 512}, 3, prologue);
        problem.x(1)[77] = value;
        const std::vector<float> y = problem.run(ptx::sm_75);
        const std::vector<double> reference = problem.gemv.reference(1);
        expect_close(problem.column(y, 0), std::span(reference).first(17), kTolerance);
        for (float v : problem.column(y, 1)) EXPECT_FALSE(std::isfinite(v));
      }
    }
  }
}

// One value dominates the product and lies midway between two f16 values.
TEST(GemmInputTest, RoundsOutliersByHalfAStep) {
  GemmProblem problem({.weights = kQ6_K, .rows = 64, .k = 256}, 2);
  for (uint32_t c = 0; c < 2; ++c) problem.x(c)[256 / 3] = c ? 1025.0f : 128.0f * 1.00048f;
  EXPECT_LT(problem.worst_error(ptx::sm_80), 5e-4);
}

// Each mistake, inserted into the text, is found.

struct Mistake {
  const char* name;
  const char *text, *replacement;
  int occurrence;
  const char* fault;  // part of the emulator's message; "": the results are wrong instead
  GemvEpilogue epilogue = kStore;
};
std::ostream& operator<<(std::ostream& out, const Mistake& m) { return out << m.name; }

class GemmMistake : public ::testing::TestWithParam<Mistake> {};

TEST_P(GemmMistake, IsFound) {
  if (!GuardedDevice(ptx::sm_75).is_emulated()) GTEST_SKIP() << "the emulator's checks find it";
  const Mistake& mistake = GetParam();
  const GemmProblem problem({.weights = kQ4_K, .rows = 40, .k = 512, .epilogue = mistake.epilogue}, 9, kRmsNorm);
  ptx::Kernel kernel = gemm(problem.spec, ptx::sm_80);
  size_t at = kernel.text.find(mistake.text);
  for (int i = 0; i < mistake.occurrence; ++i) at = kernel.text.find(mistake.text, at + 1);
  ASSERT_NE(at, std::string::npos);
  kernel.text.replace(at, std::strlen(mistake.text), mistake.replacement);
  std::string fault;
  const std::vector<float> y = problem.run(kernel, ptx::sm_80, kAllChecks, &fault);
  if (*mistake.fault != 0) {
    EXPECT_NE(fault.find(mistake.fault), fault.npos) << fault;
  } else {
    EXPECT_EQ(fault, "");
    EXPECT_FALSE(relative_error(problem.column(y, 0), problem.gemv.reference(1)) <= kTolerance);
  }
}
constexpr Mistake kMistakes[] = {
    {"copies_before_it_is_known_what", "bar.sync 0;", "", 0, "written without order"},
    {"reads_before_it_is_filled", "bar.sync 0;", "", 1, "which was never written"},
    {"reads_before_copies_have_come", "cp.async.wait_all;", "", 0, "is waited for"},
    {"writes_sums_while_others_read", "bar.sync 0;", "", 2, "without order", kSwiglu},
};
INSTANTIATE_TEST_SUITE_P(Barriers, GemmMistake, ::testing::ValuesIn(kMistakes),
                         [](const auto& m) { return std::string(m.param.name); });

// With 64 columns, a weight costs a small part of the GEMV's work, and there are no bank conflicts.
TEST(GemmCountersTest, SharesDecodedWeightsAmongColumns) {
  if (!GuardedDevice(ptx::sm_75).is_emulated()) GTEST_SKIP() << "the counters are the emulator's";
  const GemmProblem problem({.weights = kQ4_K, .rows = 256, .k = 1024}, 64, kRmsNorm);
  problem.run(ptx::sm_90, {.count = true});
  const ptx::emulator::Counts* products = problem.gemv.counters.of_tag("products");
  ASSERT_NE(products, nullptr);
  EXPECT_EQ(products->bank_replays, 0u);
  EXPECT_LE(static_cast<double>(problem.gemv.counters.instructions) * 32, 0.26 * 256 * 1024 * 64);
}

// A short prompt does not pay for the unused columns of its blocks.
TEST(GemmCountersTest, PassesOverColumnsThatAreNone) {
  if (!GuardedDevice(ptx::sm_75).is_emulated()) GTEST_SKIP() << "the counters are the emulator's";
  const auto instructions = [](uint32_t n_columns) {
    const GemmProblem problem({.weights = kQ4_K, .rows = 32, .k = 512}, n_columns);
    problem.run(ptx::sm_80, {.count = true});
    return static_cast<double>(problem.gemv.counters.of_tag("products")->instructions);
  };
  const double full = instructions(64);
  EXPECT_LT(instructions(16), 0.65 * full);
  EXPECT_LT(instructions(32), 0.8 * full);
  EXPECT_GE(instructions(33), full);
}

TEST(GemmPlanTest, ReportsLaunchAndCost) {
  const GemmSpec spec{.weights = kQ4_K, .rows = 300, .k = 512, .epilogue = kResidual};
  const ptx::Kernel kernel = gemm(spec, ptx::sm_80);
  EXPECT_EQ(kernel.launch.threads.total(), 256u);
  EXPECT_EQ(kernel.launch.blocks.total(), 3u);
  EXPECT_EQ(gemm_grid(spec, 65).x, 2u);
  EXPECT_EQ(gemm_grid(spec, 65).y, 3u);
  EXPECT_EQ(kernel.cost.bytes,
            300 * packed_bytes_per_row(kQ4_K, 512) + 64 * (2 * f16_activation_size(512) + 4) + 4 * 2 * 64 * 300);
  EXPECT_EQ(kernel.cost.flops, uint64_t{2} * 300 * 512 * 64);
}

TEST(GemmPlanTest, NamesSayWhatDiffers) {
  EXPECT_EQ(name_of(GemmSpec{kQ4_K, 2048, 11008, kSwiglu}), "gemm_q4k_swiglu");
  EXPECT_EQ(name_of(GemmSpec{.weights = kQ4_K, .rows = 64, .k = 256, .epilogue = kSwiglu, .up = kQ6_K, .warps = 2}),
            "gemm_q4k_q6k_swiglu_w2");
  EXPECT_EQ(name_of(GemmSpec{kF16, 64, 37, kResidual}), "gemm_f16");
  EXPECT_EQ(name_of(GemmSpec{kF16, 64, 37, kBiasResidual}), "gemm_f16");
  EXPECT_EQ(name_of(GemmSpec{kF16, 64, 37, kBiasSwiglu}), "gemm_f16_bias_swiglu");
  EXPECT_EQ(name_of(GemmSpec{.weights = kQ6_K, .rows = 64, .k = 256, .warps = 4, .split_k = 2}), "gemm_q6k_w4_p");
  EXPECT_EQ(name_of(GemmSpec{.weights = kQ6_K, .rows = 64, .k = 256, .formats = {kQ4_K, kQ6_K}}), "gemms_q4k_q6k");
}

struct Refused {
  GemmSpec spec;
  const char* sentence;
};
TEST(GemmPlanTest, RefusesWithASentence) {
  const Refused kRefused[] = {
      {{kQ4_K, 15, 256}, "cannot generate gemm_q4k: it has 15 rows; expected at least 16"},
      {{kQ4_K, 16, 300}, "cannot generate gemm_q4k: k is 300; Q4_K needs a multiple of 256"},
      {{kQ4_K, 16, 1 << 25}, "cannot generate gemm_q4k: k is 33554432; expected at most 16777216"},
      {{kBF16, 16, 64}, "cannot generate gemm_bf16: f16 cannot hold BF16 values exactly; use gemv"},
      {{.weights = kQ4_K, .rows = 16, .k = 256, .up = kQ4_K}, "cannot generate gemm_q4k: only swiglu has an up matrix"},
      {{.weights = kQ4_K, .rows = 16, .k = 256, .epilogue = kSwiglu, .up = kF16},
       "cannot generate gemm_q4k_f16_swiglu: its two matrices have incompatible formats"},
      {{.weights = kQ4_K, .rows = 16, .k = 256, .columns_per_block = 12},
       "cannot generate gemm_q4k_c12: columns_per_block must be a multiple of 8 up to 64"},
      {{.weights = kQ4_K, .rows = 64, .k = 256, .epilogue = kSwiglu, .split_k = 4},
       "cannot generate gemm_q4k_swiglu_p: split-K needs a single matrix without experts"},
      {{.weights = kQ4_K, .rows = 64, .k = 4096, .split_k = 9},
       "cannot generate gemm_q4k_p: parts is 9; expected at most 8"},
      {{.weights = kQ4_K, .rows = 64, .k = 256, .epilogue = kSwiglu, .formats = {kQ4_K}},
       "cannot generate gemms_q4k: products of experts or two matrices cannot share a launch"},
      {{.weights = kQ4_K, .rows = 64, .k = 256, .formats = {kQ6_K, kQ8_0}},
       "cannot generate gemms_q6k_q80: the kernel does not support its format"},
      {{.weights = kQ4_K, .rows = 16, .k = 256, .rows_per_warp = 32},
       "cannot generate gemm_q4k_r32: a warp takes more rows than there are"},
  };
  for (const Refused& refused : kRefused) {
    try {
      gemm(refused.spec, ptx::sm_75);
      ADD_FAILURE() << "accepted: " << refused.sentence;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()), refused.sentence);
    }
  }
}

}  // namespace
}  // namespace warpchat
