// UTF-8, for the whole program. Distinguishes invalid bytes from incomplete characters.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace warpchat {

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";  // U+FFFD

enum class Utf8State { kValid, kInvalid, kIncomplete };

struct Utf8Step {
  size_t bytes;  // length of the character; else of the longest valid beginning, at least 1
  Utf8State state;
  char32_t value = 0;  // the code point of a valid character
};

// Whether a byte of valid text is a continuation byte.
constexpr bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// The beginning of the character at an offset of valid text, which is not behind its end.
inline size_t character_start(std::string_view text, size_t offset) {
  while (offset > 0 && offset < text.size() && continues_character(text[offset])) --offset;
  return offset;
}

// First character of a non-empty text. Overlong forms, surrogates and values above U+10FFFF are invalid.
Utf8Step first_character(std::string_view text);

// Code point of the character at `offset` of valid text; moves `offset` behind it.
char32_t next_code_point(std::string_view text, size_t& offset);

size_t find_invalid_utf8(std::string_view text);  // offset of the first character that is not valid, or npos
bool is_valid_utf8(std::string_view text);

// A byte order mark is no part of a text.
std::string_view without_byte_order_mark(std::string_view text);

// Replaces bytes that belong to no character by U+FFFD.
std::string replace_invalid_utf8(std::string_view text);

// Appends the character in one to four bytes.
void append_utf8(char32_t character, std::string& text);

}  // namespace warpchat
