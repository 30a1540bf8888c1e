// Characters to glyphs: items of one font, script, direction and style, shaped by HarfBuzz. Words that were shaped
// before are remembered.
#pragma once
#include <hb.h>

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "app/gui/text/font_set.h"
#include "app/gui/text/paragraph.h"

namespace warpchat::gui {

struct ShapedGlyph {
  uint16_t id;
  bool unsafe;      // a line must not end before its cluster without shaping anew
  uint32_t at;      // of the first of Paragraph::characters that it stands for
  int32_t advance;  // font units, like the next two; y up
  int32_t dx, dy;
};

// clusters[begin, end) of a paragraph.
struct Item {
  size_t begin, end;
  Font* font;
  hb_script_t script;
  uint8_t level;
  bool plain_letters;  // no ligatures: code is shown letter by letter
  uint32_t style;      // the caller's
};

class Shaper {
 public:
  Shaper();
  ~Shaper();
  Shaper(const Shaper&) = delete;
  Shaper& operator=(const Shaper&) = delete;

  // Appends the glyphs of the item in visual order, left to right.
  void shape(const Paragraph& paragraph, const Item& item, std::vector<ShapedGlyph>& out);

 private:
  void shape_characters(const Paragraph& paragraph, const Item& item, uint32_t begin, uint32_t end,
                        std::vector<ShapedGlyph>& out);
  void shape_word(const Paragraph& paragraph, const Item& item, uint32_t begin, uint32_t end,
                  std::vector<ShapedGlyph>& out);

  hb_buffer_t* buffer_;
  std::u32string key_;
  std::unordered_map<std::u32string, std::vector<ShapedGlyph>> words_;  // `at` from the word's begin
};

}  // namespace warpchat::gui
