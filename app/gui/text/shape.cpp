// A word between blanks looks the same wherever it stands, so it is looked up by font, script, direction and letters.
#include "app/gui/text/shape.h"

#include <algorithm>
#include <new>

namespace warpchat::gui {

namespace {

constexpr size_t kLongestWord = 24;    // characters remembered as one
constexpr size_t kMaxWords = 20'000;   // about 5 MB

bool is_rtl(const Item& item) { return item.level & 1; }

constexpr hb_feature_t kPlainLetters[] = {
    {HB_TAG('l', 'i', 'g', 'a'), 0, HB_FEATURE_GLOBAL_START, HB_FEATURE_GLOBAL_END},
    {HB_TAG('c', 'a', 'l', 't'), 0, HB_FEATURE_GLOBAL_START, HB_FEATURE_GLOBAL_END},
};

}  // namespace

Shaper::Shaper() : buffer_(hb_buffer_create()) {
  if (!hb_buffer_allocation_successful(buffer_)) throw std::bad_alloc();
}

Shaper::~Shaper() { hb_buffer_destroy(buffer_); }

void Shaper::shape(const Paragraph& paragraph, const Item& item, std::vector<ShapedGlyph>& out) {
  const uint32_t begin = paragraph.clusters[item.begin].first, end = paragraph.end_of(item.end - 1);
  const auto& text = paragraph.characters;
  const size_t first_out = out.size();
  // Words and blanks by turns, in logical order. Right to left, reversing each piece and then all reverses their order.
  for (uint32_t at = begin; at < end;) {
    const bool blank = text[at] == ' ';
    uint32_t to = at;
    while (to < end && (text[to] == ' ') == blank) ++to;
    const bool whole =
        (at == 0 || at > begin || text[at - 1] == ' ') && (to == text.size() || to < end || text[to] == ' ');
    const size_t piece = out.size();
    if (whole && to - at <= kLongestWord)
      shape_word(paragraph, item, at, to, out);
    else
      shape_characters(paragraph, item, at, to, out);
    if (is_rtl(item)) std::reverse(out.begin() + static_cast<ptrdiff_t>(piece), out.end());
    at = to;
  }
  if (is_rtl(item)) std::reverse(out.begin() + static_cast<ptrdiff_t>(first_out), out.end());
}

void Shaper::shape_word(const Paragraph& paragraph, const Item& item, uint32_t begin, uint32_t end,
                        std::vector<ShapedGlyph>& out) {
  key_.assign(paragraph.characters.begin() + begin, paragraph.characters.begin() + end);
  key_ += {item.font->number(), static_cast<char32_t>(item.script), static_cast<char32_t>(is_rtl(item)),
           static_cast<char32_t>(item.plain_letters)};
  auto known = words_.find(key_);
  if (known == words_.end()) {
    if (words_.size() >= kMaxWords) words_.clear();
    std::vector<ShapedGlyph> word;
    shape_characters(paragraph, item, begin, end, word);
    for (ShapedGlyph& glyph : word) glyph.at -= begin;
    known = words_.emplace(key_, std::move(word)).first;
  }
  for (ShapedGlyph glyph : known->second) {
    glyph.at += begin;
    out.push_back(glyph);
  }
}

void Shaper::shape_characters(const Paragraph& paragraph, const Item& item, uint32_t begin, uint32_t end,
                              std::vector<ShapedGlyph>& out) {
  hb_buffer_clear_contents(buffer_);
  hb_buffer_add_codepoints(buffer_, reinterpret_cast<const hb_codepoint_t*>(paragraph.characters.data()),
                           static_cast<int>(paragraph.characters.size()), begin, static_cast<int>(end - begin));
  hb_buffer_set_direction(buffer_, is_rtl(item) ? HB_DIRECTION_RTL : HB_DIRECTION_LTR);
  hb_buffer_set_script(buffer_, item.script);
  const bool plain = item.plain_letters;
  hb_shape(item.font->shaping(), buffer_, plain ? kPlainLetters : nullptr, plain ? std::size(kPlainLetters) : 0);
  unsigned n = 0;
  const hb_glyph_info_t* infos = hb_buffer_get_glyph_infos(buffer_, &n);
  const hb_glyph_position_t* positions = hb_buffer_get_glyph_positions(buffer_, &n);
  for (unsigned i = 0; i < n; ++i) {
    const bool unsafe = hb_glyph_info_get_glyph_flags(&infos[i]) & HB_GLYPH_FLAG_UNSAFE_TO_BREAK;
    out.push_back({static_cast<uint16_t>(infos[i].codepoint), unsafe, infos[i].cluster, positions[i].x_advance,
                   positions[i].x_offset, positions[i].y_offset});
  }
}

}  // namespace warpchat::gui
