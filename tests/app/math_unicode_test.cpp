#include "app/math/math_unicode.h"

#include <gtest/gtest.h>

#include <random>

#include "app/math/formula_stream.h"

namespace warpchat {
namespace {

TEST(MathUnicode, WritesWhatFitsInALine) {
  const std::pair<const char*, const char*> kCases[] = {
      {"x^2+y_i^{n-1}", "x² + yᵢⁿ⁻¹"},
      {"-b \\pm \\sqrt{b^2-4ac}", "−b ± √(b² − 4ac)"},
      {"\\sum_{i=1}^n \\alpha_i \\le \\infty", "∑ᵢ₌₁ⁿ αᵢ ≤ ∞"},
      {"\\frac{a}{b+c}", "a/(b + c)"},
      {"\\frac{\\pi^2}{6}", "π²/6"},
      {"\\sin x \\in \\mathbb{R}", "sin x ∈ ℝ"},
      {"f'(x) = \\left|x\\right|", "f′(x) = |x|"},
      {"\\hat{x},\\sqrt[3]{8}", "x\u0302, ∛8"},
      {"O(n\\log n)", "O(n log n)"},
      {"x^{\\omega}", "x^ω"},
      {"\\int_0^{\\infty} e^{-x^2}\\,dx", "∫₀^∞ e^(−x²) dx"},
      {"\\lim_{x\\to0} f(x)", "lim_(x → 0) f(x)"},
      {"x^2 + \\foo y", "x² + \\foo y"},
      {"\\foo{x^2} + 1", "\\foo{x²} + 1"},
      {"\\color{red}{x} + \\textcolor{blue}y", "x + y"},
      {"\\cancel{5x}", "5\u0338x\u0338"},
      {"\\boxed{x = 1}", "[x = 1]"},
      {"a\\hspace{1em}b", "a b"},
      {"\\ce{2H2 + O2 -> 2H2O}", "2H₂ + O₂ ⟶ 2H₂O"},
      {"\\ce{CaCO3 (s)}", "CaCO₃ (s)"},
      {"\\ce{CuSO4 * 5H2O}", "CuSO₄ ⋅ 5H₂O"},
      {"\\ce{SO4^2-} \\ce{NH4+}", "SO₄²⁻NH₄⁺"},
      {"\\SI{9.81}{\\meter\\per\\second\\squared}", "9.81 m s⁻²"},
      {"\\SI{20}{\\degreeCelsius} = \\SI{5}{\\micro\\ohm}", "20 °C = 5 μΩ"},
      {"\\num{6.02e23}", "6.02 × 10²³"},
      {"\\prescript{14}{6}{C}", "₆¹⁴C"},
      {"{\\rm d}x", "dx"},
      {"\\begin{align}a &= b \\\\ &= c\\end{align}", "a = b\n= c"},
      {"\\begin{equation}\nE = mc^2\n\\end{equation}", "E = mc²"},
      {"x = \\begin{aligned}a\\\\b\\end{aligned}", "x = a\n    b"},
      {"\\begin{pmatrix}1\\end{pmatrix}", "(1)"},
      {"\\begin{pmatrix}a & b \\\\ c & d\\end{pmatrix}", "⎛a  b⎞\n⎝c  d⎠"},
      {"A = \\begin{bmatrix}1 & -2 \\\\ 10 & 3 \\\\ 0 & 4\\end{bmatrix}^T x",
       "    ⎡1   −2⎤ᵀ\nA = ⎢10  3 ⎥ x\n    ⎣0   4 ⎦"},
      {"\\det = \\begin{vmatrix}a & b \\\\ c & d\\end{vmatrix} = ad - bc", "det = │a  b│ = ad − bc\n      │c  d│"},
      {"f(x) = \\begin{cases}x & x > 0 \\\\ 0 & \\text{otherwise}\\end{cases}",
       "f(x) = ⎰x  x > 0\n       ⎱0  otherwise"},
      {"|x| = \\begin{cases}x & x > 0 \\\\ 0 & x = 0 \\\\ -x & x < 0\\end{cases}",
       "      ⎧x   x > 0\n|x| = ⎨0   x = 0\n      ⎩−x  x < 0"},
      {"\\begin{pmatrix}\\text{日} \\\\ 1\\end{pmatrix}", "⎛日⎞\n⎝1 ⎠"},
      {"\\begin{pmatrix}\\begin{pmatrix}1 \\\\ 2\\end{pmatrix} & 3\\end{pmatrix}", "((1; 2) 3)"},
      {"\\mathfrak{g}", "source"},
      {"\\binom{n}{k}", "source"},
  };
  for (const auto& [source, expected] : kCases) {
    const auto tree = parse_tex(source);
    ASSERT_TRUE(tree) << source;
    EXPECT_EQ(math_in_unicode(*tree).value_or("source"), expected) << source;
  }
}

TEST(MathUnicode, AMatrixMayStandInALine) {
  const std::pair<const char*, const char*> kCases[] = {
      {"\\begin{pmatrix}a & b \\\\ c & d\\end{pmatrix}", "(a b; c d)"},
      {"\\begin{cases}x & x > 0 \\\\ 0\\end{cases}", "{x, x > 0; 0"},
      {"\\begin{aligned}a &= b \\\\ &= c\\end{aligned}", "source"},
  };
  for (const auto& [source, expected] : kCases) {
    const auto tree = parse_tex(source);
    ASSERT_TRUE(tree) << source;
    EXPECT_EQ(math_in_unicode(*tree, MathLines::kOne).value_or("source"), expected) << source;
  }
}

TEST(FormulaStream, AMatrixIsBrokenByNoTerminal) {
  const std::string matrix = "\\begin{pmatrix}a & b \\\\ c & d\\end{pmatrix}";
  const std::pair<int, const char*> kCases[] = {{1, "> so(a b; c d)\n"},
                                                {0, "> so\n> ⎛a  b⎞\n> ⎝c  d⎠\n"},
                                                {8, "> so\n> ⎛a  b⎞\n> ⎝c  d⎠\n"},
                                                {7, "> so(a b; c d)\n"}};
  for (const auto& [columns, expected] : kCases) {
    FormulaStream stream(columns);
    const std::string out = stream.add("> so$$" + matrix + "$$\n");
    EXPECT_EQ(out + stream.finish(), expected) << columns;
  }
}

TEST(FormulaStream, WritesFormulasAndNothingElse) {
  const std::pair<const char*, const char*> kCases[] = {
      {"so $x^2$ and \\(y_1\\).", "so x² and y₁."},
      {"$$\nE = mc^2\n$$\nthen", "E = mc²\nthen"},
      {"\\[ \\alpha \\]", "α"},
      {"$5 and $6, $1,000-$2,000, $ x$", "$5 and $6, $1,000-$2,000, $ x$"},
      {"$5 and $x^2$", "$5 and x²"},
      {"`$x^2$` ``a ` $x^2$`` $x^2$", "`$x^2$` ``a ` $x^2$`` x²"},
      {"```sh\n$x^2$\n```\n$x^2$", "```sh\n$x^2$\n```\nx²"},
      {"\\$x^2$ \\\\ $", "\\$x^2$ \\\\ $"},
      {"so $\\begin{pmatrix}1\\\\2\\end{pmatrix}$ $\\unknown$", "so (1; 2) $\\unknown$"},
      {"$x + \\foo$", "x + \\foo"},
      {"$|x| = 1$ and $|y|$", "\u2223x\u2223 = 1 and |y|"},
      {"so $|x| = 1$", "so |x| = 1"},
      {"so\n\\begin{align}\na &= b \\\\\n &= c\n\\end{align}\nthen", "so\na = b\n= c\nthen"},
      {"> \\begin{gather*}x^2\\\\y\\end{gather*}", "> x²\n> y"},
      {"a: \\begin{gather}x^2\\\\y\\end{gather}", "a: \nx²\ny"},
      {"a: \\begin{equation}x^2\\end{equation}.", "a: x²."},
      {"\\begin{itemize}\n\\begin{ali", "\\begin{itemize}\n\\begin{ali"},
      {"\\begin{align}x^2 \\end{alig", "\\begin{align}x^2 \\end{alig"},
      {"`\\begin{align}x^2\\end{align}`", "`\\begin{align}x^2\\end{align}`"},
      {"| $x^2$ | $|x|$ |", "| x² | $|x|$ |"},
      {"$x\ny$ $$a\n\nb$$", "$x\ny$ $$a\n\nb$$"},
      {"open $x^2", "open $x^2"},
      {"\\", "\\"},
  };
  for (const auto& [text, expected] : kCases) {
    FormulaStream whole, pieces;
    const std::string at_once = whole.add(text);
    EXPECT_EQ(at_once + whole.finish(), expected) << text;
    std::string out;
    for (const char* c = text; *c; ++c) out += pieces.add({c, 1});
    EXPECT_EQ(out + pieces.finish(), expected) << text << " byte by byte";
  }
}

// Counts the bytes read, not seconds, so the limit holds on every machine.
TEST(FormulaStream, WhatDoesNotCloseIsSearchedOnce) {
  for (const char* mark : {"\\(", "\\[x ", "$$x ", "$x \n", "\\(\\[$$x$ ", "\\begin{align}x ", "\\begin{align}} "}) {
    std::string text, out;
    while (text.size() < 200000) text += mark;
    FormulaStream stream;
    for (size_t at = 0; at < text.size(); at += 50) out += stream.add(text.substr(at, 50));
    out += stream.finish();
    EXPECT_LE(stream.n_searched(), 4 * text.size()) << mark;
    EXPECT_TRUE(out == text || std::string_view(mark) == "$$x ") << mark;
  }
}

TEST(FormulaStream, LosesNoByte) {
  std::mt19937 random(1);
  static const std::string kBytes = "$$\\()[]` \n~ab1|";
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (size_t n = random() % 30; n > 0; --n) text += kBytes[random() % kBytes.size()];
    FormulaStream whole, pieces;
    std::string at_once = whole.add(text), out;
    at_once += whole.finish();
    for (char c : text) out += pieces.add({&c, 1});
    ASSERT_EQ(out + pieces.finish(), at_once) << text;
    // Only whole formulas are replaced; everything else stays, in order.
    const auto letters = [](std::string s) { return std::erase_if(s, [](char c) { return c != 'b'; }), s; };
    ASSERT_EQ(letters(at_once), letters(text)) << text;
  }
}

}  // namespace
}  // namespace warpchat
