#include "app/terminal/conversation_text.h"

#include <gtest/gtest.h>

#include "app/terminal/pager.h"

namespace warpchat {
namespace {

struct MessageCase {
  const char* name;
  Message message;
  AnswerLook look;
  const char* shown;
};

const MessageCase kMessages[] = {
    {"a_line", {.role = "user", .content = "Hello"}, {.styled = false}, "> Hello\n\n"},
    {"several_lines", {.role = "user", .content = "one\n\n  two"}, {.styled = false}, "> one\n.\n.   two\n\n"},
    {"wraps_below_its_text",
     {.role = "user", .content = "one two three"},
     {.width = 10, .styled = false},
     "> one two\n  three\n\n"},
    {"files_come_first",
     {.role = "user", .content = "sum up", .files = {{"a.txt", "A", 9}, {"b.txt", "B"}}},
     {.styled = false},
     "(with a.txt, 1 B, 9 tokens)\n(with b.txt, 1 B)\n> sum up\n\n"},
    {"controls_do_not_reach_the_terminal",
     {.role = "user", .content = "a\x1b[2Jb"},
     {.styled = false},
     "> a\xEF\xBF\xBD[2Jb\n\n"},
    {"an_answer", {.role = "assistant", .content = "It *is*.\n"}, {.styled = false}, "It *is*.\n\n"},
    {"with_its_thought",
     {.role = "assistant", .content = "Yes", .reasoning = "Hm."},
     {.styled = false},
     "Hm.\n\nYes\n\n"},
    {"thought_hidden",
     {.role = "assistant", .content = "Yes", .reasoning = "Hm."},
     {.styled = false, .hide_thinking = true},
     "Yes\n\n"},
    {"a_broken_answer_says_why",
     {.role = "assistant", .content = "Half", .failure = "the server is gone"},
     {.styled = false},
     "Half\n(the server is gone)\n\n"},
    {"an_answer_that_failed_at_once",
     {.role = "assistant", .failure = "the server is gone"},
     {.styled = false},
     "(the server is gone)\n\n"},
    {"a_message_without_an_answer",
     {.role = "user", .content = "Hello", .failure = "the server is gone"},
     {.styled = false},
     "> Hello\n\n"},
    {"styled", {.role = "assistant", .content = "Yes", .reasoning = "Hm."}, {}, "\x1b[0;2mHm.\x1b[0m\n\nYes\n\n"},
};

class ConversationText : public testing::TestWithParam<MessageCase> {};

TEST_P(ConversationText, LooksSo) { EXPECT_EQ(message_text(GetParam().message, GetParam().look), GetParam().shown); }

INSTANTIATE_TEST_SUITE_P(Rows, ConversationText, testing::ValuesIn(kMessages),
                         [](const auto& test) { return test.param.name; });

TEST(Pager, CountsTheRowsThatATextTakes) {
  EXPECT_EQ(last_rows("", 10, 3), "");
  EXPECT_EQ(last_rows("one\ntwo\n\n", 10, 2), "two\n\n");
  EXPECT_EQ(last_rows("one\ntwo\n\n", 10, 3), "one\ntwo\n\n");
  EXPECT_EQ(last_rows("one\n0123456789a\nb", 10, 3), "0123456789a\nb");
  EXPECT_EQ(last_rows("one\n0123456789a\nb", 10, 2), "b");
  EXPECT_EQ(last_rows("one\n0123456789abcdefghijk\n", 10, 2), "0123456789abcdefghijk\n");  // at least one line
  EXPECT_EQ(rows_of("", 10), 0);
  EXPECT_EQ(rows_of("one\n", 10), 1);
  EXPECT_EQ(rows_of("one\n\nthree", 10), 3);
  EXPECT_EQ(rows_of("0123456789\n", 10), 1);
  EXPECT_EQ(rows_of("0123456789a\n", 10), 2);
  EXPECT_EQ(rows_of("\x1b[0;2m01234\x1b[0m56789\n", 10), 1);
  EXPECT_EQ(rows_of("日本語日本語\n", 10), 2);
}

}  // namespace
}  // namespace warpchat
