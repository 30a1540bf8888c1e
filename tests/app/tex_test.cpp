// Formulas as trees in brackets; unknown commands make no formula.
#include "app/math/tex.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "models/utf8.h"

namespace warpchat {
namespace {

std::string utf8(std::u32string_view text) {
  std::string out;
  for (char32_t c : text) append_utf8(c, out);
  return out;
}

// "(frac (row a) (row b))"; letters as themselves.
std::string written(const MathNode& node) {
  static const char* const kNames[] = {"row",   "",      "text",   "space", "frac", "root",   "scripts",
                                       "fence", "table", "accent", "style", "box",  "cancel", "phantom"};
  if (node.colour == kUnknownColour) return "<" + utf8(node.text) + ">";
  if (node.kind == MathKind::kSymbol) return utf8(node.text) + (node.stretches ? "+" : "");
  std::string out = std::string("(") + kNames[static_cast<int>(node.kind)];
  if (node.kind == MathKind::kTable) out += std::to_string(node.n_columns) + node.columns;
  if (node.left) out += " " + utf8(std::u32string(1, node.left));
  if (!node.text.empty()) out += " " + utf8(node.text);
  if (node.colour) out += " #" + std::to_string(*node.colour);
  if (node.kind == MathKind::kSpace) out += " " + std::to_string(std::lround(100 * node.width));
  for (const MathNode& child : node.children) out += " " + written(child);
  if (node.right) out += " " + utf8(std::u32string(1, node.right));
  return out + ")";
}

std::string tree_of(const std::string& source) {
  const auto tree = parse_tex(source);
  return tree ? written(*tree) : "source";
}

struct TexCase {
  const char *source, *tree;
};

TEST(Tex, BecomesATree) {
  const TexCase kCases[] = {
      {"1 + 2", "(row 1 + 2)"},
      {"x_1^{23}", "(row (scripts 𝑥 (row 1) (row (row 2 3))))"},
      {"\\frac12\\binom n k", "(row (frac 1 2) (fence ( (frac 𝑛 𝑘) )))"},
      {"\\sqrt[3]{x}\\sqrt y", "(row (root (row 𝑥) (row 3)) (root 𝑦 (row)))"},
      {"f''_1", "(row (scripts (row 𝑓 ′′) (row 1) (row)))"},
      {"\\alpha\\Gamma\\le\\infty", "(row 𝛼 Γ ≤ ∞)"},
      {"\\mathbb{R}\\mathbf{x1}\\mathcal B\\mathrm{d}h", "(row (row ℝ) (row 𝐱 𝟏) ℬ (row d) ℎ)"},
      {"\\left( \\frac ab \\middle| c \\right]", "(row (fence ( (row (frac 𝑎 𝑏) |+ 𝑐) ]))"},
      {"\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}", "(row (fence ( (table2c (row 1) (row 2) (row 3) (row 4)) )))"},
      {"\\begin{cases}1&\\text{if }x\\\\0\\end{cases}",
       "(row (fence { (table2l (row 1) (row (text if ) 𝑥) (row 0) (row))))"},
      {"a&=b\\\\[2pt]&=c\\\\", "(row (table2rl (row 𝑎) (row (row) = 𝑏) (row) (row (row) = 𝑐)))"},
      {"\\sum_{i=1}^n i", "(row (scripts ∑ (row (row 𝑖 = 1)) (row 𝑛)) 𝑖)"},
      {"\\sin x\\lim_{x}\\operatorname{rank} A", "(row sin 𝑥 (scripts lim (row (row 𝑥)) (row)) rank 𝐴)"},
      {"\\operatorname{größe}", "(row größe)"},
      {"\\hat x\\overline{ab}", "(row (accent \u0302 𝑥) (accent \u0305 (row 𝑎 𝑏)))"},
      {"\\text{a $b$}", "(row (row (text a ) (row 𝑏)))"},
      {"\\text{a \\(b\\) \\textbf{c} \\foo{d}}",
       "(row (row (text a ) (row 𝑏) (text  ) (text 𝐜) (text  ) (row <\\foo> <{> (row 𝑑) <}>)))"},
      {"\\text{a {b}}", "(row (row (text a ) (text b)))"},
      {"\\not= \\not\\in", "(row ≠ ∉)"},
      {"\\big( x \\big)", "(row (fence ( (row)) 𝑥 (fence ) (row)))"},
      {"\\displaystyle x", "(row (style (row 𝑥)))"},
      {"\\overset{a}{=}", "(row (scripts (row =) (row) (row 𝑎)))"},
      {"一 + é", "(row 一 + é)"},
      {"", "source"},
      {"{", "source"},
      {"x}", "source"},
      {"x^", "source"},
      {"x^1^2", "source"},
      {"\\frac{1}", "source"},
      {"\\left( x", "source"},
      {"\\begin{matrix}1", "source"},
      {"\\begin{matrix}1\\end{cases}", "source"},
      {"\\", "source"},
      {"\\text{a $b}", "source"},
      {"\\text{a", "source"},
  };
  for (const TexCase& c : kCases) EXPECT_EQ(tree_of(c.source), c.tree) << c.source;
}

TEST(Tex, UnknownCommandsStayAsTheyAreWritten) {
  const TexCase kCases[] = {
      {"x + \\foo y", "(row 𝑥 + (row <\\foo >) 𝑦)"},
      {"\\frac{\\foo{a}{b}}{2}", "(row (frac (row (row <\\foo> <{> (row 𝑎) <}> <{> (row 𝑏) <}>)) (row 2)))"},
      {"x^\\foo", "(row (scripts 𝑥 (row) (row (row <\\foo>))))"},
      {"\\sqrt{\\foo}+\\bar\\baz 1", "(row (root (row (row <\\foo>)) (row)) + (accent \u0304 (row <\\baz >)) 1)"},
      {"\\left\\foo x \\right)", "(row (fence (row (row <\\foo >) 𝑥) )))"},
      {"\\big\\foo 1", "(row (fence (row)) (row <\\foo >) 1)"},
      {"\\begin{foo}a&b\\end{foo}", "(row (row <\\begin{foo}> (table2c (row 𝑎) (row 𝑏)) <\\end{foo}>))"},
      {"\\not\\foo 1", "(row (cancel / (row <\\foo >)) 1)"},
      {"\\@ 1", "(row (row <\\@>) 1)"},
      // Nothing else is in it: hardly a formula.
      {"\\unknown", "source"},
      {"\\d+", "source"},
      {"\\foo{a", "source"},
  };
  for (const TexCase& c : kCases) EXPECT_EQ(tree_of(c.source), c.tree) << c.source;
}

TEST(Tex, KnowsWhatModelsWrite) {
  const TexCase kCases[] = {
      {"a \\color{red} b c", "(row 𝑎 (style #16711680 (row 𝑏 𝑐)))"},
      {"\\color{red}{b} c", "(row (style #16711680 (row 𝑏)) 𝑐)"},
      {"\\textcolor{#0F8}{x} y", "(row (style #65416 (row 𝑥)) 𝑦)"},
      {"{\\color{Blue} x \\color{black} y}", "(row (row (style #255 (row 𝑥 (style #0 (row 𝑦))))))"},
      {"\\textcolor[RGB]{1,2,3} x", "(row (style (row 𝑥)))"},
      {"\\colorbox{yellow}{a $b$}", "(row (box (row (text a ) (row 𝑏))))"},
      {"\\cancel{x}\\bcancel 2\\xcancel{y}", "(row (cancel / (row 𝑥)) (cancel \\ (row 2)) (cancel /\\ (row 𝑦)))"},
      {"\\phantom{x}\\hphantom x\\vphantom{x}", "(row (phantom hv (row 𝑥)) (phantom h (row 𝑥)) (phantom v (row 𝑥)))"},
      {"a\\hspace{1.5em}b\\hspace*{-1cm}c\\kern2pt d", "(row 𝑎 (space 150) 𝑏 (space -200) 𝑐 (space 20) 𝑑)"},
      {"a\\hspace{1e9cm}b\\hspace{x}c", "(row 𝑎 (space 0) 𝑏 (space 0) 𝑐)"},
      {"{\\rm d}x + \\bf y", "(row (row (style (row d))) 𝑥 + (style (row 𝐲)))"},
      {"{n \\choose k} {a \\over b}", "(row (row (fence ( (frac (row 𝑛) (row 𝑘)) ))) (row (frac (row 𝑎) (row 𝑏))))"},
      {"\\prescript{14}{6}{C}", "(row (row (scripts (row) (row 6) (row 1 4)) (row 𝐶)))"},
      {"\\SI{5}{\\kilo\\meter\\per\\second\\squared}",
       "(row (row 5 (space 17) (row k m) (space 17) (scripts (row s) (row) (row (row − 2)))))"},
      {"\\SI{5e3}{m/s}", "(row (row 5 × 1 (scripts 0 (row) (row (row 3))) (space 17) (row m) / (row s)))"},
      {"\\si{\\per\\foo}", "(row (row (row <\\foo >)))"},
      {"\\ce{2H2O}", "(row (row 2 (space 11) (scripts (row H) (row (row 2)) (row)) (row O)))"},
      {"\\ce{Na+}", "(row (row (scripts (row N a) (row) (row (row +)))))"},
      {"\\ce{SO4^2-}", "(row (row (scripts (row S O) (row (row 4)) (row (row (row 2 −))))))"},
      {"\\ce{A <=> B}", "(row (row (row A) ⇌ (row B)))"},
      {"\\ce{A ->[heat] B}", "(row (row (row A) (scripts →+ (row) (row (row (row h e a t)))) (row B)))"},
      {"\\ce{^{14}_{6}C}", "(row (row (scripts (row) (row (row (row 6))) (row (row (row 1 4)))) (row C)))"},
      {"\\ce{A}{", "source"},
  };
  for (const TexCase& c : kCases) EXPECT_EQ(tree_of(c.source), c.tree) << c.source;
}

TEST(Tex, EnvironmentsThatStandAlone) {
  for (const char* name : {"align", "align*", "equation", "equation*", "gather", "gather*", "multline", "alignat*"}) {
    const std::string begin = "\\begin{" + std::string(name) + "}", end = "\\end{" + std::string(name) + "}";
    EXPECT_EQ(display_begin(begin + "x"), begin.size()) << name;
    EXPECT_EQ(next_display_end("x" + end + " y", 0).begin, 1u) << name;
    EXPECT_EQ(formula_inside(begin + "x" + end), begin + "x" + end) << name;
    const std::string inside = std::string(name).starts_with("alignat") ? "{2}a &= b" : "a &= b";
    EXPECT_TRUE(parse_tex(begin + inside + end)) << name;
  }
  for (const char* other : {"", "\\begin{", "\\begin{align", "\\begin{itemize}", "\\begin{matrix}", "begin{align}"})
    EXPECT_EQ(display_begin(other), 0u) << other;
  EXPECT_EQ(next_display_end("\\end{cases}\\end{x}\\end", 0).bytes, 0u);
}

TEST(Tex, InsideOfMarks) {
  EXPECT_EQ(formula_inside("$x$"), "x");
  EXPECT_EQ(formula_inside("$$x$$"), "x");
  EXPECT_EQ(formula_inside("\\(x\\)"), "x");
  EXPECT_EQ(formula_inside("\\[x\\]"), "x");
  for (const char* none : {"", "$", "$$", "$$$", "$$x$", "x", "\\[x", "\\(x\\]"})
    EXPECT_EQ(formula_inside(none), "") << none;
}

TEST(Tex, TakesAnyBytes) {
  static const char* const kPieces[] = {"\\frac",
                                        "{",
                                        "}",
                                        "^",
                                        "_",
                                        "\\left(",
                                        "\\right)",
                                        "&",
                                        "\\\\",
                                        "x",
                                        "[",
                                        "]",
                                        "\\begin{array}",
                                        "{lc|}",
                                        "\\end{array}",
                                        "\\sqrt",
                                        "'",
                                        "\\hline",
                                        "\xC3",
                                        " ",
                                        "\\text{",
                                        "\\middle|",
                                        "\\limits",
                                        "\\substack",
                                        "\\begin{cases}",
                                        "\\foo",
                                        "\\ce{",
                                        "->[",
                                        "\\SI{",
                                        "\\per",
                                        "\\color",
                                        "\\over",
                                        "$",
                                        "\\rm"};
  std::mt19937 random(1);
  size_t n_trees = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string source;
    for (size_t n = random() % 12; n > 0; --n) source += kPieces[random() % std::size(kPieces)];
    n_trees += parse_tex(source).has_value();
  }
  EXPECT_GT(n_trees, 500u);
  EXPECT_FALSE(parse_tex(std::string(5000, '{')));
  EXPECT_FALSE(parse_tex(std::string(9000, 'x')));
  EXPECT_TRUE(parse_tex("x" + std::string(7000, '\'')));
  std::string hats;
  for (int i = 0; i < 1500; ++i) hats += "\\hat";
  EXPECT_FALSE(parse_tex(hats + "x"));
  std::string nested = "A";
  for (int i = 0; i < 1000; ++i) nested = "\\ce{" + nested + "}";
  EXPECT_FALSE(parse_tex(nested));
}

}  // namespace
}  // namespace warpchat
