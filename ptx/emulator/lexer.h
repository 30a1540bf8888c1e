// PTX text -> tokens. White space and comments vanish, but those that open and close tagged regions leave their mark;
// every token keeps its place in the text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ptx/emulator/load_error.h"

namespace ptx::emulator {

enum class TokenKind : uint8_t {
  kName,         // add  %r1  $L__BB0_1  k_param_0
  kDot,          // .b32  .shared::cta  .x : text without the dot
  kInteger,      // value in `bits`
  kFloat,        // 0f3F800000 and 0d...: `bits` hold the pattern of a double; 1.5 likewise
  kString,       // without the quotes
  kPunctuation,  // one character
  kEnd
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;
  uint64_t bits = 0;
  Position at;
  bool spaced = true;      // white space or a comment stands before it
  bool is_single = false;  // a float written as 0f........, whose pattern is also in `single`
  uint32_t single = 0;
  std::string_view tag;  // of the innermost "// tag: name" whose "// end tag: name" has not come
};

// `text` must outlive the tokens. Throws ParseProblem.
std::vector<Token> tokenise(std::string_view text);

}  // namespace ptx::emulator
