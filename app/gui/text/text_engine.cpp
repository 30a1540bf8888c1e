#include "app/gui/text/text_engine.h"

#include "app/gui/text/glyph_atlas.h"
#include "app/gui/text/layout_builder.h"
#include "app/gui/text/math_layout.h"

namespace warpchat::gui {

struct TextEngine::Parts {
  FontSet fonts;
  ParagraphReader reader;
  Shaper shaper;
  GlyphAtlas atlas;
  std::string text_family, code_family;  // preferred
  uint32_t fonts_revision = 0;
};

TextEngine::TextEngine() : parts_(std::make_unique<Parts>()) {
  for (Face face : {Face::kText, Face::kBold, Face::kItalic, Face::kBoldItalic, Face::kCode})
    parts_->fonts.primary(face);
}
TextEngine::~TextEngine() = default;

std::unique_ptr<TextLayout> TextEngine::layout(const StyledText& text, float width, LineAlign align,
                                               TextDirection direction) {
  auto parts = std::make_unique<TextLayout::Parts>();
  parts->atlas = &parts_->atlas;
  parts->reader = &parts_->reader;
  LayoutBuilder(parts_->fonts, parts_->shaper, parts_->reader, text, width, *parts).build(align, direction);
  return std::unique_ptr<TextLayout>(new TextLayout(std::move(parts)));
}

float TextEngine::line_height(const TextStyle& style) {
  const LineExtent extent = line_extent(parts_->fonts.primary(style.face), style.size);
  return extent.above + extent.below;
}

std::shared_ptr<const MathLayout> TextEngine::formula(const std::string& source, bool display, float size) {
  const std::optional<MathNode> tree = parse_tex(formula_inside(source));
  Font* math = tree ? parts_->fonts.math() : nullptr;
  if (!math) return nullptr;
  return std::make_shared<MathLayout>(lay_out_math(*tree, display, size, *math, parts_->fonts));
}

void TextEngine::begin_frame() { parts_->atlas.begin_frame(); }

void TextEngine::choose_fonts(const std::string& text, const std::string& code) {
  if (parts_->text_family == text && parts_->code_family == code) return;
  parts_->text_family = text, parts_->code_family = code;
  parts_->fonts.prefer(text, code);
  ++parts_->fonts_revision;
}

uint32_t TextEngine::fonts_revision() const { return parts_->fonts_revision; }

std::vector<std::string> TextEngine::families(bool code) const { return parts_->fonts.finder().families(code); }

TextEngine::FontFile TextEngine::font_file(Face face) const {
  const FoundFont font = parts_->fonts.finder().primary(face);
  return {font.path, font.index};
}

}  // namespace warpchat::gui
