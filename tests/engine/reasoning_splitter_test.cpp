// Reasoning is split from the answer the same way for streamed pieces and for the whole text.
#include "engine/reasoning_splitter.h"

#include <gtest/gtest.h>

#include "engine/message.h"

namespace warpchat {
namespace {

using State = ReasoningSplitter::State;

struct SplitCase {
  const char* name;
  State begins;
  const char* answer;
  const char* reasoning;
  const char* text;
};

const SplitCase kCases[] = {
    {"plain", State::kUndecided, "Hello <b>", "", "Hello <b>"},
    {"block_first", State::kUndecided, "<think>\nhm\n</think>\n\nHi", "hm", "Hi"},
    {"blanks_inside_stay", State::kUndecided, "<think>a \n\n b\n\n</think>\n\n  Hi\n", "a \n\n b", "  Hi\n"},
    {"space_before_the_tag", State::kUndecided, "\n <think>x</think>y", "x", "y"},
    {"opened_by_the_prompt", State::kThinking, "hm</think>Hi", "hm", "Hi"},
    {"never_closed", State::kUndecided, "<think>hm \n", "hm \n", ""},
    {"cut_inside_the_closing_tag", State::kUndecided, "<think>hm\n</thi", "hm\n</thi", ""},
    {"empty_thought", State::kUndecided, "<think>\n\n</think>\n\nHi", "", "Hi"},
    {"almost_a_tag", State::kUndecided, "<thin air", "", "<thin air"},
    {"only_a_prefix", State::kUndecided, "<thi", "", "<thi"},
    {"blanks_first", State::kUndecided, "\n\n Hi", "", "\n\n Hi"},
    {"tag_later_is_text", State::kUndecided, "a <think>b</think>", "", "a <think>b</think>"},
    {"other_closing_tags", State::kThinking, "a</thinking></b></think>c", "a</thinking></b>", "c"},
    {"an_answer_goes_on", State::kAnswer, "<think>a</think>\n", "", "<think>a</think>\n"},
};

class Splitter : public testing::TestWithParam<SplitCase> {
 protected:
  // Cut after every n bytes.
  void split(size_t n) {
    ReasoningSplitter splitter(GetParam().begins);
    const std::string answer = GetParam().answer;
    std::string reasoning, text;
    const auto on_event = [&](const std::vector<ReasoningSplitter::Piece>& pieces) {
      for (const auto& piece : pieces) {
        EXPECT_NE(piece.text, "");
        EXPECT_TRUE(!piece.thinking || text.empty()) << "reasoning after the answer's start";
        (piece.thinking ? reasoning : text) += piece.text;
      }
    };
    for (size_t at = 0; at < answer.size(); at += n) on_event(splitter.add(answer.substr(at, n)));
    on_event(splitter.finish());
    EXPECT_EQ(reasoning, GetParam().reasoning) << "by " << n << " bytes";
    EXPECT_EQ(text, GetParam().text) << "by " << n << " bytes";
  }
};

TEST_P(Splitter, PartsTheThoughtHoweverItIsCut) {
  for (size_t n = 1; n <= std::string(GetParam().answer).size(); ++n) split(n);
}

TEST_P(Splitter, AsAWholeTextIsParted) {
  if (GetParam().begins == State::kAnswer) return;
  const std::string opened = GetParam().begins == State::kThinking ? "<think>\n" : "";
  Message message{.role = "assistant", .content = opened + GetParam().answer};
  part_reasoning(message);
  EXPECT_EQ(message.reasoning, GetParam().reasoning);
  EXPECT_EQ(message.content, GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(Rows, Splitter, testing::ValuesIn(kCases), [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace warpchat
