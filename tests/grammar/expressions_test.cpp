// Expressions against a direct reading of what they mean, on all short texts.
#include "engine/grammar/expressions.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "models/error.h"

namespace warpchat::grammar {
namespace {

std::vector<std::string> short_texts() {  // over three letters
  std::vector<std::string> texts = {""};
  for (size_t i = 0; texts[i].size() < 6; ++i)
    for (char c : {'a', 'b', 'c'}) texts.push_back(texts[i] + c);
  return texts;
}

void expect_same(Expressions& e, Expr expression, const std::function<bool(const std::string&)>& expected) {
  for (const std::string& text : short_texts()) EXPECT_EQ(e.matches(expression, text), expected(text)) << text;
}

size_t count(const std::string& text, char c) { return static_cast<size_t>(std::count(text.begin(), text.end(), c)); }

TEST(Expressions, Operations) {
  Expressions e;
  const Expr a = e.byte('a'), b = e.byte('b'), any = e.bytes(ByteSet::all()), all = e.repeat(any, 0, kUnbounded);
  expect_same(e, kNothing, [](auto&) { return false; });
  expect_same(e, kEmptyText, [](auto& t) { return t.empty(); });
  expect_same(e, e.text("abc"), [](auto& t) { return t == "abc"; });
  expect_same(e, e.concat({all, a, all}), [](auto& t) { return count(t, 'a') > 0; });
  expect_same(e, e.complement(e.concat({all, a, all})), [](auto& t) { return count(t, 'a') == 0; });
  expect_same(e, e.both(e.concat({all, a, all}), e.concat({all, b, all})),
              [](auto& t) { return count(t, 'a') > 0 && count(t, 'b') > 0; });
  expect_same(e, e.repeat(e.either(a, e.text("bb")), 2, 3), [](auto& t) {
    for (const char* x : {"a", "bb"})
      for (const char* y : {"a", "bb"})
        for (const char* z : {"", "a", "bb"})
          if (t == std::string(x) + y + z) return true;
    return false;
  });
  expect_same(e, e.repeat(e.either(a, kEmptyText), 3, 4),
              [](auto& t) { return t.size() < 5 && count(t, 'a') == t.size(); });
  expect_same(e, e.concat(e.repeat(a, 1, 2), e.repeat(a, 0, 1)),
              [](auto& t) { return count(t, 'a') == t.size() && t.size() > 0 && t.size() < 4; });
}

TEST(Expressions, EqualOnesHaveEqualNumbers) {
  Expressions e;
  const Expr a = e.byte('a'), b = e.byte('b'), c = e.text("cc");
  EXPECT_EQ(e.any_of({a, c, b}), e.either(c, e.either(b, a)));
  EXPECT_EQ(e.concat(e.concat(a, c), b), e.concat(a, e.concat(c, b)));
  EXPECT_EQ(e.complement(e.complement(c)), c);
  EXPECT_EQ(e.both(c, e.complement(c)), kNothing);
  EXPECT_EQ(e.repeat(c, 1, 1), c);
}

TEST(Expressions, Liveness) {
  Expressions e;
  const Expr a = e.byte('a'), any = e.repeat(e.bytes(ByteSet::all()), 0, kUnbounded);
  EXPECT_TRUE(e.is_live(e.both(e.repeat(a, 3, 5), e.repeat(a, 5, 9))));
  EXPECT_FALSE(e.is_live(e.both(e.repeat(a, 3, 5), e.repeat(a, 6, 9))));
  EXPECT_FALSE(e.is_live(e.complement(any)));
  EXPECT_TRUE(e.is_live(e.both(e.complement(e.text("aa")), e.repeat(a, 2, 3))));
  EXPECT_FALSE(e.is_live(e.concat(e.byte('b'), e.both(e.text("ax"), e.text("ay")))));
}

TEST(Expressions, CountsAreNotCopies) {
  Expressions e;
  const Expr huge = e.repeat(e.either(e.byte('a'), e.text("bb")), 1'000'000'000, 2'000'000'000);
  const size_t n = e.size();
  EXPECT_FALSE(e.matches(huge, "abbaa"));
  EXPECT_LT(e.size() - n, 50U);
}

TEST(Expressions, MultiplesOfANumber) {
  Expressions e;
  for (uint32_t modulus : {1U, 7U, 12U, 250U})
    for (uint32_t n = 0; n < 2000; ++n)
      EXPECT_EQ(e.matches(e.multiple(modulus, 0), std::to_string(n)), n % modulus == 0) << n << " " << modulus;
}

TEST(Expressions, LabelsSayWhichAlternativeEnded) {
  Expressions e;
  const Expr either = e.any_of({e.concat(e.text("ab"), e.label(1)), e.concat(e.text("ac"), e.label(2)),
                                e.concat(e.concat(e.byte('a'), e.bytes(ByteSet::all())), e.label(3))});
  std::vector<uint32_t> labels;
  e.labels(e.derive(e.derive(either, 'a'), 'c'), labels);
  EXPECT_EQ(labels, (std::vector<uint32_t>{2, 3}));
}

TEST(Expressions, DepthIsLimited) {
  Expressions e;
  Expr nested = e.byte('a');
  for (int i = 0; i < 100'000; ++i) nested = e.repeat(e.concat(nested, e.byte('b')), 2, 3);
  EXPECT_THROW(e.matches(nested, "aaaa"), Error);
}

}  // namespace
}  // namespace warpchat::grammar
