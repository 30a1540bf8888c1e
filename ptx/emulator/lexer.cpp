#include "ptx/emulator/lexer.h"

#include <locale.h>
#include <stdlib.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <string>

namespace ptx::emulator {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_part(char c) { return is_letter(c) || is_digit(c); }
int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// In no program's locale, which may have a decimal comma. Beyond the range of a double: infinity, or zero.
double decimal(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc::result_out_of_range) return value;
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  return strtod_l(std::string(text).c_str(), nullptr, plain);
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    tokens.reserve(text_.size() / 4);
    do {
      tokens.push_back(next());
      tokens.back().tag = open_tags_.empty() ? std::string_view() : open_tags_.back();
      if (tokens.back().text == "entry" || tokens.back().text == "func")
        open_tags_.clear();  // regions do not cross functions
    } while (tokens.back().kind != TokenKind::kEnd);
    return tokens;
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void advance() {
    if (text_[at_++] == '\n') {
      ++line_;
      line_start_ = at_;
    }
  }
  Position here() const { return {line_, static_cast<uint32_t>(at_ - line_start_ + 1)}; }

  bool skip_space() {
    const size_t start = at_;
    while (at_ < text_.size()) {
      const char c = peek();
      if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v') {
        advance();
      } else if (c == '/' && peek(1) == '/') {
        const size_t comment = at_;
        while (at_ < text_.size() && peek() != '\n') advance();
        note_tag(text_.substr(comment + 2, at_ - comment - 2));
      } else if (c == '/' && peek(1) == '*') {
        skip_block_comment();
      } else {
        break;
      }
    }
    return at_ != start;
  }

  // An end closes all regions opened since the one it names; without a matching beginning it is ignored.
  void note_tag(std::string_view comment) {
    const auto trim = [](std::string_view s) {
      const size_t first = s.find_first_not_of(" \t\r"), last = s.find_last_not_of(" \t\r");
      return first == std::string_view::npos ? std::string_view() : s.substr(first, last - first + 1);
    };
    comment = trim(comment);
    if (comment.starts_with("tag:")) open_tags_.push_back(trim(comment.substr(4)));
    if (!comment.starts_with("end tag:")) return;
    const auto own = std::ranges::find(open_tags_.rbegin(), open_tags_.rend(), trim(comment.substr(8)));
    if (own != open_tags_.rend()) open_tags_.erase(own.base() - 1, open_tags_.end());
  }

  void skip_block_comment() {
    const Position start = here();
    at_ += 2;
    while (!(peek() == '*' && peek(1) == '/')) {
      if (at_ >= text_.size()) refuse(start, "the comment is never closed");
      advance();
    }
    at_ += 2;
  }

  Token next() {
    Token token;
    token.spaced = skip_space();
    token.at = here();
    const size_t start = at_;
    const char c = peek();
    if (at_ >= text_.size()) return token;
    if (is_letter(c)) {
      token.kind = TokenKind::kName;
      while (is_name_part(peek())) ++at_;
    } else if (c == '.' && is_name_part(peek(1))) {
      lex_dot(token);
      return token;
    } else if (is_digit(c)) {
      lex_number(token);
    } else if (c == '"') {
      lex_string(token);
      return token;
    } else if (std::string_view("{}()[],;:<>=+-!@|~*/&^?").find(c) != std::string_view::npos) {
      token.kind = TokenKind::kPunctuation;
      ++at_;
    } else {
      refuse(token.at, "unexpected character " + printable(c));
    }
    token.text = text_.substr(start, at_ - start);
    return token;
  }

  static std::string printable(char c) {
    if (c > ' ' && c < 127) return std::string("'") + c + "'";
    return "with code " + std::to_string(static_cast<unsigned char>(c));
  }

  // .name, and the qualified .shared::cta, .L2::128B.
  void lex_dot(Token& token) {
    token.kind = TokenKind::kDot;
    const size_t start = ++at_;
    while (is_name_part(peek()) || (peek() == ':' && peek(1) == ':' && is_name_part(peek(2)))) {
      at_ += peek() == ':' ? 2 : 1;
    }
    token.text = text_.substr(start, at_ - start);
  }

  void lex_string(Token& token) {
    token.kind = TokenKind::kString;
    const size_t start = ++at_;
    while (at_ < text_.size() && peek() != '"' && peek() != '\n')
      at_ += peek() == '\\' && at_ + 1 < text_.size() ? 2 : 1;
    if (peek() != '"') refuse(token.at, "the string is never closed");
    token.text = text_.substr(start, at_ - start);
    ++at_;
  }

  void lex_number(Token& token) {
    const char mark = peek(1);
    if (peek() == '0' && (mark == 'f' || mark == 'F')) return lex_pattern(token, 8);
    if (peek() == '0' && (mark == 'd' || mark == 'D')) return lex_pattern(token, 16);
    size_t end = at_;
    const bool based = peek() == '0' && (mark == 'x' || mark == 'X' || mark == 'b' || mark == 'B');
    if (!based) {
      while (end < text_.size() && is_digit(text_[end])) ++end;
      const char after = end < text_.size() ? text_[end] : '\0';
      if (after == '.' || after == 'e' || after == 'E') return lex_decimal(token);
    }
    lex_integer(token);
  }

  void lex_pattern(Token& token, int digits) {
    token.kind = TokenKind::kFloat;
    at_ += 2;
    uint64_t bits = 0;
    for (int i = 0; i < digits; ++i, ++at_) {
      const int digit = hex_digit(peek());
      if (digit < 0)
        refuse(token.at, "a floating-point pattern needs " + std::to_string(digits) + " hexadecimal digits");
      bits = bits << 4 | static_cast<uint64_t>(digit);
    }
    if (is_name_part(peek())) refuse(token.at, "a floating-point pattern has " + std::to_string(digits) + " digits");
    if (digits == 8) {
      token.is_single = true;
      token.single = static_cast<uint32_t>(bits);
      bits = std::bit_cast<uint64_t>(static_cast<double>(std::bit_cast<float>(token.single)));
    }
    token.bits = bits;
  }

  void lex_decimal(Token& token) {
    token.kind = TokenKind::kFloat;
    const size_t start = at_;
    while (is_digit(peek())) ++at_;
    if (peek() == '.') ++at_;
    while (is_digit(peek())) ++at_;
    if ((peek() == 'e' || peek() == 'E') &&
        (is_digit(peek(1)) || ((peek(1) == '+' || peek(1) == '-') && is_digit(peek(2))))) {
      at_ += 2;
      while (is_digit(peek())) ++at_;
    }
    token.bits = std::bit_cast<uint64_t>(decimal(text_.substr(start, at_ - start)));
  }

  void lex_integer(Token& token) {
    token.kind = TokenKind::kInteger;
    unsigned base = 10;
    if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X'))
      base = 16;
    else if (peek() == '0' && (peek(1) == 'b' || peek(1) == 'B'))
      base = 2;
    else if (peek() == '0' && is_digit(peek(1)))
      base = 8;
    if (base == 16 || base == 2) at_ += 2;
    const size_t start = at_;
    for (int digit; (digit = hex_digit(peek())) >= 0; ++at_) {
      if (static_cast<unsigned>(digit) >= base) refuse(token.at, "a digit does not belong to this number");
      const uint64_t next_bits = token.bits * base + static_cast<unsigned>(digit);
      if (token.bits > (~0ull - static_cast<unsigned>(digit)) / base)
        refuse(token.at, "the number needs more than 64 bits");
      token.bits = next_bits;
    }
    if (at_ == start) refuse(token.at, "a number has no digits");
    if (peek() == 'U' || peek() == 'u') ++at_;
    if (is_name_part(peek())) refuse(token.at, "a name cannot begin with a digit");
  }

  std::string_view text_;
  std::vector<std::string_view> open_tags_;  // innermost last
  size_t at_ = 0, line_start_ = 0;
  uint32_t line_ = 1;
};

}  // namespace

std::vector<Token> tokenise(std::string_view text) { return Lexer(text).run(); }

}  // namespace ptx::emulator
