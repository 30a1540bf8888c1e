// Any Markdown in the window: a text that grows ends in what the whole gives, blocks are made of valid text and know
// their source, and work and blocks are in proportion to the text.
#include <gtest/gtest.h>

#include "app/gui/transcript/markdown_document.h"
#include "app/gui/transcript/markdown_guard.h"
#include "app/math/math_unicode.h"
#include "models/text_format.h"
#include "tests/support/fuzz_text.h"

namespace warpchat::gui {
namespace {

constexpr std::string_view kMarkdownPieces[] = {"word",
                                                " ",
                                                "\n",
                                                "\n\n",
                                                "    ",
                                                "\t",
                                                "# ",
                                                "### ",
                                                "**",
                                                "*",
                                                "_",
                                                "~~",
                                                "`",
                                                "```\n",
                                                "```py\n",
                                                "~~~\n",
                                                "> ",
                                                "- ",
                                                "- [x] ",
                                                "1. ",
                                                "10) ",
                                                "---\n",
                                                "===\n",
                                                "| a | b |\n",
                                                "|-|:-:|\n",
                                                "|",
                                                "[a](http://x)",
                                                "[a]: http://y\n",
                                                "[a]",
                                                "![a](b)",
                                                "<b>",
                                                "<!--",
                                                "www.x.org",
                                                "&amp;",
                                                "&#0;",
                                                "\\",
                                                "$",
                                                "$$",
                                                "\\(",
                                                "\\)",
                                                "\\[",
                                                "\\]",
                                                "x^2_i",
                                                "\\frac{a}{b}",
                                                "\\tag{\xC3\xA9}",
                                                "\xE6\x97\xA5",
                                                "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB",
                                                "e\xCC\x81",
                                                "def f(x):",
                                                "/*",
                                                "\r",
                                                std::string_view("\0", 1)};
constexpr std::string_view kTexPieces[] = {"a",
                                           "1",
                                           " ",
                                           "+",
                                           "=",
                                           "^",
                                           "_",
                                           "{",
                                           "}",
                                           "\\frac",
                                           "\\sqrt",
                                           "[",
                                           "]",
                                           "\\left(",
                                           "\\right)",
                                           "\\text{",
                                           "\\tag{\xC3\xA9}",
                                           "\\alpha",
                                           "\\sum",
                                           "\\mathbb",
                                           "\\hat",
                                           "\\begin{cases}",
                                           "\\end{cases}",
                                           "&",
                                           "\\\\",
                                           "\\not",
                                           "'",
                                           "\\ ",
                                           "\\operatorname{",
                                           "\xE6\x97\xA5",
                                           "%",
                                           "\\nosuch",
                                           "\\color{red}",
                                           "\\big",
                                           "|"};

void check_blocks(const std::vector<MarkdownBlock>& blocks, std::string_view text) {
  size_t n_bytes = 0;
  for (const MarkdownBlock& block : blocks) {
    EXPECT_TRUE(is_valid_utf8(block.text));
    n_bytes += block.text.size();
    for (const InlineSpan& span : block.spans) EXPECT_TRUE(span.begin <= span.end && span.end <= block.text.size());
    for (const SourceMark& mark : block.sources) EXPECT_LE(mark.source, text.size());
    for (const TableCell& cell : block.cells) EXPECT_TRUE(cell.begin <= cell.end && cell.end <= block.text.size());
  }
  EXPECT_LE(n_bytes, 8 * text.size() + 100);
  EXPECT_LE(blocks.size(), text.size());
}

TEST(MarkdownFuzz, GrowingEndsInWhatTheWholeGives) {
  FuzzText fuzz(6);
  for (size_t round = 0; round < fuzz_rounds(300, 30'000); ++round) {
    const std::string text = fuzz.of(kMarkdownPieces, 1500);
    MarkdownDocument growing, whole;
    size_t n = 0;
    for (const std::string_view part : fuzz.split(text))
      growing.update(std::string_view(text).substr(0, n += part.size()), true);
    growing.update(text, false);
    whole.update(text, false);
    EXPECT_EQ(growing.blocks(), whole.blocks());
    check_blocks(whole.blocks(), text);
    for (const bool unfinished : {false, true})
      EXPECT_LE(guarded_markdown(text, unfinished).n_searched, 8 * text.size() + 100);
    if (testing::Test::HasFailure()) FAIL() << "round " << round << ":\n" << printable(text, 8000);
  }
}

std::string utf8_of(const MathNode& node) {
  std::string text;
  for (const char32_t c : node.text) {
    EXPECT_TRUE(c < 0x110000 && !(c >= 0xD800 && c < 0xE000)) << static_cast<uint32_t>(c);
    append_utf8(c < 0x110000 ? c : U'?', text);
  }
  for (const MathNode& child : node.children) text += utf8_of(child);
  return text;
}

TEST(MarkdownFuzz, FormulasAreText) {
  FuzzText fuzz(7);
  size_t n_trees = 0;
  for (size_t round = 0; round < fuzz_rounds(3000, 300'000); ++round) {
    const std::string text = fuzz.of(kTexPieces, 300);
    const std::optional<MathNode> tree = parse_tex(text);
    if (!tree) continue;
    ++n_trees;
    EXPECT_LE(utf8_of(*tree).size(), 64 * text.size() + 64);
    EXPECT_TRUE(is_valid_utf8(math_in_unicode(*tree).value_or("")));
    if (testing::Test::HasFailure()) FAIL() << "round " << round << ":\n" << printable(text, 8000);
  }
  EXPECT_GT(n_trees, 100u);
}

}  // namespace
}  // namespace warpchat::gui
