// UTF-8 one character at a time, with the difference between bytes that are wrong and bytes that are still missing.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace warpchat {

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";  // U+FFFD

enum class Utf8State { kValid, kInvalid, kIncomplete };

struct Utf8Step {
  size_t bytes;  // of the character; of the longest beginning of one, at least 1, where there is none
  Utf8State state;
};

// Whether a byte of valid text is one of a character's, but not its first.
constexpr bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// The first character of a text that is not empty. Overlong forms, surrogates and values above U+10FFFF are invalid.
Utf8Step first_character(std::string_view text);

bool is_valid_utf8(std::string_view text);

// The text with every byte that belongs to no character replaced by U+FFFD.
std::string replace_invalid_utf8(std::string_view text);

// Appends the character's one to four bytes.
void append_utf8(char32_t character, std::string& text);

}  // namespace warpchat
