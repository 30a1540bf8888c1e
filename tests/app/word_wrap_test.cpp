// Streams cut at every place must wrap alike.
#include "app/terminal/word_wrap.h"

#include <gtest/gtest.h>

namespace warpchat {
namespace {

struct WrapCase {
  const char* name;
  int width;  // 0: no wrap
  const char* text;
  const char* shown;
  bool verbatim = false;
  int indent = 0;
};

constexpr WrapCase kWraps[] = {
    {"short", 10, "one two", "one two\n"},
    {"between_words", 10, "one two three", "one two\nthree\n"},
    {"exactly_full", 7, "one two three", "one two\nthree\n"},
    {"a_long_word_is_broken", 5, "abcdefgh", "abcde\nfgh\n"},
    {"a_long_word_uses_the_rest_of_the_line", 5, "a bcdefgh", "a bcd\nefgh\n"},
    {"blanks_between_words_are_kept", 20, "a  b   c", "a  b   c\n"},
    {"leading_blanks_are_kept", 20, "  a", "  a\n"},
    {"line_breaks_are_kept", 20, "a\n\nb\n", "a\n\nb\n"},
    {"blanks_at_a_line_end_are_dropped", 20, "a  \nb", "a\nb\n"},
    {"wide_characters_break_anywhere", 6, "日本語日本", "日本語\n日本\n"},
    {"a_wide_character_is_not_halved", 5, "日本語", "日本\n語\n"},
    {"a_closing_mark_stays_with_its_word", 6, "日本語。", "日本\n語。\n"},
    {"an_opening_mark_goes_to_the_next_line", 6, "日本「語」", "日本\n「語」\n"},
    {"combining_marks_take_no_column", 4,
     "e\xCC\x81"
     "e\xCC\x81 ab",
     "e\xCC\x81"
     "e\xCC\x81\nab\n"},
    {"emoji_sequences_stay_whole", 4, "ab👨‍👩‍👧‍👦cd", "ab👨‍👩‍👧‍👦\ncd\n"},
    {"no_wrap", 0, "one two three four", "one two three four\n"},
    {"verbatim_is_not_wrapped", 5, "one two three", "one two three\n", true},
    {"added_lines_are_indented", 12, "- one two three four", "- one two\n  three four\n", false, 2},
    {"an_escape_sequence_is_disarmed", 40, "a\x1b[31mb\x07", "a\xEF\xBF\xBD[31mb\xEF\xBF\xBD\n"},
    {"a_c1_control_is_disarmed", 40, "a\xC2\x9Bz", "a\xEF\xBF\xBDz\n"},
    {"empty", 10, "", ""},
};

class Wrap : public testing::TestWithParam<WrapCase> {};

TEST_P(Wrap, BreaksBetweenWords) {
  const WrapCase& c = GetParam();
  WordWrap wrap(c.width, /*styled=*/false);
  const std::string shown = wrap.add({c.text, {}, c.verbatim, c.indent});
  EXPECT_EQ(shown + wrap.finish(), c.shown);
}

TEST_P(Wrap, IsTheSameCharacterByCharacter) {
  const WrapCase& c = GetParam();
  WordWrap wrap(c.width, /*styled=*/false);
  std::string shown;
  for (std::string_view rest = c.text; !rest.empty();) {
    const size_t n = first_code_point(rest).bytes;
    shown += wrap.add({std::string(rest.substr(0, n)), {}, c.verbatim, c.indent});
    rest.remove_prefix(n);
  }
  EXPECT_EQ(shown + wrap.finish(), c.shown);
}

INSTANTIATE_TEST_SUITE_P(Rows, Wrap, testing::ValuesIn(kWraps), [](const auto& test) { return test.param.name; });

TEST(WordWrap, HoldsTheWordUntilItIsComplete) {
  WordWrap wrap(80, /*styled=*/false);
  EXPECT_EQ(wrap.add({"hel"}), "");
  EXPECT_EQ(wrap.add({"lo "}), "hello");
  EXPECT_EQ(wrap.add({"you"}), "");
  EXPECT_EQ(wrap.finish(), " you\n");
}

TEST(WordWrap, WritesALookOnceAndThePlainOneAtTheEnd) {
  WordWrap wrap(80, /*styled=*/true);
  const std::string shown = wrap.add({"one two", {.bold = true}});
  EXPECT_EQ(shown + wrap.finish(), "\x1b[0;1mone two\n\x1b[0m");
}

TEST(WordWrap, TakesANewWidthAtOnce) {
  WordWrap wrap(80, /*styled=*/false);
  std::string shown = wrap.add({"one two "});
  wrap.set_width(9);
  shown += wrap.add({"three four"});
  EXPECT_EQ(shown + wrap.finish(), "one two\nthree\nfour\n");
}

}  // namespace
}  // namespace warpchat
