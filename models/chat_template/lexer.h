// Splits a template into tokens: text between tags, and contents of tags. Trims white space as jinja2 does with
// trim_blocks and lstrip_blocks: a block or comment alone on a line leaves no blanks and no line end, `-` strips all
// white space on its side, `+` keeps it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpchat::jinja {

enum class TokenType {
  kData,           // output text
  kVariableBegin,  // {{
  kVariableEnd,
  kBlockBegin,  // {%
  kBlockEnd,
  kName,
  kString,  // without quotes, with escapes resolved
  kInteger,
  kReal,
  kOperator,
  kEnd,  // end of the template
};

struct Token {
  TokenType type;
  int line;
  std::string text;
  int64_t integer = 0;
  double real = 0;
};

// The last token is kEnd. Error with the line for anything that is no token.
std::vector<Token> tokenize(std::string_view source);

// Throws Error "chat template line 12: what".
[[noreturn]] void fail_at(int line, const std::string& what);

}  // namespace warpchat::jinja
