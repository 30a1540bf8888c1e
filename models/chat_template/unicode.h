// Text as in Python: a sequence of code points. Strings are always valid UTF-8; invalid input is refused. Character
// properties come from utf8proc.
#pragma once
#include <string>
#include <string_view>

#include "models/utf8.h"

namespace warpchat::jinja {

std::u32string decode(std::string_view text);
std::string encode(std::u32string_view code_points);
size_t count_code_points(std::string_view text);
size_t offset_of(std::string_view text, size_t n);  // offset of code point n, from 0; the end if there are only n

bool is_space(char32_t c);      // stripped by str.strip(), same as \s
bool is_line_end(char32_t c);   // split at by str.splitlines()
bool is_printable(char32_t c);  // left unescaped by repr()
bool is_letter(char32_t c);
bool is_decimal(char32_t c);
bool is_digit(char32_t c);
bool is_letter_or_number(char32_t c);
bool is_upper(char32_t c);
bool is_lower(char32_t c);
bool is_word(char32_t c);  // letters, marks, numbers and '_'

// Full case mappings, as in str.upper() and similar.
std::string to_upper(std::string_view text);
std::string to_lower(std::string_view text);
std::string to_title(std::string_view text);    // every word, i.e. every run of cased letters
std::string capitalize(std::string_view text);  // first letter in title case, others in lower case
std::string swap_case(std::string_view text);

// Strips leading (trailing) white space.
std::string_view strip_left(std::string_view text);
std::string_view strip_right(std::string_view text);

}  // namespace warpchat::jinja
