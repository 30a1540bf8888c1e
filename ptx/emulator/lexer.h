// PTX text to tokens. White space and comments are dropped, except comments that delimit tagged regions; every token
// keeps its position in the text.
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
  kFloat,        // 0f3F800000, 0d... or 1.5: `bits` hold a double
  kString,       // without the quotes
  kPunctuation,  // one character
  kEnd
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;
  uint64_t bits = 0;
  Position at;
  bool spaced = true;      // preceded by white space or a comment
  bool is_single = false;  // written as 0f........; `single` holds that pattern
  uint32_t single = 0;
  std::string_view tag;  // the innermost open "// tag: name"
};

// `text` must outlive the tokens. Throws ParseProblem.
std::vector<Token> tokenise(std::string_view text);

}  // namespace ptx::emulator
