// Lines that are typed where the cursor cannot move, and reports of the terminal between the keys.
#include "app/platform/typed_text.h"

#include <gtest/gtest.h>

namespace warpchat {
namespace {

struct TypedCase {
  const char* name;
  std::string typed, entered, echo;
};

const TypedCase kTyped[] = {
    {"a_line", "one\r", "one\n", "one\n"},
    {"two_lines", "one\ntwo\n", "one\ntwo\n", "one\ntwo\n"},
    {"a_long_line", std::string(20'000, 'a') + "\r", std::string(20'000, 'a') + "\n", std::string(20'000, 'a') + "\n"},
    {"an_unfinished_line", "one", "", "one"},
    {"backspace",
     "ab\x7f\x7f\x7f"
     "c\r",
     "c\n", "ab\b \b\b \bc\n"},
    {"backspace_over_a_wide_character", "日\x7f\r", "\n", "日\b \b\b \b\n"},
    {"backspace_over_a_tab", "a\tb\x7f\x7f\r", "a\n", "a\tb\b \b\na\n"},
    {"ctrl_w", "one two \x17\r", "one \n", "one two \b \b\b \b\b \b\b \b\n"},
    {"ctrl_u",
     "ab\x15"
     "c\r",
     "c\n", "ab\b \b\b \bc\n"},
    {"arrows_are_no_text", "a\x1b[Db\r", "ab\n", "ab\n"},
    {"ctrl_d_within_a_line", "one\x04", "one", "one"},
};

TEST(TypedText, IsEditedAndShown) {
  for (const TypedCase& c : kTyped) {
    KeyDecoder decoder;
    TypedText typed;
    std::string echo;
    for (const Key& key : decoder.add(c.typed)) echo += typed.press(key);
    EXPECT_EQ(typed.take_entered(), c.entered) << c.name;
    EXPECT_EQ(echo, c.echo) << c.name;
    EXPECT_FALSE(typed.ended()) << c.name;
  }
}

TEST(TypedText, EndsWithCtrlDAtALinesBegin) {
  KeyDecoder decoder;
  TypedText typed;
  for (const Key& key : decoder.add("one\rtwo\x04\x04")) typed.press(key);
  EXPECT_TRUE(typed.ended());
  EXPECT_EQ(typed.take_entered(), "one\ntwo");
}

std::string text_of(const std::vector<Key>& keys) {
  std::string text;
  for (const Key& key : keys) text += key.kind == KeyKind::kEnter ? "\n" : key.text;
  return text;
}

const std::string kReports[] = {
    "\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\",
    "\x1b]11;rgb:1e1e/1e1e/1e1e\a",
    "\x1b]4;1;rgb:00/00/00\a",
    "\x1b]52;c;QUFB\x1b\\",
    "\x1b]lTitle\x1b\\",
    "\x1bP>|XTerm(388)\x1b\\",
    "\x1bP1$r0m\x1b\\",
    "\x1bP0+r\x1b\\",
    "\x1bP!|7E7E0000\x1b\\",
    "\x1b_Gi=31;OK\x1b\\",
    "\x1b^1\x1b\\",
    "\x1bX1\x1b\\",
    "\x1b[12;5R",
    "\x1b[?1;2c",
    "\x1b[I",
};

TEST(KeyDecoder, ReportsOfTheTerminalAreNoText) {
  for (const std::string& report : kReports) {
    KeyDecoder decoder;
    EXPECT_EQ(text_of(decoder.add("a" + report + "b")), "ab") << report.substr(1);
  }
}

// The end of a report may come so late that an escape sequence would have been given up.
TEST(KeyDecoder, TheEndOfAReportMayComeLate) {
  for (const std::string& report : kReports) {
    if (report[1] == '[') continue;
    for (size_t n = 3; n < report.size(); ++n) {
      KeyDecoder decoder;
      std::string text = text_of(decoder.add("a" + report.substr(0, n)));
      EXPECT_FALSE(decoder.waiting());
      text += text_of(decoder.timeout());
      EXPECT_EQ(text + text_of(decoder.add(report.substr(n) + "b")), "ab") << report.substr(1) << " parted at " << n;
    }
  }
}

TEST(KeyDecoder, AReportWithoutEndEndsWithTheLine) {
  KeyDecoder decoder;
  EXPECT_EQ(text_of(decoder.add("a\x1b]11;rgb:1e\rb")), "a\nb");
}

TEST(KeyDecoder, AltAndABracketIsAKey) {
  KeyDecoder decoder;
  EXPECT_EQ(text_of(decoder.add("\x1b]x")), "x");
  EXPECT_EQ(text_of(decoder.add("\x1b]")), "");
  decoder.timeout();
  EXPECT_EQ(text_of(decoder.add("11")), "11");
}

}  // namespace
}  // namespace warpchat
