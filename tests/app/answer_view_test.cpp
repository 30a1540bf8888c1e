#include "app/terminal/answer_view.h"

#include <gtest/gtest.h>

#include "app/platform/text/piece.h"
#include "app/terminal/conversation_text.h"

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

TEST(AnswerView, TextThatWasAThoughtIsApartFromTheAnswer) {
  for (const auto& [thought, shown_thought] : {std::pair("So *ad", "So *ad"), std::pair("So\n\n", "So")}) {
    AnswerView view({.styled = false});
    std::string shown = view.add(thought, false);
    shown += view.reclassify(/*thinking=*/true);
    shown += view.add("Fo", false);
    shown += view.add("ur", false);
    shown += view.finish();
    EXPECT_TRUE(shown.starts_with(shown_thought)) << shown;
    EXPECT_TRUE(shown.ends_with("\n\nFour\n")) << shown;
  }
  AnswerView table({.styled = false});
  std::string shown = table.add("| a |\n|---|\n| b |\n", false);
  shown += table.reclassify(/*thinking=*/true);
  EXPECT_NE(shown.find("b"), std::string::npos) << shown;
  shown += table.add("Four", false);
  shown += table.finish();
  EXPECT_TRUE(shown.ends_with("\n\nFour\n")) << shown;
}

TEST(AnswerView, AHiddenThoughtThatWasNoneIsShown) {
  for (const bool hides : {true, false}) {
    AnswerView view({.styled = false, .hide_thinking = hides});
    std::string shown = view.add("Fo", true);
    shown += view.add("ur", true);
    shown += view.reclassify(/*thinking=*/false);
    shown += view.finish();
    EXPECT_EQ(shown, "Four\n");
  }
}

struct Text {
  std::string name, begin, unit;  // the unit again and again
  bool thinking = false;
  size_t bytes = 4000;
};

std::vector<Text> texts_that_do_not_end() {
  return {
      {"words", "", "some words, "},
      {"a_word", "", "a"},
      {"one_letter_with_marks", "e", "\xCC\x81", false, 24'000},
      {"joiners", "", "\xE2\x80\x8D"},
      {"joined_emoji", "", "\U0001F469\u200D"},
      {"zero_width_blanks", "", "\u200B"},
      {"zero_width_blanks_and_words", "", "\u200Bab\u200B\u200B"},
      {"jamo", "", "\u1100\u1161\u11A8"},
      {"vowels_of_jamo", "\u1100", "\u1161"},
      {"thai", "", "\u0E20\u0E32\u0E29\u0E32"},
      {"tabs", "", "\t"},
      {"blanks", "", " "},
      {"blanks_after_a_word", "a", " "},
      {"blanks_of_a_thought", "a", " ", true},
      {"lines_of_a_thought", "a", "\n", true},
      {"empty_lines", "a", "\n"},
      {"backticks", "", "`"},
      {"backticks_in_a_line", "a ", "`"},
      {"tildes", "", "~"},
      {"hashes", "", "#"},
      {"stars", "", "*"},
      {"digits", "", "1"},
      {"quotes", "", ">"},
      {"bullets", "", "- "},
      {"dollars_after_blanks", std::string(5000, ' '), "$ "},
      {"bars", "", "|"},
      {"a_wide_header", "", "| a "},
      {"a_wide_table", "| a | b |\n|-|-|\n", "| a "},
      {"a_high_cell", "| a | b |\n|---|---|\n| c | ", "some words "},
      {"a_cell_without_columns", "| a | b |\n|---|---|\n| c | ", "\u200B"},
      {"a_long_rule", "| a | b |\n", "-"},
      {"many_rows", "| a | b |\n|---|---|\n", "| c | d |\n"},
      {"many_records", "|" + std::string(30, '|') + "a|\n|-|\n", "| c | d |\n"},
      {"blanks_in_a_fence", "```\n", " "},
      {"blanks_after_a_fence", "```\n```", " "},
      {"a_fence_that_closes_nothing", "```\n", "`"},
      {"code_without_language", "```\n", "x+1;"},
      {"python", "```python\n", "x+1;"},
      {"python_words", "```python\n", "abcde"},
      {"python_comment", "```python\n# ", "abcde "},
      {"python_string", "```python\n'", "abcde\\n"},
      {"python_blanks", "```python\nx", " "},
      {"c_hashes_after_blanks", "```c\n" + std::string(5000, ' '), "#"},
      {"c_comment", "```c\n/* ", "ab * "},
      {"shell_heredocs", "```sh\n", "<"},
      {"shell_variables", "```sh\n", "${"},
      {"json", "```json\n", "{\"a\": [1, true]}, "},
      {"json_string", "```json\n\"", "abcd"},
      {"yaml_without_key", "```yaml\n", "abc "},
      {"yaml_block", "```yaml\na: |\n ", " "},
      {"html_entities", "```html\n", "&"},
      {"html_script", "```html\n<script>", "x+1;"},
      {"html_script_string", "```html\n<script>'", "abc "},
      {"rust_raw_strings", "```rust\n", "r#"},
      {"cpp_raw_strings", "```cpp\n", "R\""},
      {"lua_brackets", "```lua\n", "[="},
      {"css_colours", "```css\na { color: ", "#abcdef"},
      {"diff", "```diff\n+", "abc "},
  };
}

// Steps for a text of about so many bytes that comes in pieces of a few bytes.
size_t steps_for(const Text& text, size_t bytes, size_t piece, const AnswerLook& look) {
  std::string whole = text.begin;
  while (whole.size() < text.begin.size() + bytes) whole += text.unit;
  AnswerView view(look);
  for (std::string_view rest = whole; !rest.empty();) {
    size_t n = std::min(piece, rest.size());
    while (n < rest.size() && (rest[n] & 0xC0) == 0x80) ++n;
    view.add(rest.substr(0, n), text.thinking);
    rest.remove_prefix(n);
  }
  view.finish();
  return view.n_read();
}

TEST(AnswerView, WorkGrowsWithTheLengthOfTheText) {
  for (const AnswerLook& look :
       {AnswerLook{.movable = true}, AnswerLook{.width = 0}, AnswerLook{.styled = false, .words = true}}) {
    for (const Text& text : texts_that_do_not_end()) {
      for (const size_t piece : {size_t{4}, size_t{100'000}}) {
        const size_t once = steps_for(text, text.bytes, piece, look);
        const size_t twice = steps_for(text, 2 * text.bytes, piece, look);
        EXPECT_LT(twice, 2.6 * static_cast<double>(once) + 2000)
            << text.name << " in pieces of " << piece << ", width " << look.width << ", movable " << look.movable;
        EXPECT_LT(once, 1500 * text.bytes) << text.name << " in pieces of " << piece;
      }
    }
  }
}

TEST(ConversationText, IsLeftBetweenTwoPieces) {
  const std::string line(100, 'a');
  std::string content;
  for (int i = 0; i < 1000; ++i) content += line + "\n";
  for (const char* role : {"user", "assistant"}) {
    int asked = 0;
    const std::string text =
        message_text({.role = role, .content = content}, {.styled = false}, [&] { return ++asked > 2; });
    EXPECT_LT(text.size(), 3 * kMaxPiece) << role;
    EXPECT_EQ(message_text({.role = role, .content = line}, {.width = 200, .styled = false}).find(line),
              role == std::string("user") ? 2u : 0u);
  }
}

struct ResumeCase {
  const char *name, *reasoning, *content, *more, *shown;
};
const ResumeCase kResumes[] = {
    {"in_a_word", "", "one\n\n- two thr", "ee", "- two three\n"},
    {"on_a_wrapped_line", "", "- one two three four five si", "x", "  five six\n"},
    {"after_a_line", "", "one\n", "two", "two\n"},
    {"in_a_thought", "Hm.\nSo it i", "", "s", "So it is\n"},
    {"after_a_thought", "Hm.", "Ye", "s", "Yes\n"},
    {"in_code", "", "```\nint x;\nreturn ", "x;\n```\n", "return x;\n```\n"},
    {"in_a_table", "", "one\n\n| a | b |\n|---|---|\n| 1 |", " 2 |\n", "| a   | b   |\n|-----|-----|\n| 1   | 2   |\n"},
    {"nothing", "", "", "one", "one\n"},
};

TEST(AnswerView, AReaderGetsAMatrixInALine) {
  for (const auto& [words, expected] :
       {std::pair(true, "(1; 2)\na = b\nc = d\n"), {false, "⎛1⎞\n⎝2⎠\na = b\nc = d\n"}}) {
    AnswerView view({.styled = false, .words = words});
    std::string shown =
        view.add("$$\\begin{pmatrix}1\\\\2\\end{pmatrix}$$\n\\begin{align}a &= b\\\\c &= d\\end{align}", false);
    EXPECT_EQ(shown + view.finish(), expected);
  }
}

TEST(AnswerView, AnAnswerGoesOnInItsLastRow) {
  for (const ResumeCase& c : kResumes) {
    AnswerView view({.width = 20, .styled = false});
    std::string shown = view.resume(c.reasoning, c.content);
    shown += view.add(c.more, *c.content == '\0' && *c.reasoning != '\0');
    EXPECT_EQ(shown + view.finish(), c.shown) << c.name;
  }
}

TEST(AnswerView, ResumingWorkIsInProportionToTheText) {
  const auto work = [](int n) {
    std::string text;
    for (int i = 0; i < n; ++i) text += "- one two three four five six | seven\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n";
    AnswerView view({.width = 20, .movable = true});
    view.resume(text, text);
    return view.n_read();
  };
  EXPECT_LE(work(400), 2.2 * static_cast<double>(work(200)));
}

}  // namespace
}  // namespace warpchat
