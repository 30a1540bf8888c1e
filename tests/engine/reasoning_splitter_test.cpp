// Reasoning is split from the answer the same way for streamed pieces and for the whole text.
#include "engine/reasoning_splitter.h"

#include <gtest/gtest.h>

#include "engine/message.h"

namespace warpchat {
namespace {

using State = ReasoningSplitter::State;

using Begin = ReasoningSplitter::Begin;

struct SplitCase {
  const char* name;
  Begin begin;
  const char* answer;
  const char* reasoning;
  const char* text;
  bool finds_unopened = false;
};

const Begin kOpened{.state = State::kThinking}, kContinued{.state = State::kAnswer, .has_text = true};
const Begin kBehindThought{.state = State::kAnswer, .has_thought = true, .has_text = true};

const SplitCase kCases[] = {
    {"plain", {}, "Hello <b>", "", "Hello <b>"},
    {"block_first", {}, "<think>\nhm\n</think>\n\nHi", "hm", "Hi"},
    {"blanks_inside_stay", {}, "<think>a \n\n b\n\n</think>\n\n  Hi\n", "a \n\n b", "  Hi\n"},
    {"space_before_the_tag", {}, "\n <think>x</think>y", "x", "y"},
    {"opened_by_the_prompt", kOpened, "hm</think>Hi", "hm", "Hi"},
    {"opened_by_both", kOpened, "\n<think>\nhm</think>Hi", "hm", "Hi"},
    {"continued_within", {.state = State::kThinking, .has_text = true}, " <think>m</think>Hi", " <think>m", "Hi"},
    {"never_closed", {}, "<think>hm \n", "hm \n", ""},
    {"cut_inside_the_closing_tag", {}, "<think>hm\n</thi", "hm\n</thi", ""},
    {"empty_thought", {}, "<think>\n\n</think>\n\nHi", "", "Hi"},
    {"almost_a_tag", {}, "<thin air", "", "<thin air"},
    {"only_a_prefix", {}, "<thi", "", "<thi"},
    {"blanks_first", {}, "\n\n Hi", "", "\n\n Hi"},
    {"tag_later_is_text", {}, "a <think>b</think>", "", "a <think>b</think>"},
    {"other_closing_tags", kOpened, "a</thinking></b></think>c", "a</thinking></b>", "c"},
    {"an_answer_goes_on", kContinued, "<think>a</think>\n", "", "<think>a</think>\n"},
    {"other_marks", {}, "[THINK]a</think>[/THINK]b", "a</think>", "b"},
    {"longer_marks", {}, "<seed:think>a</seed:think>b", "a", "b"},
    {"begins_as_two_marks", {}, "<s>a", "", "<s>a"},
    {"unopened", {}, "First, add.\n</think>\n\nFour", "First, add.", "Four", true},
    {"unopened_at_the_end", {}, "First, add.</think>", "First, add.", "", true},
    {"unopened_behind_blanks", {}, "Add.</think> \r\n\nFour</think>\n", "Add.", "Four</think>\n", true},
    {"unopened_and_empty", {}, "\n</think>\n\nFour", "", "Four", true},
    {"unopened_where_none_is_found", {}, "Add.</think>\n\nFour", "", "Add.</think>\n\nFour"},
    {"unopened_goes_on", kContinued, " add.</think>\nFour", " add.", "Four", true},
    {"unopened_behind_a_thought", kBehindThought, "Add.</think>\nFour", "", "Add.</think>\nFour", true},
    {"quoted_in_a_line", {}, "It ends with `</think>`\nhere", "", "It ends with `</think>`\nhere", true},
    {"quoted_at_a_lines_end", {}, "It ends with `\" </think>\n", "", "It ends with `\" </think>\n", true},
    {"quoted_in_a_block", {}, "So:\n```\n<think>\n</think>\n```\n", "", "So:\n```\n<think>\n</think>\n```\n", true},
    {"quoted_in_words", {}, "The tag </think> ends it.", "", "The tag </think> ends it.", true},
    {"quoted_and_unopened", {}, "A `</think>` ends.\n</think>\nSo", "A `</think>` ends.", "So", true},
    {"partly_unopened", {}, "Add.</thi", "", "Add.</thi", true},
};

// Cut after every n bytes.
class Splitter : public testing::TestWithParam<SplitCase> {
 protected:
  void split(size_t n) {
    ReasoningSplitter splitter(kThoughtMarks, GetParam().begin, GetParam().finds_unopened);
    const std::string answer = GetParam().answer;
    std::string reasoning, text;
    const auto on_event = [&](const std::vector<ReasoningSplitter::Piece>& pieces) {
      for (const auto& piece : pieces) {
        if (piece.was_thought) {
          reclassify(text, reasoning, /*thinking=*/true);
          continue;
        }
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
  const bool has_usual_marks = GetParam().begin.state == State::kUndecided && !GetParam().finds_unopened;
  if (!has_usual_marks || std::string(GetParam().name).ends_with("_marks")) return;
  Message message{.role = "assistant", .content = GetParam().answer};
  part_reasoning(message);
  EXPECT_EQ(message.reasoning, GetParam().reasoning);
  EXPECT_EQ(message.content, GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(Rows, Splitter, testing::ValuesIn(kCases), [](const auto& test) { return test.param.name; });

// Tells marks and texts in this order: "(" and ")" are marks, and their text where they open or close nothing.
std::string read_tokens(const Begin& begin, const std::vector<std::string>& tokens) {
  ReasoningSplitter splitter({}, begin, /*finds_unopened=*/false);
  std::string reasoning, text;
  const auto on_event = [&](const std::vector<ReasoningSplitter::Piece>& pieces) {
    for (const auto& piece : pieces)
      piece.was_thought ? reclassify(text, reasoning, true) : void((piece.thinking ? reasoning : text) += piece.text);
  };
  for (const std::string& token : tokens)
    on_event(token == "(" ? splitter.open(token) : token == ")" ? splitter.close(token) : splitter.add(token));
  on_event(splitter.finish());
  return reasoning + "|" + text + (splitter.has_ended_thought() ? "|ended" : "");
}

TEST(SplitterOfTokens, OnlyMarksThatAreToldCount) {
  EXPECT_EQ(read_tokens({}, {"\n", "(", "\n", "</think>", " a", "\n", ")", "\n\n", "<think>"}),
            "</think> a|<think>|ended");
  EXPECT_EQ(read_tokens({}, {"<think>", "a", "</think>"}), "|<think>a</think>");
  EXPECT_EQ(read_tokens(kOpened, {"a", ")", "b"}), "a|b|ended");
  EXPECT_EQ(read_tokens(kOpened, {"\n", "(", "a", "(", ")", "b"}), "a(|b|ended") << "some models open it again";
  EXPECT_EQ(read_tokens(kOpened, {"a", "\n"}), "a\n|");
  EXPECT_EQ(read_tokens({}, {"a", "(", "b"}), "|a(b") << "within an answer";
}

TEST(SplitterOfTokens, AClosingMarkAloneEndsAThought) {
  EXPECT_EQ(read_tokens({}, {"a\n", ")", "\n", "b", ")", "c"}), "a|b)c|ended");
  EXPECT_EQ(read_tokens({}, {")", "b"}), "|b|ended");
  EXPECT_EQ(read_tokens(kContinued, {"a", ")", "b"}), "a|b|ended");
  EXPECT_EQ(read_tokens(kBehindThought, {"a", ")", "b"}), "|a)b");
  EXPECT_EQ(read_tokens({.has_thought = true}, {")", "\n", "b"}), "|b|ended") << "closed by the prompt and again";
  EXPECT_EQ(read_tokens({.has_thought = true}, {"a", ")", "b"}), "|a)b");
}

TEST(CodeSpans, FollowFencesAndBackticks) {
  for (const char* open :
       {"`", "a `b", "``a` b", "```\n", "  ~~~ c\na\n\n", "````\n```\n", "a\n```c\n`", "~~~\n```\n"}) {
    CodeSpans whole, by_bytes;
    whole.add(open);
    for (const char* c = open; *c != 0; ++c) by_bytes.add({c, 1});
    EXPECT_TRUE(whole.is_inside()) << open;
    EXPECT_TRUE(by_bytes.is_inside()) << open;
  }
  for (const char* closed : {"", "a", "`a`", "``a``", "`a\n", "```\n```", "~~~\n~~~~\nb", "a ~~~ b", "```a``` b"}) {
    CodeSpans spans;
    spans.add(closed);
    EXPECT_FALSE(spans.is_inside()) << closed;
  }
}

}  // namespace
}  // namespace warpchat
