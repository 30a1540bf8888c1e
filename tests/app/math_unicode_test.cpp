#include "app/math/math_unicode.h"

#include <gtest/gtest.h>

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
      {"x^{\\omega}", "source"},
      {"\\begin{pmatrix}1\\end{pmatrix}", "source"},
      {"\\mathfrak{g}", "source"},
      {"\\binom{n}{k}", "source"},
  };
  for (const auto& [source, expected] : kCases) {
    const auto tree = parse_tex(source);
    ASSERT_TRUE(tree) << source;
    EXPECT_EQ(math_in_unicode(*tree).value_or("source"), expected) << source;
  }
}

}  // namespace
}  // namespace warpchat
