// Styles as SGR sequences. The colours of the 256 have a contrast of at least 3.9 with black and with white; of the
// basic eight, which differ between terminals, only magenta and red are used.
#include "app/platform/text/styled_text.h"

#include <algorithm>

#include "app/platform/text/graphemes.h"

namespace warpchat {

namespace {

struct Look {
  std::string_view of_8, of_256;
};
constexpr Look kLooks[kCodeKinds] = {
    {"", ""},              // plain
    {";35", ";38;5;133"},  // keyword
    {";35", ";38;5;30"},   // type
    {";31", ";38;5;64"},   // string
    {"", ";38;5;161"},     // number
    {";2", ";2"},          // comment
    {"", ";38;5;31"},      // function
    {";35", ";38;5;130"},  // directive
    {"", ";38;5;28"},      // added
    {";31", ";38;5;196"},  // removed
};
constexpr Look kCodeLook{";35", ";38;5;31"};

Colours colours = Colours::k256;

}  // namespace

Colours colours_of(std::string_view term, std::string_view colorterm) {
  constexpr std::string_view kKnown[] = {"256color", "direct", "kitty", "alacritty", "foot", "ghostty", "wezterm"};
  const bool known = std::ranges::any_of(kKnown, [&](std::string_view name) { return term.find(name) != term.npos; });
  return known || !colorterm.empty() ? Colours::k256 : Colours::k8;
}

void set_colours(Colours wanted) { colours = wanted; }

std::string escape_sequence(Style style) {
  std::string codes = "\x1b[0";
  if (style.bold) codes += ";1";
  if (style.dim) codes += ";2";
  if (style.italic) codes += ";3";
  const Look& look = style.kind != CodeKind::kPlain ? kLooks[static_cast<size_t>(style.kind)]
                     : style.code                   ? kCodeLook
                                                    : kLooks[0];
  codes += colours == Colours::k8 ? look.of_8 : look.of_256;
  return codes + "m";
}

void append(std::vector<StyledText>& pieces, const StyledText& piece) {
  if (piece.text.empty()) return;
  const bool joins = !pieces.empty() && pieces.back().style == piece.style &&
                     pieces.back().verbatim == piece.verbatim && pieces.back().indent == piece.indent &&
                     pieces.back().bars == piece.bars && pieces.back().table == piece.table;
  if (joins)
    pieces.back().text += piece.text;
  else
    pieces.push_back(piece);
}

size_t escape_bytes(std::string_view text) {
  size_t end = text.starts_with("\x1b[") ? 2 : 1;
  while (end < text.size() && !(text[end] >= '@' && text[end] <= '~')) ++end;
  return std::min(end + 1, text.size());
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
