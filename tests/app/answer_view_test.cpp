#include "app/terminal/answer_view.h"

#include <gtest/gtest.h>

namespace warpchat {
namespace {

struct Delta {
  const char* text;
  bool thinking;
};
struct AnswerCase {
  const char* name;
  std::vector<Delta> deltas;
  bool hide_thinking;
  const char* shown;
};

const AnswerCase kAnswers[] = {
    {"plain", {{"Hello", false}, {" you", false}}, false, "Hello you\n"},
    {"thinking_is_parted_from_the_answer",
     {{"\n", true}, {"Hm", true}, {".\n\n", true}, {"\n\n", false}, {"Yes", false}},
     false,
     "Hm.\n\nYes\n"},
    {"empty_thinking_shows_nothing", {{"\n\n", true}, {"Yes", false}}, false, "Yes\n"},
    {"hidden_thinking", {{"Hm", true}, {"Yes", false}}, true, "Yes\n"},
    {"stopped_while_thinking", {{"Hm, so", true}}, false, "Hm, so\n"},
    {"nothing", {}, false, ""},
    {"lines_inside_thinking_stay", {{"a\n", true}, {"\nb", true}, {"c", false}}, false, "a\n\nb\n\nc\n"},
};

class Answer : public testing::TestWithParam<AnswerCase> {};

TEST_P(Answer, LooksSo) {
  AnswerView view({.styled = false, .hide_thinking = GetParam().hide_thinking});
  std::string shown;
  for (const Delta& delta : GetParam().deltas) shown += view.add(delta.text, delta.thinking);
  EXPECT_EQ(shown + view.finish(), GetParam().shown);
}

INSTANTIATE_TEST_SUITE_P(Rows, Answer, testing::ValuesIn(kAnswers), [](const auto& test) { return test.param.name; });

TEST(AnswerView, DimsThinking) {
  AnswerView view({.styled = true});
  std::string shown = view.add("Hm", true);
  shown += view.add("Yes", false);
  EXPECT_EQ(shown + view.finish(), "\x1b[0;2mHm\x1b[0m\n\nYes\n");
}

}  // namespace
}  // namespace warpchat
