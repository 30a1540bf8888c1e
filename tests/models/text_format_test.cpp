#include "models/text_format.h"

#include <gtest/gtest.h>

namespace warpchat {
namespace {

TEST(Message, GroupsDigits) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1932735904), "1,932,735,904");
  EXPECT_EQ(grouped(~uint64_t{0}), "18,446,744,073,709,551,615");
}

TEST(Message, CountsThings) {
  EXPECT_EQ(counted(0, "tensor"), "0 tensors");
  EXPECT_EQ(counted(1, "tensor"), "1 tensor");
  EXPECT_EQ(counted(2048, "byte"), "2,048 bytes");
}

TEST(Message, EscapesWhatWouldBreakALine) {
  struct Row {
    const char* why;
    std::string_view text, printable;
  };
  const Row rows[] = {
      {"plain", "blk.0.attn_q.weight", "blk.0.attn_q.weight"},
      {"UTF-8 of 2, 3 and 4 bytes", "ä▁𝄞", "ä▁𝄞"},
      {"control characters", "a\nb\tc\x1b[2J\x7f", "a\\x0ab\\x09c\\x1b[2J\\x7f"},
      {"a C1 control character", "\xc2\x85", "\\xc2\\x85"},
      {"a line separator", "\u2028", "\\xe2\\x80\\xa8"},
      {"an override and an isolate", "a\u202Eb\u2066c", "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6c"},
      {"marks of direction", "\u200Fא\u200E", "\u200Fא\u200E"},
      {"hidden tags", "a\U000E0041", "a\\xf3\\xa0\\x81\\x81"},
      {"a flag", "\U0001F3F4\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F",
       "\U0001F3F4\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F"},
      {"a lone continuation byte", "a\x80z", "a\\x80z"},
      {"a lead byte at the end", "a\xe2\x96", "a\\xe2\\x96"},
      {"an overlong form", "\xc0\xaf", "\\xc0\\xaf"},
      {"an overlong form of three bytes", "\xe0\x80\xaf", "\\xe0\\x80\\xaf"},
      {"a surrogate", "\xed\xa0\x80", "\\xed\\xa0\\x80"},
      {"above U+10FFFF", "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
  };
  for (const Row& row : rows) EXPECT_EQ(printable(row.text), row.printable) << row.why;
}

TEST(Message, ReplacesControlsInLongerTexts) {
  EXPECT_EQ(replace_controls("a\r\n\tb\x1b]52;c;QQ==\x07\xc2\x9b\xff"), "a\n\tb\uFFFD]52;c;QQ==\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(replace_controls("\u202Eא\u2069\u200F\U000E0041"), "\uFFFDא\uFFFD\u200F\uFFFD");
  const std::string scotland = "\U0001F3F4\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F";
  EXPECT_EQ(replace_controls(scotland), scotland);
  EXPECT_EQ(replace_controls(scotland + "\U000E0041"), scotland + "\uFFFD");  // after the flag's end
  std::string tags = "\U0001F3F4";
  for (int i = 0; i < 8; ++i) tags += "\U000E0061";
  EXPECT_EQ(replace_controls(tags), tags.substr(0, 4 + 7 * 4) + "\uFFFD");  // no text hides behind a flag
}

TEST(Message, EscapesControlsInJson) {
  EXPECT_EQ(escape_controls_in_json("{\n\"a\": \"\x7f\u0085\u202E\U000E0041ä\"}"),
            "{\n\"a\": \"\\u007f\\u0085\\u202e\\udb40\\udc41ä\"}");
}

TEST(Message, CutsLongText) {
  EXPECT_EQ(printable("abcdef", 6), "abcdef");
  EXPECT_EQ(printable("abcdef", 5), "abcde...");
  EXPECT_EQ(printable("ääää", 3), "ää...");  // no character is cut
}

}  // namespace
}  // namespace warpchat
