// Both families and both merge methods: ids, texts, bos, round trips, long input.
#include "models/tokenizer/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "tests/tokenizer/test_vocabulary.h"

namespace warpchat {
namespace {

using test::TestVocabulary;

std::vector<std::string> pieces_of(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::string> pieces;
  for (const Token token : tokenizer.encode(text, false, false)) pieces.push_back(tokenizer.piece(token));
  return pieces;
}

struct Family {
  const char* name;
  TestVocabulary vocabulary;
};

// Without composing text, so that every text comes back.
TestVocabulary qwen2_vocabulary() {
  TestVocabulary v = test::learnt_vocabulary("qwen2");
  v.flags["normalizer.nfc"] = false;
  return v;
}

std::vector<Family> families() {
  return {{"gpt-2", test::learnt_vocabulary("gpt-2")},         {"qwen2", qwen2_vocabulary()},
          {"smollm", test::learnt_vocabulary("smollm")},       {"default", test::learnt_vocabulary("default")},
          {"llama-bpe", test::learnt_vocabulary("llama-bpe")}, {"spm", test::learnt_spm_vocabulary()}};
}

TEST(Tokenizer, LearntVocabulariesAreExactInSentencePiece) {
  for (const Family& f : families()) {
    EXPECT_EQ(f.vocabulary.tokenizer()->method(), "sentencepiece") << f.name;
    EXPECT_EQ(f.vocabulary.tokenizer(MergeMethod::kOwn)->method(), "rank-ordered merges (asked for)") << f.name;
  }
}

TEST(Tokenizer, BothMethodsAgreeAndEveryTextComesBack) {
  std::mt19937 random(3);
  for (const Family& f : families()) {
    const auto one = f.vocabulary.tokenizer(), other = f.vocabulary.tokenizer(MergeMethod::kOwn);
    for (int i = 0; i < 400; ++i) {
      const std::string text = test::random_text(random);
      const bool parse_special = i % 2;
      const std::vector<Token> ids = one->encode(text, parse_special, false);
      ASSERT_EQ(ids, other->encode(text, parse_special, false)) << f.name << ": " << text;
      ASSERT_EQ(decode(*one, ids, parse_special), text) << f.name;
      ASSERT_EQ(decode(*other, ids, parse_special), text) << f.name;
    }
  }
}

// Content without texts of control tokens changes nothing, wherever it lies. With such texts, they stay text inside it.
TEST(Tokenizer, ControlTokensLieOutsideContent) {
  std::mt19937 random(4);
  for (const Family& f : families()) {
    const auto one = f.vocabulary.tokenizer(), other = f.vocabulary.tokenizer(MergeMethod::kOwn);
    for (int i = 0; i < 200; ++i) {
      std::string text = test::random_text(random);
      std::vector<TextRange> content;
      for (size_t at = random() % 4; at < text.size(); at += 1 + random() % 30) {
        const size_t begin = at;
        at = std::min<size_t>(at + 1 + random() % 20, text.size());
        content.push_back({begin, at});
      }
      const std::vector<Token> ids = one->encode(text, content, false);
      ASSERT_EQ(ids, other->encode(text, content, false)) << f.name << ": " << text;
      ASSERT_EQ(decode(*one, ids, true), text) << f.name;
      for (size_t k = 0; k < ids.size(); ++k) {
        if (!one->is_control(ids[k])) continue;
        const size_t end = decode(*one, std::span(ids).first(k + 1), true).size();
        EXPECT_FALSE(has_any_of(content, end - one->piece(ids[k], true).size(), end)) << f.name << ": " << text;
      }
      std::ranges::replace(text, '<', '(');
      EXPECT_EQ(one->encode(text, content, true), one->encode(text, true, true)) << f.name << ": " << text;
    }
  }
}

TEST(Tokenizer, EveryCharacterComesBack) {
  const auto bpe = qwen2_vocabulary().tokenizer(), spm = test::learnt_spm_vocabulary().tokenizer();
  std::string text;
  for (char32_t character = 0; character < 0x110000; character += character < 0x3100 ? 1 : 61)
    if ((character < 0xD800 || character >= 0xE000) && character != 0x2581) append_utf8(character, text);
  EXPECT_TRUE(decode(*bpe, bpe->encode(text, false, false)) == text);
  EXPECT_TRUE(decode(*spm, spm->encode(text, false, false)) == text);
}

TEST(Tokenizer, OneEndlessWord) {
  for (const Family& f : families())
    for (const MergeMethod method : {MergeMethod::kSentencePieceIfExact, MergeMethod::kOwn}) {
      const auto tokenizer = f.vocabulary.tokenizer(method);
      for (const char* unit : {"a", "the", " ", "Ö", "<|im_"}) {
        std::string text;
        while (text.size() < (1u << 16)) text += unit;
        EXPECT_TRUE(decode(*tokenizer, tokenizer->encode(text, true, false), true) == text) << f.name << " " << unit;
      }
    }
}

TEST(Tokenizer, BytesThatAreNoCharacterCountAsReplacementCharacter) {
  for (const Family& f : families()) {
    const auto tokenizer = f.vocabulary.tokenizer();
    EXPECT_EQ(decode(*tokenizer, tokenizer->encode("a\xFF"
                                                   "b\xE4\xBD",
                                                   true, false)),
              "a\xEF\xBF\xBD"
              "b\xEF\xBF\xBD\xEF\xBF\xBD")
        << f.name;
  }
}

TEST(Tokenizer, SeveralThreadsAtOnce) {
  for (const Family& f : families()) {
    const auto tokenizer = f.vocabulary.tokenizer();
    const std::string text(test::kTrainingText);
    const std::vector<Token> expected = tokenizer->encode(text, true, false);
    std::vector<std::vector<Token>> found(4);
    std::vector<std::thread> threads;
    for (auto& ids : found)
      threads.emplace_back([&] {
        for (int i = 0; i < 20; ++i) ids = tokenizer->encode(text, true, false);
      });
    for (std::thread& thread : threads) thread.join();
    for (const auto& ids : found) EXPECT_EQ(ids, expected) << f.name;
  }
}

TEST(Tokenizer, TheFileMayBeClosed) {
  std::vector<std::byte> bytes = test::learnt_vocabulary().bytes();
  const auto tokenizer = Tokenizer::from(GgufFile::view(bytes, "test.gguf"));
  std::fill(bytes.begin(), bytes.end(), std::byte{0xAA});
  EXPECT_EQ(decode(*tokenizer, tokenizer->encode("the fox", false, false)), "the fox");
}

TEST(BpeTokenizer, WholeWordsBeforeMerges) {
  TestVocabulary v = test::byte_vocabulary();
  v.add_merge("b", "c");
  v.add("abc");  // no merge gives it
  v.pre = "qwen2";
  EXPECT_EQ(pieces_of(*v.tokenizer(), "abc"), (std::vector<std::string>{"a", "bc"}));
  v.pre = "llama-bpe";
  EXPECT_EQ(pieces_of(*v.tokenizer(), "abc"), (std::vector<std::string>{"abc"}));
  EXPECT_EQ(pieces_of(*v.tokenizer(MergeMethod::kOwn), "abc xabc"),
            (std::vector<std::string>{"abc", " ", "x", "a", "bc"}));
}

TEST(BpeTokenizer, ByteWithoutTokenGivesNone) {
  TestVocabulary v = test::byte_vocabulary();
  v.tokens.erase(v.tokens.begin() + 'x'), v.types.pop_back();
  for (const MergeMethod method : {MergeMethod::kSentencePieceIfExact, MergeMethod::kOwn})
    EXPECT_EQ(pieces_of(*v.tokenizer(method), "axxb"), (std::vector<std::string>{"a", "b"}));
}

TEST(BpeTokenizer, PieceByType) {
  TestVocabulary v = test::byte_vocabulary();
  const Token normal = v.add("Ġthe"), control = v.add("<c Ġ>", test::kControl), user = v.add("Ġu", test::kUserDefined);
  const Token unknown = v.add("<?>", test::kUnknown), unused = v.add("[Ġ]", test::kUnused),
              byte = v.add("<0x41>", test::kByte);
  const Token empty = v.add("");
  const auto tokenizer = v.tokenizer();
  EXPECT_EQ(tokenizer->piece(normal), " the");
  EXPECT_EQ(tokenizer->piece(control), "");
  EXPECT_EQ(tokenizer->piece(control, true), "<c Ġ>");
  EXPECT_EQ(tokenizer->piece(user), "Ġu");  // user-defined texts are outside the alphabet
  EXPECT_EQ(tokenizer->piece(unknown), "");
  EXPECT_EQ(tokenizer->piece(unknown, true), "<?>");
  EXPECT_EQ(tokenizer->piece(unused), "[ ]");
  EXPECT_EQ(tokenizer->piece(byte), "A");
  EXPECT_EQ(tokenizer->piece(empty), "[EMPTY_262]");  // as in llama.cpp
  EXPECT_EQ(tokenizer->find("Ġthe"), normal);
  EXPECT_EQ(tokenizer->find("nothing"), -1);
  EXPECT_EQ(tokenizer->n_vocab(), 263u);
  for (const Token outside : {-1, 263}) {
    EXPECT_THROW(tokenizer->piece(outside), Error);
    EXPECT_THROW(tokenizer->is_control(outside), Error);
  }
}

struct BosCase {
  const char* name;
  const char* pre;  // null: SPM
  std::map<std::string, uint32_t> ids;
  std::map<std::string, bool> flags;
  std::vector<Token> expected;  // for "" with add_bos
};

const BosCase kBosCases[] = {
    {"bpe_adds_none", "qwen2", {{"bos_token_id", 5}}, {}, {}},
    {"bpe_told_to", "qwen2", {{"bos_token_id", 5}}, {{"add_bos_token", true}}, {5}},
    {"llama_3_adds_it", "llama-bpe", {{"bos_token_id", 5}}, {}, {5}},
    {"llama_3_told_not_to", "llama-bpe", {{"bos_token_id", 5}}, {{"add_bos_token", false}}, {}},
    {"llama_3_without_one", "llama-bpe", {}, {}, {}},
    {"spm_adds_token_1", nullptr, {}, {}, {1}},
    {"spm_adds_the_one_named", nullptr, {{"bos_token_id", 2}}, {}, {2}},
    {"spm_told_not_to", nullptr, {}, {{"add_bos_token", false}}, {}},
    {"no_eos_in_a_prompt", nullptr, {}, {{"add_eos_token", true}}, {1}},
};

TEST(Tokenizer, Bos) {
  for (const BosCase& c : kBosCases) {
    TestVocabulary v = c.pre ? test::byte_vocabulary() : test::spm_vocabulary();
    v.ids = c.ids, v.flags = c.flags;
    if (c.pre) v.pre = c.pre;
    const auto tokenizer = v.tokenizer();
    EXPECT_EQ(tokenizer->encode("", true, true), c.expected) << c.name;
    EXPECT_TRUE(tokenizer->encode("", true, false).empty()) << c.name;
    EXPECT_EQ(tokenizer->adds_bos(), !c.expected.empty()) << c.name;
  }
}

struct SpmCase {
  const char* name;
  std::string text;
  bool parse_special;
  std::vector<std::string> texts;  // per token, in the vocabulary's spelling
};

// Pieces: ▁ -1, a -2, b -3, ab -4, ▁a -5, ▁ab -6, abab -7, é -8.
const SpmCase kSpmCases[] = {
    {"nothing_for_nothing", "", false, {}},
    {"space_in_front", "ab", false, {"▁ab"}},
    {"one_space_more_than_there_is", " ab", false, {"▁", "▁ab"}},
    {"best_score_first", "ababab", false, {"▁ab", "abab"}},
    {"bytes_of_a_missing_character", "a你", false, {"▁a", "<0xE4>", "<0xBD>", "<0xA0>"}},
    {"several_missing_characters", "你c", false, {"▁", "<0xE4>", "<0xBD>", "<0xA0>", "<0x63>"}},
    {"a_character_of_two_bytes", "é", false, {"▁", "é"}},
    {"space_mark_is_a_space", "a▁b", false, {"▁a", "▁", "b"}},
    {"byte_token_text_is_text", "<0x61>", false, {"▁", "<0x3C>", "<0x30>", "<0x78>", "<0x36>", "<0x31>", "<0x3E>"}},
    {"space_after_a_special_token", "a<s>b", true, {"▁a", "<s>", "▁", "b"}},
    {"no_space_before_one", "<s>", true, {"<s>"}},
    {"two_special_tokens", "<s></s>a", true, {"<s>", "</s>", "▁a"}},
    {"control_text_as_text", "<s>", false, {"▁", "<0x3C>", "<0x73>", "<0x3E>"}},
};

TestVocabulary small_spm() {
  TestVocabulary v = test::spm_vocabulary();
  float score = 0;
  for (const char* piece : {"▁", "a", "b", "ab", "▁a", "▁ab", "abab", "é"}) v.add(piece, test::kNormal, --score);
  return v;
}

TEST(SpmTokenizer, Texts) {
  for (const MergeMethod method : {MergeMethod::kSentencePieceIfExact, MergeMethod::kOwn}) {
    const TestVocabulary v = small_spm();
    const auto tokenizer = v.tokenizer(method);
    for (const SpmCase& c : kSpmCases) {
      std::vector<std::string> texts;
      for (const Token token : tokenizer->encode(c.text, c.parse_special, false)) texts.push_back(v.tokens[token]);
      EXPECT_EQ(texts, c.texts) << c.name;
    }
  }
}

TEST(SpmTokenizer, WithoutSpacePrefix) {
  TestVocabulary v = small_spm();
  v.flags["add_space_prefix"] = false;
  const auto tokenizer = v.tokenizer();
  EXPECT_EQ(pieces_of(*tokenizer, "ab"), std::vector<std::string>{"ab"});
  EXPECT_EQ(pieces_of(*tokenizer, " ab"), std::vector<std::string>{" ab"});
  EXPECT_EQ(decode(*tokenizer, tokenizer->encode(" ab", false, false)), " ab");
}

// Decoding removes exactly the space that encoding adds.
TEST(SpmTokenizer, LeadingSpace) {
  const auto tokenizer = small_spm().tokenizer();
  for (const char* text : {"ab", " ab", "  ab", " ", "", "a<s>b", "a <s> b", "<s>ab</s>", " <s>", "\n"}) {
    const std::vector<Token> ids = tokenizer->encode(text, true, false);
    EXPECT_EQ(decode(*tokenizer, ids, true), text);
    const std::vector<Token> with_bos = tokenizer->encode(text, true, true);
    EXPECT_EQ(decode(*tokenizer, with_bos, true), std::string("<s>") + text);
  }
}

TEST(SpmTokenizer, UnknownTokenWhereBytesAreMissing) {
  TestVocabulary v = small_spm();
  v.tokens[3 + 0xE4] = "[no byte E4]", v.types[3 + 0xE4] = test::kUnused;
  for (const MergeMethod method : {MergeMethod::kSentencePieceIfExact, MergeMethod::kOwn}) {
    const std::vector<Token> ids = v.tokenizer(method)->encode("你我é", false, false);
    EXPECT_EQ(ids, (std::vector<Token>{259, 0, 3 + 0xE6, 3 + 0x88, 3 + 0x91, 266}));  // ▁, <unk>, three bytes, é
  }
}

}  // namespace
}  // namespace warpchat
