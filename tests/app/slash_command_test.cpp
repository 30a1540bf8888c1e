#include "app/terminal/editor/slash_command.h"

#include <gtest/gtest.h>

#include "models/error.h"

namespace warpchat {
namespace {

struct SlashCase {
  const char* name;
  const char* line;
  const char* command;  // nullptr: a message
  const char* argument;
};

constexpr SlashCase kSlashLines[] = {
    {"message", "hello", nullptr, ""},
    {"message_with_a_slash", "and/or", nullptr, ""},
    {"path", "/usr/lib is full", nullptr, ""},
    {"fraction", "/2 means halved", nullptr, ""},
    {"lone_slash", "/", nullptr, ""},
    {"plain", "/help", "/help", ""},
    {"blanks_around", "  /help  ", "/help", ""},
    {"alias", "/bye", "/exit", ""},
    {"old_name", "/rename my talk", "/save", "my talk"},
    {"one_of_many", "/version 2", "/versions", "2"},
    {"argument", "/read my file.txt ", "/read", "my file.txt"},
    {"two_words", "/set temp 0.5", "/set", "temp 0.5"},
    {"several_lines", "/edit one\ntwo", "/edit", "one\ntwo"},
    {"optional_argument_left_out", "/set", "/set", ""},
};

class Slash : public testing::TestWithParam<SlashCase> {};
TEST_P(Slash, IsRead) {
  const std::optional<SlashLine> line = parse_slash_line(GetParam().line);
  ASSERT_EQ(line.has_value(), GetParam().command != nullptr);
  if (!line) return;
  EXPECT_EQ(line->command->name, GetParam().command);
  EXPECT_EQ(line->argument, GetParam().argument);
}
INSTANTIATE_TEST_SUITE_P(Rows, Slash, testing::ValuesIn(kSlashLines), [](const auto& test) { return test.param.name; });

struct SlashFault {
  const char* line;
  const char* sentence;
};
constexpr SlashFault kSlashFaults[] = {
    {"/hepl", "unknown command /hepl; perhaps you mean /help; /help lists them"},
    {"/VERSION", "unknown command /VERSION; perhaps you mean /versions; /help lists them"},
    {"/rege", "unknown command /rege; perhaps you mean /regen; /help lists them"},
    {"/nothing", "unknown command /nothing; /help lists them"},
    {"/load", "/load needs a number or a title: /load N|TITLE"},
    {"/undo 2", "/undo takes no argument, found '2'"},
};

TEST(SlashCommand, FaultsAreOneSentence) {
  for (const SlashFault& fault : kSlashFaults) {
    try {
      parse_slash_line(fault.line);
      ADD_FAILURE() << fault.line << " was accepted";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), fault.sentence);
    }
  }
}

}  // namespace
}  // namespace warpchat
