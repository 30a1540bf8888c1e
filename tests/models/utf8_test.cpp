// UTF-8 against a decoder written from the definition, for every character and every kind of error.
#include "models/utf8.h"

#include <gtest/gtest.h>

namespace warpchat {
namespace {

struct Case {
  const char* name;
  std::string text;
  size_t bytes;
  Utf8State state;
};

const Case kCases[] = {
    {"ascii", "a", 1, Utf8State::kValid},
    {"two_bytes", "é!", 2, Utf8State::kValid},
    {"three_bytes", "你", 3, Utf8State::kValid},
    {"four_bytes", "🙂", 4, Utf8State::kValid},
    {"last_character", "\xF4\x8F\xBF\xBF", 4, Utf8State::kValid},
    {"nul", std::string(1, '\0'), 1, Utf8State::kValid},
    {"lone_continuation", "\x80", 1, Utf8State::kInvalid},
    {"overlong_slash", "\xC0\xAF", 1, Utf8State::kInvalid},
    {"overlong_in_three", "\xE0\x9F\xBF", 1, Utf8State::kInvalid},
    {"overlong_in_four", "\xF0\x8F\xBF\xBF", 1, Utf8State::kInvalid},
    {"surrogate", "\xED\xA0\x80", 1, Utf8State::kInvalid},
    {"above_the_last", "\xF4\x90\x80\x80", 1, Utf8State::kInvalid},
    {"never_a_byte", "\xFF", 1, Utf8State::kInvalid},
    {"broken_off_by_ascii", "\xE4\xBD!", 2, Utf8State::kInvalid},
    {"broken_off_by_a_start", "\xF0\x9F\x99\xC3", 3, Utf8State::kInvalid},
    {"one_of_two", "\xC3", 1, Utf8State::kIncomplete},
    {"two_of_three", "\xE4\xBD", 2, Utf8State::kIncomplete},
    {"three_of_four", "\xF0\x9F\x99", 3, Utf8State::kIncomplete},
};

TEST(Utf8, FirstCharacter) {
  for (const Case& c : kCases) {
    const Utf8Step step = first_character(c.text);
    EXPECT_EQ(step.bytes, c.bytes) << c.name;
    EXPECT_EQ(static_cast<int>(step.state), static_cast<int>(c.state)) << c.name;
    const bool is_valid = c.state == Utf8State::kValid;
    EXPECT_EQ(is_valid_utf8("01234567" + c.text), is_valid) << c.name;
    EXPECT_EQ(find_invalid_utf8("aé世🌍" + c.text), is_valid ? std::string_view::npos : 10u) << c.name;
    EXPECT_EQ(step.value == 0, !is_valid || c.text[0] == 0) << c.name;
  }
}

TEST(Utf8, EveryCharacterIsValidAndItsBeginningsAreIncomplete) {
  for (char32_t character = 0; character < 0x110000; ++character) {
    if (character >= 0xD800 && character < 0xE000) continue;
    std::string text;
    append_utf8(character, text);
    ASSERT_TRUE(is_valid_utf8(text)) << static_cast<uint32_t>(character);
    ASSERT_EQ(first_character(text).value, character);
    size_t at = 1;
    ASSERT_EQ(next_code_point("x" + text + "y", at), character);
    ASSERT_EQ(at, 1 + text.size());
    for (size_t bytes = 1; bytes < text.size(); ++bytes) {
      const Utf8Step step = first_character(std::string_view(text).substr(0, bytes));
      ASSERT_TRUE(step.state == Utf8State::kIncomplete && step.bytes == bytes) << static_cast<uint32_t>(character);
    }
  }
}

TEST(Utf8, EveryByteWithoutCharacterIsReplaced) {
  EXPECT_EQ(replace_invalid_utf8("a\xFF"
                                 "b"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(replace_invalid_utf8("\xE4\xBD"
                                 "!"),
            "\xEF\xBF\xBD\xEF\xBF\xBD!");  // one per byte, as in llama.cpp
  EXPECT_EQ(replace_invalid_utf8("é\xF0\x9F"), "é\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(replace_invalid_utf8("你好"), "你好");
}

}  // namespace
}  // namespace warpchat
