// Composed text (NFC): against utf8proc's own, and which tokenisers compose.
#include "models/tokenizer/compose.h"

#include <gtest/gtest.h>
#include <utf8proc.h>

#include <cstdlib>
#include <random>

#include "tests/tokenizer/test_vocabulary.h"

namespace warpchat {
namespace {

std::string composed(std::string_view text) {
  std::string storage;
  return std::string(compose_text(text, storage));
}

// All of the text at once; its time is quadratic in a run of marks.
std::string reference(std::string_view text) {
  utf8proc_uint8_t* result = nullptr;
  const auto n =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &result, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  EXPECT_GE(n, 0);
  const std::string made(reinterpret_cast<const char*>(result), static_cast<size_t>(std::max<utf8proc_ssize_t>(n, 0)));
  std::free(result);
  return made;
}

bool is_scalar(char32_t c) { return c < 0xD800 || (c >= 0xE000 && c < 0x110000); }

struct Case {
  const char *name, *text, *composed;
};

const Case kCases[] = {
    {"empty", "", ""},
    {"ascii", "a < b", "a < b"},
    {"letter_and_mark", "e\xCC\x81", "é"},
    {"mark_on_ascii", ">\xCC\xB8", "\xE2\x89\xAF"},
    {"mark_alone", "\xCC\x81", "\xCC\x81"},
    {"mark_after_line_break", "\n\xCC\x81", "\n\xCC\x81"},
    {"two_marks_in_either_order", "a\xCC\x87\xCC\xA3 a\xCC\xA3\xCC\x87", "\xE1\xBA\xA1\xCC\x87 \xE1\xBA\xA1\xCC\x87"},
    {"jamo", "\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB", "한"},
    {"syllable_and_jamo", "하\xE1\x86\xAB", "한"},
    {"kana", "か\xE3\x82\x99", "が"},
    {"ligature_stays", "\xEF\xAC\x81", "\xEF\xAC\x81"},
    {"single_that_has_another_form", "\xE2\x84\xAB", "Å"},
    {"excluded_from_composition", "\xE0\xA5\x98", "\xE0\xA4\x95\xE0\xA4\xBC"},
};

TEST(Compose, Cases) {
  for (const Case& c : kCases) {
    EXPECT_EQ(composed(c.text), c.composed) << c.name;
    EXPECT_EQ(reference(c.text), c.composed) << c.name;
  }
}

TEST(Compose, NulIsACharacter) { EXPECT_EQ(composed(std::string("e\xCC\x81\0e\xCC\x81", 7)), std::string("é\0é", 5)); }

TEST(Compose, ComposedTextIsTheSameMemory) {
  std::string storage;
  const std::string_view text = "Äpfel, 你好, 한국어, текст, 🙂";
  EXPECT_EQ(compose_text(text, storage).data(), text.data());
}

// Each character alone and behind others, so that no cut goes through what composes.
TEST(Compose, EveryCharacterAsInUtf8proc) {
  for (const std::string before : {"", "a", "가", "か", "\xE0\xA7\x87", "e\xCC\x81"}) {
    std::string text;
    for (char32_t c = 0; c < 0x30000; ++c) {  // no larger one decomposes or is a mark, but for variation selectors
      if (!is_scalar(c)) continue;
      text += before;
      append_utf8(c, text);
      if (c % 16 != 15) continue;
      ASSERT_EQ(composed(text), reference(text)) << "U+" << std::hex << static_cast<uint32_t>(c) << " " << before;
      text.clear();
    }
  }
}

TEST(Compose, RandomTextsAsInUtf8proc) {
  std::mt19937 random(7);
  constexpr char32_t kStarts[] = {0x20,   0x41,   0x300,  0x323,  0x370,  0x900,  0x9C0,  0x1100,
                                  0x1160, 0x11A8, 0x1E00, 0x3040, 0x3099, 0xAC00, 0xF900, 0x1D160};
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (uint32_t n = random() % 12; n > 0; --n)
      append_utf8(kStarts[random() % std::size(kStarts)] + random() % 48, text);
    const std::string once = composed(text);
    ASSERT_EQ(once, reference(text)) << text;
    ASSERT_EQ(composed(once), once) << text;
  }
}

// Quadratic work would show here: half a million marks in the wrong order.
TEST(Compose, LongRunOfMarks) {
  std::string text = "a", above, below;
  for (int i = 0; i < 250'000; ++i) text += "\xCC\x81\xCC\xA3", above += "\xCC\x81", below += "\xCC\xA3";
  EXPECT_TRUE(composed(text) == "\xE1\xBA\xA1" + below.substr(2) + above);
}

TEST(Compose, QwensTokenisersUnlessTheFileSaysOtherwise) {
  for (const char* pre : {"qwen2", "qwen35", "gpt-2", "llama-bpe", "smollm", "default", "deepseek-r1-qwen"}) {
    test::TestVocabulary v = test::learnt_vocabulary(pre);
    const bool usual = std::string_view(pre).starts_with("qwen");
    EXPECT_EQ(v.tokenizer()->composes(), usual) << pre;
    for (const bool stated : {false, true}) {
      v.flags["normalizer.nfc"] = stated;
      const auto tokenizer = v.tokenizer();
      EXPECT_EQ(tokenizer->composes(), stated) << pre;
      EXPECT_EQ(decode(*tokenizer, tokenizer->encode("e\xCC\x81", false, false)), stated ? "é" : "e\xCC\x81") << pre;
    }
  }
  test::TestVocabulary spm = test::learnt_spm_vocabulary();
  EXPECT_FALSE(spm.tokenizer()->composes());
  spm.flags["normalizer.nfc"] = true;
  EXPECT_EQ(decode(*spm.tokenizer(), spm.tokenizer()->encode("e\xCC\x81", false, false)), "é");
}

// The texts of control tokens are found first: nothing composes over their ends, and in content all is one text.
TEST(Compose, BetweenSpecialTokens) {
  test::TestVocabulary v = test::learnt_vocabulary("qwen2");
  const auto tokenizer = v.tokenizer();
  const std::string text =
      "<|im_end|>\xCC\xB8"
      "e\xCC\x81";
  EXPECT_EQ(decode(*tokenizer, tokenizer->encode(text, true, false), true), "<|im_end|>\xCC\xB8é");
  EXPECT_EQ(decode(*tokenizer, tokenizer->encode(text, false, false), true), "<|im_end|\xE2\x89\xAFé");
  const std::vector<TextRange> content = {{0, text.size()}};
  EXPECT_EQ(tokenizer->encode(text, content, false), tokenizer->encode(text, false, false));
}

}  // namespace
}  // namespace warpchat
