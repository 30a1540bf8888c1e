// Layouts as rectangles of the atlas in ImGui's draw list: backgrounds, letters, lines under and through them.
#include <imgui/imgui.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/gui/text/glyph_atlas.h"
#include "app/gui/text/layout_parts.h"
#include "app/gui/text/math_layout.h"

namespace warpchat::gui {

namespace {

constexpr Colour kAlpha = 0xFF000000, kWhite = 0x00FFFFFF;
constexpr uint32_t kTextShare = 102;  // of 255, in a formula's colours, which must be readable on light and dark
constexpr float kBoxPad = 0.14f, kBoxRound = 0.25f;  // em, of the boxes behind code and keys
constexpr float kReach = 4;                          // em, that a glyph may lie outside its advance

// colour: 0xRRGGBB, black as the text itself.
Colour formula_colour(std::optional<uint32_t> colour, Colour text) {
  if (!colour || *colour == 0) return text;
  Colour out = text & kAlpha;
  for (unsigned shift = 0; shift < 24; shift += 8) {
    const uint32_t own = *colour >> (16 - shift) & 0xFF, of_text = text >> shift & 0xFF;
    out |= (own * (255 - kTextShare) + of_text * kTextShare) / 255 << shift;
  }
  return out;
}

class Painter {
 public:
  Painter(ImDrawList& list, ImVec2 origin, const TextLayout::Parts& parts)
      : list_(list), origin_(origin), parts_(parts), atlas_(*parts_.atlas) {}
  void background(const Line& line, const GlyphRun& run);
  void glyphs(const Line& line, const GlyphRun& run);
  void formula(const MathLayout& formula, float x, float y, Colour colour);
  void strokes(const Line& line, const GlyphRun& run);
  void end_glyphs();

 private:
  void glyph(const AtlasGlyph& glyph, float x, float y, Colour colour);
  bool continues(const Line& line, const GlyphRun& run, int step) const;  // the box of its neighbour
  float baseline(const Line& line) const { return std::round(origin_.y + line.y + line.baseline); }
  float left(const Line& line, const GlyphRun& run) const { return origin_.x + line.x + run.x; }

  ImDrawList& list_;
  ImVec2 origin_;
  const TextLayout::Parts& parts_;
  GlyphAtlas& atlas_;
  std::optional<uint32_t> page_;  // page of the draw list's current texture
};

void Painter::background(const Line& line, const GlyphRun& run) {
  const TextStyle& style = parts_.styles[run.style];
  if (!((style.background | style.outline) & kAlpha)) return;
  const LineExtent extent = parts_.extents[run.style];
  const bool joins_left = continues(line, run, -1), joins_right = continues(line, run, 1);
  const float pad = kBoxPad * style.size, x = left(line, run), y = baseline(line), first = origin_.x + line.x;
  // Blanks that hang over the line's end have none.
  const float from = std::max(x, first) - (joins_left ? 0 : pad);
  const float to = std::min(x + run.width, first + line.width) + (joins_right ? 0 : pad);
  if (to - from <= 2 * pad && !joins_left && !joins_right) return;
  const int corners =
      (joins_left ? 0 : ImDrawFlags_RoundCornersLeft) | (joins_right ? 0 : ImDrawFlags_RoundCornersRight);
  const ImVec2 top(from, y - extent.above + 1), bottom(to, y + extent.below - 1);
  const int flags = corners == 0 ? static_cast<int>(ImDrawFlags_RoundCornersNone) : corners;
  if (style.background & kAlpha) list_.AddRectFilled(top, bottom, style.background, kBoxRound * style.size, flags);
  if (style.outline & kAlpha) list_.AddRect(top, bottom, style.outline, kBoxRound * style.size, flags);
}

bool Painter::continues(const Line& line, const GlyphRun& run, int step) const {
  const auto at = static_cast<int64_t>(&run - parts_.runs.data()) + step;
  if (at < line.first || at >= line.last) return false;
  const TextStyle &own = parts_.styles[run.style], &other = parts_.styles[parts_.runs[static_cast<size_t>(at)].style];
  return own.background == other.background && own.outline == other.outline;
}

void Painter::glyph(const AtlasGlyph& glyph, float x, float y, Colour colour) {
  if (!glyph.width) return;
  if (page_ != glyph.page) {
    end_glyphs();
    list_.PushTextureID(reinterpret_cast<ImTextureID>(static_cast<intptr_t>(atlas_.texture(glyph.page))));
    page_ = glyph.page;
  }
  x += glyph.left;
  y += glyph.top;
  list_.PrimReserve(6, 4);
  list_.PrimRectUV({x, y}, {x + glyph.width, y + glyph.height}, {glyph.u0, glyph.v0}, {glyph.u1, glyph.v1},
                   glyph.coloured ? colour | kWhite : colour);
}

void Painter::end_glyphs() {
  if (page_) list_.PopTextureID();
  page_.reset();
}

void Painter::glyphs(const Line& line, const GlyphRun& run) {
  const TextStyle& style = parts_.styles[run.style];
  const float x = left(line, run), y = baseline(line) - std::round(style.rise), reach = kReach * style.size;
  if (const auto& set = parts_.formulas[run.style]) return formula(*set, x, y, style.colour);
  const auto begin = parts_.glyphs.begin() + run.first, end = parts_.glyphs.begin() + run.last;
  const auto before = [](const Glyph& glyph, float at) { return glyph.x < at; };
  for (auto g = std::lower_bound(begin, end, list_.GetClipRectMin().x - reach - x, before); g != end; ++g) {
    if (x + g->x > list_.GetClipRectMax().x + reach) break;
    const float pen = x + g->x + static_cast<float>(g->dx) / 64;
    const float quarters = std::floor(pen * kPhases + 0.5f);
    const float pixel = std::floor(quarters / kPhases);
    const int phase = static_cast<int>(quarters - pixel * kPhases);
    glyph(atlas_.glyph(*run.font, g->id, style.size, phase), pixel, y + std::round(static_cast<float>(g->dy) / 64),
          style.colour);
  }
}

void Painter::formula(const MathLayout& formula, float x, float y, Colour colour) {
  for (const MathGlyph& g : formula.glyphs) {
    const float quarters = std::floor((x + g.x) * kPhases + 0.5f), pixel = std::floor(quarters / kPhases);
    const int phase = static_cast<int>(quarters - pixel * kPhases);
    glyph(atlas_.glyph(*g.font, g.id, g.size, phase), pixel, std::round(y + g.y), formula_colour(g.colour, colour));
  }
  end_glyphs();
  for (const MathRule& rule : formula.rules) {
    const float top = std::round(y + rule.y), thick = std::max(1.0f, std::round(rule.height));
    const float left = std::round(x + rule.x), right = std::max(left + 1, std::round(x + rule.x + rule.width));
    list_.AddRectFilled({left, top}, {right, top + thick}, formula_colour(rule.colour, colour));
  }
  for (const MathStroke& stroke : formula.strokes) {
    list_.AddLine({x + stroke.x1, y + stroke.y1}, {x + stroke.x2, y + stroke.y2}, formula_colour(stroke.colour, colour),
                  stroke.thickness);
  }
}

void Painter::strokes(const Line& line, const GlyphRun& run) {
  const TextStyle& style = parts_.styles[run.style];
  const FontMetrics& metrics = run.font->metrics();
  const float x = left(line, run), y = baseline(line) - std::round(style.rise),
              thick = std::max(1.0f, std::round(metrics.stroke * style.size));
  const auto stroke = [&](float height) {
    const float top = y - std::round(height * style.size);
    list_.AddRectFilled({x, top}, {x + run.width, top + thick}, style.colour);
  };
  if (style.underline) stroke(metrics.underline);
  if (style.strike) stroke(metrics.strike);
}

}  // namespace

void TextLayout::draw(ImDrawList& list, ImVec2 origin, float clip_top, float clip_bottom) const {
  Painter painter(list, origin, *parts_);
  const auto& lines = parts_->lines;
  const auto above = [&](const Line& line, float y) { return origin.y + line.y + line.height <= y; };
  const auto first = std::lower_bound(lines.begin(), lines.end(), clip_top, above);
  const auto paint = [&](auto what) {
    for (auto line = first; line != lines.end() && origin.y + line->y < clip_bottom; ++line) {
      for (uint32_t i = line->first; i < line->last; ++i) (painter.*what)(*line, parts_->runs[i]);
    }
  };
  paint(&Painter::background);
  paint(&Painter::glyphs);
  painter.end_glyphs();
  paint(&Painter::strokes);
}

}  // namespace warpchat::gui
