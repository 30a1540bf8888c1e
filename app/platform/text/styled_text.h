// Styled text: the output of the Markdown reader and the input of the word wrap.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/platform/text/code_kind.h"

namespace warpchat {

struct Style {
  bool bold = false, dim = false, italic = false, code = false;
  CodeKind kind = CodeKind::kPlain;  // of code
  bool operator==(const Style&) const = default;
};

// Colours that can be read on dark and on light backgrounds; the terminal is not asked which it has.
enum class Colours { k8, k256 };
Colours colours_of(std::string_view term, std::string_view colorterm);  // as these variables say
void set_colours(Colours colours);                                      // of the whole program; k256 at first

// The escape sequence that sets exactly this style.
std::string escape_sequence(Style style);

// Around what is marked within a style: it is shown in reverse.
inline constexpr std::string_view kMarkBegin = "\x1b[7m", kMarkEnd = "\x1b[27m";

// The length of the escape sequence that a text begins with, from its ESC to its final byte.
size_t escape_bytes(std::string_view text);

struct StyledText {
  std::string text;
  Style style = {};
  bool verbatim = false;  // is not wrapped: code
  int indent = 0;         // blanks before the lines that wrapping adds
  uint64_t bars = 0;      // by bits: the columns of these blanks in which a quote's mark stands instead
  bool table = false;     // a table's source, to be laid out as a whole
};

// Adds a piece, or joins it to the last one of the same look.
void append(std::vector<StyledText>& pieces, const StyledText& piece);

std::string without_escapes(std::string_view text);
int shown_width(std::string_view line);  // columns; escape sequences take none

}  // namespace warpchat
