#include "models/chat_template/lexer.h"

#include <algorithm>
#include <optional>

#include "models/chat_template/numbers.h"
#include "models/chat_template/string_literal.h"
#include "models/chat_template/unicode.h"
#include "models/chat_template/value.h"
#include "models/error.h"
#include "models/text_format.h"

namespace warpchat::jinja {
namespace {

constexpr size_t kMaxMessageBytes = 500;  // messages quote texts of the template

// Normalises line ends to \n and drops one at the very end.
std::string normalize_lines(std::string_view source) {
  std::string text;
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      text += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      text += source[i];
    }
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  explicit Lexer(std::string source) : source_(std::move(source)) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) read_text();
    add(TokenType::kEnd, "");
    return std::move(tokens_);
  }

 private:
  void add(TokenType type, std::string text) { tokens_.push_back({type, line_, std::move(text)}); }

  void advance(size_t to) {
    line_ += static_cast<int>(
        std::count(source_.begin() + static_cast<ptrdiff_t>(at_), source_.begin() + static_cast<ptrdiff_t>(to), '\n'));
    at_ = to;
  }

  bool looks_at(std::string_view what, size_t at) const { return source_.compare(at, what.size(), what) == 0; }

  size_t skip_space(size_t at) const {
    return source_.size() - strip_left(std::string_view(source_).substr(at)).size();
  }

  size_t find_tag(size_t from) const {
    for (size_t at = source_.find('{', from); at != std::string::npos; at = source_.find('{', at + 1)) {
      if (at + 1 < source_.size() && std::string_view("%{#").find(source_[at + 1]) != std::string_view::npos) return at;
    }
    return std::string::npos;
  }

  char sign_at(size_t at) const {
    return at < source_.size() && (source_[at] == '-' || source_[at] == '+') ? source_[at] : 0;
  }

  // Output text up to `end`, where a tag with this sign begins. Blocks and comments remove blanks before them on their
  // line.
  void add_data(size_t end, char sign, bool is_variable) {
    std::string_view text = std::string_view(source_).substr(at_, end - at_);
    if (sign == '-') {
      text = strip_right(text);
    } else if (sign != '+' && !is_variable) {
      const size_t line_start = text.rfind('\n') + 1;  // 0 if there is none
      const bool begins_line = line_start > 0 || at_line_start_;
      if (begins_line && strip_left(text.substr(line_start)).empty()) text = text.substr(0, line_start);
    }
    if (!text.empty()) add(TokenType::kData, std::string(text));
    advance(end);
  }

  void read_text() {
    const size_t tag = find_tag(at_);
    if (tag == std::string::npos) {
      add(TokenType::kData, source_.substr(at_));
      return advance(source_.size());
    }
    const char kind = source_[tag + 1], sign = sign_at(tag + 2);
    add_data(tag, sign, kind == '{');
    if (kind == '%' && read_raw()) return;
    const int opened = line_;
    const size_t inside = tag + 2 + (sign ? 1 : 0);
    if (kind == '#') return read_comment(inside);
    add(kind == '{' ? TokenType::kVariableBegin : TokenType::kBlockBegin, "");
    advance(inside);
    read_expression(kind == '{', opened);
  }

  // End of a closing mark ("%}", "#}") at `at` with its sign and the white space that it strips; nothing: no mark.
  std::optional<size_t> closing(size_t at, std::string_view mark) const {
    const char sign = sign_at(at);
    if (sign == '+' && mark == "}}") return std::nullopt;
    if (!looks_at(mark, at + (sign ? 1 : 0))) return std::nullopt;
    const size_t end = at + mark.size() + (sign ? 1 : 0);
    if (sign == '-') return skip_space(end);
    const bool drops_line_end = !sign && mark != "}}" && end < source_.size() && source_[end] == '\n';
    return drops_line_end ? end + 1 : end;
  }

  void leave_tag(size_t end) {
    at_line_start_ = source_[end - 1] == '\n';
    advance(end);
  }

  void read_comment(size_t from) {
    for (size_t at = from; at < source_.size(); ++at) {
      if (const auto end = closing(at, "#}")) return leave_tag(*end);
    }
    fail_at(line_, "the comment that begins here is not closed with #}");
  }

  // {% raw %} ... {% endraw %} at at_: its contents are text. False: another block.
  bool read_raw() {
    const auto is_word_then = [this](size_t& at, std::string_view word) {
      at = skip_space(at + 2 + (sign_at(at + 2) ? 1 : 0));
      if (!looks_at(word, at)) return false;
      at = skip_space(at + word.size());
      return true;
    };
    size_t at = at_;
    if (!is_word_then(at, "raw") || sign_at(at) == '+' || !closing(at, "%}")) return false;
    const int opened = line_;
    leave_tag(sign_at(at) ? skip_space(at + 3) : at + 2);  // without a sign the line end stays
    for (size_t tag = source_.find("{%", at_); tag != std::string::npos; tag = source_.find("{%", tag + 1)) {
      size_t end = tag;
      if (!is_word_then(end, "endraw") || !closing(end, "%}")) continue;
      add_data(tag, sign_at(tag + 2), false);
      leave_tag(*closing(end, "%}"));
      return true;
    }
    fail_at(opened, "the raw block that begins here is not closed with {% endraw %}");
  }

  void read_expression(bool is_variable, int opened) {
    const std::string_view mark = is_variable ? "}}" : "%}";
    std::string brackets;  // expected closing brackets
    while (true) {
      advance(skip_space(at_));
      if (at_ >= source_.size()) {
        fail_at(opened, std::string("the tag that begins here is not closed with ") + std::string(mark));
      }
      if (const auto end = brackets.empty() ? closing(at_, mark) : std::nullopt) {
        add(is_variable ? TokenType::kVariableEnd : TokenType::kBlockEnd, "");
        return leave_tag(*end);
      }
      read_token(brackets);
    }
  }

  void read_token(std::string& brackets) {
    const char c = source_[at_];
    if (is_ascii_digit(c)) return read_number();
    if (c == '\'' || c == '"') return read_string(c);
    size_t end = at_;
    if (is_word(next_code_point(source_, end))) return read_name();
    const std::string op = read_operator();
    if (op == "(" || op == "[" || op == "{") brackets += op == "(" ? ')' : op == "[" ? ']' : '}';
    if (op == ")" || op == "]" || op == "}") {
      if (brackets.empty() || brackets.back() != op[0]) fail_at(line_, "the bracket '" + op + "' closes none");
      brackets.pop_back();
    }
  }

  void read_name() {
    size_t end = at_;
    for (size_t next = end; next < source_.size() && is_word(next_code_point(source_, next)); end = next) continue;
    add(TokenType::kName, source_.substr(at_, end - at_));
    advance(end);
  }

  std::string read_operator() {
    static constexpr std::string_view kOperators[] = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/",
                                                      "*",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                                      ">",  "<",  "=",  ".",  ":",  "|",  ",", ";"};
    for (std::string_view op : kOperators) {
      if (!looks_at(op, at_)) continue;
      add(TokenType::kOperator, std::string(op));
      advance(at_ + op.size());
      return std::string(op);
    }
    size_t end = at_;
    next_code_point(source_, end);
    fail_at(line_, "unexpected character '" + source_.substr(at_, end - at_) + "'");
  }

  // End of digits with single underscores between them; `from` if there are none.
  size_t skip_digits(size_t from) const {
    size_t at = from;
    while (at < source_.size() &&
           (is_ascii_digit(source_[at]) ||
            (source_[at] == '_' && at > from && at + 1 < source_.size() && is_ascii_digit(source_[at + 1])))) {
      ++at;
    }
    return at;
  }

  // End of a number with fraction or exponent at at_; at_: none.
  size_t skip_real() const {
    if (at_ > 0 && source_[at_ - 1] == '.') return at_;  // as in a.0.1
    const size_t whole = skip_digits(at_);
    size_t end = whole;
    if (looks_at(".", end) && skip_digits(end + 1) > end + 1) end = skip_digits(end + 1);
    if (end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
      const size_t digits = end + 1 + (sign_at(end + 1) ? 1 : 0);
      if (skip_digits(digits) > digits) return skip_digits(digits);
    }
    return end > whole ? end : at_;
  }

  // 0x1F, 0b1, 0o7, or decimal: zeros alone, or no leading zero.
  size_t skip_integer() const {
    const std::string_view rest = std::string_view(source_).substr(at_);
    if (rest.size() > 2 && rest[0] == '0') {
      const auto skip = [&](std::string_view digits) {
        size_t n = 2;
        while (n < rest.size() &&
               (digits.find(rest[n]) != std::string_view::npos ||
                (rest[n] == '_' && n + 1 < rest.size() && digits.find(rest[n + 1]) != std::string_view::npos))) {
          ++n;
        }
        return n;
      };
      const char letter = static_cast<char>(rest[1] | 0x20);
      const size_t n = letter == 'x'   ? skip("0123456789abcdefABCDEF")
                       : letter == 'o' ? skip("01234567")
                       : letter == 'b' ? skip("01")
                                       : 2;
      if (n > 2) return at_ + n;
    }
    if (rest[0] != '0') return skip_digits(at_);
    size_t n = 1;
    while (n < rest.size() && (rest[n] == '0' || (rest[n] == '_' && n + 1 < rest.size() && rest[n + 1] == '0'))) ++n;
    return at_ + n;
  }

  void read_number() {
    const size_t real_end = skip_real();
    const size_t end = real_end > at_ ? real_end : skip_integer();
    add(real_end > at_ ? TokenType::kReal : TokenType::kInteger, source_.substr(at_, end - at_));
    Token& token = tokens_.back();
    try {
      if (token.type == TokenType::kReal) {
        token.real = *parse_real(token.text);
      } else {
        token.integer = *parse_integer(token.text, 0);
      }
    } catch (const Fault& fault) {
      fail_at(line_, fault.what());
    }
    advance(end);
  }

  void read_string(char quote) {
    size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) fail_at(line_, "the string that begins here is not closed");
    try {
      add(TokenType::kString, unescape(std::string_view(source_).substr(at_ + 1, end - at_ - 1)));
    } catch (const Fault& fault) {
      fail_at(line_, fault.what());
    }
    advance(end + 1);
  }

  std::string source_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int line_ = 1;
  bool at_line_start_ = true;  // at_ is at the start of a line
};

}  // namespace

std::vector<Token> tokenize(std::string_view source) {
  if (const size_t at = find_invalid_utf8(source); at != std::string_view::npos) {
    fail_at(static_cast<int>(std::count(source.begin(), source.begin() + static_cast<ptrdiff_t>(at), '\n')) + 1,
            "byte " + std::to_string(at) + " of the template is not valid UTF-8");
  }
  return Lexer(normalize_lines(source)).run();
}

void fail_at(int line, const std::string& what) {
  throw Error("chat template line " + std::to_string(line) + ": " + printable(what, kMaxMessageBytes));
}

}  // namespace warpchat::jinja
