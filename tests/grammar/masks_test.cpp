// Masks against each token tried byte by byte, in states that random walks reach.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "engine/grammar/token_masks.h"
#include "tests/tokenizer/test_vocabulary.h"

namespace warpchat::grammar {
namespace {

// Texts as vocabularies have them: words, blanks, punctuation across items, parts of characters, controls.
std::vector<std::string> token_texts() {
  std::vector<std::string> texts = {"",
                                    "\"",
                                    "\",",
                                    "\":",
                                    "\": \"",
                                    "{\"",
                                    "},{\"",
                                    "}]",
                                    "[[",
                                    "]]}",
                                    "\\",
                                    "\\n",
                                    "\\u",
                                    "\\u00",
                                    "\\\"",
                                    "\n",
                                    "\n  ",
                                    "  ",
                                    " \"",
                                    "null",
                                    "true",
                                    "false",
                                    "\xC3",
                                    "\xA9",
                                    "\xC3\xA9",
                                    "\xF0\x9F",
                                    "\x98\x80",
                                    "\xF0\x9F\x98\x80",
                                    "\x01",
                                    "name",
                                    "name\"",
                                    "nam",
                                    "e\":",
                                    "red",
                                    "gre",
                                    "en\"",
                                    "en",
                                    "a\xC3",
                                    "\xFF",
                                    "ab\"cd",
                                    "0",
                                    "00",
                                    "12",
                                    "-1",
                                    ".5",
                                    "e+",
                                    "1e",
                                    "2024-",
                                    "-02-29",
                                    "T12:",
                                    "x",
                                    "xx",
                                    "xxx",
                                    "xxxxxxxxxxxx",
                                    std::string(600, 'y'),
                                    "",
                                    "name"};
  for (int c = 0; c < 256; ++c) texts.emplace_back(1, static_cast<char>(c));
  for (char a = 'a'; a <= 'z'; ++a)
    for (char b = 'a'; b <= 'z'; ++b) texts.push_back({a, b, a});
  return texts;
}

void expect_masks_equal_brute_force(Constraint& constraint, unsigned seed) {
  const std::vector<std::string> texts = token_texts();
  const TokenTrie trie(texts);
  TokenMasks masks(constraint, trie);
  std::mt19937 random(seed);
  for (int walk = 0; walk < 12; ++walk) {
    State state = constraint.start();
    for (int step = 0; step < 25; ++step) {
      const std::span<const uint32_t> mask = masks.mask(state);
      std::vector<size_t> allowed;
      for (size_t token = 0; token < texts.size(); ++token) {
        const bool is_usable = !texts[token].empty() && texts[token].size() <= 512;
        const bool expected = is_usable && constraint.advance(state, texts[token]) != kRejected;
        ASSERT_EQ(is_allowed(mask, static_cast<Token>(token)), expected)
            << texts[token] << " step " << step;
        if (expected) allowed.push_back(token);
      }
      ASSERT_TRUE(!allowed.empty() || constraint.is_complete(state));  // no dead end
      if (allowed.empty()) break;
      state = constraint.advance(state, texts[allowed[random() % allowed.size()]]);
    }
  }
}

TEST(TokenMasks, EqualBruteForce) {
  const std::vector<std::string> schemas = {
      "{}",
      R"({"type":"string"})",
      R"({"type":"string","maxLength":7})",
      R"({"type":"string","minLength":3,"maxLength":40,"pattern":"^[a-m]*x?$"})",
      R"({"type":"string","pattern":"red.{2}"})",
      R"({"type":"object","properties":{"name":{"type":"string","maxLength":12},"names":{"enum":["red","green"]}},"required":["names"]})",
      R"({"type":"array","items":{"anyOf":[{"type":"integer","maximum":12},{"type":"string","format":"date"},{"type":"array"}]}})",
      R"({"anyOf":[{"type":"string","maxLength":3},{"enum":["xxxxxx","redred"]}]})",
  };
  unsigned seed = 1;
  for (const std::string& schema : schemas) {
    SCOPED_TRACE(schema);
    expect_masks_equal_brute_force(*Constraint::from_schema(schema), seed++);
  }
  for (const std::string grammar :
       {"root ::= \"red\" root | [^a]* \"x\"", "root ::= (\"x\" | \"xx\"){3,9} [\\u00e0-\\u00ff]?",
        "root ::= \"{\" root* \"}\" | \"[\" [0-9]+ \"]\""}) {
    SCOPED_TRACE(grammar);
    expect_masks_equal_brute_force(*Constraint::from_grammar(grammar), seed++);
  }
}

TEST(TokenMasks, ControlAndUnusedTokensAreNeverAllowed) {
  test::TestVocabulary vocabulary = test::byte_vocabulary();
  const Token unused = vocabulary.add("padding", test::kUnused), control = vocabulary.add("stopper", test::kControl);
  const Token plain = vocabulary.add("plain"), defined = vocabulary.add("marker", test::kUserDefined);
  const TokenTrie trie = TokenTrie::of(*vocabulary.tokenizer());
  const auto constraint = Constraint::from_schema("{\"type\":\"string\"}");
  TokenMasks masks(*constraint, trie);
  const auto mask = masks.mask(constraint->advance(constraint->start(), "\""));
  EXPECT_FALSE(is_allowed(mask, unused));
  EXPECT_FALSE(is_allowed(mask, control));
  EXPECT_TRUE(is_allowed(mask, plain));
  EXPECT_TRUE(is_allowed(mask, defined));
}

}  // namespace
}  // namespace warpchat::grammar
