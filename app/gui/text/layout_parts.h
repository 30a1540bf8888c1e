// What a laid out text consists of. Offsets are bytes of the text, x and y pixels from the layout's top left corner.
#pragma once
#include <string>
#include <vector>

#include "app/gui/text/cells.h"
#include "app/gui/text/font.h"
#include "app/gui/text/text_engine.h"

namespace warpchat::gui {

class GlyphAtlas;
class ParagraphReader;

struct Glyph {
  float x;          // of the pen, from the run's left edge
  int16_t dx, dy;   // from the pen, 1/64 pixel; y down
  uint32_t offset;  // of the first character that it stands for
  uint16_t id;
};

// Glyphs of one font and style in one line, in visual order.
struct GlyphRun {
  Font* font;
  uint32_t style;        // of Parts::styles
  uint32_t begin, end;   // text
  uint32_t first, last;  // glyphs [first, last); none for a tab or a formula
  float x, width;
  uint8_t level;
  bool is_rtl() const { return level & 1; }
};

struct Line {
  uint32_t begin, end;        // text, without the "\n"
  uint32_t first, last;       // runs [first, last), from left to right
  float x, width;             // of what is seen: blanks at the end hang over
  float y, height, baseline;  // baseline from y
  bool is_rtl;
  bool ends_paragraph;  // by "\n" or the text's end
};

// Whole pixels above and below the baseline.
struct LineExtent {
  float above = 0, below = 0;
  void include(LineExtent other);
};
LineExtent line_extent(const Font& own, float size);  // of a face's own font

struct TextLayout::Parts {
  std::string text;
  std::vector<TextStyle> styles;
  std::vector<LineExtent> extents;                          // of the styles
  std::vector<std::shared_ptr<const MathLayout>> formulas;  // of the styles; nullptr: text
  std::vector<Glyph> glyphs;
  std::vector<GlyphRun> runs;
  std::vector<Line> lines;
  float width = 0, height = 0;
  GlyphAtlas* atlas = nullptr;
  ParagraphReader* reader = nullptr;

  const GlyphRun* formula_at(size_t offset) const;
  std::vector<Cell> cells(const GlyphRun& run) const;  // from left to right
};

}  // namespace warpchat::gui
