// Formulas as glyphs and rules: positions, and alignment in a line of text. Needs a mathematics font
// (fonts-texgyre-math).
#include "app/gui/text/math_layout.h"

#include <cmath>
#include <random>

#include "app/gui/text/text_engine.h"
#include "gtest/gtest.h"
#include "tests/gui/headless_view.h"

namespace warpchat::gui {
namespace {

constexpr float kSize = 20;

class Formula : public testing::Test {
 protected:
  MathLayout set(const std::string& source, bool display = false) {
    const auto formula = engine.formula(source, display, kSize);
    if (!formula) ADD_FAILURE() << source << " is not set";
    return formula ? *formula : MathLayout();
  }
  float height(const std::string& source, bool display = false) {
    const MathLayout formula = set(source, display);
    return formula.ascent + formula.descent;
  }
  std::unique_ptr<TextLayout> line(const std::string& text, size_t begin, size_t end, float width = 0) {
    StyledText styled{text, {}};
    TextStyle style;
    style.size = kSize;
    styled.runs.push_back({0, begin, style});
    styled.runs.push_back({begin, end, style, engine.formula(text.substr(begin, end - begin), false, kSize)});
    styled.runs.push_back({end, text.size(), style});
    return engine.layout(styled, width);
  }
  TextEngine engine;
};

TEST_F(Formula, ScriptsAreSmallerAndRaised) {
  const MathLayout formula = set("$x^2_i$");
  ASSERT_EQ(formula.glyphs.size(), 3u);
  EXPECT_EQ(formula.glyphs[0].size, kSize);
  EXPECT_LT(formula.glyphs[1].size, kSize);
  EXPECT_LT(formula.glyphs[1].y, 0) << "above";
  EXPECT_GT(formula.glyphs[2].y, 0) << "below";
  EXPECT_GT(formula.glyphs[1].x, formula.glyphs[0].x);
}

TEST_F(Formula, FractionsHaveARuleBetween) {
  const MathLayout formula = set("$$\\frac{a}{b}$$", true);
  ASSERT_EQ(formula.glyphs.size(), 2u);
  ASSERT_EQ(formula.rules.size(), 1u);
  EXPECT_LT(formula.glyphs[0].y, formula.rules[0].y);
  EXPECT_GT(formula.glyphs[1].y, formula.rules[0].y);
  EXPECT_LT(height("$\\frac ab$"), formula.ascent + formula.descent) << "smaller in a line";
  EXPECT_TRUE(set("$\\binom ab$").rules.empty());
}

TEST_F(Formula, RootsAndFencesGrowWithTheirInside) {
  const std::string high = "\\frac{\\frac ab}{\\frac cd}";
  EXPECT_GT(height("$\\sqrt{" + high + "}$"), 1.3f * height("$\\sqrt x$"));
  EXPECT_GT(height("$\\left(" + high + "\\right)$"), 0.9f * height("$" + high + "$"));
  std::string rows = "1";
  for (int i = 0; i < 30; ++i) rows += "\\\\1";
  const MathLayout tall = set("$$\\begin{pmatrix}" + rows + "\\end{pmatrix}$$", true);
  EXPECT_GT(tall.ascent + tall.descent, 30 * kSize);
  EXPECT_GT(tall.glyphs.size(), 31u + 6u) << "the parentheses are built from pieces";
  EXPECT_GT(height("$\\Bigg($"), height("$\\big($"));
}

TEST_F(Formula, LimitsStandAboveAndBelowInDisplays) {
  const MathLayout display = set("$$\\sum_a^b$$", true), line = set("$\\sum_a^b$");
  EXPECT_LT(display.glyphs[1].x, display.glyphs[0].x + display.width);
  EXPECT_LT(display.width, line.width + kSize) << "beside it, they need more room";
  EXPECT_GT(display.ascent + display.descent, 1.5f * (line.ascent + line.descent));
}

TEST_F(Formula, ColumnsAreAligned) {
  const MathLayout formula = set("$$\\begin{aligned} aaa &= b \\\\ c &= dd \\end{aligned}$$", true);
  ASSERT_EQ(formula.glyphs.size(), 9u);
  EXPECT_FLOAT_EQ(formula.glyphs[3].x, formula.glyphs[6].x) << "the equals signs";
  EXPECT_LT(formula.glyphs[3].y, formula.glyphs[6].y);
}

TEST_F(Formula, BinarySignsHaveRoomAndLeadingOnesNone) {
  EXPECT_GT(set("$a-b$").width, set("$-ab$").width + 0.3f * kSize);
  EXPECT_GT(set("$a=b$").width, set("$a{=}b$").width);
}

TEST_F(Formula, StaysInsideItsBox) {
  for (const char* source : {"$\\hat x\\vec v\\overline{ab}$", "$\\underbrace{a+b}_n$", "$\\boxed{x}$",
                             "$\\sqrt[3]{x}$", "$\\xrightarrow{n\\to\\infty}$", "$\\text{一 x}$",
                             "$\\begin{array}{l|r}\\hline 1&2\\end{array}$", "$\\int_0^1\\oint_C f'(x)\\,dx$"}) {
    const MathLayout formula = set(source);
    EXPECT_GT(formula.width, 0) << source;
    for (const MathRule& rule : formula.rules) {
      EXPECT_GE(rule.y, -formula.ascent - 0.01f) << source;
      EXPECT_LE(rule.y + rule.height, formula.descent + 0.01f) << source;
      EXPECT_LE(rule.x + rule.width, formula.width + 0.01f) << source;
    }
    for (const MathGlyph& glyph : formula.glyphs)
      EXPECT_TRUE(std::isfinite(glyph.x) && std::isfinite(glyph.y)) << source;
  }
}

TEST_F(Formula, ColoursReachTheirRowAndUnknownCommandsAreMarked) {
  const MathLayout formula = set("$a{\\color{blue} b \\frac12} \\foo c$");
  ASSERT_EQ(formula.glyphs.size(), 10u);
  EXPECT_EQ(formula.glyphs[0].colour, std::nullopt);
  EXPECT_EQ(formula.glyphs[1].colour, 0xFFu);
  ASSERT_EQ(formula.rules.size(), 1u);
  EXPECT_EQ(formula.rules[0].colour, 0xFFu);
  EXPECT_EQ(formula.glyphs[4].colour, kUnknownColour) << "the backslash";
  EXPECT_EQ(formula.glyphs[8].colour, kUnknownColour) << "the blank that ends the name";
  EXPECT_EQ(set("$\\color{red} a \\color{black} b$").glyphs[1].colour, 0u) << "as the text";
  EXPECT_FLOAT_EQ(set("$a \\color{red} = b$").width, set("$a = b$").width) << "spaced as without";
}

TEST_F(Formula, CrossedOutAndLeftOut) {
  EXPECT_EQ(set("$\\cancel{ab}$").strokes.size(), 1u);
  EXPECT_EQ(set("$\\xcancel{ab}$").strokes.size(), 2u);
  const MathLayout phantom = set("$a\\phantom{\\frac12}b$"), whole = set("$a\\frac12b$");
  EXPECT_EQ(phantom.glyphs.size(), 2u);
  EXPECT_FLOAT_EQ(phantom.ascent, whole.ascent);
  EXPECT_GT(phantom.width, set("$ab$").width + 0.3f * kSize);
  EXPECT_FLOAT_EQ(set("$a\\vphantom{\\frac12}b$").width, set("$a{}b$").width);
}

TEST_F(Formula, SubscriptsStandUnderPrimes) {
  const MathLayout formula = set("$y'_1$");
  ASSERT_EQ(formula.glyphs.size(), 3u);
  EXPECT_LE(formula.glyphs[2].x, formula.glyphs[1].x);
}

TEST_F(Formula, AnyTreeIsSet) {
  static const char* const kPieces[] = {"\\frac{a}",
                                        "{",
                                        "}",
                                        "^",
                                        "_",
                                        "\\left(",
                                        "\\right)",
                                        "&",
                                        "\\\\",
                                        "x",
                                        "1",
                                        "+",
                                        "\\begin{array}{l|c|}",
                                        "\\end{array}",
                                        "\\sqrt",
                                        "'",
                                        "\\hline",
                                        "\\hat",
                                        "\\underbrace",
                                        "\\middle|",
                                        "\\sum",
                                        "\\xrightarrow",
                                        "\\begin{cases}",
                                        "\\end{cases}",
                                        "\\displaystyle",
                                        "\\boxed",
                                        "\\text{一}",
                                        "=",
                                        "\\not",
                                        "\\foo",
                                        "\\cancel",
                                        "\\phantom",
                                        "\\color{red}",
                                        "\\ce{H2O ->[x] B}",
                                        "\\SI{1}{\\metre\\squared}"};
  std::mt19937 random(1);
  for (int i = 0; i < 5000; ++i) {
    std::string source = "$";
    for (size_t n = 1 + random() % 10; n > 0; --n) source += std::string(kPieces[random() % std::size(kPieces)]) + " ";
    const auto formula = engine.formula(source + "$", i % 2, kSize);
    if (!formula) continue;
    EXPECT_TRUE(std::isfinite(formula->width + formula->ascent + formula->descent)) << source;
    EXPECT_LT(formula->ascent + formula->descent, 100 * kSize) << source;
  }
}

TEST_F(Formula, UnknownOnesAreNotSet) {
  EXPECT_EQ(engine.formula("$\\unknown$", false, kSize), nullptr);
  EXPECT_EQ(engine.formula("x", false, kSize), nullptr);
}

TEST_F(Formula, StandsInALineAsAWord) {
  for (const std::string formula : {"$x$", "$ab$", "$abc$", "$abcd$", "\\(\na\n\\)", "$x_1+x_2+x_3$"}) {
    const std::string text = "so " + formula + ", and";
    const size_t begin = 3, end = begin + formula.size();
    const auto layout = line(text, begin, end);
    EXPECT_EQ(layout->n_lines(), 1u) << text;
    const auto all = layout->selection(begin, end);
    ASSERT_EQ(all.size(), 1u) << text;
    EXPECT_NEAR(all[0].width, set(formula).width, 0.1f) << text;
    EXPECT_EQ(layout->selection(begin + 1, begin + 2).size(), 1u) << "a part selects the whole formula";
    EXPECT_EQ(layout->selection(begin + 1, begin + 2)[0].width, all[0].width);
    EXPECT_EQ(layout->offset_at(all[0].x + 0.1f, 5), begin) << text;
    EXPECT_EQ(layout->offset_at(all[0].x + all[0].width - 0.1f, 5), end) << text;
    EXPECT_EQ(layout->word_begin(begin + 1), begin);
    EXPECT_EQ(layout->word_end(begin + 1), end);
  }
}

TEST_F(Formula, BreaksBeforeItButNotInIt) {
  const std::string text = "some words $x + y + z$ end";
  const auto layout = line(text, 11, 22, 110);
  EXPECT_GT(layout->n_lines(), 1u);
  EXPECT_EQ(layout->selection(11, 22).size(), 1u);
  EXPECT_EQ(layout->selection(11, 22)[0].x, 0);
}

TEST_F(Formula, HighOnesMakeTheirLineHigher) {
  const std::string text = "a $\\frac{\\frac ab}{\\frac cd}$ b";
  EXPECT_GT(line(text, 2, text.size() - 2)->height(), 1.2f * engine.line_height({Face::kText, kSize}));
}

class Mathematics : public testing::Test, public HeadlessView {};

TEST_F(Mathematics, IsCopiedAsItsSource) {
  state.open.messages.push_back(message_of(1, "assistant", "so $x_1$ and\n$$\\frac{a}{b}$$\nthen\n\n$\\unknown$, $5"));
  frame();
  view.select_all();
  EXPECT_EQ(selected(), "so $x_1$ and\n$$\\frac{a}{b}$$\nthen\n\n$\\unknown$, $5");
}

}  // namespace
}  // namespace warpchat::gui
