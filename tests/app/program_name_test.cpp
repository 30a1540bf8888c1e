#include "app/platform/program_name.h"

#include <gtest/gtest.h>

namespace warpchat {
namespace {

struct NameCase {
  const char *name, *called, *expected;
};

constexpr NameCase kNames[] = {
    {"path", "/usr/bin/warpchat", "warpchat"},
    {"relative_path", "./build/chat", "chat"},
    {"plain_word", "warpchat-0.2", "warpchat-0.2"},
    {"empty", "", "chat"},
    {"folder", "/usr/bin/", "chat"},
    {"login_shell", "-warpchat", "chat"},
    {"blank", "two words", "chat"},
    {"control_character", "warp\x1b[31m", "chat"},
    {"long", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "chat"},
};

class ProgramName : public testing::TestWithParam<NameCase> {
 protected:
  void TearDown() override { set_program_name(""); }
};
TEST_P(ProgramName, IsTheLastPartOfThePath) {
  set_program_name(GetParam().called);
  EXPECT_EQ(program_name(), GetParam().expected);
}
TEST_P(ProgramName, ReplacesEachPlaceholder) {
  set_program_name(GetParam().called);
  const std::string name = GetParam().expected;
  EXPECT_EQ(with_program_name("{chat} pull, '{chat}'{chat}"), name + " pull, '" + name + "'" + name);
  EXPECT_EQ(with_program_name("a chat {} {chat"), "a chat {} {chat");
}
INSTANTIATE_TEST_SUITE_P(Rows, ProgramName, testing::ValuesIn(kNames),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace warpchat
