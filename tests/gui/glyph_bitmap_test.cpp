// Glyphs as pixels and their places in an atlas page, without OpenGL.
#include "app/gui/text/glyph_bitmap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "app/gui/text/font_set.h"
#include "app/gui/text/glyph_atlas.h"

namespace warpchat::gui {

namespace {

FontSet& fonts() {
  static FontSet shared;
  return shared;
}

uint16_t glyph_of(const Font& font, char32_t character) {
  hb_codepoint_t glyph = 0;
  hb_font_get_nominal_glyph(font.shaping(), character, &glyph);
  return static_cast<uint16_t>(glyph);
}

GlyphBitmap letter(char32_t character, float size, int phase = 0, Face face = Face::kText) {
  Font& font = fonts().primary(face);
  return rasterise(font, glyph_of(font, character), size, phase);
}

uint32_t alpha(uint32_t pixel) { return pixel >> 24; }

double ink(const GlyphBitmap& bitmap) {
  double sum = 0;
  for (uint32_t pixel : bitmap.pixels) sum += alpha(pixel) / 255.0;
  return sum;
}

// Horizontal centre of the ink, in pixels from the pen.
double centre(const GlyphBitmap& bitmap) {
  double sum = 0;
  for (size_t i = 0; i < bitmap.pixels.size(); ++i) {
    const int x = bitmap.left + static_cast<int>(i) % bitmap.width;
    sum += (x + 0.5) * alpha(bitmap.pixels[i]) / 255.0;
  }
  return sum / ink(bitmap);
}

TEST(GlyphBitmap, LettersStandOnTheBaseline) {
  for (float size : {13.0f, 16.0f, 24.0f}) {
    const GlyphBitmap h = letter('H', size);
    EXPECT_EQ(h.top + h.height, 0) << size;
    EXPECT_NEAR(h.height, 0.72f * size, 1.5f) << size;
    EXPECT_FALSE(h.coloured);
    EXPECT_TRUE(std::all_of(h.pixels.begin(), h.pixels.end(), [](uint32_t p) { return (p & 0xFFFFFF) == 0xFFFFFF; }));
  }
}

TEST(GlyphBitmap, HintingGivesHorizontalStrokesWholePixels) {
  const GlyphBitmap e = letter('E', 16);
  for (int row : {0, e.height - 1}) {
    const auto line = e.pixels.begin() + row * e.width;
    EXPECT_GT(alpha(*std::max_element(line, line + e.width)), 200u) << row;
  }
}

TEST(GlyphBitmap, PhasesMoveTheInkByParts) {
  for (int phase = 0; phase < kPhases; ++phase) {
    const double moved = centre(letter('l', 16, phase)) - centre(letter('l', 16, 0));
    EXPECT_NEAR(moved, static_cast<double>(phase) / kPhases, 0.1) << phase;  // measured at pixel centres
  }
}

TEST(GlyphBitmap, BoldHasMoreInk) { EXPECT_GT(ink(letter('l', 24, 0, Face::kBold)), 1.2 * ink(letter('l', 24))); }

TEST(GlyphBitmap, ABlankHasNoPixels) { EXPECT_EQ(letter(' ', 16).pixels.size(), 0u); }

TEST(GlyphBitmap, EmojiAreScaledWithoutDarkEdges) {
  const char32_t face = 0x1F600;  // yellow
  Font& font = fonts().choose(Face::kText, HB_SCRIPT_COMMON, {&face, 1});
  const GlyphBitmap large = rasterise(font, glyph_of(font, face), 100, 0);
  if (!large.coloured) GTEST_SKIP() << "no font for colour emoji";
  for (float size : {13.0f, 16.0f, 24.0f, 200.0f}) {
    const GlyphBitmap emoji = rasterise(font, glyph_of(font, face), size, 0);
    ASSERT_EQ(emoji.pixels.size(), static_cast<size_t>(emoji.width * emoji.height));
    EXPECT_NEAR(emoji.width, large.width * size / 100, 1) << size;
    EXPECT_NEAR(ink(emoji), ink(large) * size * size / 1e4, 0.08 * ink(large) * size * size / 1e4) << size;
    for (uint32_t pixel : emoji.pixels) {
      if (alpha(pixel) < 10 || alpha(pixel) > 100) continue;
      EXPECT_GT(pixel & 0xFF, 120u) << size;  // yellow has red, at the edge too
    }
  }
}

TEST(ShelfPacker, PlacesDoNotOverlapAndFillThePage) {
  struct Rect {
    int x, y, width, height;
  };
  std::mt19937 random(1);
  ShelfPacker packer(256, 256);
  std::vector<Rect> rects;
  int area = 0;
  while (true) {
    const int width = 3 + static_cast<int>(random() % 20), height = 8 + static_cast<int>(random() % 16);
    ShelfPacker::Place place{};
    if (!packer.add(width, height, place)) break;
    for (const Rect& other : rects) {
      const bool apart = place.x >= other.x + other.width || other.x >= place.x + width ||
                         place.y >= other.y + other.height || other.y >= place.y + height;
      ASSERT_TRUE(apart);
    }
    ASSERT_LE(place.x + width, 256);
    ASSERT_LE(place.y + height, 256);
    rects.push_back({place.x, place.y, width, height});
    area += width * height;
  }
  EXPECT_GT(area, 256 * 256 / 2);
  ShelfPacker::Place place{};
  EXPECT_FALSE(ShelfPacker(256, 256).add(257, 1, place));
  EXPECT_FALSE(ShelfPacker(256, 256).add(1, 257, place));
}

}  // namespace

}  // namespace warpchat::gui
