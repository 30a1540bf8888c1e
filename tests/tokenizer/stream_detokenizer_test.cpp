// Tokens with any bytes come in, whole characters go out.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/tokenizer/test_vocabulary.h"

namespace warpchat {
namespace {

TEST(StreamDetokenizer, EveryCharacterByteByByte) {
  const auto tokenizer = test::byte_vocabulary().tokenizer();
  StreamDetokenizer stream(*tokenizer);
  for (char32_t character = 0; character < 0x110000; character += character < 0x800 ? 1 : 7) {
    if (character >= 0xD800 && character < 0xE000) continue;
    std::string text;
    append_utf8(character, text);
    for (size_t i = 0; i < text.size(); ++i) {
      const std::string added = stream.add(tokenizer->find(mapped_byte(static_cast<uint8_t>(text[i]))));
      ASSERT_EQ(added, i + 1 < text.size() ? "" : text) << static_cast<uint32_t>(character);
    }
  }
  EXPECT_EQ(stream.flush(), "");
}

struct StreamCase {
  const char* name;
  std::string bytes;
  std::vector<std::string> added;  // after each byte
  std::string flushed;
};

const std::string kBad = "\xEF\xBF\xBD";

const StreamCase kStreamCases[] = {
    {"ascii", "ab", {"a", "b"}, ""},
    {"never_a_byte",
     "a\xFF"
     "b",
     {"a", kBad, "b"},
     ""},
    {"broken_off_by_ascii", "\xE4\xBD!", {"", "", kBad + "!"}, ""},
    {"broken_off_by_a_start", "\xE4\xC3\xA9", {"", kBad, "é"}, ""},
    {"surrogate", "\xED\xA0\x80", {"", kBad + kBad, kBad}, ""},
    {"broken_off_by_the_end", "\xF0\x9F\x99", {"", "", ""}, kBad},
};

TEST(StreamDetokenizer, BytesThatAreNoCharacter) {
  const auto tokenizer = test::byte_vocabulary().tokenizer();
  for (const StreamCase& c : kStreamCases) {
    StreamDetokenizer stream(*tokenizer);
    for (size_t i = 0; i < c.bytes.size(); ++i)
      EXPECT_EQ(stream.add(tokenizer->find(mapped_byte(static_cast<uint8_t>(c.bytes[i])))), c.added[i])
          << c.name << " " << i;
    EXPECT_EQ(stream.flush(), c.flushed) << c.name;
    EXPECT_EQ(stream.flush(), "") << c.name;
  }
}

TEST(StreamDetokenizer, TokensThatCutCharactersAnywhere) {
  std::mt19937 random(4);
  const std::string text = "a你🙂é世界👍🏽";
  for (int i = 0; i < 200; ++i) {
    test::TestVocabulary v = test::byte_vocabulary();
    std::vector<Token> tokens;
    for (size_t at = 0; at < text.size();) {
      const size_t size = std::min<size_t>(1 + random() % 5, text.size() - at);
      const std::string letters = map_bytes(text.substr(at, size));
      const auto known = std::ranges::find(v.tokens, letters);
      tokens.push_back(known == v.tokens.end() ? v.add(letters) : static_cast<Token>(known - v.tokens.begin()));
      at += size;
    }
    const auto tokenizer = v.tokenizer();
    StreamDetokenizer stream(*tokenizer);
    std::string together;
    for (const Token token : tokens) {
      const std::string added = stream.add(token);
      ASSERT_TRUE(is_valid_utf8(added));
      together += added;
    }
    ASSERT_EQ(together + stream.flush(), text);
  }
}

TEST(StreamDetokenizer, ControlTokensAreSilent) {
  const test::TestVocabulary v = test::learnt_vocabulary();
  const auto tokenizer = v.tokenizer();
  StreamDetokenizer stream(*tokenizer);
  EXPECT_EQ(stream.add(tokenizer->find("<|im_end|>")), "");
  EXPECT_EQ(stream.add(tokenizer->find("<think>")), "<think>");
}

}  // namespace
}  // namespace warpchat
