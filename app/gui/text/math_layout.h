// A formula's tree as placed glyphs and rules, by the font's MATH table.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "app/math/tex.h"

namespace warpchat::gui {

class Font;
class FontSet;

struct MathGlyph {
  Font* font;
  uint16_t id;
  float x, y;                           // of the pen
  float size;                           // pixels
  std::optional<uint32_t> colour = {};  // 0xRRGGBB; none or black: the text's
};

struct MathRule {
  float x, y, width, height;  // its upper left corner
  std::optional<uint32_t> colour = {};
};

// A line through something.
struct MathStroke {
  float x1, y1, x2, y2;
  float thickness;
  std::optional<uint32_t> colour = {};
};

// Pixels from the left end of the formula's baseline, y down.
struct MathLayout {
  float width = 0, ascent = 0, descent = 0;  // both positive
  std::vector<MathGlyph> glyphs;
  std::vector<MathRule> rules;
  std::vector<MathStroke> strokes;
};

// display: as it stands alone, else in a line of text. size: pixels. math: a font with a MATH table; what it does not
// have comes from `fonts`.
MathLayout lay_out_math(const MathNode& tree, bool display, float size, Font& math, FontSet& fonts);

}  // namespace warpchat::gui
