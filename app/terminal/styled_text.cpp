// Looks as SGR sequences. Colours are the terminal's own, so that they suit dark and light backgrounds.
#include "app/terminal/styled_text.h"

namespace warpchat {

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
                     pieces.back().verbatim == piece.verbatim && pieces.back().indent == piece.indent;
  if (joins)
    pieces.back().text += piece.text;
  else
    pieces.push_back(piece);
}

}  // namespace warpchat
