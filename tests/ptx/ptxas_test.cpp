// ptxas 13 checks the builder: it accepts all that the builder accepts, and refuses what the target gates refuse.
#include "ptxas.h"

#include <gtest/gtest.h>

#include "example_kernels.h"
#include "form_examples.h"
#include "operations.h"
#include "ptx/instruction_table.h"

namespace ptx::testing {
namespace {

constexpr Target kTargets[] = {sm_75, sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100, sm_120};

class PtxasTest : public ::testing::TestWithParam<Target> {
 protected:
  void SetUp() override {
    if (find_ptxas().empty()) GTEST_SKIP() << "ptxas is not installed; nothing assembles the text here";
  }
};

TEST_P(PtxasTest, AssemblesEveryOperation) {
  std::vector<Kernel> kernels;
  for (const Operation* operation : all_operations()) {
    if (runs(GetParam(), operation->minimum)) kernels.push_back(kernel_of(*operation, GetParam()));
  }
  const Assembly assembly = assemble(module_text(kernels), GetParam());
  EXPECT_TRUE(assembly.accepted) << assembly.output;
}

TEST_P(PtxasTest, AssemblesEveryExample) {
  for (const ExampleKernel& example : kExampleKernels) {
    if (!runs(GetParam(), example.minimum)) continue;
    const Assembly assembly = assemble(example.build(GetParam()).text, GetParam());
    EXPECT_TRUE(assembly.accepted) << example.name << "\n" << assembly.output;
  }
}

struct Judged {
  const Form* form;
  bool refused;
};

// ptxas' verdict on each form that `takes` selects.
template <class F>
std::vector<Judged> judge(Target target, Version version, F&& takes) {
  std::vector<std::string> lines;
  std::vector<Judged> judged;
  for (const Form& form : instruction_forms()) {
    if (!takes(*form.row)) continue;
    for (const Signature& signature : form.signatures) {
      lines.push_back(example_line(form, signature));
      judged.push_back({&form, false});
    }
  }
  if (lines.empty()) return judged;
  // The last line is wrong on purpose: then ptxas reports every wrong line and skips compiling.
  int first_line = 0;
  const Assembly assembly = assemble(kernel_around(lines, target, version, "ret %pred_0", first_line), target);
  EXPECT_EQ(assembly.error_lines.count(first_line + static_cast<int>(lines.size()) + 1), 1u) << assembly.output;
  for (size_t i = 0; i < judged.size(); ++i) {
    judged[i].refused = assembly.error_lines.contains(first_line + static_cast<int>(i));
  }
  return judged;
}

constexpr Version kNewest{90};

TEST_P(PtxasTest, AcceptsWhatTheGatesLetPass) {
  for (const Judged& j : judge(GetParam(), kNewest, [](const Row& row) { return runs(GetParam(), row.minimum); })) {
    EXPECT_FALSE(j.refused) << j.form->spelling << " for " << spell(GetParam());
  }
}

TEST_P(PtxasTest, RefusesWhatTheGatesRefuse) {
  for (const Judged& j : judge(GetParam(), kNewest, [](const Row& row) { return !runs(GetParam(), row.minimum); })) {
    EXPECT_TRUE(j.refused) << j.form->spelling << " for " << spell(GetParam());
  }
}

// Forms need exactly the version of their row. On sm_90, conversions to 8-bit floats are older than on sm_89, whose
// version the table has.
TEST_P(PtxasTest, AgreesOnVersions) {
  for (int number : {63, 65, 70, 71, 74, 78, 80, 81, 86, 88}) {
    const Version version{number};
    if (version < oldest_version(GetParam())) continue;
    const auto runs_here = [](const Row& row) { return runs(GetParam(), row.minimum); };
    const auto older =
        judge(GetParam(), version, [&](const Row& row) { return runs_here(row) && row.version <= version; });
    for (const Judged& j : older) EXPECT_FALSE(j.refused) << j.form->spelling << " in PTX " << spell(version);
    const auto newer =
        judge(GetParam(), version, [&](const Row& row) { return runs_here(row) && row.version > version; });
    for (const Judged& j : newer) {
      const bool older_elsewhere = j.form->row->minimum == sm_89 && GetParam().sm > 89;
      EXPECT_TRUE(j.refused || older_elsewhere) << j.form->spelling << " in PTX " << spell(version);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, PtxasTest, ::testing::ValuesIn(kTargets),
                         [](const auto& row) { return spell(row.param); });

}  // namespace
}  // namespace ptx::testing
