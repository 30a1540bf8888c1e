// ASCII letters and blanks in UTF-8 text; other bytes are left unchanged.
#pragma once
#include <string>
#include <string_view>

namespace warpchat {

inline char lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = lower_case(c);
  return lower;
}

// A letter, a digit or '_', as in names.
inline bool is_word_character(char c) {
  return (lower_case(c) >= 'a' && lower_case(c) <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Removes blanks at both ends.
inline std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\n") {
  const size_t first = text.find_first_not_of(blanks);
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

}  // namespace warpchat
