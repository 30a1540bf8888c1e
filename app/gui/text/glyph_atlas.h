// Glyphs as rectangles of OpenGL textures, made when first drawn. The only file of this folder that calls OpenGL.
#pragma once
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "app/gui/text/glyph_bitmap.h"

namespace warpchat::gui {

class Font;

// Rows of rectangles of like height in a page.
class ShelfPacker {
 public:
  ShelfPacker(int width, int height) : width_(width), height_(height) {}
  struct Place {
    int x, y;
  };
  bool add(int width, int height, Place& place);  // false: there is no room

 private:
  struct Shelf {
    int y, height, used;
  };
  int width_, height_;
  int used_height_ = 0;
  std::vector<Shelf> shelves_;
};

struct AtlasGlyph {
  uint32_t page = 0;
  int16_t left = 0, top = 0;       // pixels from the pen to the rectangle
  uint16_t width = 0, height = 0;  // 0: nothing to draw
  float u0 = 0, v0 = 0, u1 = 0, v1 = 0;
  bool coloured = false;
};

class GlyphAtlas {
 public:
  GlyphAtlas() = default;
  ~GlyphAtlas();  // deletes the textures, if there are any
  GlyphAtlas(const GlyphAtlas&) = delete;
  GlyphAtlas& operator=(const GlyphAtlas&) = delete;

  // Valid until the next begin_frame.
  const AtlasGlyph& glyph(Font& font, uint16_t id, float size, int phase);
  uint32_t texture(uint32_t page) const { return pages_.at(page).texture; }  // OpenGL's name

  // Over the bound, drops pages that the last frame did not use.
  void begin_frame();
  size_t texture_bytes() const;

 private:
  struct Page {
    uint32_t texture;
    int width, height;
    ShelfPacker packer;
    uint64_t last_used;  // frame
  };
  void place(const GlyphBitmap& bitmap, AtlasGlyph& glyph);
  uint32_t page_for(int width, int height, ShelfPacker::Place& place);
  uint32_t add_page(int width, int height);

  uint64_t frame_ = 0;
  uint32_t next_page_ = 0;
  std::unordered_map<uint32_t, Page> pages_;
  std::unordered_map<uint64_t, AtlasGlyph> glyphs_;
};

}  // namespace warpchat::gui
