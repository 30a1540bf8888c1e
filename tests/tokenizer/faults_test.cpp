// Every fault of the tokeniser's keys, and its message.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "tests/tokenizer/test_vocabulary.h"

namespace warpchat {
namespace {

using test::TestVocabulary;

struct FaultCase {
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

const FaultCase kFaultCases[] = {
    {"no_model", bpe, [](TestVocabulary& v) { v.model.reset(); }, "key tokenizer.ggml.model is missing"},
    {"unknown_model", bpe, [](TestVocabulary& v) { v.model = "bert"; },
     "key tokenizer.ggml.model is \"bert\", supported are gpt2 (byte-level BPE) and llama (SPM)"},
    {"unknown_pre", bpe, [](TestVocabulary& v) { v.pre = "viking"; },
     "key tokenizer.ggml.pre is \"viking\", supported are default, gpt-2, smollm, qwen2, qwen35, deepseek-r1-qwen, "
     "llama-bpe, llama3, llama-v3, falcon3, falcon-h1, pixtral, midm-2.0, lfm2, smaug-bpe, dbrx, glm4, chatglm-bpe, "
     "kormo, f2llmv2, megrez, stablelm2, hunyuan, solar-open, grok-2, mellum, a.x-4.0, phi-2, gigachat, exaone4, "
     "trillion, granite-docling, minerva-7b, starcoder, refact, command-r, codeshell, exaone, mellum2, tekken, gpt-4o, "
     "llama4, kanana2, deepseek-llm, deepseek-coder, seed-coder, minicpm5"},
    {"no_tokens", bpe, [](TestVocabulary& v) { v.tokens.clear(); },
     "key tokenizer.ggml.tokens is empty, expected at least one token"},
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
  for (const FaultCase& c : kFaultCases) {
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

// What llama.cpp reads with a warning.
struct Note {
  const char* name;
  std::function<void(TestVocabulary&)> fault;
  const char* sentence;
};

const Note kNotes[] = {
    {"same_text_twice", [](TestVocabulary& v) { v.tokens[7] = "b"; },
     "key tokenizer.ggml.tokens has the text \"b\" twice; token 7 stands for it, and 98 is only read"},
    {"bos_outside", [](TestVocabulary& v) { v.ids["bos_token_id"] = 257; },
     "key tokenizer.ggml.bos_token_id is 257, outside the vocabulary of 257 tokens, and is ignored"},
    {"eos_outside", [](TestVocabulary& v) { v.ids["eos_token_id"] = UINT32_MAX; },
     "key tokenizer.ggml.eos_token_id is 4294967295, outside the vocabulary of 257 tokens, and is ignored"},
    {"eot_outside", [](TestVocabulary& v) { v.ids["eot_token_id"] = 300; },
     "key tokenizer.ggml.eot_token_id is 300, outside the vocabulary of 257 tokens, and is ignored"},
    {"eom_below", [](TestVocabulary& v) { v.negative_ids["eom_token_id"] = -1; },
     "key tokenizer.ggml.eom_token_id is -1, outside the vocabulary of 257 tokens, and is ignored"},
    {"unknown_outside", [](TestVocabulary& v) { v.ids["unknown_token_id"] = 1000; },
     "key tokenizer.ggml.unknown_token_id is 1000, outside the vocabulary of 257 tokens, and is ignored"},
    {"bos_wanted_but_not_named", [](TestVocabulary& v) { v.flags["add_bos_token"] = true; },
     "key tokenizer.ggml.add_bos_token is true, but there is no such token, so none is added"},
};

TEST(TokenizerFaults, WhatIsIgnoredIsNoted) {
  EXPECT_TRUE(bpe().tokenizer()->notes().empty());
  for (const MergeMethod method : {MergeMethod::kSentencePieceIfExact, MergeMethod::kOwn})
    for (const Note& note : kNotes) {
      TestVocabulary v = bpe();
      note.fault(v);
      const auto tokenizer = v.tokenizer(method);
      EXPECT_THAT(tokenizer->notes(), testing::ElementsAre(note.sentence)) << note.name;
      EXPECT_EQ(tokenizer->bos(), -1);
      EXPECT_EQ(tokenizer->eos(), -1);
      EXPECT_TRUE(tokenizer->end_of_generation().empty());
      EXPECT_EQ(decode(*tokenizer, tokenizer->encode("ab b", true, true)), "ab b") << note.name;
    }
}

// The first of two tokens with one text is written, both are read.
TEST(TokenizerFaults, OneTextTwiceInSpm) {
  for (const MergeMethod method : {MergeMethod::kSentencePieceIfExact, MergeMethod::kOwn}) {
    TestVocabulary v = spm();
    const Token first = v.add("ab", test::kNormal, -1), second = v.add("ab", test::kNormal, -2);
    v.add("a", test::kNormal, -3), v.add("b", test::kNormal, -4);
    v.flags["add_space_prefix"] = false;
    const auto tokenizer = v.tokenizer(method);
    EXPECT_EQ(tokenizer->encode("ab", false, false), std::vector<Token>{first});
    EXPECT_EQ(tokenizer->piece(second), "ab");
  }
}

TEST(TokenizerFaults, AnIdThatIsNoNumber) {
  TestVocabulary v = bpe();
  v.flags["bos_token_id"] = true;
  EXPECT_THROW(v.tokenizer(), Error);
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
