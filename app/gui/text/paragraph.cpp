// Grapheme clusters as in the terminal (utf8proc), levels by FriBidi, line and word breaks by ICU, which knows the
// words of Thai, Lao, Khmer and Burmese.
#include "app/gui/text/paragraph.h"

#include <fribidi.h>
#include <unicode/ubrk.h>

#include <algorithm>
#include <new>

#include "app/platform/text/graphemes.h"
#include "models/error.h"

namespace warpchat::gui {

namespace {

constexpr char32_t kInvisible = 0x200B;  // zero-width space
constexpr char32_t kFirstRightToLeft = 0x590;

bool only_breaks(char32_t c) { return (c >= 0x0A && c <= 0x0D) || c == 0x85 || c == 0x2028 || c == 0x2029; }
bool is_space(char32_t c) {
  return c == ' ' || c == '\t' || c == kInvisible || c == 0x1680 || (c >= 0x2000 && c <= 0x200A && c != 0x2007) ||
         c == 0x3000;
}

UBreakIterator* open_iterator(UBreakIteratorType type) {
  UErrorCode status = U_ZERO_ERROR;
  UBreakIterator* iterator = ubrk_open(type, "en", nullptr, 0, &status);
  if (U_FAILURE(status))
    throw Error(std::string("ICU cannot find line breaks: ") + u_errorName(status) + "; reinstall libicu72");
  return iterator;
}

void append_utf16(std::u16string& text, char32_t c) {
  if (c < 0x10000) {
    text += static_cast<char16_t>(c);
  } else {
    text += static_cast<char16_t>(0xD7C0 + (c >> 10));
    text += static_cast<char16_t>(0xDC00 + (c & 0x3FF));
  }
}

void set_text(UBreakIterator* iterator, const std::u16string& text) {
  UErrorCode status = U_ZERO_ERROR;
  ubrk_setText(iterator, text.data(), static_cast<int32_t>(text.size()), &status);
  if (U_FAILURE(status)) throw std::bad_alloc();
}

}  // namespace

TextDirection direction_of(std::string_view text) {
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    const FriBidiCharType type = fribidi_get_bidi_type(c.value);
    if (FRIBIDI_IS_STRONG(type))
      return FRIBIDI_IS_RTL(type) ? TextDirection::kRightToLeft : TextDirection::kLeftToRight;
    text.remove_prefix(c.bytes);
  }
  return TextDirection::kAuto;
}

ParagraphReader::ParagraphReader() : lines_(open_iterator(UBRK_LINE)), words_(open_iterator(UBRK_WORD)) {}

ParagraphReader::~ParagraphReader() {
  ubrk_close(lines_);
  ubrk_close(words_);
}

const Paragraph& ParagraphReader::read(std::string_view text, size_t begin, size_t end, TextDirection direction) {
  decode(text, begin, end);
  find_clusters();
  find_levels(direction);
  find_breaks();
  for (size_t i = 0; i < paragraph_.characters.size(); ++i) {
    if (only_breaks(paragraph_.characters[i])) paragraph_.characters[i] = kInvisible;
  }
  return paragraph_;
}

void ParagraphReader::decode(std::string_view text, size_t begin, size_t end) {
  paragraph_.characters.clear();
  paragraph_.offsets.clear();
  paragraph_.has_kana = paragraph_.has_hangul = false;
  for (size_t at = begin; at < end;) {
    const CodePoint c = static_cast<uint8_t>(text[at]) < 0x80 ? CodePoint{static_cast<char32_t>(text[at]), 1}
                                                              : first_code_point(text.substr(at, end - at));
    paragraph_.characters.push_back(c.value);
    paragraph_.offsets.push_back(static_cast<uint32_t>(at));
    paragraph_.has_kana |= c.value >= 0x3041 && c.value <= 0x30FF;
    paragraph_.has_hangul |= c.value >= 0xAC00 && c.value <= 0xD7A3;
    at += c.bytes;
  }
  paragraph_.offsets.push_back(static_cast<uint32_t>(end));
}

void ParagraphReader::find_clusters() {
  paragraph_.clusters.clear();
  GraphemeBreaker breaker;
  for (uint32_t i = 0; i < paragraph_.characters.size(); ++i) {
    const char32_t c = paragraph_.characters[i];
    if (breaker.breaks_before(c))
      paragraph_.clusters.push_back({i, paragraph_.offsets[i], 0, false, false, is_space(c)});
  }
}

void ParagraphReader::find_levels(TextDirection wanted) {
  const std::vector<char32_t>& text = paragraph_.characters;
  paragraph_.base_level = 0;
  const bool has_rtl = std::any_of(text.begin(), text.end(), [](char32_t c) { return c >= kFirstRightToLeft; });
  if (!has_rtl && wanted != TextDirection::kRightToLeft) return;
  const auto n = static_cast<FriBidiStrIndex>(text.size());
  const auto* characters = reinterpret_cast<const FriBidiChar*>(text.data());
  types_.resize(text.size());
  brackets_.resize(text.size());
  levels_.resize(text.size());
  fribidi_get_bidi_types(characters, n, types_.data());
  fribidi_get_bracket_types(characters, n, types_.data(), brackets_.data());
  FriBidiParType direction = wanted == TextDirection::kLeftToRight   ? FRIBIDI_PAR_LTR
                             : wanted == TextDirection::kRightToLeft ? FRIBIDI_PAR_RTL
                                                                     : FRIBIDI_PAR_ON;
  if (!fribidi_get_par_embedding_levels_ex(types_.data(), brackets_.data(), n, &direction, levels_.data())) {
    throw std::bad_alloc();
  }
  paragraph_.base_level = FRIBIDI_IS_RTL(direction) ? 1 : 0;
  for (Cluster& cluster : paragraph_.clusters) cluster.level = static_cast<uint8_t>(levels_[cluster.first]);
}

void ParagraphReader::encode_utf16() {
  utf16_.clear();
  for (char32_t c : paragraph_.characters) append_utf16(utf16_, c);
}

// Breaks inside a cluster are ignored.
void ParagraphReader::find_breaks() {
  encode_utf16();
  set_text(lines_, utf16_);
  size_t cluster = 0;
  uint32_t character = 0, unit = 0;
  for (int32_t at = ubrk_next(lines_); at != UBRK_DONE; at = ubrk_next(lines_)) {
    while (unit < static_cast<uint32_t>(at)) unit += paragraph_.characters[character++] < 0x10000 ? 1 : 2;
    while (cluster < paragraph_.clusters.size() && paragraph_.clusters[cluster].first < character) ++cluster;
    if (cluster == paragraph_.clusters.size()) return;
    if (paragraph_.clusters[cluster].first != character) continue;
    paragraph_.clusters[cluster].can_break = true;
    paragraph_.clusters[cluster].must_break = ubrk_getRuleStatus(lines_) >= UBRK_LINE_HARD;
  }
}

std::pair<size_t, size_t> ParagraphReader::word_at(std::string_view text, size_t offset) {
  decode(text, 0, text.size());
  encode_utf16();
  set_text(words_, utf16_);
  size_t begin = 0, end = 0;
  bool after_word = false;
  uint32_t character = 0, unit = 0;
  for (int32_t at = ubrk_next(words_); at != UBRK_DONE; at = ubrk_next(words_)) {
    while (unit < static_cast<uint32_t>(at)) unit += paragraph_.characters[character++] < 0x10000 ? 1 : 2;
    const bool is_word = ubrk_getRuleStatus(words_) >= UBRK_WORD_NONE_LIMIT;
    if (end == offset && after_word && !is_word) break;
    begin = end;
    end = paragraph_.offsets[character];
    if (end > offset) break;
    after_word = is_word;
  }
  return {begin, end};
}

}  // namespace warpchat::gui
