// Looks as SGR sequences. Colours are the terminal's own, so that they suit dark and light backgrounds.
#include "app/terminal/styled_text.h"

#include <algorithm>

#include "app/terminal/graphemes.h"

namespace warpchat {

namespace {

// A sequence's length from its ESC to its final byte.
size_t escape_bytes(std::string_view text) {
  size_t end = text.starts_with("\x1b[") ? 2 : 1;
  while (end < text.size() && !(text[end] >= '@' && text[end] <= '~')) ++end;
  return std::min(end + 1, text.size());
}

}  // namespace

std::string escape_sequence(Style style) {
  std::string codes = "\x1b[0";
  if (style.bold) codes += ";1";
  if (style.dim) codes += ";2";
  if (style.italic) codes += ";3";
  if (style.code) codes += ";36";
  return codes + "m";
}

void append(std::vector<StyledText>& pieces, const StyledText& piece) {
  if (piece.text.empty()) return;
  const bool joins = !pieces.empty() && pieces.back().style == piece.style &&
                     pieces.back().verbatim == piece.verbatim && pieces.back().indent == piece.indent &&
                     pieces.back().table == piece.table;
  if (joins)
    pieces.back().text += piece.text;
  else
    pieces.push_back(piece);
}

std::string without_escapes(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const size_t escape = std::min(text.find('\x1b'), text.size());
    plain += text.substr(0, escape);
    text.remove_prefix(escape);
    if (!text.empty()) text.remove_prefix(escape_bytes(text));
  }
  return plain;
}

int shown_width(std::string_view line) { return text_width(without_escapes(line)); }

}  // namespace warpchat
