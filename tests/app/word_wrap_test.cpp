// A stream wraps the same way wherever it is cut.
#include "app/platform/text/word_wrap.h"

#include <gtest/gtest.h>

#include "models/text_format.h"
#include "tests/app/screen.h"

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
    {"a_word_that_is_longer_than_a_line", 5, "a bcdefgh", "a\nbcdef\ngh\n"},
    {"a_long_word_uses_the_rest_of_the_line", 60, "see ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
     "see ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZ0123\n456789\n"},
    {"lines_end_after_hyphens", 10, "A-A-A-A-A-A-A-A", "A-A-A-A-A-\nA-A-A\n"},
    {"flags_and_numbers_are_not_parted", 10, "ab --flag 3.14 -v x-1", "ab --flag\n3.14 -v\nx-1\n"},
    {"an_address_stays_whole_if_it_fits", 24, "see http://host.org/a/b", "see http://host.org/a/b\n"},
    {"an_address_goes_to_the_next_line", 20, "look at http://host/a/b", "look at\nhttp://host/a/b\n"},
    {"a_long_address_is_broken_at_its_marks", 30, "http://host.org/first/second/third/fourth",
     "http://host.org/first/second/\nthird/fourth\n"},
    {"a_path_may_begin_a_line", 12, "use /help or /show", "use /help or\n/show\n"},
    {"no_mark_begins_a_line_after_a_blank", 8, "bonjour !", "bonjour\n!\n"},
    {"thai_words_are_found", 12, "ภาษาไทยเป็นภาษาที่มีเสียง", "ภาษาไทยเป็น\nภาษาที่มีเสียง\n"},
    {"khmer_words_are_found", 11, "ភាសាខ្មែរជាភាសា", "ភាសាខ្មែរជា\nភាសា\n"},
    {"a_carriage_return_is_nothing", 20, "a\r\nb", "a\nb\n"},
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
    {"a_flag_of_tags_stays_whole", 4, "abc\U0001F3F4\U000E0067\U000E0062\U000E007Fd",
     "abc\n\U0001F3F4\U000E0067\U000E0062\U000E007Fd\n"},
    {"a_lone_tag_is_disarmed", 40, "a\U000E0067b\U0001F3F4\n\U000E0067", "a\uFFFDb\U0001F3F4\n\uFFFD\n"},
    {"empty", 10, "", ""},
};

// A tag must not come out apart from its flag: neither after the flag's line has ended, nor where a cluster is full.
TEST(WordWrap, NoTagIsPartedFromItsFlag) {
  WordWrap wrap({10, false});
  std::string shown = wrap.add({"\U0001F3F4"});
  shown += wrap.finish();
  shown += wrap.add({"\U000E0067b"});
  shown += wrap.finish();
  EXPECT_EQ(shown, "\U0001F3F4\n\uFFFDb\n");
  std::string joined, flag = "\U0001F3F4\U000E0067\U000E0062\U000E007F";
  for (int i = 0; i < 40; ++i) joined += flag + "\u200D";
  for (const int width : {2, 3, 10, 80}) {
    WordWrap narrow({width, false, /*movable=*/true});
    std::string out = narrow.add({joined});
    out += narrow.finish();
    CharacterFilter filter;
    while (!out.empty()) {
      const CodePoint c = first_code_point(out);
      const bool is_movement = c.value == '\n' || c.value == '\r' || c.value == 0x1B;
      ASSERT_TRUE(filter.can_show(c.value) || is_movement) << std::hex << static_cast<uint32_t>(c.value);
      out.erase(0, c.bytes);
    }
  }
}

TEST(WordWrap, TheLinesOfAQuoteHaveItsMark) {
  WordWrap wrap({12, false});
  const std::string shown = wrap.add({"> - > one two three", {}, false, /*indent=*/6, /*bars=*/0b10001});
  EXPECT_EQ(shown + wrap.finish(), "> - > one\n>   > two\n>   > three\n");
}

class Wrap : public testing::TestWithParam<WrapCase> {};

TEST_P(Wrap, BreaksBetweenWords) {
  const WrapCase& c = GetParam();
  WordWrap wrap({c.width, false});
  const std::string shown = wrap.add({c.text, {}, c.verbatim, c.indent});
  EXPECT_EQ(shown + wrap.finish(), c.shown);
}

TEST_P(Wrap, IsTheSameCharacterByCharacter) {
  const WrapCase& c = GetParam();
  WordWrap wrap({c.width, false});
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
  WordWrap wrap({80, false});
  EXPECT_EQ(wrap.add({"hel"}), "");
  EXPECT_EQ(wrap.add({"lo "}), "hello");
  EXPECT_EQ(wrap.add({"you"}), "");
  EXPECT_EQ(wrap.finish(), " you\n");
}

TEST(WordWrap, WritesALookOnceAndThePlainOneAtTheEnd) {
  WordWrap wrap({80, true});
  const std::string shown = wrap.add({"one two", {.bold = true}});
  EXPECT_EQ(shown + wrap.finish(), "\x1b[0;1mone two\x1b[0m\n");
}

// The terminal's text after every single character.
std::vector<std::string> watched(std::string_view text, int width, bool movable) {
  Screen screen(width, 20);
  WordWrap wrap({width, false, movable});
  std::vector<std::string> seen;
  while (!text.empty()) {
    const size_t n = first_code_point(text).bytes;
    screen.write(as_terminal(wrap.add({std::string(text.substr(0, n))})));
    seen.push_back(screen.text());
    text.remove_prefix(n);
  }
  screen.write(as_terminal(wrap.finish()));
  seen.push_back(screen.text());
  EXPECT_TRUE(screen.unknown().empty());
  return seen;
}

TEST(WordWrap, TextWithoutBlanksIsShownAsItComes) {
  for (const bool movable : {true, false}) {
    for (const char* piece : {"A-", "QUJDRA", "语", "ไทย"}) {
      std::string text;
      for (int i = 0; i < 60; ++i) text += piece;
      const std::vector<std::string> seen = watched(text, 40, movable);
      for (size_t i = 0; i < seen.size(); ++i) {
        size_t shown = 0, come = 0;
        for (const char c : seen[i]) shown += c != '\n' && (c & 0xC0) != 0x80;
        for (const char c : text) come += (c & 0xC0) != 0x80;
        come = std::min(come, i + 1);
        EXPECT_LE(come - shown, 33u) << piece << " after " << i;
      }
    }
  }
}

TEST(WordWrap, ALongWordIsTakenBackToTheNextLine) {
  const std::vector<std::string> seen = watched("one two Donaudampfschifffahrt", 28, true);
  EXPECT_EQ(seen[27], "one two Donaudampfschifffah");
  EXPECT_EQ(seen.back(), "one two\nDonaudampfschifffahrt");
}

TEST(WordWrap, NothingIsTakenBackWhereTheCursorCannotMove) {
  WordWrap wrap({60, false, false});
  std::string shown;
  for (const char c : "See " + std::string(80, 'x')) shown += wrap.add({std::string(1, c)});
  shown += wrap.finish();
  EXPECT_EQ(shown, "See " + std::string(56, 'x') + "\n" + std::string(24, 'x') + "\n");
}

TEST(WordWrap, EndsALineThatANarrowerTerminalHasBroken) {
  for (const bool movable : {true, false}) {
    Screen screen(30, 10);
    WordWrap wrap({30, false, movable});
    screen.write(as_terminal(wrap.add({"one two three four five s"})));
    screen.resize(12);
    wrap.set_width(12);
    screen.write(as_terminal(wrap.add({"ix seven eight"})));
    screen.write(as_terminal(wrap.finish()));
    EXPECT_EQ(screen.text(), "one two thre\ne four five\nsix seven\neight");
  }
}

TEST(WordWrap, NoWideCharacterOfCodeIsHalved) {
  Screen screen(5, 10);
  WordWrap wrap({5, false, true});
  screen.write(as_terminal(wrap.add({"x = 日本語", {}, /*verbatim=*/true})));
  screen.write(as_terminal(wrap.finish()));
  EXPECT_EQ(screen.text(), "x =\n日本\n語");
}

TEST(WordWrap, TakesANewWidthAtOnce) {
  WordWrap wrap({80, false});
  std::string shown = wrap.add({"one two "});
  wrap.set_width(9);
  shown += wrap.add({"three four"});
  EXPECT_EQ(shown + wrap.finish(), "one two\nthree\nfour\n");
}

}  // namespace
}  // namespace warpchat
