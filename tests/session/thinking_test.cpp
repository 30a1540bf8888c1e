// Thinking text is told from the answer however its tags are cut into pieces.
#include "engine/session/thinking.h"

#include <gtest/gtest.h>

#include <vector>

namespace warpchat {
namespace {

struct ThinkingCase {
  const char* name;
  bool inside;  // the prompt ended with <think>
  const char* answer;
  const char* thinking;
  const char* text;
};

const ThinkingCase kCases[] = {
    {"plain", false, "Hello <b>", "", "Hello <b>"},
    {"block_first", false, "<think>\nhm\n</think>\n\nHi", "<think>\nhm\n</think>", "\n\nHi"},
    {"space_before_the_tag", false, "\n <think>x</think>y", "\n <think>x</think>", "y"},
    {"opened_by_the_prompt", true, "hm</think>Hi", "hm</think>", "Hi"},
    {"never_closed", false, "<think>hm", "<think>hm", ""},
    {"almost_a_tag", false, "<thin air", "", "<thin air"},
    {"only_a_prefix", false, "<thi", "", "<thi"},
    {"tag_later_is_text", false, "a <think>b</think>", "", "a <think>b</think>"},
    {"other_closing_tags", true, "a</thinking></b></think>c", "a</thinking></b></think>", "c"},
};

class Thinking : public testing::TestWithParam<ThinkingCase> {};

TEST_P(Thinking, SplitsOneByteAtATime) {
  ThinkingTracker tracker(GetParam().inside);
  std::string thinking, text;
  auto take = [&](const ThinkingTracker::Piece& piece) { (piece.thinking ? thinking : text) += piece.text; };
  for (char c : std::string(GetParam().answer)) take(tracker.add(std::string(1, c)));
  take(tracker.finish());
  EXPECT_EQ(thinking, GetParam().thinking);
  EXPECT_EQ(text, GetParam().text);
}

TEST_P(Thinking, LosesNothingInOnePiece) {
  ThinkingTracker tracker(GetParam().inside);
  std::string all = tracker.add(GetParam().answer).text;
  all += tracker.finish().text;
  EXPECT_EQ(all, GetParam().answer);
}

INSTANTIATE_TEST_SUITE_P(Cases, Thinking, testing::ValuesIn(kCases), [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace warpchat
