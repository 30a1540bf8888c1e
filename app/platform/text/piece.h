// Long text for a terminal goes piece by piece, so that Ctrl-C is heeded in between.
#pragma once
#include <cstddef>
#include <string_view>

#include "models/utf8.h"

namespace warpchat {

inline constexpr size_t kMaxPiece = 4096;  // bytes

// Bytes of the text's first piece, which ends with a line if one ends in it, else not within a character.
inline size_t piece_bytes(std::string_view text) {
  if (text.size() <= kMaxPiece) return text.size();
  if (const size_t line = text.substr(0, kMaxPiece).rfind('\n'); line != std::string_view::npos) return line + 1;
  size_t end = kMaxPiece;
  while (end > 1 && continues_character(text[end])) --end;
  return end;
}

}  // namespace warpchat
