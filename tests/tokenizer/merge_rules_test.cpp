// The merge loop against one that searches all pairs again after each merge. Also the check whether sentencepiece's
// merging by result may replace merging by pair.
#include "models/tokenizer/merge_rules.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/tokenizer/test_vocabulary.h"

namespace warpchat {
namespace {

using test::TestVocabulary;

// Quadratic and plain: merges the pair of the lowest rank, the leftmost if there are several, while any pair has a
// rule.
std::vector<Token> merge_slowly(const std::vector<MergeRule>& rules, std::vector<Token> tokens) {
  for (;;) {
    size_t best_rank = rules.size(), best_at = 0;
    for (size_t i = 0; i + 1 < tokens.size(); ++i)
      for (size_t rank = 0; rank < best_rank; ++rank)
        if (rules[rank].left == tokens[i] && rules[rank].right == tokens[i + 1]) best_rank = rank, best_at = i;
    if (best_rank == rules.size()) return tokens;
    tokens[best_at] = rules[best_rank].result;
    tokens.erase(tokens.begin() + static_cast<long>(best_at) + 1);
  }
}

std::vector<Token> merge_fast(const MergeTable& table, const std::vector<Token>& tokens) {
  Merger merger;
  for (uint32_t i = 0; i < tokens.size(); ++i) merger.add(i, i + 1, tokens[i]);
  std::vector<Token> result;
  merger.merge([&](const Symbol& left, const Symbol& right) { return table.find(left.token, right.token); },
               [&](const Symbol& symbol) { result.push_back(symbol.token); });
  return result;
}

// Random rules over the letters a, b and c: parts in any order, results with every kind of overlap.
TestVocabulary random_vocabulary(std::mt19937& random, bool in_order) {
  TestVocabulary v = test::byte_vocabulary();
  std::vector<std::string> parts = {"a", "b", "c"};
  for (int i = 0; i < 12; ++i) {
    const std::string left = parts[random() % parts.size()], right = parts[random() % parts.size()];
    if (left.size() + right.size() > 6) continue;
    const std::string merge = left + " " + right;
    const bool known = std::ranges::find(v.tokens, left + right) != v.tokens.end();
    if (known && in_order) continue;
    v.merges.push_back(merge);
    if (!known) v.add(left + right), parts.push_back(left + right);
  }
  if (!in_order) std::ranges::shuffle(v.merges, random);
  return v;
}

std::string random_word(std::mt19937& random) {
  std::string word;
  for (size_t n = 1 + random() % 14; n > 0; --n) word += static_cast<char>('a' + random() % 3);
  return word;
}

struct Loaded {
  std::vector<MergeRule> rules;
  std::unique_ptr<Tokenizer> own, automatic;
};

Loaded load(const TestVocabulary& v) {
  const std::vector<std::byte> bytes = v.bytes();
  const GgufFile file = GgufFile::view(bytes, "test.gguf");
  return {read_merge_rules(file, Vocabulary(file, {})), Tokenizer::from(file, MergeMethod::kOwn),
          Tokenizer::from(file)};
}

void expect_equal_merges(const Loaded& loaded, std::mt19937& random, const TestVocabulary& v) {
  const MergeTable table(loaded.rules);
  for (int i = 0; i < 30; ++i) {
    const std::string word = random_word(random);
    std::vector<Token> letters;
    for (const char letter : word) letters.push_back(loaded.own->find(std::string(1, letter)));
    const std::vector<Token> expected = merge_slowly(loaded.rules, letters);
    std::string merges;
    for (const std::string& merge : v.merges) merges += merge + ", ";
    ASSERT_EQ(merge_fast(table, letters), expected) << word << " by " << merges;
    ASSERT_EQ(loaded.own->encode(word, false, false), expected) << word << " by " << merges;
    ASSERT_EQ(loaded.automatic->encode(word, false, false), expected)
        << word << " by " << merges << loaded.automatic->method();
  }
}

TEST(MergeRules, RandomRulesInOrder) {
  std::mt19937 random(1);
  int exact = 0, other = 0;
  for (int i = 0; i < 400; ++i) {
    const TestVocabulary v = random_vocabulary(random, true);
    const Loaded loaded = load(v);
    (loaded.automatic->method() == "sentencepiece" ? exact : other) += 1;
    ASSERT_NO_FATAL_FAILURE(expect_equal_merges(loaded, random, v));
  }
  EXPECT_GT(exact, 20);  // the check accepts some and refuses some
  EXPECT_GT(other, 20);
}

TEST(MergeRules, RandomRulesInAnyOrder) {
  std::mt19937 random(2);
  for (int i = 0; i < 400; ++i) {
    const TestVocabulary v = random_vocabulary(random, false);
    ASSERT_NO_FATAL_FAILURE(expect_equal_merges(load(v), random, v));
  }
}

struct MergeRuleCase {
  const char* name;
  std::vector<std::string> merges;
  const char* why;   // why sentencepiece would differ; "" if it would not
  const char* word;  // a word with a different result
  std::vector<std::string> pieces;
};

const MergeRuleCase kMergeRuleCases[] = {
    {"learnt_order", {"a b", "ab c", "c d"}, "", "abcd", {"abc", "d"}},
    {"same_letters", {"a a", "aa aa"}, "", "aaaaa", {"aaaa", "a"}},
    {"odd_runs", {"a a", "aa a"}, "", "aaaaa", {"aa", "aaa"}},
    {"two_ways_to_one_token",
     {"a b", "ab c", "b c", "a bc"},
     "merge 3 makes the same token as an earlier one",
     "abc",
     {"abc"}},
    // The pair (a, bc) has no rule, so abc only comes from (ab, c), which (b, c) prevents.
    {"result_that_merges_otherwise",
     {"b c", "a b", "ab c"},
     "merge 2 makes a token that merges to something else",
     "abc",
     {"a", "bc"}},
    {"part_made_later", {"ab c", "a b"}, "merge 0 joins a token that no earlier one makes", "abc", {"abc"}},
    // The left one of two pairs "aa" merges first, also across the border of a rule's parts.
    {"tie_across_the_border",
     {"a a", "a aa"},
     "merge 1 makes a token that merges to something else",
     "aaa",
     {"aa", "a"}},
};

TEST(MergeRules, WhenPairsMatter) {
  for (const MergeRuleCase& c : kMergeRuleCases) {
    TestVocabulary v = test::byte_vocabulary();
    for (const std::string& merge : c.merges) {
      std::string result = merge;
      result.erase(result.find(' '), 1);
      v.merges.push_back(merge);
      if (std::ranges::find(v.tokens, result) == v.tokens.end()) v.add(result);
    }
    const auto tokenizer = v.tokenizer();
    const std::string method = *c.why ? "rank-ordered merges (" + std::string(c.why) + ")" : "sentencepiece";
    EXPECT_EQ(tokenizer->method(), method) << c.name;
    std::vector<std::string> pieces;
    for (const Token token : tokenizer->encode(c.word, false, false)) pieces.push_back(tokenizer->piece(token));
    EXPECT_EQ(pieces, c.pieces) << c.name;
  }
}

TEST(MergeRules, FirstOfTwoRanksForOnePairCounts) {
  TestVocabulary v = test::byte_vocabulary();
  v.add_merge("a", "b"), v.add_merge("b", "c");
  v.merges.push_back("a b");
  const auto tokenizer = v.tokenizer();
  EXPECT_EQ(tokenizer->encode("abc", false, false), (std::vector<Token>{256, tokenizer->find("c")}));
}

}  // namespace
}  // namespace warpchat
