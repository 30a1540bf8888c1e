// ptxas 13 judges the builder: it assembles all that the builder lets pass, and refuses what the gates refuse.
#include "ptxas.h"

#include <gtest/gtest.h>

#include <map>

#include "example_kernels.h"
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
    const Assembly assembly = assemble(example.build(GetParam()).text, GetParam());
    EXPECT_TRUE(assembly.accepted) << example.name << "\n" << assembly.output;
  }
}

// An operand that fits the slot; `n` counts registers, so that neighbours differ.
std::string example_operand(const Form& form, const Slot& slot, int& n) {
  const auto reg = [&](Type type) {
    return "%" + std::string(info(in_register(type)).declared) + "_" + std::to_string(n++ % 16);
  };
  if (slot.kind == Slot::Kind::kLabel) return "$end";
  if (slot.kind == Slot::Kind::kConstant) return form.spelling.starts_with("setmaxnreg") ? "40" : "16";
  if (slot.kind == Slot::Kind::kAddress) {
    static const std::map<Space, std::string> kAddresses = {{Space::kGlobal, "[%b64_0+32]"},
                                                            {Space::kShared, "[%b32_0+32]"},
                                                            {Space::kLocal, "[stack]"},
                                                            {Space::kConst, "[table]"},
                                                            {Space::kParam, "[parameter]"}};
    return kAddresses.at(slot.space);
  }
  if (slot.paired) return reg(slot.type) + "|" + reg(Type::kPred);
  if (!slot.listed) return reg(slot.type);
  std::string list = "{" + reg(slot.type);
  for (int i = 1; i < slot.count; ++i) list += ", " + reg(slot.type);
  return list + "}";
}

std::string example_line(const Form& form, const Signature& signature) {
  std::string line = form.spelling;
  int n = 1;
  for (size_t i = 0; i < signature.slots.size(); ++i) {
    line += (i ? ", " : " ") + example_operand(form, signature.slots[i], n);
  }
  return line + ";\n";
}

// A kernel of the given lines, the first of which stands in line `first_line`. Its last line is wrong on purpose: ptxas
// then names every wrong line and spares itself the compiling.
std::string kernel_around(const std::vector<std::string>& lines, Target target, Version version, int& first_line) {
  std::string text = ".version " + spell(version) + "\n.target " + spell(target) + "\n.address_size 64\n" +
                     ".const .align 32 .b8 table[64];\n.visible .entry all(.param .align 32 .b8 parameter[64])\n{\n";
  for (const char* type : {"pred", "b16", "b32", "b64", "f32", "f64"}) {
    text += ".reg ." + std::string(type) + " %" + type + "_<16>;\n";
  }
  text += ".local .align 32 .b8 stack[64];\n";
  first_line = static_cast<int>(std::count(text.begin(), text.end(), '\n')) + 1;
  for (const std::string& line : lines) text += line;
  return text + "$end:\nret %pred_0;\n}\n";
}

struct Judged {
  const Form* form;
  bool refused;
};

// Each form that `takes` picks, with ptxas' word on it.
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
  int first_line = 0;
  const Assembly assembly = assemble(kernel_around(lines, target, version, first_line), target);
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

// Forms need the version of their row and no newer one. On sm_90 the conversions to 8-bit floats are older than on
// sm_89, whose version the table has.
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
