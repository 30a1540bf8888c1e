// Where each grapheme cluster of a run of glyphs is: what a caret, a selection and a line break need.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace warpchat::gui {

struct GlyphSpan {
  uint32_t at;        // position in the text of the first character it stands for
  float left, right;  // pen before and after it
};

struct Cell {
  uint32_t begin, end;  // positions in the text
  float left, right;
};

// glyphs: in visual order. starts: the positions where clusters begin, ascending, then the run's end. The cells are in
// the order of the text. Clusters that share a glyph (ligatures) have equal parts of it.
std::vector<Cell> cells_of(std::span<const GlyphSpan> glyphs, std::span<const uint32_t> starts, bool is_rtl);

}  // namespace warpchat::gui
