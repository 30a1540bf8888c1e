// Every operation of the builder: its text, and the targets that refuse it.
#include "operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "ptx/instruction_table.h"

namespace ptx::testing {
namespace {

class OperationTest : public ::testing::TestWithParam<const Operation*> {};

std::string trimmed(std::string text) {
  text.erase(0, text.find_first_not_of('\n'));
  return text;
}

TEST_P(OperationTest, GivesItsText) {
  const Operation& operation = *GetParam();
  EXPECT_EQ(added_lines(kernel_of(operation, operation.minimum).text), trimmed(operation.text));
}

// The error names the instruction and both targets.
TEST_P(OperationTest, OlderTargetsRefuseIt) {
  const Operation& operation = *GetParam();
  for (Target target : {sm_75, sm_80, sm_86, sm_89, sm_90, sm_100, sm_120}) {
    if (runs(target, operation.minimum) || operation.adapts) continue;
    try {
      kernel_of(operation, target);
      ADD_FAILURE() << operation.name << " is accepted for " << spell(target);
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), ::testing::MatchesRegex("ptx: test_[a-z0-9_]+ \\(tests/ptx/operations_[a-z]+\\.cpp:"
                                                        "[0-9]+\\): [A-Za-z0-9_.:]+ needs sm_[0-9]+a?, the target is " +
                                                        spell(target)));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, OperationTest, ::testing::ValuesIn(all_operations()),
                         [](const auto& row) { return std::string(row.param->name); });

// Spellings in a kernel's text.
std::set<std::string> spellings(const std::string& text) {
  std::set<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word.starts_with('@')) words >> word;
    if (word.ends_with(';')) word.pop_back();
    found.insert(word);
  }
  return found;
}

TEST(InstructionTable, EveryRowIsReachedByAnOperation) {
  std::set<const Row*> reached;
  for (const Operation* operation : all_operations()) {
    for (const std::string& spelling : spellings(kernel_of(*operation, operation->minimum).text)) {
      if (const Form* form = find_form(spelling)) reached.insert(form->row);
    }
  }
  for (const Row& row : instruction_rows()) {
    EXPECT_TRUE(reached.contains(&row)) << row.pattern << ": no operation gives an instruction of this row";
  }
}

TEST(InstructionTable, NoSpellingStandsTwice) {
  std::set<std::string> seen;
  for (const Form& form : instruction_forms()) EXPECT_TRUE(seen.insert(form.spelling).second) << form.spelling;
}

TEST(InstructionTable, KnowsNothingElse) {
  for (const char* spelling : {"", "add", "add.u8", "fma.rn.f32x2", "ld.global.v8.f16", "ld.shared.v4.f64", "mma"}) {
    EXPECT_EQ(find_form(spelling), nullptr) << spelling;
  }
}

}  // namespace
}  // namespace ptx::testing
