// From styled text to lines of placed glyphs, paragraph by paragraph.
#pragma once
#include <vector>

#include "app/gui/text/itemise.h"
#include "app/gui/text/layout_parts.h"
#include "app/gui/text/paragraph.h"
#include "app/gui/text/shape.h"

namespace warpchat::gui {

class LayoutBuilder {
 public:
  LayoutBuilder(FontSet& fonts, Shaper& shaper, ParagraphReader& reader, const StyledText& text, float width,
                TextLayout::Parts& out);
  void build(LineAlign align, TextDirection direction = TextDirection::kAuto);

 private:
  // clusters [begin, end) of the paragraph.
  struct ClusterRange {
    size_t begin, end;
  };

  void replace_formulas();
  void cover_styles(const std::vector<StyledRun>& runs);
  void add_paragraph(size_t begin, size_t end);
  void shape_items();
  void measure_item(size_t item);
  float advance_at(size_t cluster, float x) const;
  std::vector<ClusterRange> fill_lines() const;
  void add_line(ClusterRange range, bool ends_paragraph);
  void add_piece(Item piece, size_t item, float& x);
  void add_glyphs(const ShapedGlyph* begin, const ShapedGlyph* end, GlyphRun& run);
  void place_runs(Line& line, float visible_width);
  LineExtent extent_of(const Line& line);
  LineExtent ink_of(const GlyphRun& run, LineExtent enough);
  void align(LineAlign align);

  FontSet& fonts_;
  Shaper& shaper_;
  ParagraphReader& reader_;
  const StyledText& text_;
  std::string readable_;  // the text with a word in each formula's place
  float width_;
  TextDirection direction_ = TextDirection::kAuto;
  TextLayout::Parts& out_;
  std::vector<StyledRun> styles_;  // without gaps
  size_t style_ = 0;               // of the paragraph's beginning

  const MathLayout* formula_of(const Item& item) const { return out_.formulas[item.style].get(); }

  // State of the current paragraph.
  const Paragraph* paragraph_ = nullptr;
  std::vector<Item> items_;
  std::vector<uint32_t> item_glyphs_;  // [items + 1], of glyphs_
  std::vector<ShapedGlyph> glyphs_;
  std::vector<float> advances_;  // [clusters], pixels; below 0: a tab, the distance of its stops
};

}  // namespace warpchat::gui
