// Text of any script, shaped and drawn by ourselves: system fonts with fallback, HarfBuzz shaping, FriBidi order, line
// breaking, colour emoji, one glyph atlas. A layout is made once for a width and drawn, hit and selected many times.
// Everything here belongs to the UI thread; only draw, begin_frame and the engine's end need the OpenGL context.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/gui/theme.h"

struct ImDrawList;
struct ImVec2;

namespace warpchat::gui {

enum class Face : uint8_t { kText, kBold, kItalic, kBoldItalic, kCode };

struct TextStyle {
  Face face = Face::kText;
  float size = 16;  // pixels, 1 to 512
  Colour colour = 0xFF000000;
  Colour background = 0, outline = 0;  // of a box round it; 0: none
  float rise = 0;                      // pixels, above the line's baseline
  bool underline = false, strike = false;
};

struct MathLayout;  // app/gui/text/math_layout.h

// text[begin, end), bytes of complete UTF-8 characters.
struct StyledRun {
  size_t begin, end;
  TextStyle style;
  std::shared_ptr<const MathLayout> formula = nullptr;  // stands for these bytes, at least three of them, in one piece
};

// UTF-8; "\n" breaks a line. runs cover the text in order; bytes that none covers have a default TextStyle.
struct StyledText {
  std::string text;
  std::vector<StyledRun> runs;
};

struct TextRect {
  float x, y, width, height;  // pixels from the layout's top left corner
};

enum class LineAlign { kStart, kLeft, kCentre, kRight };  // start: by the paragraph's direction
enum class TextDirection { kAuto, kLeftToRight, kRightToLeft };

// The direction of the text's first letter; kAuto: it has none.
TextDirection direction_of(std::string_view text);

// Must not outlive the engine that made it.
class TextLayout {
 public:
  ~TextLayout();
  float width() const;         // to the right end of the longest line
  float longest_line() const;  // less where lines are not at the left: from right to left, centred
  float height() const;        // of all lines
  size_t n_lines() const;
  size_t memory_bytes() const;

  // origin: the top left corner on the screen. Draws only lines that meet [clip_top, clip_bottom), screen pixels.
  void draw(ImDrawList& list, ImVec2 origin, float clip_top, float clip_bottom) const;

  // The offset between characters (grapheme clusters) nearest to a point; below the last line: the text's end.
  size_t offset_at(float x, float y) const;
  std::vector<TextRect> selection(size_t begin, size_t end) const;  // of these bytes, in visual order per line
  size_t word_begin(size_t offset) const;                           // for double clicks
  size_t word_end(size_t offset) const;

  struct Parts;  // app/gui/text/layout_parts.h

 private:
  friend class TextEngine;
  explicit TextLayout(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

class TextEngine {
 public:
  // Finds the system's fonts. Error with what to install if there is not even one for Latin text.
  TextEngine();
  ~TextEngine();

  // Breaks lines at most `width` pixels wide (Unicode line breaking; a word that is longer is broken inside); no limit
  // for width <= 0.
  // direction: of all paragraphs; kAuto: each has its own.
  std::unique_ptr<TextLayout> layout(const StyledText& text, float width, LineAlign align = LineAlign::kStart,
                                     TextDirection direction = TextDirection::kAuto);
  float line_height(const TextStyle& style);

  // A formula with the marks around it ("$x$", "\[x\]"), set; nullptr where something in it is not known or there is no
  // font for mathematics. display: as it stands alone. size: pixels, of the text beside it.
  std::shared_ptr<const MathLayout> formula(const std::string& source, bool display, float size);

  // Once before a frame draws: bounds the atlas by dropping pages of glyphs that the last frame did not draw.
  void begin_frame();

  // The preferred families, empty for the usual ones. Layouts that were made before keep their fonts.
  void choose_fonts(const std::string& text, const std::string& code);
  uint32_t fonts_revision() const;  // grows when the fonts change, so that what keeps layouts makes them anew
  std::vector<std::string> families(bool code) const;  // that can be preferred

  // For the controls' font: the file and index in it of a face, as found.
  struct FontFile {
    std::string path;
    int index;
  };
  FontFile font_file(Face face) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace warpchat::gui
