#include "app/platform/text/graphemes.h"

#include <gtest/gtest.h>

#include "app/platform/keys.h"

namespace warpchat {
namespace {

struct WidthCase {
  const char* name;
  const char* text;
  int joined, apart;  // columns where the terminal joins emoji sequences, and where it does not
};

constexpr WidthCase kWidths[] = {
    {"ascii", "abc", 3, 3},
    {"wide", "日本", 4, 4},
    {"combining", "e\xCC\x81", 1, 1},
    {"skin_tone", "👍🏽", 2, 4},
    {"profession", "👩‍🔬", 2, 4},
    {"family", "👨‍👩‍👧", 2, 6},
    {"flag", "🇩🇪", 2, 2},
    {"emoji_presentation", "❤️", 2, 1},
    {"spacing_vowel_sign", "কি", 2, 2},
    {"hangul", "각", 2, 2},
    {"hangul_in_parts", "\u1100\u1161\u11A8", 2, 2},
    {"control_characters", "\x1b\x07", 0, 0},
};

class Width : public testing::TestWithParam<WidthCase> {
 protected:
  ~Width() override { set_width_rules({}); }
};

TEST_P(Width, FollowsTheTerminalsRules) {
  EXPECT_EQ(text_width(GetParam().text), GetParam().joined);
  set_width_rules({false, false, false});
  EXPECT_EQ(text_width(GetParam().text), GetParam().apart);
}

INSTANTIATE_TEST_SUITE_P(Rows, Width, testing::ValuesIn(kWidths), [](const auto& test) { return test.param.name; });

TEST(Graphemes, ProbesTakeTwoColumnsByTheirRules) {
  for (std::string_view probe : kWidthProbes) EXPECT_EQ(text_width(probe), 2) << probe;
  set_width_rules({false, false, false});
  for (std::string_view probe : kWidthProbes) EXPECT_NE(text_width(probe), 2) << probe;
  set_width_rules({});
}

TEST(Graphemes, GoesBackOverWhatItWentForward) {
  const std::string text = "ae\xCC\x81日\n👨‍👩‍👧🇩🇪🇫🇷x";
  std::vector<size_t> forward = {0};
  while (forward.back() < text.size()) forward.push_back(next_grapheme(text, forward.back()));
  EXPECT_EQ(forward.size(), 9u);
  for (size_t i = forward.size() - 1; i > 0; --i) EXPECT_EQ(previous_grapheme(text, forward[i]), forward[i - 1]);
}

TEST(Keys, ReadsWhereTheCursorIs) {
  KeyDecoder decoder;
  EXPECT_EQ(decoder.add("\x1b[12;5Rx"), (std::vector<Key>{{KeyKind::kCursorColumn, {}, 0, 5}, {KeyKind::kText, "x"}}));
}

}  // namespace
}  // namespace warpchat
