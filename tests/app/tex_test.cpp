// Formulas as trees in brackets; unknown commands make no formula.
#include "app/math/tex.h"

#include <gtest/gtest.h>

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
  static const char* const kNames[] = {"row",     "",      "text",  "space",  "frac",  "root",
                                       "scripts", "fence", "table", "accent", "style", "box"};
  if (node.kind == MathKind::kSymbol) return utf8(node.text) + (node.stretches ? "+" : "");
  std::string out = std::string("(") + kNames[static_cast<int>(node.kind)];
  if (node.kind == MathKind::kTable) out += std::to_string(node.n_columns) + node.columns;
  if (node.left) out += " " + utf8(std::u32string(1, node.left));
  if (!node.text.empty()) out += " " + utf8(node.text);
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
      {"\\text{a $b$}", "source"},
      {"\\not= \\not\\in", "(row ≠ ∉)"},
      {"\\big( x \\big)", "(row (fence ( (row)) 𝑥 (fence ) (row)))"},
      {"\\displaystyle x", "(row (style (row 𝑥)))"},
      {"\\overset{a}{=}", "(row (scripts (row =) (row) (row 𝑎)))"},
      {"一 + é", "(row 一 + é)"},
      {"", "source"},
      {"\\unknown", "source"},
      {"{", "source"},
      {"x}", "source"},
      {"x^", "source"},
      {"x^1^2", "source"},
      {"\\frac{1}", "source"},
      {"\\left( x", "source"},
      {"\\begin{matrix}1", "source"},
      {"\\begin{matrix}1\\end{cases}", "source"},
      {"\\begin{nothing}1\\end{nothing}", "source"},
      {"\\", "source"},
      {"a \\color{red} b", "source"},
  };
  for (const TexCase& c : kCases) EXPECT_EQ(tree_of(c.source), c.tree) << c.source;
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
                                        "\\begin{cases}"};
  std::mt19937 random(1);
  size_t n_trees = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string source;
    for (size_t n = random() % 12; n > 0; --n) source += kPieces[random() % std::size(kPieces)];
    n_trees += parse_tex(source).has_value();
  }
  EXPECT_GT(n_trees, 1000u);
  EXPECT_FALSE(parse_tex(std::string(5000, '{')));
  EXPECT_FALSE(parse_tex(std::string(9000, 'x')));
  EXPECT_TRUE(parse_tex("x" + std::string(7000, '\'')));
  std::string hats;
  for (int i = 0; i < 1500; ++i) hats += "\\hat";
  EXPECT_FALSE(parse_tex(hats + "x"));
}

}  // namespace
}  // namespace warpchat
