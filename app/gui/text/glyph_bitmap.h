// One glyph as pixels, by FreeType: letters with light hinting, colour emoji scaled from the size their font has.
#pragma once
#include <cstdint>
#include <vector>

namespace warpchat::gui {

class Font;

constexpr int kPhases = 4;  // horizontal positions of a letter within a pixel

struct GlyphBitmap {
  int width = 0, height = 0;  // pixels; 0: there is nothing to see
  int left = 0, top = 0;      // of the upper left pixel, from the pen on the baseline; y down
  bool coloured = false;
  std::vector<uint32_t> pixels;  // [height, width], 0xAABBGGRR, colours not multiplied by alpha; white for letters
};

// size in pixels; phase < kPhases shifts to the right by that part of a pixel.
GlyphBitmap rasterise(Font& font, uint16_t glyph, float size, int phase);

}  // namespace warpchat::gui
