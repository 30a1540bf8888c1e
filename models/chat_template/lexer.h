// Cuts a template into tokens: the text between the tags, and what stands within them.
// White space is trimmed here, as jinja2 does it with trim_blocks and lstrip_blocks on: a block's or comment's own line
// leaves no blank and no line end behind, `-` strips all white space on its side, `+` keeps it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpchat::jinja {

enum class TokenType {
  kData,           // text of the output
  kVariableBegin,  // {{
  kVariableEnd,
  kBlockBegin,  // {%
  kBlockEnd,
  kName,
  kString,  // text: without quotes and escapes
  kInteger,
  kReal,
  kOperator,
  kEnd,  // of the template
};

struct Token {
  TokenType type;
  int line;
  std::string text;
  int64_t integer = 0;
  double real = 0;
};

// The last token is kEnd. Error, naming the line, for what is no token.
std::vector<Token> tokenize(std::string_view source);

// "chat template line 12: what"; throws Error.
[[noreturn]] void fail_at(int line, const std::string& what);

}  // namespace warpchat::jinja
