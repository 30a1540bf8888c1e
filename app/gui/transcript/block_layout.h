// A block laid out for a width: its texts with their places, and the shapes round them. Coordinates are pixels from
// the row's top left corner; the space above the block belongs to the row.
#pragma once
#include <imgui/imgui.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "app/gui/text/text_engine.h"
#include "app/gui/theme.h"
#include "app/gui/transcript/markdown_block.h"

namespace warpchat::gui {

struct BlockLook {
  const Theme& theme;
  Sizes sizes;
  bool is_thought = false;  // stands back
};

struct BlockPlace {
  float width;                 // to fill, pixels
  bool is_first;               // of its message: no space above
  bool goes_on = false;        // the next block is its next piece
  size_t n_joined_quotes = 0;  // quotes that the block above lies in, too
};

// Text with a colour behind it; bytes of the block's text.
struct BlockMark {
  size_t begin, end;
  Colour colour;
};

// Where the block is drawn and what of it is marked.
struct BlockPaint {
  ImDrawList& list;
  ImVec2 origin;  // the row's top left corner on the screen
  float clip_top, clip_bottom;
  float scroll = 0;                         // of a block that is wider than its place
  size_t select_begin = 0, select_end = 0;  // bytes of the block's text
  std::span<const BlockMark> marks = {};
};

inline float bar_width(float em) { return std::max(2.0f, std::round(0.18f * em)); }
Colour bar_colour(Nesting nesting, const Theme& theme);  // beside a quote, and of its title

class BlockLayout {
 public:
  BlockLayout(TextEngine& engine, const MarkdownBlock& block, const BlockLook& look, const BlockPlace& place);

  float height() const { return height_; }  // with the space above
  float width() const { return width_; }    // that its content takes, without scrolling; no more than its place
  void draw(const BlockPaint& paint, const BlockLook& look) const;

  size_t offset_at(float x, float y, float scroll) const;                             // nearest
  std::optional<size_t> offset_under(float x, float y, float scroll) const;           // only where a character is
  int32_t link_at(const MarkdownBlock& block, float x, float y, float scroll) const;  // index; -1: none
  std::vector<TextRect> link_rects(const MarkdownBlock& block, int32_t link) const;   // unscrolled
  // The word at an offset, or the line of code, for a double click.
  std::pair<size_t, size_t> word_at(size_t offset) const;
  ImVec2 caret_after(size_t offset, float* line_height) const;

  // For code: the strip with the language's name and the buttons; height 0 in a continued piece.
  std::optional<TextRect> head() const { return head_; }
  // Where the sign of a fold stands, beside its summary; as high as a line.
  std::optional<TextRect> fold_sign() const { return fold_sign_; }
  float scroll_limit() const { return std::max(0.0f, inner_width_ - frame_.width); }
  bool goes_on() const { return goes_on_; }  // in the next piece
  TextRect frame() const { return frame_; }  // what scrolls

 private:
  struct Placed {
    std::unique_ptr<TextLayout> layout;
    float x, y;
    size_t begin, end;  // of the block's text
  };
  void lay_out_text(TextEngine& engine, const MarkdownBlock& block, const BlockLook& look);
  void lay_out_formula(TextEngine& engine, const MarkdownBlock& block, const BlockLook& look);
  void lay_out_code(TextEngine& engine, const MarkdownBlock& block, const BlockLook& look, const BlockPlace& place);
  void lay_out_table(TextEngine& engine, const MarkdownBlock& block, const BlockLook& look);
  void lay_out_marker(TextEngine& engine, const MarkdownBlock& block, const BlockLook& look);
  void place_fold_sign(float line_height);
  std::vector<float> column_widths(TextEngine& engine, const MarkdownBlock& block, const BlockLook& look) const;
  static void draw_mark(const BlockPaint& paint, const Placed& text, ImVec2 origin, const BlockMark& mark);
  void draw_shapes(const BlockPaint& paint, const BlockLook& look) const;
  void draw_table_lines(const BlockPaint& paint, const BlockLook& look) const;
  float marker_x(float width) const;  // of a marker or box that is this wide
  void draw_task(const BlockPaint& paint, const BlockLook& look) const;
  const Placed* nearest(float x, float y) const;

  BlockKind kind_;
  float height_ = 0, width_ = 0, em_ = 0;
  float left_ = 0, top_ = 0;  // of the content
  float available_ = 0;       // for it
  std::vector<Placed> texts_;
  struct Bar {
    float x;  // its left edge
    Nesting nesting;
  };
  std::vector<Bar> bars_;  // beside quotes
  std::unique_ptr<TextLayout> marker_, label_;
  std::optional<bool> task_;
  bool is_rtl_ = false;  // markers and bars are at the right
  bool continues_ = false, goes_on_ = false;
  size_t n_joined_bars_ = 0;
  std::optional<TextRect> head_, fold_sign_;
  TextRect frame_ = {};  // code's or table's place
  float inner_width_ = 0;
  std::vector<float> row_tops_;  // of a table, and its end
};

}  // namespace warpchat::gui
