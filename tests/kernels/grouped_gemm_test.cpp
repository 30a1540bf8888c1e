// Grouped GEMM of a mixture's experts, after the kernel that sorts the assignments, against double precision in the
// emulator.
#include <gtest/gtest.h>

#include "kernels/experts/expert_order.h"
#include "kernels/matmul/gemm.h"
#include "models/error.h"
#include "tests/kernels/routed_problem.h"
#include "tests/support/error_of.h"

namespace warpchat {
namespace {

using enum GemvPrologue;
using enum GemvEpilogue;
using enum TensorType;

constexpr float kEps = 1e-6f;
constexpr double kTolerance = 1e-3;  // as for the GEMM

std::vector<uint32_t> scattered(uint32_t n, uint32_t n_assignments) {
  std::vector<uint32_t> experts(n_assignments);
  for (uint32_t use = 0; use < n_assignments; ++use) experts[use] = (use * 7 + use / 5) % n;
  return experts;
}

struct GroupedCase {
  const char* name;
  GemmSpec spec;  // experts: how many; assignments_per_input: n_used, or 1 if each assignment has its own input
  uint32_t n_used, columns, n_columns;
  std::vector<uint32_t> (*experts)(uint32_t n, uint32_t n_assignments) = scattered;
};
std::ostream& operator<<(std::ostream& out, const GroupedCase& c) { return out << name_of(c.spec); }

class GroupedProblem {
 public:
  static bool is_down(const GemmSpec& spec) { return spec.epilogue == kStore; }
  explicit GroupedProblem(const GroupedCase& c)
      : case_(c),
        problem_({c.spec.weights, c.spec.rows, c.spec.k, 1, is_down(c.spec) ? kNone : kRmsNorm, c.spec.epilogue, kEps,
                  c.spec.up},
                 c.spec.experts, c.n_used, c.spec.assignments_per_input > 1,
                 c.experts(c.spec.experts, c.n_columns * c.n_used)) {}

  // Returns y [columns * n_used, rows].
  std::vector<float> run(ptx::Target target, ptx::emulator::LaunchOptions options = kAllChecks) const {
    const GemmSpec& s = case_.spec;
    const ExpertOrderSpec order_spec{s.experts, case_.n_used, s.columns_per_block, case_.columns};
    const size_t max_assignments = size_t{case_.columns} * case_.n_used;
    GuardedDevice device(target);
    auto* order = device.poisoned<uint32_t>(max_assignments);
    auto* tiles = device.poisoned<uint32_t>(
        4 * size_t{max_expert_tiles(s.experts, s.columns_per_block, static_cast<uint32_t>(max_assignments))});
    std::vector<uint32_t> numbers;
    if (case_.columns > 1) numbers.push_back(case_.n_columns);
    EXPECT_EQ(device.run_listed(options, expert_order(order_spec, target),
                                {address(device.upload(problem_.experts)), address(order), address(tiles)}, numbers),
              "");
    ptx::Kernel kernel = gemm(s, target);
    kernel.launch.blocks = gemm_grid(s, problem_.n_assignments());
    std::vector<uint64_t> arguments = {address(device.upload(problem_.weights))};
    if (!problem_.up.empty()) arguments.push_back(address(device.upload(problem_.up)));
    const F16Activations input = made_f16_activations(device, target, device.upload(problem_.x),
                                                      is_down(s) ? nullptr : device.upload(problem_.gamma()), kEps, s.k,
                                                      static_cast<uint32_t>(problem_.x.size() / s.k), options);
    arguments.insert(arguments.end(), {address(input.halves), address(input.factors)});
    float* y = device.poisoned<float>(max_assignments * s.rows);
    arguments.insert(arguments.end(), {address(order), address(tiles), address(y)});
    EXPECT_EQ(device.run_listed(options, kernel, arguments, {s.rows, s.k}), "");
    return device.download(y, max_assignments * s.rows);
  }
  void expect_right(ptx::Target target, ptx::emulator::LaunchOptions options = kAllChecks) const {
    SCOPED_TRACE(ptx::spell(target));
    problem_.expect_right(run(target, options), kTolerance);
  }
  // The same assignment as a product of one matrix and one column.
  std::vector<float> run_alone(uint32_t use, ptx::Target target) const {
    GemmSpec one = case_.spec;
    one.experts = 0, one.columns_per_block = 0;
    ptx::Kernel kernel = gemm(one, target);
    kernel.launch.blocks = gemm_grid(one, 1);
    return problem_.problem_of(use).run_f16(kernel, target, 1, {one.rows, one.k, 1}, kAllChecks, nullptr);
  }
  uint32_t n_assignments() const { return problem_.n_assignments(); }

 private:
  template <class T>
  static uint64_t address(const T* p) {
    return reinterpret_cast<uint64_t>(p);
  }
  GroupedCase case_;
  RoutedProblem problem_;
};

class GroupedGemm : public ::testing::TestWithParam<GroupedCase> {};

TEST_P(GroupedGemm, MatchesDouble) {
  const GroupedProblem problem(GetParam());
  for (const ptx::Target target : {ptx::sm_75, ptx::sm_80}) problem.expect_right(target);
}

GemmSpec gate_up(TensorType type, uint32_t rows, uint32_t k, uint32_t experts, uint32_t n_used, uint32_t tile) {
  return {.weights = type,
          .rows = rows,
          .k = k,
          .epilogue = kSwiglu,
          .columns_per_block = tile,
          .experts = experts,
          .assignments_per_input = n_used};
}
GemmSpec down(TensorType type, uint32_t rows, uint32_t k, uint32_t experts, uint32_t tile) {
  return {.weights = type, .rows = rows, .k = k, .columns_per_block = tile, .experts = experts};
}
GemmSpec mixed_gate_up() {
  GemmSpec spec = gate_up(kQ4_K, 40, 256, 3, 2, 16);
  spec.up = kQ6_K;
  return spec;
}

const GroupedCase kGrouped[] = {
    {"gate_up", gate_up(kQ4_K, 70, 256, 5, 2, 24), 2, 20, 19},
    {"gate_up_of_two_formats", mixed_gate_up(), 2, 9, 9},
    {"gate_up_ends_in_a_tile", gate_up(kQ5_0, 33, 160, 4, 3, 8), 3, 8, 7},
    {"down", down(kQ6_K, 48, 256, 5, 16), 2, 20, 13},
    {"down_ends_in_a_tile", down(kQ8_0, 37, 96, 6, 8), 4, 6, 5},
    {"down_of_halves", down(kF16, 20, 37, 3, 8), 2, 6, 6},  // k ends inside a group of four
    {"two_scales_a_unit", down(kQ2_K, 32, 256, 3, 8), 2, 5, 5},
    {"a_table_of_numbers", down(kIQ4_NL, 16, 64, 3, 8), 2, 5, 5},
    {"fewer_assignments_than_experts", down(kQ4_0, 16, 32, 16, 8), 2, 3, 3},
    {"one_use", down(kQ4_0, 16, 32, 4, 8), 1, 1, 1},
    {"one_expert_has_all",  // the others have none; one tile has a single assignment
     down(kQ4_1, 16, 32, 9, 16), 3, 11, 11, [](uint32_t, uint32_t n) { return std::vector(n, 6u); }},
    {"full_tiles", gate_up(kQ5_1, 16, 64, 2, 2, 64), 2, 64, 64,
     [](uint32_t, uint32_t n) {
       std::vector<uint32_t> experts(n);
       for (uint32_t use = 0; use < n; ++use) experts[use] = use % 2;
       return experts;
     }},
};
INSTANTIATE_TEST_SUITE_P(Cases, GroupedGemm, ::testing::ValuesIn(kGrouped), [](const auto& c) { return c.param.name; });

TEST(GroupedGemmReproducibility, IsRightUnderEverySchedule) {
  for (const GroupedCase& c : {kGrouped[0], kGrouped[4]})
    for (uint64_t seed = 1; seed < 4; ++seed)
      for (const ptx::Target target : {ptx::sm_75, ptx::sm_90}) GroupedProblem(c).expect_right(target, shaken(seed));
}

// The bits do not depend on the other assignments, so a prefill may be cut anywhere.
TEST(GroupedGemmReproducibility, GivesTheBitsOfAProductByItself) {
  for (const GroupedCase& c : {kGrouped[0], kGrouped[3], kGrouped[5]}) {
    const GroupedProblem problem(c);
    const std::vector<float> y = problem.run(ptx::sm_80);
    for (uint32_t use = 0; use < problem.n_assignments(); use += 3) {
      const std::vector<float> alone = problem.run_alone(use, ptx::sm_80);
      EXPECT_TRUE(std::equal(alone.begin(), alone.end(), y.begin() + size_t{use} * c.spec.rows))
          << c.name << ", use " << use;
    }
  }
}

// The text depends on neither the sizes nor the number of experts.
TEST(GroupedGemmPlan, IsOneKernelForAllExperts) {
  EXPECT_EQ(gemm(gate_up(kQ4_K, 768, 2048, 128, 8, 64), ptx::sm_80).text,
            gemm(gate_up(kQ4_K, 1536, 4096, 64, 8, 64), ptx::sm_80).text);
  EXPECT_EQ(name_of(gate_up(kQ4_K, 768, 2048, 128, 8, 64)), "experts_gemm_q4k_swiglu_u8_c64");
  EXPECT_EQ(name_of(down(kQ6_K, 2048, 768, 128, 64)), "experts_gemm_q6k_u1_c64");
}

TEST(GroupedGemmPlan, CountsTheWeightsThatUsesCanTouch) {
  const GemmSpec spec = down(kQ4_K, 2048, 768, 128, 64);
  const uint64_t matrix = 2048 * packed_bytes_per_row(kQ4_K, 768), use = 4 * 2048 + 2 * f16_activation_size(768) + 4;
  EXPECT_EQ(gemm_cost(spec, 10).bytes, 10 * (matrix + use));
  EXPECT_EQ(gemm_cost(spec, 4096).bytes, 128 * matrix + 4096 * use);
  EXPECT_EQ(gemm_cost(spec, 4096).flops, uint64_t{2} * 2048 * 768 * 4096);
  EXPECT_EQ(gemm_grid(spec, 4096).x, max_expert_tiles(128, 64, 4096));
}

TEST(GroupedGemmPlan, RefusesWithASentence) {
  GemmSpec spec = down(kQ4_K, 16, 256, 4, 8);
  spec.epilogue = kBias;
  EXPECT_EQ(error_of([&] { gemm(spec, ptx::sm_75); }),
            "cannot generate experts_gemm_q4k_bias_u1_c8: experts cannot have a bias or residual");
  spec.epilogue = kStore, spec.split_k = 2;
  EXPECT_EQ(error_of([&] { gemm(spec, ptx::sm_75); }),
            "cannot generate experts_gemm_q4k_u1_c8_p: split-K needs a single matrix without experts");
}

}  // namespace
}  // namespace warpchat
