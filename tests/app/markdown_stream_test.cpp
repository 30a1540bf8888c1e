// The look of each piece of Markdown. No character is lost, however the stream is cut.
#include "app/terminal/markdown_stream.h"

#include <gtest/gtest.h>

#include <cmath>

namespace warpchat {
namespace {

// b bold, d dim, i italic, c code, v verbatim, t table, a capital for a kind of code; in braces before the text.
std::string described(const std::vector<StyledText>& pieces) {
  std::string text;
  for (const StyledText& piece : pieces) {
    std::string look;
    if (piece.style.bold) look += 'b';
    if (piece.style.dim) look += 'd';
    if (piece.style.italic) look += 'i';
    if (piece.style.code) look += 'c';
    if (piece.verbatim) look += 'v';
    if (piece.table) look += 't';
    if (piece.style.kind != CodeKind::kPlain) look += " KTSNCFDAR"[static_cast<size_t>(piece.style.kind)];
    text += look.empty() ? piece.text : "{" + look + ":" + piece.text + "}";
  }
  return text;
}

struct MarkdownCase {
  const char* name;
  const char* text;
  const char* look;
};

constexpr MarkdownCase kMarkdown[] = {
    {"plain", "hello you", "hello you"},
    {"bold", "a **b c** d", "a {d:**}{b:b c}{d:**} d"},
    {"italic", "a *b* d", "a {d:*}{i:b}{d:*} d"},
    {"underscores", "_a_ __b__", "{d:_}{i:a}{d:_} {d:__}{b:b}{d:__}"},
    {"bold_and_italic", "***a***", "{d:***}{bi:a}{d:***}"},
    {"bold_at_the_line_start", "**a** b", "{d:**}{b:a}{d:**} b"},
    {"italic_inside_bold", "**a *b* c**", "{d:**}{b:a }{d:*}{bi:b}{d:*}{b: c}{d:**}"},
    {"names_with_underscores_are_text", "a_b_c", "a_b_c"},
    {"a_product_is_text", "2 * 3 * 4", "2 * 3 * 4"},
    {"a_power_is_text", "2 ** 3", "2 ** 3"},
    {"escaped_marks_are_text", "\\*a\\*", "\\*a\\*"},
    {"an_unclosed_mark_ends_with_its_line", "**a\nb", "{d:**}{b:a}\nb"},
    {"code_span", "a `b*c*` d", "a {d:`}{c:b*c*}{d:`} d"},
    {"code_span_of_two_backticks", "``a`b``", "{d:``}{c:a`b}{d:``}"},
    {"code_span_right_after_its_mark", "`*x*`", "{d:`}{c:*x*}{d:`}"},
    {"heading", "## Big *news*\ntext", "{d:## }{b:Big }{d:*}{bi:news}{d:*}\ntext"},
    {"no_heading_without_a_blank", "#hash", "#hash"},
    {"no_heading_of_seven", "####### x", "####### x"},
    {"bullets", "- a\n* b\n+ c", "- a\n* b\n+ c"},
    {"numbers", "1. a\n12) b", "1. a\n12) b"},
    {"a_year_is_no_list", "1999 was", "1999 was"},
    {"a_decimal_is_no_list", "3.14 is", "3.14 is"},
    {"quote", "> a **b**\n> - c", "{d:>} a {d:**}{b:b}{d:**}\n{d:>} - c"},
    {"rule", "---\n***\ntext", "---\n***\ntext"},
    {"a_code_block_in_a_list", "- ```py\n  x\n  ```\nz", "- {dv:```py}\n{v:  x}\n{dv:  ```}\nz"},
    {"a_heading_in_a_quote", "> # a", "{d:>}{d: # }{b:a}"},
    {"table", "| *a* |\n|---|", "{t:| *a* |\n|---|}"},
    {"code_block", "```py\nx = *1*\n\n# y\n```\nz", "{dv:```py}\n{v:x = *}{vN:1}{v:*}\n\n{vC:# y}\n{dv:```}\nz"},
    {"code_block_without_a_language", "```\n- x\n```\n", "{dv:```}\n{cv:- x}\n{dv:```}\n"},
    {"code_block_of_tildes", "~~~\n```\n~~~\nz", "{dv:~~~}\n{cv:```}\n{dv:~~~}\nz"},
    {"a_longer_fence_holds_shorter_ones", "````\n```\n````\nz", "{dv:````}\n{cv:```}\n{dv:````}\nz"},
    {"an_indented_block", "1. a\n   ```\n   x\n   ```\nz", "1. a\n{dv:   ```}\n{cv:   x}\n{dv:   ```}\nz"},
    {"a_closing_fence_may_have_blanks", "```\nx\n```  \nz", "{dv:```}\n{cv:x}\n{dv:```  }\nz"},
    {"backticks_inside_a_block", "```\na ``` b\n```\nz", "{dv:```}\n{cv:a ``` b}\n{dv:```}\nz"},
    {"three_backticks_on_one_line_open_no_block", "```x``` y\nz", "{dv:```x``` y}\nz"},
    {"code_of_a_language", "```cpp title=\"x\"\nreturn \"a b\"; // c\n```",
     "{dv:```cpp title=\"x\"}\n{vK:return}{v: }{vS:\"a b\"}{v:; }{vC:// c}\n{dv:```}"},
    {"what_a_line_of_code_leaves_open", "```c\n/* a\nint b */ int\n```",
     "{dv:```c}\n{vC:/* a}\n{vC:int b */}{v: }{vT:int}\n{dv:```}"},
    {"unfinished_block", "```\nx", "{dv:```}\n{cv:x}"},
    {"other_scripts", "**日本** é", "{d:**}{b:日本}{d:**} é"},
};

class Markdown : public testing::TestWithParam<MarkdownCase> {};

TEST_P(Markdown, LooksSo) {
  MarkdownStream stream;
  std::vector<StyledText> pieces = stream.add(GetParam().text);
  for (const StyledText& piece : stream.finish()) append(pieces, piece);
  EXPECT_EQ(described(pieces), GetParam().look);
}

TEST_P(Markdown, IsTheSameByteByByteAndLosesNothing) {
  MarkdownStream stream;
  std::vector<StyledText> pieces;
  std::string text;
  for (const char* c = GetParam().text; *c; ++c)
    for (const StyledText& piece : stream.add({c, 1})) append(pieces, piece);
  for (const StyledText& piece : stream.finish()) append(pieces, piece);
  for (const StyledText& piece : pieces) text += piece.text;
  EXPECT_EQ(described(pieces), GetParam().look);
  EXPECT_EQ(text, GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(Rows, Markdown, testing::ValuesIn(kMarkdown),
                         [](const auto& test) { return test.param.name; });

TEST(MarkdownStream, IndentsWhatWrapsUnderAListItem) {
  MarkdownStream stream;
  const std::vector<StyledText> pieces = stream.add("  12. a");
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_EQ(pieces[0].indent, 6);
}

TEST(MarkdownStream, IndentsWhatWrapsUnderNestedMarks) {
  for (const auto& [text, indent] : {std::pair("> a", 2), {"> - a", 4}, {"- > a", 4}, {"1. - a", 5}, {"> > a", 4}}) {
    MarkdownStream stream;
    const std::vector<StyledText> pieces = stream.add(text);
    ASSERT_FALSE(pieces.empty());
    EXPECT_EQ(pieces.back().indent, indent) << text;
  }
}

TEST(MarkdownStream, CodeIsShownAsItComes) {
  MarkdownStream stream;
  stream.add("```py\n");
  EXPECT_EQ(described(stream.add("x = ret")), "{v:x =}");
  EXPECT_EQ(described(stream.add("urn")), "");
  EXPECT_EQ(described(stream.add("ed + ")), "{v: returned +}");
  EXPECT_EQ(described(stream.add("'" + std::string(30, 'a'))), "{v: }{vS:'" + std::string(30, 'a') + "}");
}

TEST(Colours, AreAsManyAsTheTerminalSays) {
  EXPECT_EQ(colours_of("xterm-256color", ""), Colours::k256);
  EXPECT_EQ(colours_of("xterm-kitty", ""), Colours::k256);
  EXPECT_EQ(colours_of("xterm", "truecolor"), Colours::k256);
  EXPECT_EQ(colours_of("xterm", ""), Colours::k8);
  EXPECT_EQ(colours_of("screen", ""), Colours::k8);
}

std::string sequences_of(Colours colours) {
  set_colours(colours);
  std::string all = escape_sequence({.code = true});
  for (size_t kind = 0; kind < kCodeKinds; ++kind) all += escape_sequence({.kind = static_cast<CodeKind>(kind)});
  set_colours(Colours::k256);
  return all;
}

TEST(Colours, OfEightOnlyThoseAreUsedThatEveryBackgroundShows) {
  for (const char* faint : {";30m", ";32m", ";33m", ";34m", ";36m", ";37m"})  // readable on black or white
    EXPECT_EQ(sequences_of(Colours::k8).find(faint), std::string::npos) << faint;
}

// WCAG's contrast of a colour of xterm's cube, with white and with black.
std::pair<double, double> contrasts(int index) {
  const auto linear = [](int level) {
    return level == 0 ? 0 : std::pow(((55 + 40 * level) / 255.0 + 0.055) / 1.055, 2.4);
  };
  const int cube = index - 16;
  const double luminance = 0.2126 * linear(cube / 36) + 0.7152 * linear(cube / 6 % 6) + 0.0722 * linear(cube % 6);
  return {1.05 / (luminance + 0.05), (luminance + 0.05) / 0.05};
}

TEST(Colours, Of256CanBeReadOnBlackAndOnWhite) {
  const std::string all = sequences_of(Colours::k256);
  size_t n = 0;
  for (size_t at = all.find("38;5;"); at != std::string::npos; at = all.find("38;5;", at + 1), ++n) {
    const auto [on_white, on_black] = contrasts(std::atoi(all.c_str() + at + 5));
    EXPECT_GE(std::min(on_white, on_black), 3.9) << all.substr(at, 9);
  }
  EXPECT_EQ(n, 9u);
}

TEST(MarkdownStream, ShowsPlainTextAtOnce) {
  MarkdownStream stream;
  EXPECT_EQ(described(stream.add("hel")), "hel");
  EXPECT_EQ(described(stream.add("lo *")), "lo ");
  EXPECT_EQ(described(stream.add("x")), "{d:*}{i:x}");
}

}  // namespace
}  // namespace warpchat
