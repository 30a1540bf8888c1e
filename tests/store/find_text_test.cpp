// Where words are in a text, and what an excerpt shows of it.
#include "engine/store/find_text.h"

#include <gtest/gtest.h>

#include "engine/store/search_words.h"

namespace warpchat {
namespace {

// The text with its places in brackets.
std::string marked(std::string text, const TextPlaces& places) {
  for (size_t i = places.size(); i-- > 0;) {
    text.insert(places[i].second, "]");
    text.insert(places[i].first, "[");
  }
  return text;
}

struct FindCase {
  const char *text, *words, *marked;
};

const FindCase kFindCases[] = {
    {"One one oneone", "ONE", "[One] [one] [one][one]"},
    {"ÄRGER, Ärger", "ärger", "[ÄRGER], [Ärger]"},
    {"a red house, a house that is red", "red house", "a [red house], a house that is red"},
    {"the house is red", "red house", "the [house] is [red]"},
    {"red house, redhouse", "\"red house\"", "[red house], redhouse"},
    {"the reddish red", "red reddish", "the [red]dish [red]"},  // words may lie in each other
    {"nothing", "else", "nothing"},
    {"nothing", "", "nothing"},
    {"日本語の本", "本", "日[本]語の[本]"},
    {"broken \xff byte", "byte", "broken \xff [byte]"},
};

TEST(FindText, TheTablesWords) {
  for (const FindCase& row : kFindCases)
    EXPECT_EQ(marked(row.text, find_searched(row.text, row.words)), row.marked) << row.words;
}

TEST(FindText, EndsAfterSoMany) {
  EXPECT_EQ(find_text("a a a", "a", 2).size(), 2u);
  EXPECT_TRUE(find_text("a a a", "a", 0).empty());
}

TEST(Excerpt, HasTheWordInAnyScript) {
  const std::string text = std::string(400, 'x') + " großer ÄRGER hier " + std::string(400, 'y');
  EXPECT_NE(excerpt(text, {"ärger"}).find("ÄRGER"), std::string::npos);
}

}  // namespace
}  // namespace warpchat
