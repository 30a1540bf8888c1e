// Text as Python sees it: a sequence of code points. Strings are valid UTF-8 throughout; what is not is refused where
// it enters. Character properties come from utf8proc.
#pragma once
#include <string>
#include <string_view>

namespace warpchat::jinja {

// The offset of the first byte that is not part of well-formed UTF-8, or npos.
size_t find_invalid_utf8(std::string_view text);

// Whether a byte is one of a character's, but not its first.
constexpr bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// The code point at `offset`, which is moved behind it.
char32_t next_code_point(std::string_view text, size_t& offset);
void append_code_point(std::string& out, char32_t c);
std::u32string decode(std::string_view text);
std::string encode(std::u32string_view code_points);
size_t count_code_points(std::string_view text);
size_t offset_of(std::string_view text, size_t n);  // of the code point n, from 0; of the end where there are only n

bool is_space(char32_t c);      // what str.strip() strips, the same set as \s
bool is_line_end(char32_t c);   // what str.splitlines() splits at
bool is_printable(char32_t c);  // what repr() leaves as it is
bool is_letter(char32_t c);
bool is_decimal(char32_t c);
bool is_digit(char32_t c);
bool is_letter_or_number(char32_t c);
bool is_upper(char32_t c);
bool is_lower(char32_t c);
bool is_word(char32_t c);  // letters, marks, numbers and '_'

// Full case mappings, as str.upper() and its kin.
std::string to_upper(std::string_view text);
std::string to_lower(std::string_view text);
std::string to_title(std::string_view text);    // every word, a word being a run of cased letters
std::string capitalize(std::string_view text);  // the first letter in title case, the rest in lower case
std::string swap_case(std::string_view text);

// The part without leading (trailing) white space.
std::string_view strip_left(std::string_view text);
std::string_view strip_right(std::string_view text);

}  // namespace warpchat::jinja
