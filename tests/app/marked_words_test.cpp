// The words of a search in laid out text.
#include "app/terminal/marked_words.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "app/platform/text/styled_text.h"
#include "app/platform/text/word_wrap.h"
#include "app/terminal/conversation_list.h"

namespace warpchat {
namespace {

// Marks as brackets, other looks left out.
std::string readable(const std::string& text) {
  std::string all;
  for (std::string_view rest = text; !rest.empty();) {
    if (rest.starts_with(kMarkBegin) || rest.starts_with(kMarkEnd)) {
      all += rest.starts_with(kMarkBegin) ? "[" : "]";
      rest.remove_prefix(rest.starts_with(kMarkBegin) ? kMarkBegin.size() : kMarkEnd.size());
    } else if (rest[0] == '\x1b') {
      rest.remove_prefix(escape_bytes(rest));
    } else {
      all += rest[0];
      rest.remove_prefix(1);
    }
  }
  return all;
}

TEST(MarkedWords, AreMarkedThroughLooksAndLineEnds) {
  const std::string bold = escape_sequence({.bold = true}), plain = escape_sequence({});
  struct {
    std::string laid_out, words, seen;
  } const cases[] = {
      {"one two one\n", "one", "[one] two [one]\n"},
      {"a " + bold + "re" + plain + "d hen\n", "red", "a [re][d] hen\n"},
      {"a red\n    house\n", "red house", "a [red]\n    [house]\n"},
      {"a red\n\n  " + bold + "house" + plain + "\n", "red house", "a [red]\n\n  [house]\n"},
      {"red\n", "red house", "[red]\n"},
      {"nothing\n", "else", "nothing\n"},
      {"nothing\n", "", "nothing\n"},
      {"", "x", ""},
  };
  for (const auto& row : cases) {
    const std::string marked = mark_words(row.laid_out, row.words);
    EXPECT_EQ(readable(marked), row.seen);
    EXPECT_EQ(without_escapes(marked), without_escapes(row.laid_out));
  }
  EXPECT_EQ(readable(mark_words("one one\n", "one", 3)), "one [one]\n") << "behind what is left out";
}

// A new look begins with the plain one, so each part of a word has marks of its own.
TEST(MarkedWords, AMarkNeverOutlastsItsLook) {
  const std::string marked = mark_words("r" + escape_sequence({.bold = true}) + "ed\n", "red");
  EXPECT_EQ(marked, "\x1b[7mr\x1b[27m\x1b[0;1m\x1b[7med\x1b[27m\n");
}

TEST(MarkedWords, AreAllLookedFor) {
  EXPECT_TRUE(has_words_of("a red\n  house\n", "red house"));
  EXPECT_TRUE(has_words_of("the house is red\n", "red house"));
  EXPECT_FALSE(has_words_of("a red hen\n", "red house"));
  EXPECT_FALSE(has_words_of("the house is red\n", "\"red house\""));
}

TEST(MarkedWords, TheRowsAroundTheFirst) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += "line " + std::to_string(i) + "\n";
  EXPECT_EQ(rows_around_words(text, "line 7", 80, 3), "line 6\nline 7\nline 8\n");
  EXPECT_EQ(rows_around_words(text, "line 0", 80, 2), "line 0\nline 1\n");
  EXPECT_EQ(rows_around_words(text, "line 19", 80, 5), "line 18\nline 19\n");
  EXPECT_EQ(rows_around_words(text, "line 7", 80, 1), "line 6\nline 7\n") << "never without it";
  EXPECT_EQ(rows_around_words(text, "else", 80, 5), "");
  EXPECT_EQ(rows_around_words("word", "word", 80, 5), "word");
  const std::string long_line(300, 'x');
  EXPECT_EQ(rows_around_words("a\nb word\n" + long_line + "\nc\n", "word", 80, 5), "a\nb word\n") << "whole lines";
}

TEST(MarkedWords, InTheListOfHitsOnlyTitleAndExcerptAreMarked) {
  SearchHit hit{};
  hit.conversation.title = "2 messages of 2", hit.conversation.n_messages = 2;
  hit.turn = 5, hit.excerpt = "...only 2 of them";
  const std::string list = marked_hits({hit}, 2, "2", 120);
  EXPECT_NE(readable(list).find("2 messages  [2] messages of [2]\n      ...only [2] of them\n"), std::string::npos)
      << readable(list);
  EXPECT_EQ(std::ranges::count(readable(list), '['), 3) << readable(list);
  EXPECT_NE(list_hits({hit}, 21).find("  21\t"), std::string::npos);
  EXPECT_EQ(std::ranges::count(readable(marked_hits({hit}, 2, "2", 30)), '['), 3) << "on a narrow terminal, too";
}

}  // namespace
}  // namespace warpchat
