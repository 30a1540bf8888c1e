// Every fault of the tokeniser's keys, and its message.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "tests/tokenizer/test_vocabulary.h"

namespace warpchat {
namespace {

using test::TestVocabulary;

struct Case {
  const char* name;
  TestVocabulary (*base)();
  std::function<void(TestVocabulary&)> fault;
  const char* sentence;  // after "cannot load test.gguf: "
};

TestVocabulary bpe() {
  TestVocabulary v = test::byte_vocabulary();
  v.add_merge("a", "b");
  return v;
}

TestVocabulary spm() { return test::spm_vocabulary(); }

const Case kCases[] = {
    {"no_model", bpe, [](TestVocabulary& v) { v.model.reset(); }, "key tokenizer.ggml.model is missing"},
    {"unknown_model", bpe, [](TestVocabulary& v) { v.model = "bert"; },
     "key tokenizer.ggml.model is \"bert\", supported are gpt2 (byte-level BPE) and llama (SPM)"},
    {"unknown_pre", bpe, [](TestVocabulary& v) { v.pre = "tekken"; },
     "key tokenizer.ggml.pre is \"tekken\", supported are default, gpt-2, smollm, qwen2, qwen35, deepseek-r1-qwen, "
     "llama-bpe, "
     "llama3, llama-v3"},
    {"no_tokens", bpe, [](TestVocabulary& v) { v.tokens.clear(); },
     "key tokenizer.ggml.tokens is empty, expected at least one token"},
    {"same_text_twice", bpe, [](TestVocabulary& v) { v.tokens[7] = "a"; },
     "key tokenizer.ggml.tokens has the text \"a\" twice, as tokens 7 and 97"},
    {"too_few_types", bpe, [](TestVocabulary& v) { v.types.pop_back(); },
     "key tokenizer.ggml.token_type has 256 elements, tokenizer.ggml.tokens has 257"},
    {"too_many_types", bpe, [](TestVocabulary& v) { v.types.push_back(1); },
     "key tokenizer.ggml.token_type has 258 elements, tokenizer.ggml.tokens has 257"},
    {"type_below", bpe, [](TestVocabulary& v) { v.types[9] = -1; },
     "element 9 of key tokenizer.ggml.token_type is -1, expected 0 to 6"},
    {"type_above", bpe, [](TestVocabulary& v) { v.types[9] = 7; },
     "element 9 of key tokenizer.ggml.token_type is 7, expected 0 to 6"},
    {"byte_token_without_byte", bpe, [](TestVocabulary& v) { v.types[97] = test::kByte; },
     "token 97 of key tokenizer.ggml.tokens is \"a\", but its type is byte: expected a text like \"<0x0A>\""},
    {"bos_outside", bpe, [](TestVocabulary& v) { v.ids["bos_token_id"] = 257; },
     "key tokenizer.ggml.bos_token_id is 257, the vocabulary has 257 tokens"},
    {"eos_outside", bpe, [](TestVocabulary& v) { v.ids["eos_token_id"] = UINT32_MAX; },
     "key tokenizer.ggml.eos_token_id is 4,294,967,295, the vocabulary has 257 tokens"},
    {"eot_outside", bpe, [](TestVocabulary& v) { v.ids["eot_token_id"] = 300; },
     "key tokenizer.ggml.eot_token_id is 300, the vocabulary has 257 tokens"},
    {"bos_wanted_but_not_named", bpe, [](TestVocabulary& v) { v.flags["add_bos_token"] = true; },
     "key tokenizer.ggml.add_bos_token is true, but key tokenizer.ggml.bos_token_id is missing"},
    {"no_merges", bpe, [](TestVocabulary& v) { v.has_merges = false; }, "key tokenizer.ggml.merges is missing"},
    {"merge_of_one", bpe, [](TestVocabulary& v) { v.merges[0] = "ab"; },
     "element 0 of key tokenizer.ggml.merges, \"ab\", is not two tokens with a space between them"},
    {"merge_without_right_part", bpe, [](TestVocabulary& v) { v.merges[0] = "ab "; },
     "element 0 of key tokenizer.ggml.merges, \"ab \", is not two tokens with a space between them"},
    {"merge_without_left_part", bpe, [](TestVocabulary& v) { v.merges[0] = " b"; },
     "element 0 of key tokenizer.ggml.merges, \" b\", is not two tokens with a space between them"},
    {"empty_merge", bpe, [](TestVocabulary& v) { v.merges[0] = ""; },
     "element 0 of key tokenizer.ggml.merges, \"\", is not two tokens with a space between them"},
    {"merge_of_an_unknown_part", bpe, [](TestVocabulary& v) { v.merges.push_back("xy z"); },
     "element 1 of key tokenizer.ggml.merges, \"xy z\", names \"xy\", which tokenizer.ggml.tokens does not have"},
    {"merge_to_an_unknown_token", bpe, [](TestVocabulary& v) { v.merges.push_back("b a"); },
     "element 1 of key tokenizer.ggml.merges, \"b a\", names \"ba\", which tokenizer.ggml.tokens does not have"},
    {"bpe_with_other_scores", bpe,
     [](TestVocabulary& v) {
       v.scores = {1, 2};
     },
     "key tokenizer.ggml.scores has 2 elements, tokenizer.ggml.tokens has 257"},
    {"spm_without_scores", spm, [](TestVocabulary& v) { v.scores.clear(); }, "key tokenizer.ggml.scores is missing"},
    {"spm_with_too_few_scores", spm, [](TestVocabulary& v) { v.scores.pop_back(); },
     "key tokenizer.ggml.scores has 258 elements, tokenizer.ggml.tokens has 259"},
    {"score_that_is_no_number", spm, [](TestVocabulary& v) { v.scores[4] = std::numeric_limits<float>::quiet_NaN(); },
     "element 4 of key tokenizer.ggml.scores is not finite"},
    {"spm_without_bytes_or_unknown", spm, [](TestVocabulary& v) { v.types[0] = v.types[50] = test::kNormal; },
     "key tokenizer.ggml.tokens lacks byte tokens (\"<0x00>\" to \"<0xFF>\") and there is no "
     "tokenizer.ggml.unknown_token_id in their place"},
};

TEST(TokenizerFaults, Sentences) {
  for (const Case& c : kCases) {
    TestVocabulary v = c.base();
    c.fault(v);
    try {
      v.tokenizer();
      ADD_FAILURE() << c.name << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()), std::string("cannot load test.gguf: ") + c.sentence) << c.name;
    }
  }
}

// A file with one wrong byte gives an Error in one line, or a working tokeniser.
TEST(TokenizerFaults, EveryByteChanged) {
  for (const auto base : {bpe, spm}) {
    const std::vector<std::byte> good = base().bytes();
    int refused = 0;
    for (size_t at = 0; at < good.size(); ++at) {
      std::vector<std::byte> bytes = good;
      bytes[at] ^= std::byte{static_cast<uint8_t>(1u << at % 8)};
      try {
        const auto tokenizer = Tokenizer::from(GgufFile::view(bytes, "test.gguf"), MergeMethod::kOwn);
        const std::vector<Token> ids = tokenizer->encode("ab <s> é", true, true);
        EXPECT_FALSE(decode(*tokenizer, ids).empty());
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), testing::StartsWith("cannot load test.gguf: "));
        ++refused;
      }
    }
    EXPECT_GT(refused, static_cast<int>(good.size() / 10));
  }
}

TEST(TokenizerFaults, HarmlessOnes) {
  TestVocabulary v = bpe();
  v.types.clear();  // all normal
  v.pre.reset();    // "default"
  v.tokens[9] = "\xFF broken\n";
  EXPECT_EQ(v.tokenizer()->piece(9), "\xFF broken\n");
  v = bpe();
  v.merges.clear();  // bytes alone
  EXPECT_EQ(v.tokenizer()->encode("ab", false, false).size(), 2u);
  v = TestVocabulary();
  v.add("only");
  EXPECT_TRUE(v.tokenizer()->encode("text", true, true).empty());
}

}  // namespace
}  // namespace warpchat
