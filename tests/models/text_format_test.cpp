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
      {"a lone continuation byte", "a\x80z", "a\\x80z"},
      {"a lead byte at the end", "a\xe2\x96", "a\\xe2\\x96"},
      {"an overlong form", "\xc0\xaf", "\\xc0\\xaf"},
      {"an overlong form of three bytes", "\xe0\x80\xaf", "\\xe0\\x80\\xaf"},
      {"a surrogate", "\xed\xa0\x80", "\\xed\\xa0\\x80"},
      {"above U+10FFFF", "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
  };
  for (const Row& row : rows) EXPECT_EQ(printable(row.text), row.printable) << row.why;
}

TEST(Message, CutsLongText) {
  EXPECT_EQ(printable("abcdef", 6), "abcdef");
  EXPECT_EQ(printable("abcdef", 5), "abcde...");
  EXPECT_EQ(printable("ääää", 3), "ää...");  // no character is cut
}

}  // namespace
}  // namespace warpchat
