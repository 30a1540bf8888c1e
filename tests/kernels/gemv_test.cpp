// The GEMV against double precision in the emulator, over every format and the shapes that break kernels.
#include "kernels/matmul/gemv.h"

#include <gtest/gtest.h>

#include <limits>

#include "kernels/matmul/gemv_columns.h"
#include "kernels/matmul/gemv_plan.h"
#include "models/block_types.h"
#include "models/error.h"
#include "tests/kernels/gemv_problem.h"

namespace warpchat {
namespace {

using enum GemvPrologue;
using enum GemvEpilogue;

constexpr double kTolerance = 3e-4;  // of the norm: an outlier of 200x leaves its neighbours 9 bits; swiglu doubles it

// Runs the kernel with all checks on. The first n_columns must be right, the others unchanged.
void expect_right(const GemvProblem& problem, const ptx::Kernel& kernel, uint32_t n_columns,
                  double tolerance = kTolerance, ptx::emulator::LaunchOptions options = kAllChecks) {
  const GemvSpec& spec = problem.spec;
  const std::vector<float> y = problem.run(kernel, kernel.target, n_columns, options);
  const std::vector<double> reference = problem.reference(n_columns);
  for (uint32_t c = 0; c < spec.columns; ++c) {
    SCOPED_TRACE("column " + std::to_string(c) + " of " + std::to_string(n_columns) + ", " + name_of(spec));
    const auto column = std::span(y).subspan(size_t{c} * spec.rows, spec.rows);
    if (c < n_columns) {
      expect_close(column, std::span(reference).subspan(size_t{c} * spec.rows, spec.rows), tolerance);
    } else {
      for (uint32_t row = 0; row < spec.rows; ++row) {
        const float before = adds_residual(spec.epilogue) ? problem.y[size_t{c} * spec.rows + row]
                                                          : std::numeric_limits<float>::quiet_NaN();
        EXPECT_TRUE(column[row] == before || (column[row] != column[row] && before != before)) << row;
      }
    }
  }
}

void expect_right(const GemvProblem& problem, ptx::Target target, uint32_t n_columns, double tolerance = kTolerance,
                  ptx::emulator::LaunchOptions options = kAllChecks) {
  expect_right(problem, gemv(problem.spec, target), n_columns, tolerance, options);
}

struct GemvCase {
  const char* name;
  GemvSpec spec;
};
std::ostream& operator<<(std::ostream& out, const GemvCase& c) { return out << name_of(c.spec); }

class Gemv : public ::testing::TestWithParam<GemvCase> {};

TEST_P(Gemv, MatchesDouble) {
  const GemvProblem problem(GetParam().spec);
  expect_right(problem, ptx::sm_75, problem.spec.columns);
}

using enum TensorType;
constexpr float kEps = 1e-6f;

constexpr GemvCase kFormats[] = {
    // the last step of the rows overlaps; the units do not fill a warp
    {"F16", {.weights = kF16, .rows = 37, .k = 256, .prologue = kRmsNorm, .epilogue = kBias, .eps = kEps}},
    {"F32", {.weights = kF32, .rows = 37, .k = 256, .prologue = kRmsNorm, .epilogue = kBias, .eps = kEps}},
    {"BF16", {.weights = kBF16, .rows = 37, .k = 256, .prologue = kRmsNorm, .epilogue = kBias, .eps = kEps}},
    {"Q4_K", {.weights = kQ4_K, .rows = 37, .k = 512, .prologue = kRmsNorm, .epilogue = kBias, .eps = kEps}},
    {"Q6_K", {.weights = kQ6_K, .rows = 37, .k = 512, .prologue = kRmsNorm, .epilogue = kBias, .eps = kEps}},
    {"Q5_0", {.weights = kQ5_0, .rows = 37, .k = 160, .prologue = kRmsNorm, .epilogue = kBias, .eps = kEps}},
    {"Q8_0", {.weights = kQ8_0, .rows = 37, .k = 160, .prologue = kRmsNorm, .epilogue = kBias, .eps = kEps}},
    {"Q4_1", {.weights = kQ4_1, .rows = 37, .k = 160, .prologue = kRmsNorm, .epilogue = kBias, .eps = kEps}},
    {"Q4_0", {.weights = kQ4_0, .rows = 37, .k = 160, .prologue = kRmsNorm, .epilogue = kBias, .eps = kEps}},
    {"Q5_1", {.weights = kQ5_1, .rows = 37, .k = 160, .prologue = kRmsNorm, .epilogue = kBias, .eps = kEps}},
    {"Q5_K", {.weights = kQ5_K, .rows = 37, .k = 512, .prologue = kRmsNorm, .epilogue = kBias, .eps = kEps}},
    {"Q3_K", {.weights = kQ3_K, .rows = 37, .k = 512, .prologue = kRmsNorm, .epilogue = kBias, .eps = kEps}},
    {"Q2_K", {.weights = kQ2_K, .rows = 37, .k = 512, .prologue = kRmsNorm, .epilogue = kBias, .eps = kEps}},
    {"IQ4_NL", {.weights = kIQ4_NL, .rows = 37, .k = 160, .prologue = kRmsNorm, .epilogue = kBias, .eps = kEps}},
    {"IQ4_XS", {.weights = kIQ4_XS, .rows = 37, .k = 512, .prologue = kRmsNorm, .epilogue = kBias, .eps = kEps}},
    {"MXFP4", {.weights = kMXFP4, .rows = 37, .k = 160, .prologue = kRmsNorm, .epilogue = kBias, .eps = kEps}},
    {"IQ2Expanded",
     {.weights = kIQ2Expanded, .rows = 37, .k = 512, .prologue = kRmsNorm, .epilogue = kBias, .eps = kEps}},
    {"IQ3XXSExpanded",
     {.weights = kIQ3XXSExpanded, .rows = 37, .k = 512, .prologue = kRmsNorm, .epilogue = kBias, .eps = kEps}},
    {"IQ3SExpanded",
     {.weights = kIQ3SExpanded, .rows = 37, .k = 512, .prologue = kRmsNorm, .epilogue = kBias, .eps = kEps}},
};
static_assert(std::size(kFormats) == KernelBlocks::kCount);
INSTANTIATE_TEST_SUITE_P(Formats, Gemv, ::testing::ValuesIn(kFormats),
                         [](const auto& c) { return std::string(c.param.name); });

// Four columns and two matrices of every format.
class GemvColumns : public ::testing::TestWithParam<GemvCase> {};
TEST_P(GemvColumns, MatchesDouble) {
  GemvSpec spec = GetParam().spec;
  spec.epilogue = kSwiglu;
  spec.columns = 3;
  spec.rows = 21;
  spec.rows_per_warp = 2;
  const GemvProblem problem(spec);
  expect_right(problem, ptx::sm_90, 3);
}
INSTANTIATE_TEST_SUITE_P(Formats, GemvColumns, ::testing::ValuesIn(kFormats),
                         [](const auto& c) { return std::string(c.param.name); });

constexpr GemvCase kShapes[] = {
    {"one_row_of_one_unit", {kQ4_0, 1, 32}},
    {"one_row_of_one_float", {.weights = kF32, .rows = 1, .k = 1, .epilogue = kResidual}},
    {"odd_k_of_halves", {.weights = kF16, .rows = 19, .k = 37, .columns = 3, .prologue = kRmsNorm, .eps = kEps}},
    {"odd_k_of_floats",
     {.weights = kF32, .rows = 9, .k = 131, .columns = 2, .prologue = kRmsNorm, .epilogue = kResidual, .eps = kEps}},
    {"eight_columns",
     {.weights = kQ4_K, .rows = 64, .k = 768, .columns = 8, .prologue = kRmsNorm, .epilogue = kResidual, .eps = kEps}},
    {"seven_columns", {.weights = kQ6_K, .rows = 40, .k = 256, .columns = 7, .epilogue = kBias, .rows_per_warp = 4}},
    {"small_model", {.weights = kQ4_1, .rows = 192, .k = 576, .prologue = kRmsNorm, .eps = kEps}},  // 4 lanes a row
    {"small_model_columns", {.weights = kQ4_1, .rows = 192, .k = 576, .columns = 5, .prologue = kRmsNorm, .eps = kEps}},
    {"bias_and_residual", {.weights = kQ4_K, .rows = 37, .k = 512, .epilogue = kBiasResidual}},
    {"bias_and_residual_of_columns", {.weights = kQ6_K, .rows = 37, .k = 512, .columns = 7, .epilogue = kBiasResidual}},
    {"bias_and_residual_of_floats", {.weights = kF16, .rows = 21, .k = 100, .columns = 3, .epilogue = kBiasResidual}},
    {"biases_of_swiglu",
     {.weights = kQ8_0, .rows = 37, .k = 160, .prologue = kRmsNorm, .epilogue = kBiasSwiglu, .eps = kEps}},
    {"biases_of_swiglu_of_columns",
     {.weights = kQ4_K,
      .rows = 37,
      .k = 512,
      .columns = 5,
      .prologue = kRmsNorm,
      .epilogue = kBiasSwiglu,
      .eps = kEps,
      .up = kQ6_K}},
    {"biases_of_swiglu_of_floats", {.weights = kF32, .rows = 9, .k = 131, .columns = 2, .epilogue = kBiasSwiglu}},
    {"sixteen_lanes_a_row", {.weights = kQ8_0, .rows = 70, .k = 1536, .columns = 2, .epilogue = kResidual}},
    {"one_lane_a_row",
     {.weights = kQ5_0, .rows = 45, .k = 96, .columns = 1, .epilogue = kBias, .warps = 1, .lanes_per_row = 1}},
    {"one_warp",
     {.weights = kQ4_K, .rows = 33, .k = 256, .prologue = kRmsNorm, .eps = kEps, .warps = 1, .rows_per_warp = 4}},
    {"many_warps", {.weights = kQ4_K, .rows = 33, .k = 256, .prologue = kRmsNorm, .eps = kEps, .warps = 13}},
    {"several_passes",
     {.weights = kQ5_1,
      .rows = 95,
      .k = 320,
      .columns = 2,
      .prologue = kRmsNorm,
      .epilogue = kStore,
      .eps = kEps,
      .warps = 2,
      .rows_per_warp = 2,
      .lanes_per_row = 32,
      .rows_per_block = 12}},
    {"fewer_rows_than_groups", {kQ4_1, 5, 576}},
    {"tiles",
     {.weights = kQ4_K,
      .rows = 12,
      .k = 3 * 2048 + 256,
      .columns = 8,
      .prologue = kRmsNorm,
      .epilogue = kResidual,
      .eps = kEps,
      .warps = 2}},
    {"tiles_of_floats",
     {.weights = kF16, .rows = 5, .k = 3333, .columns = 5, .prologue = kRmsNorm, .eps = kEps, .warps = 2}},
    {"tiles_one_column",
     {.weights = kQ8_0, .rows = 3, .k = 24576, .prologue = kRmsNorm, .epilogue = kStore, .eps = kEps}},
    {"mixed_formats",
     {.weights = kQ4_K,
      .rows = 24,
      .k = 512,
      .columns = 2,
      .prologue = kRmsNorm,
      .epilogue = kSwiglu,
      .eps = kEps,
      .up = kQ6_K}},
    {"mixed_with_signed",
     {.weights = kQ8_0, .rows = 24, .k = 512, .epilogue = kSwiglu, .up = kQ5_K, .rows_per_warp = 2}},
};
INSTANTIATE_TEST_SUITE_P(Shapes, Gemv, ::testing::ValuesIn(kShapes),
                         [](const auto& c) { return std::string(c.param.name); });

// Random shapes and splits with fixed seeds.
TEST(GemvRandomTest, MatchesDouble) {
  constexpr TensorType kTypes[] = {kF16, kF32, kBF16, kQ4_K, kQ6_K, kQ5_0, kQ8_0, kQ4_1, kQ4_0, kQ5_1};
  std::mt19937 random(7);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  for (int i = 0; i < 40; ++i) {
    const TensorType type = kTypes[below(std::size(kTypes))];
    const uint32_t block = traits(type).block_weights;
    GemvSpec spec{type, 1 + below(90), block * (1 + below(block == 1 ? 700 : block == 32 ? 30 : 6)), 1 + below(8)};
    spec.prologue = below(2) ? kRmsNorm : kNone;
    spec.epilogue = static_cast<GemvEpilogue>(below(6));
    spec.eps = kEps;
    spec.warps = 1 + below(9);
    spec.lanes_per_row = 1u << below(6);
    spec.rows_per_warp = 1 + below(4);
    if (32 / spec.lanes_per_row * spec.rows_per_warp > spec.rows) spec.lanes_per_row = spec.rows_per_warp = 0;
    expect_right(GemvProblem(spec, random()), ptx::sm_75, 1 + below(spec.columns), 1e-3);  // small norms
  }
}

TEST(GemvColumnsTest, LeavesColumnsBeyondTheCountAlone) {
  for (GemvEpilogue epilogue : {kStore, kResidual}) {
    const GemvProblem problem({kQ4_K, 40, 512, 8, kRmsNorm, epilogue, kEps});
    for (uint32_t n_columns : {1u, 3u, 8u}) expect_right(problem, ptx::sm_80, n_columns);
  }
  const GemvProblem floats({kF32, 10, 50, 4, kRmsNorm, kStore, kEps});
  for (uint32_t n_columns : {1u, 3u}) expect_right(floats, ptx::sm_80, n_columns);
}

TEST(GemvColumnsTest, OfAllBlocksAreAnyNumber) {
  for (GemvEpilogue epilogue : {kBias, kResidual, kSwiglu}) {
    const GemvProblem problem({kQ4_K, 37, 256, 19, kRmsNorm, epilogue, kEps});
    GemvSpec of_block = problem.spec;
    of_block.columns = 8;
    ptx::Kernel kernel = gemv(of_block, ptx::sm_80);
    kernel.launch.blocks.y = 3;
    for (uint32_t n_columns : {1u, 8u, 9u, 19u}) expect_right(problem, kernel, n_columns);
  }
}

// A column's results are the same to the bit alone and beside any others, on tensor cores or not.
class GemvBits : public ::testing::TestWithParam<GemvCase> {};
TEST_P(GemvBits, AreThoseOfAColumnByItself) {
  ptx::emulator::LaunchOptions options = kAllChecks;
  options.jitter = false;  // on a GPU, approximations always give the same bits
  const GemvSpec& spec = GetParam().spec;
  GemvSpec of_one = spec;
  of_one.columns = 1;
  const GemvProblem all(spec);
  GemvProblem one(of_one);
  one.bias = all.bias, one.gamma = all.gamma, one.weights = all.weights, one.up = all.up;
  for (const ptx::Target target : {ptx::sm_75, ptx::sm_90}) {
    const std::vector<float> together = all.run(gemv(spec, target), target, spec.columns, options);
    for (uint32_t c = 0; c < spec.columns; c += 3) {
      std::copy_n(all.x.begin() + size_t{c} * spec.k, spec.k, one.x.begin());
      std::copy_n(all.y.begin() + size_t{c} * spec.rows, spec.rows, one.y.begin());
      const std::vector<float> alone = one.run(gemv(of_one, target), target, 1, options);
      EXPECT_TRUE(std::equal(alone.begin(), alone.end(), together.begin() + c * spec.rows))
          << "column " << c << " of " << name_of(spec) << " on " << ptx::spell(target);
    }
  }
}
constexpr GemvCase kBits[] = {
    {"sixteen_lanes", {kQ4_K, 40, 2048, 8, kRmsNorm, kSwiglu, kEps}},
    {"warp_a_row", {kQ6_K, 24, 4352, 4, kNone, kResidual}},
    {"bias_and_residual", {kQ4_K, 40, 2048, 4, kNone, kBiasResidual}},
    {"biases_of_swiglu", {kQ4_K, 40, 2048, 4, kRmsNorm, kBiasSwiglu, kEps}},
    {"warp_a_row_and_bias", {kQ4_K, 24, 4096, 4, kRmsNorm, kBias, kEps}},
    {"eight_lanes", {kQ5_0, 37, 896, 7, kRmsNorm, kStore, kEps}},
    {"four_lanes", {kQ4_1, 33, 576, 2, kRmsNorm, kStore, kEps}},
    {"few_rows", {kQ3_K, 11, 512, 4, kRmsNorm, kStore, kEps}},
    {"few_rows_of_odd_units", {kQ8_0, 5, 160, 4, kRmsNorm, kStore, kEps}},
    {"two_scales_and_lowest", {kQ2_K, 20, 1024, 4, kNone, kStore}},
    {"of_tables", {kIQ4_XS, 20, 1024, 4, kNone, kStore}},
    {"mixed", {.weights = kQ4_K, .rows = 24, .k = 512, .columns = 4, .epilogue = kSwiglu, .eps = kEps, .up = kQ6_K}},
    {"floats", {kF16, 24, 1024, 4, kNone, kStore}},
};
INSTANTIATE_TEST_SUITE_P(Shapes, GemvBits, ::testing::ValuesIn(kBits),
                         [](const auto& c) { return std::string(c.param.name); });

// Fused products give the bits of separate ones. One has no bias, and two share a format.
TEST(GemvColumnsTest, TogetherAreThoseOfEachByItself) {
  constexpr uint32_t kK = 1024, kColumns = 11;
  ptx::emulator::LaunchOptions options = kAllChecks;
  options.jitter = false;
  FusedGemv all;
  std::vector<GemvProblem> problems;
  for (const auto& [type, rows, epilogue] :
       {std::tuple(kQ4_K, 70u, kBias), std::tuple(kQ6_K, 37u, kStore), std::tuple(kQ4_K, 16u, kBias)}) {
    all.products.push_back({type, rows, kK, 8, kRmsNorm, epilogue, kEps});
    GemvSpec of_columns = all.products.back();
    of_columns.columns = kColumns;
    problems.emplace_back(of_columns);
    problems.back().x = problems[0].x, problems.back().gamma = problems[0].gamma;
  }
  for (const ptx::Target target : {ptx::sm_75, ptx::sm_90}) {
    GuardedDevice device(target);
    const IntActivations made = made_integers(device, target, device.upload(problems[0].x),
                                              device.upload(problems[0].gamma), kEps, kK, kColumns, options);
    std::vector<uint64_t> arguments;
    std::vector<float*> outputs;
    const auto add = [&](const auto* p) { arguments.push_back(reinterpret_cast<uint64_t>(p)); };
    for (const GemvProblem& problem : problems) {
      const float* bias = problem.spec.epilogue == kBias ? device.upload(problem.bias) : nullptr;
      outputs.push_back(device.poisoned<float>(problem.y.size()));
      add(device.upload(problem.weights.bytes)), add(bias), add(outputs.back());
    }
    add(made.integers), add(made.factors);
    ptx::Kernel kernel = fused_gemv(all, target);
    EXPECT_EQ(kernel.name, "gemv_q4k_70_q6k_37_q4k_16x1024_c8");
    kernel.launch.blocks.y = 2;
    ASSERT_EQ(device.run_listed(options, kernel, arguments, {kColumns}), "");
    for (size_t i = 0; i < problems.size(); ++i) {
      const GemvProblem& problem = problems[i];
      ptx::Kernel alone = gemv(all.products[i], target);
      alone.launch.blocks.y = 2;
      EXPECT_EQ(device.download(outputs[i], problem.y.size()), problem.run(alone, target, kColumns, options)) << i;
    }
  }
}

TEST(GemvReproducibilityTest, IsTheSameUnderEverySchedule) {
  const GemvProblem problem({kQ6_K, 20, 4352, 3, kNone, kResidual});
  const ptx::Kernel kernel = gemv(problem.spec, ptx::sm_75);
  const std::vector<float> expected = problem.run(kernel, ptx::sm_75, 3);
  for (uint64_t seed = 1; seed < 4; ++seed) {
    ptx::emulator::LaunchOptions options = shaken(seed);
    options.jitter = false;  // on a GPU, approximations always give the same bits
    EXPECT_EQ(problem.run(kernel, ptx::sm_75, 3, options), expected) << "seed " << seed;
  }
}

TEST(GemvReproducibilityTest, IsRightUnderEverySchedule) {  // rsqrt and ex2 vary within their error bounds
  const GemvProblem problem({kQ4_1, 70, 160, 2, kRmsNorm, kSwiglu, kEps});
  for (uint64_t seed = 1; seed < 4; ++seed) expect_right(problem, ptx::sm_75, 2, kTolerance, shaken(seed));
}

// Inputs.

TEST(GemvInputTest, TakesLargeValues) {  // fp16 would overflow
  for (TensorType type : {kQ4_K, kQ6_K, kF16}) {
    for (GemvPrologue prologue : {kNone, kRmsNorm}) {
      GemvProblem problem({type, 20, 512, 1, prologue, kStore, kEps});
      for (float& v : problem.x) v *= 1e5f / 200;
      expect_right(problem, ptx::sm_75, 1);
    }
  }
}

TEST(GemvInputTest, TakesTinyValuesAndZeros) {
  for (TensorType type : {kQ4_K, kQ4_0, kF32}) {
    for (float scale : {0.0f, 1e-20f}) {
      GemvProblem problem({type, 20, 512, 1, kRmsNorm, kBias, kEps});
      for (float& v : problem.x) v *= scale;
      expect_right(problem, ptx::sm_75, 1);
    }
    GemvProblem vanishing({type, 20, 512});  // products below 1e-30 vanish
    for (float& v : vanishing.x) v *= 1e-40f;
    for (float y : vanishing.run(gemv(vanishing.spec, ptx::sm_75), ptx::sm_75, 1)) EXPECT_LT(std::abs(y), 1e-30f);
  }
}

TEST(GemvInputTest, NonFiniteInputStaysInItsColumn) {
  for (TensorType type : {kQ4_K, kQ6_K, kQ8_0, kF16, kF32}) {
    for (float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      for (GemvPrologue prologue : {kNone, kRmsNorm}) {
        GemvProblem problem({type, 9, 512, 2, prologue, kStore, kEps});
        problem.x[512 + 77] = value;
        const std::vector<float> y = problem.run(gemv(problem.spec, ptx::sm_75), ptx::sm_75, 2);
        const std::vector<double> reference = problem.reference(1);
        expect_close(std::span(y).first(9), std::span(reference).first(9), kTolerance);
        for (uint32_t row = 0; row < 9; ++row) EXPECT_FALSE(std::isfinite(y[9 + row])) << row;
      }
    }
  }
}

// Mistakes of earlier kernels: each one, inserted into the text, is found.

struct Mistake {
  const char* name;
  const char *text, *replacement;
  GemvSpec spec;
  const char* fault;  // part of the emulator's message; "": the results are wrong instead
};
std::ostream& operator<<(std::ostream& out, const Mistake& m) { return out << m.name; }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  if (at == text.npos) throw std::runtime_error("no \"" + from + "\" in the text");
  return text.replace(at, from.size(), to);
}

class GemvMistake : public ::testing::TestWithParam<Mistake> {};

TEST_P(GemvMistake, IsFound) {
  if (!GuardedDevice(ptx::sm_75).is_emulated()) GTEST_SKIP() << "the emulator's checks find it";
  const GemvProblem problem(GetParam().spec);
  ptx::Kernel kernel = gemv(problem.spec, ptx::sm_75);
  std::string fault;
  problem.run(kernel, ptx::sm_75, 1, kAllChecks, &fault);
  ASSERT_EQ(fault, "");
  kernel.text = replaced(kernel.text, GetParam().text, GetParam().replacement);
  const std::vector<float> y = problem.run(kernel, ptx::sm_75, 1, kAllChecks, &fault);
  if (*GetParam().fault != 0) {
    EXPECT_NE(fault.find(GetParam().fault), fault.npos) << fault;
  } else {
    EXPECT_EQ(fault, "");
    EXPECT_FALSE(relative_error(y, problem.reference(1)) <= kTolerance);
  }
}

constexpr GemvSpec kNormed = {kQ4_K, 9, 768, 1, kRmsNorm, kStore, kEps};
constexpr Mistake kMistakes[] = {
    {"squares_overwrite_the_first_values", "mov.u32 %squares, squares;", "mov.u32 %squares, input;", kNormed,
     "written without order"},
    {"no_barrier_before_the_readers", "bar.sync 0;", "", kNormed, "written without order"},
    {"reads_past_x",
     "setp.lt.u32 %lt, %unit, 5;",
     "setp.lt.u32 %lt, %unit, 8;",
     {kQ4_0, 9, 160, 1, kRmsNorm, kStore, kEps},
     "reads byte 640"},
    {"forgets_gamma", "[%gamma_2];", "[%x_2];", kNormed, ""},
};
INSTANTIATE_TEST_SUITE_P(Reference, GemvMistake, ::testing::ValuesIn(kMistakes),
                         [](const auto& m) { return std::string(m.param.name); });

// Each byte of the weights is read once, in whole sectors of 32 bytes, and the input without bank conflicts.
TEST(GemvCountersTest, ReadsWeightsOnceAndWithoutBankConflicts) {
  if (!GuardedDevice(ptx::sm_75).is_emulated()) GTEST_SKIP() << "the counters are the emulator's";
  const ptx::emulator::LaunchOptions counting{.count = true};
  for (const GemvSpec& spec :
       {GemvSpec{kQ4_K, 32, 4096}, GemvSpec{kQ6_K, 32, 4096}, GemvSpec{kQ8_0, 32, 2048}, GemvSpec{kF16, 32, 1024, 2},
        GemvSpec{kF32, 32, 1024}, GemvSpec{kQ5_0, 32, 2048}, GemvSpec{kQ4_1, 32, 2048, 1, kRmsNorm, kSwiglu, kEps}}) {
    SCOPED_TRACE(name_of(spec));
    const GemvProblem problem(spec);
    problem.run(gemv(spec, ptx::sm_90), ptx::sm_90, spec.columns, counting);
    const ptx::emulator::Counts* products = problem.counters.of_tag("products");
    ASSERT_NE(products, nullptr);
    const uint64_t n_bytes = problem.weights.bytes.size() + (problem.up ? problem.up->bytes.size() : 0);
    EXPECT_GE(products->loads.sectors, n_bytes / 32);
    EXPECT_LE(static_cast<double>(products->loads.sectors), static_cast<double>(n_bytes) / 32 * 1.03);
    EXPECT_EQ(products->bank_replays, 0u);
    EXPECT_GT(products->shared_requests, 0u);
    // A block reads each value of x, and of gamma, once.
    const uint64_t n_vectors = spec.columns * (spec.prologue == kRmsNorm ? 2 : 1);
    EXPECT_EQ(problem.counters.of_tag("normalise")->loads.bytes, plan_of(spec).n_blocks * n_vectors * spec.k * 4);
  }
}

// With several columns, two neighbouring units of a row share a sector, and a warp reads it once for each.
TEST(GemvCountersTest, OfColumnsReadsSectorsForTwoUnits) {
  if (!GuardedDevice(ptx::sm_75).is_emulated()) GTEST_SKIP() << "the counters are the emulator's";
  const ptx::emulator::LaunchOptions counting{.count = true};
  for (const GemvSpec& spec : {GemvSpec{kQ4_K, 32, 4096, 8}, GemvSpec{kQ8_0, 32, 2048, 3}}) {
    SCOPED_TRACE(name_of(spec));
    const GemvProblem problem(spec);
    problem.run(gemv(spec, ptx::sm_90), ptx::sm_90, spec.columns, counting);
    const ptx::emulator::Counts* products = problem.counters.of_tag("products");
    ASSERT_NE(products, nullptr);
    const double of_weights = static_cast<double>(problem.weights.bytes.size()) / 32;
    const double of_columns = 2 * int_activations_words(spec.k, 8) / 8.0;  // both tiles
    EXPECT_GE(static_cast<double>(products->loads.sectors), of_weights + of_columns);
    EXPECT_LE(static_cast<double>(products->loads.sectors), 3 * (of_weights + of_columns));
  }
}

// Several rows share a block's normalised input; the block reads it once.
TEST(GemvPlanTest, SharesTheInputAmongRows) {
  for (uint32_t k : {896u, 2048u, 3584u}) {
    const GemvPlan plan = plan_of({kQ4_K, 2048, k - k % 256, 1, kRmsNorm, kStore, kEps});
    EXPECT_GE(2048 / plan.n_blocks, 8u) << k;
  }
  EXPECT_LE(plan_of({kQ6_K, 151936, 2048, 1, kRmsNorm}).n_blocks, 528u);
}

TEST(GemvPlanTest, ReportsLaunchAndCost) {
  const ptx::Kernel kernel = gemv({kQ4_K, 100, 512, 2, kRmsNorm, kResidual, kEps}, ptx::sm_80);
  EXPECT_EQ(kernel.launch.threads.total(), 256u);
  EXPECT_EQ(kernel.launch.blocks.total(), 4u);                       // two tiles of 16 rows
  EXPECT_EQ(kernel.static_shared_bytes, 2u * 8 * 8 * (16 + 4) * 4);  // sums of eight lanes, padded
  EXPECT_EQ(kernel.cost.bytes, 100 * packed_bytes_per_row(kQ4_K, 512) + 4 * (16 * 160 + 2 + 2 * 2 * 100));
  EXPECT_EQ(kernel.cost.flops, 2u * 100 * 512 * 2);
  const GemvSpec two{.weights = kQ4_K, .rows = 100, .k = 512, .epilogue = kSwiglu};
  GemvSpec with_biases = two;
  with_biases.epilogue = kBiasSwiglu;
  EXPECT_EQ(gemv(with_biases, ptx::sm_80).cost.bytes, gemv(two, ptx::sm_80).cost.bytes + 4 * 2 * 100);
}

TEST(GemvPlanTest, NamesSayWhatDiffers) {
  EXPECT_EQ(name_of({kQ4_K, 2048, 11008, 8, kRmsNorm, kSwiglu}), "gemv_q4k_2048x11008_rmsnorm_swiglu_c8_w16");
  EXPECT_EQ(name_of({.weights = kQ4_K, .rows = 64, .k = 256, .epilogue = kSwiglu, .up = kQ6_K, .rows_per_warp = 2}),
            "gemv_q4k_q6k_64x256_swiglu_c1_w16_r2");
  EXPECT_EQ(name_of({.weights = kQ4_K, .rows = 64, .k = 256, .epilogue = kBiasResidual}),
            "gemv_q4k_64x256_bias_residual_c1_w16");
  EXPECT_EQ(name_of({.weights = kQ4_K, .rows = 64, .k = 256, .epilogue = kBiasSwiglu}),
            "gemv_q4k_64x256_bias_swiglu_c1_w16");
}

struct Refused {
  GemvSpec spec;
  const char* sentence;
};
TEST(GemvPlanTest, RefusesWithASentence) {
  const Refused kRefused[] = {
      {{kQ4_K, 0, 256}, "cannot generate gemv_q4k_0x256_c1_w16: it has no rows"},
      {{kQ4_K, 8, 300}, "cannot generate gemv_q4k_8x300_c1_w16: k is 300; Q4_K needs a multiple of 256"},
      {{kQ4_K, 8, 256, 9}, "cannot generate gemv_q4k_8x256_c9_w16: it has 9 columns; expected 1 to 8"},
      {{.weights = kQ4_K, .rows = 8, .k = 256, .up = kQ4_K},
       "cannot generate gemv_q4k_8x256_c1_w16: only swiglu has an up matrix"},
      {{.weights = kQ4_K, .rows = 8, .k = 256, .epilogue = kSwiglu, .up = kF16},
       "cannot generate gemv_q4k_f16_8x256_swiglu_c1_w16: its two matrices have incompatible formats"},
      {{.weights = kQ4_K, .rows = 8, .k = 256, .lanes_per_row = 3},
       "cannot generate gemv_q4k_8x256_c1_w16_l3: lanes_per_row must be a power of two up to 32"},
      {{.weights = kQ4_K, .rows = 8, .k = 256, .rows_per_block = 9},
       "cannot generate gemv_q4k_8x256_c1_w16_b9: rows_per_block must be a multiple"},
  };
  for (const Refused& refused : kRefused) {
    try {
      gemv(refused.spec, ptx::sm_75);
      ADD_FAILURE() << "accepted: " << refused.sentence;
    } catch (const Error& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with(refused.sentence)) << error.what();
    }
  }
}

}  // namespace
}  // namespace warpchat
