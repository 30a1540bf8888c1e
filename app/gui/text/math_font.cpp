#include "app/gui/text/math_font.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "app/gui/text/font_set.h"

namespace warpchat::gui {

namespace {

hb_direction_t direction(bool horizontal) { return horizontal ? HB_DIRECTION_LTR : HB_DIRECTION_BTT; }

}  // namespace

void MathBox::add(const MathBox& part, float x, float y) {
  for (MathGlyph glyph : part.glyphs) {
    glyph.x += x, glyph.y += y;
    glyphs.push_back(glyph);
  }
  for (MathRule rule : part.rules) {
    rule.x += x, rule.y += y;
    rules.push_back(rule);
  }
  for (MathStroke stroke : part.strokes) {
    stroke.x1 += x, stroke.x2 += x, stroke.y1 += y, stroke.y2 += y;
    strokes.push_back(stroke);
  }
  ascent = std::max(ascent, part.ascent - y);
  descent = std::max(descent, part.descent + y);
}

void MathBox::tint(std::optional<uint32_t> colour) {
  if (!colour) return;
  const auto paint = [&](auto& parts) {
    for (auto& part : parts) {
      if (!part.colour) part.colour = colour;
    }
  };
  paint(glyphs);
  paint(rules);
  paint(strokes);
}

void MathBox::rule(float x, float y, float w, float h) {
  rules.push_back({x, y, w, h});
  ascent = std::max(ascent, -y);
  descent = std::max(descent, y + h);
}

float MathFont::constant(hb_ot_math_constant_t which, float size) const {
  return pixels(hb_ot_math_get_constant(hb(), which), size);
}

float MathFont::percent(hb_ot_math_constant_t which) const {
  return static_cast<float>(hb_ot_math_get_constant(hb(), which)) / 100;
}

uint16_t MathFont::glyph_of(char32_t character) const {
  hb_codepoint_t glyph = 0;
  hb_font_get_nominal_glyph(hb(), character, &glyph);
  return static_cast<uint16_t>(glyph);
}

MathBox MathFont::glyph(Font& font, uint16_t id, float size) const {
  const float scale = size / font.units_per_em();
  MathBox box;
  box.width = static_cast<float>(hb_font_get_glyph_h_advance(font.shaping(), id)) * scale;
  const Font::Ink ink = font.ink(id);
  box.ascent = ink.above * size;
  box.descent = ink.below * size;
  box.glyphs.push_back({&font, id, 0, 0, size});
  if (&font != &font_) return box;
  box.italic = pixels(hb_ot_math_get_glyph_italics_correction(hb(), id), size);
  box.accent = pixels(hb_ot_math_get_glyph_top_accent_attachment(hb(), id), size);
  return box;
}

MathBox MathFont::character(char32_t character, float size) const {
  if (const uint16_t id = glyph_of(character)) return glyph(font_, id, size);
  const hb_script_t script = hb_unicode_script(hb_unicode_funcs_get_default(), character);
  Font& other = fonts_.choose(Face::kText, script, std::span(&character, 1));
  hb_codepoint_t id = 0;
  hb_font_get_nominal_glyph(other.shaping(), character, &id);
  return glyph(other, static_cast<uint16_t>(id), size);
}

MathBox MathFont::large(char32_t character, float size) const {
  return stretched(character, size, constant(HB_OT_MATH_CONSTANT_DISPLAY_OPERATOR_MIN_HEIGHT, size));
}

MathBox MathFont::stretched(char32_t c, float size, float length, bool horizontal) const {
  const uint16_t id = glyph_of(c);
  if (!id) return character(c, size);
  const MathBox usual = glyph(font_, id, size);
  if ((horizontal ? usual.width : usual.height()) >= length) return usual;
  std::array<hb_ot_math_glyph_variant_t, 16> variants;
  auto n = static_cast<unsigned>(variants.size());
  hb_ot_math_get_glyph_variants(hb(), id, direction(horizontal), 0, &n, variants.data());
  for (unsigned i = 0; i < n; ++i) {
    if (pixels(variants[i].advance, size) >= length) {
      return glyph(font_, static_cast<uint16_t>(variants[i].glyph), size);
    }
  }
  std::vector<hb_ot_math_glyph_part_t> parts(16);
  auto n_parts = static_cast<unsigned>(parts.size());
  hb_position_t italic = 0;
  hb_ot_math_get_glyph_assembly(hb(), id, direction(horizontal), 0, &n_parts, parts.data(), &italic);
  parts.resize(n_parts);
  if (!parts.empty()) return assembled(parts, size, length, horizontal);
  return n > 0 ? glyph(font_, static_cast<uint16_t>(variants[n - 1].glyph), size) : usual;
}

// Parts from the bottom or the left, extenders as often as it takes; they overlap at least as much as the font asks
// for, and more so that the length is met.
MathBox MathFont::assembled(const std::vector<hb_ot_math_glyph_part_t>& parts, float size, float length,
                            bool horizontal) const {
  const float min = pixels(hb_ot_math_get_min_connector_overlap(hb(), direction(horizontal)), size);
  constexpr int kMaxRepeats = 200;
  std::vector<const hb_ot_math_glyph_part_t*> used;
  float whole = 0;
  for (int repeats = 0; repeats < kMaxRepeats && (used.empty() || whole < length); ++repeats) {
    used.clear();
    whole = 0;
    for (const auto& part : parts) {
      const int n = part.flags & HB_MATH_GLYPH_PART_FLAG_EXTENDER ? repeats : 1;
      for (int i = 0; i < n; ++i) {
        whole += pixels(part.full_advance, size) - (used.empty() ? 0 : min);
        used.push_back(&part);
      }
    }
  }
  const float spare = used.size() > 1 ? std::max(0.0f, whole - length) / static_cast<float>(used.size() - 1) : 0;
  MathBox box;
  float at = 0;
  for (size_t i = 0; i < used.size(); ++i) {
    const float advance = pixels(used[i]->full_advance, size);
    if (i > 0) {
      const float max = pixels(std::min(used[i - 1]->end_connector_length, used[i]->start_connector_length), size);
      at -= std::clamp(min + spare, min, std::max(min, max));
    }
    const MathBox piece = glyph(font_, static_cast<uint16_t>(used[i]->glyph), size);
    box.add(piece, horizontal ? at : 0, horizontal ? 0 : -at - piece.descent);
    box.width = horizontal ? at + advance : std::max(box.width, piece.width);
    at += advance;
  }
  return box;
}

}  // namespace warpchat::gui
