// One open font: its shaping side (HarfBuzz, in font units, for any size) and its drawing side (FreeType, opened when
// first drawn).
#pragma once
#include <hb.h>

#include <cstdint>
#include <unordered_map>

#include "app/gui/text/font_finder.h"

struct FT_FaceRec_;
struct FT_LibraryRec_;

namespace warpchat::gui {

// In em, y up from the baseline.
struct FontMetrics {
  float ascent, descent;  // both positive
  float underline, strike, stroke;
};

class Font {
 public:
  // number: distinct among the engine's fonts. Error if the file is no font that can be read.
  Font(const FoundFont& found, uint16_t number);
  ~Font();
  Font(const Font&) = delete;
  Font& operator=(const Font&) = delete;

  uint16_t number() const { return number_; }
  const FoundFont& found() const { return found_; }
  const FontMetrics& metrics() const { return metrics_; }
  float units_per_em() const { return units_per_em_; }
  hb_font_t* shaping() const { return shaping_; }
  bool has(char32_t character) const;

  struct Ink {
    float above, below;  // em from the baseline; negative where the ink does not reach it
  };
  Ink ink(uint16_t glyph);  // remembered

  FT_FaceRec_* drawing();  // nullptr if FreeType cannot read the file

 private:
  FoundFont found_;
  uint16_t number_;
  hb_font_t* shaping_ = nullptr;
  float units_per_em_ = 1000;
  FontMetrics metrics_{};
  std::unordered_map<uint16_t, Ink> ink_;
  FT_FaceRec_* drawing_ = nullptr;
  bool drawing_failed_ = false;
};

}  // namespace warpchat::gui
