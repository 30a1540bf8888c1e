// Markdown to blocks: the result of each construct, the cost of a growing text in bytes read, and that incremental
// parsing ends like parsing the whole.
#include "app/gui/transcript/markdown_document.h"

#include <random>

#include "app/gui/transcript/markdown_guard.h"
#include "app/gui/transcript/markdown_parse.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/gui/block_text.h"

namespace warpchat::gui {
namespace {

using testing::ElementsAreArray;
using Strings = std::vector<std::string>;

struct Case {
  const char* name;
  const char* text;
  Strings blocks;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::vector<MarkdownBlock> parsed_whole(std::string_view text) {
  std::vector<MarkdownBlock> blocks;
  parse_markdown({text}, blocks);
  return blocks;
}

std::vector<MarkdownBlock> document_of(std::string_view text, bool streaming = false) {
  MarkdownDocument document;
  document.update(text, streaming);
  return document.blocks();
}

class Markdown : public testing::TestWithParam<Case> {};

TEST_P(Markdown, BecomesBlocks) {
  EXPECT_THAT(block_texts(document_of(GetParam().text)), ElementsAreArray(GetParam().blocks));
}

const Case kCases[] = {
    {"empty", "", {}},
    {"paragraphs", "one\ntwo\n\nthree", {"p: one/two", "p: three"}},
    {"looks", "a **b *c*** ~~d~~ `e*f`", {"p: a {b:b }{bi:c} {s:d} {c:e*f}"}},
    {"headings", "# One\n### Three\ntext", {"h1: One", "h3: Three", "p: text"}},
    {"links",
     "[a](http://x) <http://y> www.z.org",
     {"p: {->http://x:a} {->http://y:http://y} {->http://www.z.org:www.z.org}"}},
    {"image_shows_its_words", "![a cat](cat.png)", {"p: {->cat.png:a cat}"}},
    {"other_html_is_text",
     "<q>x</q> a</b> <a href=\"x\">y</a> <!-- z -->\n\n<div>\ny\n</div>\n\n<script>alert(1)</script>",
     {"p: <q>x</q> a</b> <a href=\"x\">y</a> <!-- z -->", "p: <div>/y/</div>", "p: <script>alert(1)</script>"}},
    {"html_looks",
     "<b>a</b> <STRONG>b</STRONG> <i>c</i> <em>d</em> <u>e</u> <del>f</del> <kbd>Ctrl</kbd>+<code>g</code>",
     {"p: {b:a} {b:b} {i:c} {i:d} {u:e} {s:f} {k:Ctrl}+{c:g}"}},
    {"html_above_and_below", "H<sub>2</sub>O x<sup>**2**</sup>", {"p: H{_:2}O x{b^:2}"}},
    {"html_looks_end_with_their_block",
     "<b>a\n\nb\n\n- <i>c\n- d",
     {"p: {b:a}", "p: b", ". (-) p: {i:c}", "tight . (-) p: d"}},
    {"html_in_code", "`<b>x</b>`\n\n```\n<br>\n```", {"p: {c:<b>x</b>}", "code: <br>"}},
    {"html_with_formulas", "<b>$x_1$</b> <foo a=\"$y$\">", {"p: {bf:$x_1$} <foo a=\"$y$\">"}},
    {"line_breaks", "a<br>b<br/>\nc", {"p: a/b/c"}},
    {"line_breaks_in_cells", "|a|b|\n|-|-|\n|1<br>2<BR />3|<b>x|", {"table L L: a\tb/1|2|3\t{b:x}"}},
    {"details",
     "<details>\n<summary>More <i>here</i></summary>\n\nhidden\n\n- a\n\n</details>\n\nend",
     {"v title p: {b:More }{bi:here}", "tight v p: hidden", "v . (-) p: a", "p: end"}},
    {"details_within_details",
     "<details><summary>A</summary>a\n<details><summary>B</summary>b</details>\nc</details>d",
     {"v title p: {b:A}", "tight v p: a", "v v title p: {b:B}", "tight v v p: b", "v p: c", "p: d"}},
    {"details_in_items",
     "- <details><summary>A</summary>a</details>\n- b",
     {". v title (-) p: {b:A}", "tight . v p: a", "tight . (-) p: b"}},
    {"details_end_with_their_item",
     "- <details><summary>A</summary>a\n- b\n\n> <details>\n> q\n\nend",
     {". v title (-) p: {b:A}", "tight . v p: a", "tight . (-) p: b", "> v title p: {b:Details}", "tight > v p: q",
      "p: end"}},
    {"details_without_a_summary",
     "<details>\n\n- a\n\n</details>\n<details><summary></summary>b</details>\n<details></details>",
     {"v title p: {b:Details}", "v . (-) p: a", "v title p: {b:Details}", "tight v p: b"}},
    {"details_that_close_nothing", "a</details>b</summary>", {"p: a", "p: b"}},
    {"footnotes",
     "a[^1] b[^note].\n\n[^1]: One *two*\n[^note]: Three\n\nend",
     {"p: a{^:1} b{^:2}.", ". footnote (1) p: One {i:two}", "tight . footnote (2) p: Three", "p: end"}},
    {"footnotes_that_are_addresses",
     "a[^1]\n\n[^1]: http://x.org",
     {"p: a{^:1}", ". footnote (1) p: {->http://x.org:http://x.org}"}},
    {"footnotes_elsewhere",
     "`[^1]` [^a-z] [^]\n\n| x[^2] |\n|---|\n\n- [^3]: x",
     {"p: {c:[^1]} [^a-z] [^]", "table L: x{^:2}", ". (-) p: {^:3}: x"}},
    {"alerts",
     "> [!NOTE]\n> a **b**\n>\n> c\n\n> [!warning] Hot\n> d\n\n> [!TIP]\n\n> [!OTHER]\n> e",
     {"note title p: {b:Note}", "tight note p: a {b:b}", "note p: c", "warning title p: {b:Hot}", "tight warning p: d",
      "tip title p: {b:Tip}", "> p: [!OTHER]/e"}},
    {"alerts_are_quotes_first_lines",
     "[!NOTE]\n\n> a\n> [!NOTE]\n\n> - [!NOTE]\n\n> > [!CAUTION]\n> > b",
     {"p: [!NOTE]", "> p: a/[!NOTE]", "> . (-) p: [!NOTE]", "> caution title p: {b:Caution}", "tight > caution p: b"}},
    {"entities", "a &lt; b &amp; &#65;&#x42; &nosuch; &#0;", {"p: a < b & AB &nosuch; \uFFFD"}},
    {"tight_list",
     "text\n\n- a\n- b\n  - c\n\nend",
     {"p: text", ". (-) p: a", "tight . (-) p: b", "tight . . (-) p: c", "p: end"}},
    {"loose_list", "1. a\n\n   more\n\n2. b", {". (1.) p: a", ". p: more", ". (2.) p: b"}},
    {"numbers_go_on", "7) a\n8) b", {". (7)) p: a", "tight . (8)) p: b"}},
    {"tasks", "- [ ] a\n- [x] b", {". (-) [ ] p: a", "tight . (-) [x] p: b"}},
    {"empty_item", "-\n- b", {". (-) p: ", "tight . (-) p: b"}},
    {"code_in_an_item", "- a\n  ```py\n  x = 1\n    y\n  ```", {". (-) p: a", "tight . code py: x = 1/  y"}},
    {"quotes", "> a\n> > b\n>\n> - c", {"> p: a", "> > p: b", "> . (-) p: c"}},
    {"fence", "```c++\nint x;\n\n\n  y\n```\nafter", {"code c++: int x;///  y", "p: after"}},
    {"open_fence_is_code", "```\na\n**b", {"code: a/**b"}},
    {"indented_code", "    a\n     b", {"code: a/ b"}},
    {"rule", "a\n\n---\n\nb", {"p: a", "rule: ", "p: b"}},
    {"table", "|a|b|c|\n|:-|:-:|-:|\n|1|**2**|3|\n|x|", {"table L C R: a\tb\tc/1\t{b:2}\t3/x\t\t"}},
    {"link_targets_elsewhere", "[a][x]\n\n[x]: http://y\n", {"p: {->http://y:a}"}},
    {"formula_in_dollars", "so $a_1*b*c_2$ and **$5** or **$10**", {"p: so {f:$a_1*b*c_2$} and {b:$5} or {b:$10}"}},
    {"formulas_keep_backslashes",
     "\\(x\\) and\n\\[\n\\frac{a}{b} \\\\\n- y\n\\]",
     {"p: {f:\\(x\\)} and", "tight formula: {f:\\[/\\frac{a}{b} \\\\/- y/\\]}"}},
    {"formulas_that_stand_alone",
     "a $$x$$ b\n\n- $$y$$\n\n$$z$$",
     {"p: a", "tight formula: {f:$$x$$}", "tight p: b", ". (-) formula: {f:$$y$$}", "formula: {f:$$z$$}"}},
    {"formulas_in_quotes", "> so $$a\n> + b$$", {"> p: so", "tight > formula: {f:$$a/+ b$$}"}},
    {"environments_are_formulas",
     "so\n\\begin{align*}\na &= b_1*c*d \\\\\n- x\n\\end{align*}\nand",
     {"p: so", "tight formula: {f:\\begin{align*}/a &= b_1*c*d \\\\/- x/\\end{align*}}", "tight p: and"}},
    {"environments_in_items_and_code",
     "- \\begin{gather}x\\end{gather}\n\n`\\begin{align}x\\end{align}`",
     {". (-) formula: {f:\\begin{gather}x\\end{gather}}", "p: {c:\\begin{align}x\\end{align}}"}},
    {"other_environments_are_text", "\\begin{itemize}x\\end{itemize}", {"p: \\begin{itemize}x\\end{itemize}"}},
    {"neighbouring_formulas", "$a$$b$ \\(c\\)\\(d\\)", {"p: {f:$a$}{f:$b$} {f:\\(c\\)}{f:\\(d\\)}"}},
    {"prices", "$5 and $6, $ 7, $1,000-$2,000", {"p: $5 and $6, $ 7, $1,000-$2,000"}},
    {"formulas_in_tables", "|a|\n|-|\n|$|x|$|", {"table L: a/{f:$|x|$}"}},
    {"code_with_dollars", "`$a_b$`\n\n```\n$x_1*2*3$ \\[ * \\]\n```", {"p: {c:$a_b$}", "code: $x_1*2*3$ \\[ * \\]"}},
    {"cjk_emphasis", "这是**重点**。", {"p: 这是{b:重点}。"}},
};
INSTANTIATE_TEST_SUITE_P(Cases, Markdown, testing::ValuesIn(kCases), [](const auto& row) { return row.param.name; });

// An answer with every construct; its prefixes end inside each of them.
const char* const kAnswer =
    "# Title\nIntro with **bold**, `code` and [a link](http://x.org).\n\nSome text:\n- one\n- two **b**\n  1. inner\n"
    "     ```sh\n     ls -l\n\n     cd\n     ```\n  2. more\n\n- three\n\nAfter.\n\n| a | b |\n|---|:-:|\n| 1 | 2 |\n"
    "| 3 | 4 |\n\n> quote\n> - item\nlazy\n\n```c\nint main() {\n\n  // - no list\n  # no heading\n}\n```\nDirectly.\n"
    "1. a\n```\ncode that ends the list\n```\n2. b\n\n***\n\n    indented\n\n    code\n\n~~~\n```\n\nx\n~~~\n"
    "* bullet\n\n**Bold start**\n\n12. twelve\n\n1986 was a year\n\nSetext\n---\n\n$x_1$ \\[ y_2 "
    "\\]\n\nEnd.\n\n<details>\n<summary>S</summary>\n\n"
    "in[^1]\n\n</details>\n\n> [!NOTE]\n> H<sub>2</sub>O<br>x\n\n[^1]: one\n[^2]: two\n\nLast.";

TEST(MarkdownDocument, GrowingEndsInWhatTheWholeGives) {
  const std::string_view text = kAnswer;
  MarkdownDocument growing;
  for (size_t n = 0; n <= text.size(); ++n) {
    growing.update(text.substr(0, n), false);
    ASSERT_EQ(block_texts(growing.blocks()), block_texts(parsed_whole(text.substr(0, n)))) << text.substr(0, n);
    ASSERT_EQ(growing.blocks(), parsed_whole(text.substr(0, n))) << "sources differ after " << n << " bytes";
  }
}

TEST(MarkdownDocument, StreamingEndsInWhatTheWholeGives) {
  const std::string_view text = kAnswer;
  MarkdownDocument growing;
  for (size_t n = 0; n <= text.size(); ++n) {
    growing.update(text.substr(0, n), true);
    ASSERT_EQ(growing.blocks(), document_of(text.substr(0, n), true)) << text.substr(0, n);
  }
  growing.update(text, false);
  EXPECT_EQ(growing.blocks(), parsed_whole(text));
}

// Lines that open, close and interrupt each other, in any order. No tables, and no fences inside items or quotes,
// because md4c ends those late.
TEST(MarkdownDocument, CutsOnlyWhereTheWholeGivesTheSame) {
  static const char* const kLines[] = {"",     "",          "",    "text",  "- a",   "  b",     "   c",  "1. x",
                                       "7. y", "```",       "~~~", "> q",   "# h",   "    ind", "---",   "* * *",
                                       "-",    "| a | b |", "=",   "10. z", "```py", "````",    "\ttab", "**b**"};
  std::mt19937 random(1);
  for (int round = 0; round < 10000; ++round) {
    std::string text;
    for (int i = 0; i < 10; ++i) text += std::string(kLines[random() % std::size(kLines)]) + "\n";
    ASSERT_EQ(block_texts(document_of(text)), block_texts(parsed_whole(text))) << "round " << round << "\n" << text;
  }
}

TEST(MarkdownDocument, OtherTextBeginsAnew) {
  MarkdownDocument document;
  document.update("one\n\ntwo", false);
  document.update("three", false);
  EXPECT_EQ(block_texts(document.blocks()), Strings{"p: three"});
  EXPECT_EQ(document.n_unchanged(), 0u);
}

TEST(MarkdownDocument, FinishedBlocksStay) {
  MarkdownDocument document;
  document.update("one\n\ntwo\n\nthr", true);
  document.update("one\n\ntwo\n\nthree", true);
  EXPECT_EQ(document.n_unchanged(), 2u);
  document.update("one\n\ntwo\n\nthree\n\n", true);
  EXPECT_EQ(document.n_unchanged(), 3u);
}

TEST(MarkdownDocument, LaterFootnotesReachBack) {
  MarkdownDocument document;
  document.update("see[^x]\n\nmore\n\n", true);
  EXPECT_EQ(block_texts(document.blocks())[0], "p: see[^x]");
  document.update("see[^x]\n\nmore\n\n[^x]: y\n\nend\n\n", true);
  EXPECT_EQ(block_texts(document.blocks())[0], "p: see{^:1}");
}

// The folds that each block lies in; "+": it opens the last of them.
std::string folds_of(std::string_view text) {
  std::string out;
  for (const MarkdownBlock& block : document_of(text)) {
    out += out.empty() ? "" : " ";
    for (const uint32_t fold : block.folds) out += std::to_string(fold);
    out += block.is_summary ? "+" : block.folds.empty() ? "-" : "";
  }
  return out;
}

TEST(MarkdownDocument, FoldsAreNumberedThroughTheMessage) {
  EXPECT_EQ(folds_of("a\n\n<details><summary>S</summary>\n\nb\n\n```\nc\n```\n\n</details>\n\nd"), "- 1+ 1 1 -");
  EXPECT_EQ(folds_of("<details><summary>S</summary>\n\na\n\n<details>\n\nb\n\n</details>\n\nc\n\n</details>"),
            "1+ 1 12+ 12 1");
  EXPECT_EQ(folds_of("- <details><summary>S</summary>a\n\n  b\n- c\n\n<details>d"), "1+ 1 1 - 2+ 2");
  EXPECT_EQ(folds_of("<details><summary>S</summary><summary>T</summary>a"), "1+ 1 1") << "one summary opens a fold";
  EXPECT_EQ(folds_of("<summary>S</summary>a"), "- -");
  std::string deep;
  for (int i = 0; i < 9; ++i) deep += "<details>\n\n";
  deep += "x\n\n";
  for (int i = 0; i < 9; ++i) deep += "</details>\n\n";
  EXPECT_EQ(folds_of(deep + "end"), "1+ 12+ 123+ 1234+ 12345+ 123456+ 123456 -");
  std::string summary = "<details><summary>";
  while (summary.size() < 20'000) summary += "many words ";
  EXPECT_EQ(folds_of(summary + "</summary>a").substr(0, 6), "1+ 1 1") << "a piece opens nothing";
}

struct Growth {
  size_t link_bytes = 0, cells = 0, parsed = 0;
};

Growth growth_of(const std::string& text) {
  MarkdownDocument document;
  document.update(text, false);
  Growth growth{.parsed = document.n_parsed()};
  for (const MarkdownBlock& block : document.blocks()) {
    growth.cells += block.cells.size();
    for (const std::string& link : block.links) growth.link_bytes += link.size();
  }
  return growth;
}

std::string repeated(std::string_view part, size_t n) {
  std::string text;
  for (size_t i = 0; i < n; ++i) text += part;
  return text;
}

// n: of everything that a text repeats. Each text would become as long as n squared.
TEST(MarkdownDocument, WhatAShortTextAsksForIsBounded) {
  struct GrowthCase {
    const char* name;
    std::string (*text)(size_t n);
  };
  static const GrowthCase kGrowthCases[] = {
      {"uses of a long target",
       [](size_t n) { return "[x]: http://" + repeated("a", 7'000) + "\n\n" + repeated("[x] ", n); }},
      {"uses in paragraphs of their own",
       [](size_t n) { return "[x]: http://" + repeated("a", 7'000) + "\n\n" + repeated("[x]\n\n", n); }},
      {"uses before the definition",
       [](size_t n) { return repeated("[x]\n\n", n) + "[x]: http://" + repeated("a", 7'000); }},
      {"long titles", [](size_t n) { return "[x]: a '" + repeated("t", 8 * n) + "'\n\n" + repeated("![x] ", n); }},
      {"many definitions", [](size_t n) { return repeated("[y]: http://a\n", n) + "\n" + repeated("[z]\n\n", n); }},
      {"pictures in a long link",
       [](size_t n) { return "[" + repeated("![a](b) many words ", n) + "](http://" + repeated("a", 8 * n) + ")"; }},
      {"links of a long paragraph", [](size_t n) { return repeated("[a](http://example.org/some/page) ", n); }},
      {"rows without cells",
       [](size_t n) { return repeated("|a", n) + "\n" + repeated("|-", n) + "\n" + repeated("|x\n", n); }},
  };
  for (const GrowthCase& c : kGrowthCases) {
    for (const size_t n : {2'000, 8'000}) {
      const std::string text = c.text(n);
      const Growth growth = growth_of(text);
      const size_t bound = 2 * (ParseInput::kGrowth * text.size() + ParseInput::kFreeGrowth);
      EXPECT_LT(growth.link_bytes, bound) << c.name << ", " << n;
      EXPECT_LT(growth.cells * 8, bound) << c.name << ", " << n;
      EXPECT_LT(growth.parsed, bound) << c.name << ", " << n;
    }
  }
}

TEST(MarkdownDocument, OrdinaryReferencesAndTablesStayWhatTheyAre) {
  const auto last = [](const std::string& text) { return block_texts(document_of(text)).back(); };
  std::string list, uses;
  for (int i = 0; i < 40; ++i) {
    list += "[" + std::to_string(i) + "]: https://example.org/a/page/of/some/length/" + std::to_string(i) + "\n";
    uses += "See [" + std::to_string(i) + "], as was said before in a sentence of usual length.\n\n";
  }
  EXPECT_EQ(last(list + "\n" + repeated(uses, 5) + "[7]"), "p: {->https://example.org/a/page/of/some/length/7:7}");
  EXPECT_EQ(last(repeated("|", 3'001) + "\n" + repeated("|-", 3'000) + "\n\n[a](b)"), "p: {->b:a}");
}

// However many definitions come one after another, the text is not parsed as often.
TEST(MarkdownDocument, ManyDefinitionsCostNoMoreThanTheirText) {
  for (const bool is_footnote : {true, false}) {
    const auto parsed = [&](int n) {
      MarkdownDocument document;
      std::string text;
      for (int i = 0; i < n; ++i) {
        text += "see [^n" + std::to_string(i) + "] and [m" + std::to_string(i) + "]\n\n";
        text += (is_footnote ? "[^n" : "[m") + std::to_string(i) + "]: http://x\n\n";
        document.update(text, true);
      }
      document.update(text, false);
      const std::string last = block_texts(document.blocks())[0];
      EXPECT_EQ(last, is_footnote ? "p: see {^:1} and [m0]" : "p: see [^n0] and {->http://x:m0}");
      return document.n_parsed();
    };
    const size_t once = parsed(400), twice = parsed(800);
    EXPECT_LT(twice, 2.6 * static_cast<double>(once) + 100'000) << is_footnote;
  }
}

TEST(MarkdownDocument, ListsAndQuotesReadFromTheSideOfTheirFirstLetter) {
  const auto sides = [](std::string_view text) {
    std::string out;
    for (const MarkdownBlock& block : parsed_whole(text)) out += block.is_rtl ? 'R' : 'L';
    return out;
  };
  EXPECT_EQ(sides("1. שלום\n2. English\n   ```\n   code\n   ```\n\nשלום"), "RRRL");
  EXPECT_EQ(sides("- one\n- שלום"), "LL");
  EXPECT_EQ(sides("> 12\n>\n> مرحبا\n> - a"), "RRR");
  EXPECT_EQ(sides("- ```\n  code\n  ```\n  שלום"), "RR");
  EXPECT_EQ(sides("> a\n\n> שלום"), "LR");
  EXPECT_EQ(sides("-\n- 1"), "LL");
}

TEST(MarkdownDocument, LaterLinkTargetsReachBack) {
  MarkdownDocument document;
  document.update("see [a][x]\n\nmore\n\n", true);
  EXPECT_EQ(block_texts(document.blocks())[0], "p: see [a][x]");
  document.update("see [a][x]\n\nmore\n\n[x]: http://y\n\nend\n\n", true);
  EXPECT_EQ(block_texts(document.blocks())[0], "p: see {->http://y:a}");
  EXPECT_EQ(document.n_unchanged(), 0u);
}

class Streaming : public testing::TestWithParam<Case> {};

TEST_P(Streaming, LooksAsItWillLook) {
  EXPECT_THAT(block_texts(document_of(GetParam().text, true)), ElementsAreArray(GetParam().blocks));
}

const Case kStreamingCases[] = {
    {"open_bold", "a **bo", {"p: a {b:bo}"}},
    {"bold_about_to_close", "a **bo*", {"p: a {b:bo}"}},
    {"bold_and_space", "a **bo ", {"p: a {b:bo}"}},
    {"mark_alone", "a **", {"p: a"}},
    {"open_code", "a `co", {"p: a {c:co}"}},
    {"open_link", "a [text](http://exa", {"p: a {->http://exa:text}"}},
    {"bold_in_open_item", "- a\n- **Key", {". (-) p: a", "tight . (-) p: {b:Key}"}},
    {"stars_in_formulas_of_code", "`a*b` and 2 * 3", {"p: {c:a*b} and 2 * 3"}},
    {"dash_is_no_underline_yet", "Text:\n-", {"p: Text:"}},
    {"number_is_no_item_yet", "Text:\n\n1.", {"p: Text:"}},
    {"head_of_a_table", "| a | b", {"table L L: a\tb"}},
    {"line_below_the_head", "| a | b |\n|-", {"table L L: a\tb"}},
    {"half_a_row", "| a | b |\n|---|---|\n| 1 |", {"table L L: a\tb/1\t"}},
    {"open_fence", "```py\nx = **", {"code py: x = **"}},
    {"fence_about_to_close", "```py\nx\n``", {"code py: x"}},
    {"tag_about_to_end", "H<sub>2</su", {"p: H{_:2}"}},
    {"tag_about_to_begin", "H<sub", {"p: H"}},
    {"footnote_about_to_end", "a[^1", {"p: a"}},
    {"class_of_letters", "the class [^a-z0-9", {"p: the class"}},
    {"class_of_marks", "the class [^.,", {"p: the class [^.,"}},
    {"comparison", "a < b and a <b b", {"p: a < b and a <b b"}},
    {"open_details", "<details>\n<summary>A</summary>\n\nb", {"v title p: {b:A}", "tight v p: b"}},
    {"open_formula", "so\n\\[ a_1 + b_1*c*d", {"p: so/\\[ a_1 + b_1*c*d"}},
    {"closed_formula", "a $x_{i}$ b", {"p: a {f:$x_{i}$} b"}},
    {"formula_about_to_close", "a $x_{i}", {"p: a $x_{i}"}},
    {"open_environment", "so\n\\begin{align} a_1 + b_1*c*d", {"p: so/\\begin{align} a_1 + b_1*c*d"}},
    {"price_and_open_bold", "for $5 **bo", {"p: for $5 {b:bo}"}},
    {"snake_case", "the name a_b_c", {"p: the name a_b_c"}},
};
INSTANTIATE_TEST_SUITE_P(Cases, Streaming, testing::ValuesIn(kStreamingCases),
                         [](const auto& row) { return row.param.name; });

TEST(MarkdownDocument, PlainTextStaysAsItIs) {
  MarkdownDocument document(MarkdownDocument::Kind::kPlain);
  document.update("**a**\n\n  b\n```py x\nc\n  d\n```\n\n```\nopen", false);
  EXPECT_EQ(block_texts(document.blocks()), (Strings{"p: **a**//  b", "code py: c/  d", "p: ```/open"}));
}

TEST(MarkdownDocument, LongBlocksComeInPieces) {
  std::string line = "a word and **bold** text, ", code;
  std::string text;
  while (text.size() < 20000) text += line;
  for (int i = 0; i < 2000; ++i) code += "line " + std::to_string(i) + "\n";
  const auto paragraph = document_of(text);
  std::string joined;
  for (const MarkdownBlock& block : paragraph) {
    EXPECT_LT(block.text.size(), 6000u);
    joined += (joined.empty() ? "" : copied_gap(block)) + block.text;
  }
  EXPECT_EQ(joined, parsed_whole("x" + text).front().text.empty() ? "" : joined);
  EXPECT_GT(paragraph.size(), 3u);
  std::string code_again;
  for (const MarkdownBlock& block : document_of("```\n" + code + "```")) {
    code_again += (code_again.empty() ? "" : copied_gap(block)) + copied_text(block, 0, block.text.size());
  }
  EXPECT_EQ(code_again + "\n", code);
}

TEST(MarkdownDocument, LongTablesComeInPieces) {
  std::string text = "|a|b|\n|---|---|\n", expected = "a\tb";
  for (int i = 0; i < 100; ++i) {
    text += "|" + std::to_string(i) + "|x|\n";
    expected += "\n" + std::to_string(i) + "\tx";
  }
  std::string copied;
  const auto blocks = document_of(text);
  EXPECT_EQ(blocks.size(), 4u);
  for (const MarkdownBlock& block : blocks) {
    copied += (copied.empty() ? "" : copied_gap(block)) + copied_text(block, 0, block.text.size());
  }
  EXPECT_EQ(copied, expected);
}

// Counts the bytes read, not seconds, so the limit holds on every machine.
TEST(MarkdownDocument, WhatDoesNotCloseIsSearchedOnce) {
  for (const char* mark : {"\\(x ", "\\[x ", "$$x\\$ ", "$x ", "\\(\\[$$`x ", "`x\n", "\\begin{align}x ",
                           "\\begin{align}\\end{x} ", "[^1", "[^1]"}) {
    std::string text;
    while (text.size() < 200000) text += mark;
    for (const bool unfinished : {false, true})
      EXPECT_LE(guarded_markdown(text, unfinished).n_searched, 8 * text.size()) << mark;
  }
}

struct SourceCase {
  const char* name;
  const char* text;
  const char* shown;  // parts of the drawn text
};

// Reads the drawn bytes themselves. Kinds by number, one digit per byte; "." between lines.
std::string colours_of(const std::vector<MarkdownBlock>& blocks) {
  std::string out;
  for (const MarkdownBlock& block : blocks) {
    std::string kinds(block.text.size(), '.');
    for (const CodeSpan& span : block.colours.spans) {
      for (size_t i = span.begin; i < span.end; ++i) kinds[i] = static_cast<char>('0' + static_cast<int>(span.kind));
    }
    out += kinds + "\n";
  }
  return out;
}

TEST(MarkdownDocument, ColoursCodeAsItGrows) {
  std::string code = "int /* a\nb */ f\n";
  std::string text = "x\n\n```cpp\n" + code + "```\n\n- y\n  ```python\n  def f\n  ```\n\n```\nint\n```\n```c\n/*\n";
  for (int i = 0; i < 700; ++i) text += "a long comment\n";  // in pieces
  text += "*/ int";
  const std::string whole = colours_of(document_of(text));
  EXPECT_TRUE(whole.starts_with(".\n22205555.555500\n")) << whole.substr(0, 40);
  EXPECT_TRUE(whole.ends_with(".550222\n")) << whole.substr(whole.size() - 40);
  MarkdownDocument document;
  for (size_t n = 0; n < text.size(); n = n < 150 ? n + 1 : n + 97) document.update(text.substr(0, n), true);
  document.update(text, false);
  EXPECT_EQ(colours_of(document.blocks()), whole);
}

TEST(MarkdownDocument, TextKnowsItsSource) {
  static const SourceCase kSources[] = {
      {"emphasis", "a **bold** word", "bold"},
      {"second paragraph", "one\n\n- two `code` x", "code"},
      {"code", "- a\n  ```\n  first\n  second\n  ```", "second"},
      {"table", "|a|b|\n|---|---|\n|one|two|", "two"},
      {"after a formula", "$a_1$ then x", "then"},
      {"code beside a formula", "$a_1$ `$b_2$ z`", "$b_2$ z"},
      {"after a tag", "a <b>bold</b> word", "word"},
      {"a footnote's text", "a[^1]\n\n[^1]: told", "told"},
      {"after a footnote's mark", "a[^1] then", "then"},
      {"an alert's text", "> [!NOTE]\n> told", "told"},
      {"after an entity", "a &amp; b", " b"},
  };
  for (const SourceCase& c : kSources) {
    const std::string text = c.text, shown = c.shown;
    MarkdownDocument document;
    document.update(text, false, 100);
    bool found = false;
    for (const MarkdownBlock& block : document.blocks()) {
      const size_t at = block.text.find(shown);
      if (at == std::string::npos) continue;
      found = true;
      EXPECT_EQ(text.substr(source_of(block, at) - 100, shown.size()), shown) << c.name;
    }
    EXPECT_TRUE(found) << c.name;
  }
}

struct CopyCase {
  const char* name;
  const char* text;
  const char* copied;
};

TEST(MarkdownDocument, CopiesAsItReads) {
  static const CopyCase kCopies[] = {
      {"marks are gone", "# T\n\na **b** [c](http://x)", "T\n\na b c"},
      {"markers", "1. a\n2. b\n   - c\n     d\n\n- [x] e", "1. a\n2. b\n  - c\n    d\n- [x] e"},
      {"an item's second paragraph", "- a\n\n  b", "- a\n\n  b"},
      {"code", "- a\n  ```\n  x\n    y\n  ```", "- a\nx\n  y"},
      {"table", "|a|b|\n|---|---|\n|1|2|", "a\tb\n1\t2"},
      {"line breaks in cells", "|a|b|\n|---|---|\n|1<br>x|2|", "a\tb\n1 x\t2"},
      {"footnotes and alerts", "a[^1]\n\n> [!TIP]\n> b\n\n[^1]: c", "a1\n\nTip\nb\n\n1 c"},
  };
  for (const CopyCase& c : kCopies) {
    std::string copied;
    for (const MarkdownBlock& block : document_of(c.text)) {
      copied += (copied.empty() ? "" : copied_gap(block)) + copied_text(block, 0, block.text.size());
    }
    EXPECT_EQ(copied, c.copied) << c.name;
  }
}

}  // namespace
}  // namespace warpchat::gui
