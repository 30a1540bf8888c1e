// What the MATH table of a font says, in pixels for a size.
#pragma once
#include <hb-ot.h>

#include <optional>

#include "app/gui/text/font.h"
#include "app/gui/text/math_layout.h"

namespace warpchat::gui {

// A formula's part, with what its neighbours must know.
struct MathBox : MathLayout {
  float italic = 0;                                 // what the top leans over its right edge
  std::optional<float> accent = {};                 // where an accent is centred; none: in the middle
  bool is_symbol = false;                           // scripts sit at their usual heights
  void add(const MathBox& part, float x, float y);  // its left end there; does not change the width
  void rule(float x, float y, float w, float h);
  void tint(std::optional<uint32_t> colour);  // what has no colour yet
  float height() const { return ascent + descent; }
};

class MathFont {
 public:
  MathFont(Font& font, FontSet& fonts) : font_(font), fonts_(fonts) {}

  float constant(hb_ot_math_constant_t which, float size) const;
  float percent(hb_ot_math_constant_t which) const;

  MathBox character(char32_t character, float size) const;
  // The display variant of a large operator.
  MathBox large(char32_t character, float size) const;
  // At least that high or wide, from larger glyphs or pieces; the largest there is if that is not enough.
  MathBox stretched(char32_t character, float size, float length, bool horizontal = false) const;

 private:
  uint16_t glyph_of(char32_t character) const;
  MathBox glyph(Font& font, uint16_t id, float size) const;
  MathBox assembled(const std::vector<hb_ot_math_glyph_part_t>& parts, float size, float length, bool horizontal) const;
  hb_font_t* hb() const { return font_.shaping(); }
  float pixels(hb_position_t units, float size) const {
    return static_cast<float>(units) * size / font_.units_per_em();
  }

  Font& font_;
  FontSet& fonts_;
};

}  // namespace warpchat::gui
