// Values and errors of the calculator.
#include "app/tools/calculator.h"

#include <gtest/gtest.h>

#include <clocale>

#include "tests/support/error_of.h"

namespace warpchat {
namespace {

struct Case {
  const char *expression, *value;
};
constexpr Case kValues[] = {
    {"1 + 2 * 3", "7"},
    {"(1 + 2) * 3", "9"},
    {"-2 ^ 2", "-4"},
    {"2 ^ 3 ^ 2", "512"},
    {"2 ** 10", "1024"},
    {"2 ^ -1", "0.5"},
    {"7 / 2", "3.5"},
    {"6 / 3", "2"},
    {"1 / 3", "0.333333333333333"},
    {"0.1 + 0.2", "0.3"},
    {"17 % 5", "2"},
    {"-7 % 3", "2"},
    {"7 % -3", "-2"},
    {"5.5 % 2", "1.5"},
    {"5!", "120"},
    {"20!", "2432902008176640000"},
    {"25!", "about 1.5511210043331e+25"},
    {"9007199254740993 - 9007199254740992", "1"},  // doubles say 0
    {"9223372036854775807 + 0", "9223372036854775807"},
    {"9223372036854775807 + 1 - 9223372036854775807", "about 0"},  // what is lost is said
    {"99999999999999999999 - 99999999999999999998", "about 0"},
    {"-9223372036854775807 - 1", "-9223372036854775808"},
    {"(-9223372036854775807 - 1) / -1", "about 9.22337203685478e+18"},
    {"(-9223372036854775807 - 1) % -1", "0"},
    {"3037000500 * 3037000500", "about 9.22337203700025e+18"},
    {"sqrt(16)", "4"},
    {"sqrt(2)", "1.4142135623731"},
    {"round(2.5) + floor(-0.5) + ceil(0.2)", "3"},
    {"abs(-9223372036854775807)", "9223372036854775807"},
    {"ln(e)", "1"},
    {"log10(1000) + log2(8)", "6"},
    {"sin(pi / 2)", "1"},
    {"max(1, 2, 9007199254740993)", "9007199254740993"},
    {"MIN(3, 2.5)", "2.5"},
    {"6 \u00d7 7 \u2212 2 \u00f7 1", "40"},
    {"1e3", "1000"},
    {".5 + 5.", "5.5"},
    {"0 * -1.5", "0"},
    {"--1", "1"},
};

TEST(Calculator, Computes) {
  for (const auto& [expression, value] : kValues) {
    std::string found;
    EXPECT_EQ(error_of([&] { found = calculate(expression); }), "no error") << expression;
    EXPECT_EQ(found, value) << expression;
  }
}

constexpr Case kErrors[] = {
    {"", "the expression is empty"},
    {"1 +", "the expression ends too early: a number is missing"},
    {"(1 + 2", "the expression ends too early: a closing parenthesis is missing"},
    {"2(3)", "cannot read '(' at character 2: an operator is missing before it"},
    {"2 x", "cannot read 'x' at character 3: an operator is missing before it"},
    {"1,234 * 2",
     "cannot read ',' at character 2: a comma parts the arguments of a function alone; write numbers without "
     "separators"},
    {"1 000", "cannot read '0' at character 3: an operator is missing before it"},
    {"1 / 0", "there is a division by zero"},
    {"1 % 0", "there is a remainder of a division by zero"},
    {"sqrt(-1)", "sqrt has no real value here"},
    {"(-8) ^ 0.5", "a power has no real value here"},
    {"ln(0)", "ln has no real value for a number that is not positive"},
    {"10 ^ 400", "a power gives a number that is too large"},
    {"1e999", "cannot read '1' at character 1: this number is too large or too small"},
    {"0x10", "cannot read 'x' at character 2: it is no part of a number, and an operator is missing"},
    {"171!", "a factorial needs a whole number from 0 to 170"},
    {"2.5!", "a factorial needs a whole number from 0 to 170"},
    {"sqrt(1, 2)", "sqrt needs one argument, not 2"},
    {"x",
     "cannot read 'x' at character 1: there is no constant 'x'; there are pi and e, and functions with parentheses"},
    {"1 == 1", "cannot read '=' at character 3: it is not expected"},
    {"system(1)", nullptr},
    {"\"a\"", "cannot read '\"' at character 1: a number is missing"},
    {"1;2", "cannot read ';' at character 2: it is not expected"},
};

TEST(Calculator, SaysWhatIsWrong) {
  for (const auto& [expression, sentence] : kErrors) {
    const std::string found = error_of([&] { calculate(expression); });
    EXPECT_NE(found, "no error") << expression;
    if (sentence != nullptr) {
      EXPECT_EQ(found, sentence) << expression;
    }
  }
}

TEST(Calculator, HasNoDepthWithoutLimit) {
  for (const char* piece : {"(", "-", "sqrt(", "2^", "min(1,"}) {
    std::string expression;
    while (expression.size() < 9'000) expression += piece;
    EXPECT_NE(error_of([&] { calculate(expression); }), "no error") << piece;
  }
  EXPECT_NE(error_of([] { calculate(std::string(100'000, '1')); }), "no error");
  std::string sum = "0";
  while (sum.size() < 9'000) sum += " + 1";
  EXPECT_EQ(error_of([&] { calculate(sum); }), "no error");
}

TEST(Calculator, KnowsNoLocale) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"}) std::setlocale(LC_ALL, name);
  EXPECT_EQ(calculate("1.5 * 3"), "4.5");
  std::setlocale(LC_ALL, before.c_str());
}

}  // namespace
}  // namespace warpchat
