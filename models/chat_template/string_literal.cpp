#include "models/chat_template/string_literal.h"

#include <charconv>

#include "models/chat_template/unicode.h"
#include "models/chat_template/value.h"

namespace warpchat::jinja {
namespace {

// Reads a code point of n hexadecimal digits at `at`, and moves `at` behind it.
char32_t take_hex(std::string_view text, size_t& at, size_t n) {
  unsigned code_point = 0;
  const std::string_view digits = text.substr(at, n);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code_point, 16);
  if (digits.size() < n || error != std::errc() || end != digits.data() + n) {
    throw Fault("an escape \\x, \\u or \\U in a string is cut short");
  }
  if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point < 0xE000)) {
    throw Fault("the escape '" + std::string(digits) + "' in a string is no character");
  }
  at += n;
  return code_point;
}

char32_t take_octal(std::string_view text, size_t& at) {
  char32_t code_point = 0;
  for (int i = 0; i < 3 && at < text.size() && text[at] >= '0' && text[at] <= '7'; ++i) {
    code_point = code_point * 8 + static_cast<char32_t>(text[at++] - '0');
  }
  return code_point;
}

}  // namespace

std::string unescape(std::string_view text) {
  constexpr std::string_view kLetters = "\\'\"abfnrtv", kMeanings = "\\'\"\a\b\f\n\r\t\v";
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at++];
    if (c != '\\' || at == text.size()) {
      out += c;
      continue;
    }
    const char escape = text[at++];
    if (const size_t i = kLetters.find(escape); i != std::string_view::npos) {
      out += kMeanings[i];
    } else if (escape == 'x' || escape == 'u' || escape == 'U') {
      append_utf8(take_hex(text, at, escape == 'x' ? 2 : escape == 'u' ? 4 : 8), out);
    } else if (escape >= '0' && escape <= '7') {
      append_utf8(take_octal(text, --at), out);
    } else if (escape == 'N') {
      throw Fault("the escape \\N{...} in a string is not supported");
    } else if (escape != '\n') {  // an escaped line end is dropped
      out += c;
      out += escape;
    }
  }
  return out;
}

}  // namespace warpchat::jinja
