// HarfBuzz reads the mapped file with its own OpenType functions: advances are linear, so that one shaping serves all
// sizes.
#include "app/gui/text/font.h"

#include <ft2build.h>
#include <hb-ot.h>

#include <string_view>

#include "models/error.h"
#include FT_FREETYPE_H
#include FT_MULTIPLE_MASTERS_H

namespace warpchat::gui {

namespace {

FT_Library library() {
  static const FT_Library loaded = [] {
    FT_Library made = nullptr;
    if (FT_Init_FreeType(&made)) throw Error("FreeType cannot start: out of memory");
    return made;
  }();
  return loaded;
}

std::vector<hb_variation_t> parse_variations(std::string_view text) {
  std::vector<hb_variation_t> result;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    hb_variation_t variation;
    if (hb_variation_from_string(one.data(), static_cast<int>(one.size()), &variation)) result.push_back(variation);
    text.remove_prefix(std::min(text.size(), one.size() + 1));
  }
  return result;
}

float metric(hb_font_t* font, hb_ot_metrics_tag_t tag, float units_per_em, float otherwise) {
  hb_position_t value = 0;
  if (!hb_ot_metrics_get_position(font, tag, &value)) return otherwise;
  return static_cast<float>(value) / units_per_em;
}

FontMetrics metrics_of(hb_font_t* font, float units_per_em) {
  FontMetrics m;
  m.ascent = metric(font, HB_OT_METRICS_TAG_HORIZONTAL_ASCENDER, units_per_em, 0.9f);
  m.descent = -metric(font, HB_OT_METRICS_TAG_HORIZONTAL_DESCENDER, units_per_em, -0.3f);
  m.underline = metric(font, HB_OT_METRICS_TAG_UNDERLINE_OFFSET, units_per_em, -0.1f);
  m.strike = metric(font, HB_OT_METRICS_TAG_STRIKEOUT_OFFSET, units_per_em, 0.3f);
  m.stroke = metric(font, HB_OT_METRICS_TAG_UNDERLINE_SIZE, units_per_em, 0.05f);
  return m;
}

}  // namespace

Font::Font(const FoundFont& found, uint16_t number) : found_(found), number_(number) {
  hb_blob_t* file = hb_blob_create_from_file(found.path.c_str());
  hb_face_t* face = hb_face_create(file, static_cast<unsigned>(found.index) & 0xFFFF);
  const bool readable = hb_face_get_glyph_count(face) > 0;
  shaping_ = hb_font_create(face);
  units_per_em_ = static_cast<float>(hb_face_get_upem(face));
  hb_face_destroy(face);
  hb_blob_destroy(file);
  if (!readable) {
    hb_font_destroy(shaping_);
    throw Error("cannot read the font " + found.path + "; repair or remove it, then run fc-cache");
  }
  if (const unsigned instance = static_cast<unsigned>(found.index) >> 16) {
    hb_font_set_var_named_instance(shaping_, instance - 1);
  }
  const auto variations = parse_variations(found.variations);
  if (!variations.empty()) {
    hb_font_set_variations(shaping_, variations.data(), static_cast<unsigned>(variations.size()));
  }
  hb_font_make_immutable(shaping_);
  metrics_ = metrics_of(shaping_, units_per_em_);
}

Font::~Font() {
  hb_font_destroy(shaping_);
  if (drawing_) FT_Done_Face(drawing_);
}

bool Font::has(char32_t character) const {
  hb_codepoint_t glyph;
  return hb_font_get_nominal_glyph(shaping_, character, &glyph);
}

Font::Ink Font::ink(uint16_t glyph) {
  const auto [known, is_new] = ink_.try_emplace(glyph);
  hb_glyph_extents_t extents{};
  if (is_new && hb_font_get_glyph_extents(shaping_, glyph, &extents)) {
    const auto em = [&](hb_position_t units) { return static_cast<float>(units) / units_per_em_; };
    known->second = {em(extents.y_bearing), -em(extents.y_bearing + extents.height)};
  }
  return known->second;
}

FT_FaceRec_* Font::drawing() {
  if (drawing_ || drawing_failed_) return drawing_;
  if (FT_New_Face(library(), found_.path.c_str(), found_.index, &drawing_)) {
    drawing_ = nullptr;
    drawing_failed_ = true;
    return nullptr;
  }
  unsigned n = 0;
  if (const int* coordinates = hb_font_get_var_coords_normalized(shaping_, &n); coordinates && n > 0) {
    std::vector<FT_Fixed> fixed(coordinates, coordinates + n);  // 2.14 to 16.16
    for (FT_Fixed& value : fixed) value *= 4;
    FT_Set_Var_Blend_Coordinates(drawing_, n, fixed.data());
  }
  return drawing_;
}

}  // namespace warpchat::gui
