// All pages are RGBA, so that letters and emoji of a line are mostly one draw call.
#include "app/gui/text/glyph_atlas.h"

#include <GL/gl.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "app/gui/text/font.h"

namespace warpchat::gui {

namespace {

constexpr int kPageSize = 1024;             // pixels
constexpr int kBorder = 1;                  // clear pixels round a glyph, for the texture's filter
constexpr size_t kMaxBytes = 32ull << 20;   // of textures, unless one frame needs more
constexpr int kShelfSlack = 4;              // a shelf may be that much higher than what it takes

uint64_t key_of(const Font& font, uint16_t id, float size, int phase) {
  const auto size_64ths = static_cast<uint64_t>(std::lround(size * 64));
  return uint64_t{font.number()} << 48 | uint64_t{id} << 32 | size_64ths << 8 | static_cast<uint64_t>(phase);
}

// GL_UNPACK_* are the drawing library's, too; each user of them sets what it needs.
void upload(uint32_t texture, int x, int y, int width, int height, const std::vector<uint32_t>& pixels) {
  GLint bound = 0;
  glGetIntegerv(GL_TEXTURE_BINDING_2D, &bound);
  glBindTexture(GL_TEXTURE_2D, texture);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  glTexSubImage2D(GL_TEXTURE_2D, 0, x, y, width, height, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data());
  glBindTexture(GL_TEXTURE_2D, static_cast<GLuint>(bound));
}

uint32_t make_texture(int width, int height) {
  GLint bound = 0;
  GLuint texture = 0;
  glGetIntegerv(GL_TEXTURE_BINDING_2D, &bound);
  glGenTextures(1, &texture);
  glBindTexture(GL_TEXTURE_2D, texture);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  const std::vector<uint32_t> clear(static_cast<size_t>(width) * static_cast<size_t>(height), 0x00FFFFFF);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, clear.data());
  glBindTexture(GL_TEXTURE_2D, static_cast<GLuint>(bound));
  return texture;
}

}  // namespace

bool ShelfPacker::add(int width, int height, Place& place) {
  for (Shelf& shelf : shelves_) {
    if (height > shelf.height || shelf.height > height + kShelfSlack || shelf.used + width > width_) continue;
    place = {shelf.used, shelf.y};
    shelf.used += width;
    return true;
  }
  if (width > width_ || used_height_ + height > height_) return false;
  shelves_.push_back({used_height_, height, width});
  place = {0, used_height_};
  used_height_ += height;
  return true;
}

GlyphAtlas::~GlyphAtlas() {
  for (const auto& [number, page] : pages_) glDeleteTextures(1, &page.texture);
}

const AtlasGlyph& GlyphAtlas::glyph(Font& font, uint16_t id, float size, int phase) {
  const auto [known, is_new] = glyphs_.try_emplace(key_of(font, id, size, phase));
  AtlasGlyph& glyph = known->second;
  if (is_new) place(rasterise(font, id, size, phase), glyph);
  if (glyph.width) pages_.at(glyph.page).last_used = frame_;
  return glyph;
}

void GlyphAtlas::place(const GlyphBitmap& bitmap, AtlasGlyph& glyph) {
  if (!bitmap.width || !bitmap.height) return;
  ShelfPacker::Place at{};
  glyph.page = page_for(bitmap.width + 2 * kBorder, bitmap.height + 2 * kBorder, at);
  const Page& page = pages_.at(glyph.page);
  glyph.left = static_cast<int16_t>(bitmap.left);
  glyph.top = static_cast<int16_t>(bitmap.top);
  glyph.width = static_cast<uint16_t>(bitmap.width);
  glyph.height = static_cast<uint16_t>(bitmap.height);
  glyph.coloured = bitmap.coloured;
  const int x = at.x + kBorder, y = at.y + kBorder;
  glyph.u0 = static_cast<float>(x) / static_cast<float>(page.width);
  glyph.v0 = static_cast<float>(y) / static_cast<float>(page.height);
  glyph.u1 = static_cast<float>(x + bitmap.width) / static_cast<float>(page.width);
  glyph.v1 = static_cast<float>(y + bitmap.height) / static_cast<float>(page.height);
  upload(page.texture, x, y, bitmap.width, bitmap.height, bitmap.pixels);
}

uint32_t GlyphAtlas::page_for(int width, int height, ShelfPacker::Place& place) {
  for (auto& [number, page] : pages_) {
    if (page.packer.add(width, height, place)) return number;
  }
  const uint32_t number = add_page(std::max(width, kPageSize), std::max(height, kPageSize));
  pages_.at(number).packer.add(width, height, place);
  return number;
}

uint32_t GlyphAtlas::add_page(int width, int height) {
  pages_.emplace(next_page_, Page{make_texture(width, height), width, height, ShelfPacker(width, height), frame_});
  return next_page_++;
}

size_t GlyphAtlas::texture_bytes() const {
  size_t bytes = 0;
  for (const auto& [number, page] : pages_) bytes += size_t{4} * static_cast<size_t>(page.width * page.height);
  return bytes;
}

void GlyphAtlas::begin_frame() {
  while (texture_bytes() > kMaxBytes) {
    const auto oldest = std::min_element(pages_.begin(), pages_.end(), [](const auto& a, const auto& b) {
      return a.second.last_used < b.second.last_used;
    });
    if (oldest->second.last_used == frame_) break;
    glDeleteTextures(1, &oldest->second.texture);
    std::erase_if(glyphs_, [&](const auto& entry) { return entry.second.width && entry.second.page == oldest->first; });
    pages_.erase(oldest);
  }
  ++frame_;
}

}  // namespace warpchat::gui
