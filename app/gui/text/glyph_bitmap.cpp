#include "app/gui/text/glyph_bitmap.h"

#include <ft2build.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "app/gui/text/font.h"
#include FT_FREETYPE_H
#include FT_OUTLINE_H

namespace warpchat::gui {

namespace {

constexpr float kBoldStroke = 1.0f / 24;  // em, that a bold letter's stems are wider
constexpr FT_Matrix kSlant = {0x10000, 0x3333, 0, 0x10000};

// Index of the font's smallest bitmap size that is large enough, else of the largest.
int best_strike(FT_Face face, float size) {
  const auto ppem = [&](int i) { return static_cast<float>(face->available_sizes[i].y_ppem) / 64; };
  int best = 0;
  for (int i = 1; i < face->num_fixed_sizes; ++i) {
    const bool enough = ppem(i) >= size;
    if (enough ? ppem(best) < size || ppem(i) < ppem(best) : ppem(best) < size && ppem(i) > ppem(best)) best = i;
  }
  return best;
}

struct Sum {  // of pixels multiplied by alpha
  float blue = 0, green = 0, red = 0, alpha = 0;
  void add(const uint8_t* bgra, float weight) {
    blue += weight * bgra[0], green += weight * bgra[1], red += weight * bgra[2], alpha += weight * bgra[3];
  }
  uint32_t pixel() const {
    if (alpha < 0.5f) return 0;
    const auto channel = [](float value) { return static_cast<uint32_t>(std::clamp(value + 0.5f, 0.0f, 255.0f)); };
    const float unmultiply = 255 / alpha;
    return channel(alpha) << 24 | channel(blue * unmultiply) << 16 | channel(green * unmultiply) << 8 |
           channel(red * unmultiply);
  }
};

// What of a source line, in its pixels, goes into one target pixel, and how much.
struct Window {
  int first;
  std::vector<float> weights;  // sum 1
};

// A tent over the target pixel's place, as wide as two target pixels (two source pixels when it grows).
std::vector<Window> windows(int source, int target) {
  const float ratio = static_cast<float>(source) / static_cast<float>(target), reach = std::max(ratio, 1.0f);
  std::vector<Window> result;
  for (int i = 0; i < target; ++i) {
    const float centre = (static_cast<float>(i) + 0.5f) * ratio;
    Window window{std::max(0, static_cast<int>(std::floor(centre - reach))), {}};
    const int last = std::min(source, static_cast<int>(std::ceil(centre + reach)));
    float sum = 0;
    for (int s = window.first; s < last; ++s) {
      window.weights.push_back(std::max(0.0f, 1 - std::abs(static_cast<float>(s) + 0.5f - centre) / reach));
      sum += window.weights.back();
    }
    for (float& weight : window.weights) weight /= sum;
    result.push_back(std::move(window));
  }
  return result;
}

void scale_colours(const FT_Bitmap& from, GlyphBitmap& to) {
  const auto columns = windows(static_cast<int>(from.width), to.width);
  const auto rows = windows(static_cast<int>(from.rows), to.height);
  to.pixels.reserve(static_cast<size_t>(to.width) * static_cast<size_t>(to.height));
  for (const Window& row : rows) {
    for (const Window& column : columns) {
      Sum sum;
      for (size_t y = 0; y < row.weights.size(); ++y) {
        const uint8_t* line = from.buffer + (row.first + static_cast<ptrdiff_t>(y)) * from.pitch;
        for (size_t x = 0; x < column.weights.size(); ++x) {
          sum.add(line + 4 * (static_cast<size_t>(column.first) + x), row.weights[y] * column.weights[x]);
        }
      }
      to.pixels.push_back(sum.pixel());
    }
  }
}

GlyphBitmap coloured(FT_Face face, uint16_t glyph, float size) {
  GlyphBitmap result;
  float scale = 1;
  if (face->num_fixed_sizes > 0) {
    const int strike = best_strike(face, size);
    if (FT_Select_Size(face, strike)) return result;
    scale = size * 64 / static_cast<float>(face->available_sizes[strike].y_ppem);
  } else {
    FT_Set_Char_Size(face, 0, std::lround(size * 64), 72, 72);
  }
  if (FT_Load_Glyph(face, glyph, FT_LOAD_COLOR | FT_LOAD_RENDER)) return result;
  const FT_GlyphSlot slot = face->glyph;
  if (slot->bitmap.pixel_mode != FT_PIXEL_MODE_BGRA || !slot->bitmap.width || !slot->bitmap.rows) return result;
  const auto scaled = [&](auto length) { return static_cast<int>(std::lround(static_cast<float>(length) * scale)); };
  result.width = std::max(1, scaled(slot->bitmap.width));
  result.height = std::max(1, scaled(slot->bitmap.rows));
  result.left = scaled(slot->bitmap_left);
  result.top = -scaled(slot->bitmap_top);
  result.coloured = true;
  scale_colours(slot->bitmap, result);
  return result;
}

GlyphBitmap letter(FT_Face face, const FoundFont& font, uint16_t glyph, float size, int phase) {
  GlyphBitmap result;
  FT_Set_Char_Size(face, 0, std::lround(size * 64), 72, 72);
  if (FT_Load_Glyph(face, glyph, FT_LOAD_TARGET_LIGHT | FT_LOAD_NO_BITMAP)) return result;
  const FT_GlyphSlot slot = face->glyph;
  if (slot->format != FT_GLYPH_FORMAT_OUTLINE) return result;
  if (font.embolden) FT_Outline_EmboldenXY(&slot->outline, std::lround(size * 64 * kBoldStroke), 0);
  if (font.slant) FT_Outline_Transform(&slot->outline, &kSlant);
  FT_Outline_Translate(&slot->outline, phase * 64 / kPhases, 0);
  if (FT_Render_Glyph(slot, FT_RENDER_MODE_NORMAL)) return result;
  result.width = static_cast<int>(slot->bitmap.width);
  result.height = static_cast<int>(slot->bitmap.rows);
  result.left = slot->bitmap_left;
  result.top = -slot->bitmap_top;
  for (int y = 0; y < result.height; ++y) {
    const uint8_t* line = slot->bitmap.buffer + y * slot->bitmap.pitch;
    for (int x = 0; x < result.width; ++x) result.pixels.push_back(uint32_t{line[x]} << 24 | 0xFFFFFF);
  }
  return result;
}

}  // namespace

GlyphBitmap rasterise(Font& font, uint16_t glyph, float size, int phase) {
  FT_Face face = font.drawing();
  if (!face) return {};
  if (FT_HAS_COLOR(face)) {
    GlyphBitmap result = coloured(face, glyph, size);
    if (result.width || !FT_IS_SCALABLE(face)) return result;
  }
  return letter(face, font.found(), glyph, size, phase);
}

}  // namespace warpchat::gui
