#include "models/tokenizer/compose.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "models/error.h"
#include "models/utf8.h"

namespace warpchat {
namespace {

// Without STABLE, utf8proc would also compose what Unicode excludes from composition.
constexpr auto kOptions = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
// The first character that is a mark. Those before it are composed, whatever follows or precedes them.
constexpr utf8proc_int32_t kFirstMark = 0x300;

// Larger characters that are composed already and join no character before them; a text may be cut before each of
// these. Characters of other ranges may be such, too: then composing them changes nothing.
struct Range {
  utf8proc_int32_t first, last;
};
constexpr Range kClosedRanges[] = {
    {0x400, 0x482},      // Cyrillic
    {0x2010, 0x2027},    // dashes, quotes
    {0x3000, 0x3029},    // punctuation of Chinese and Japanese
    {0x3041, 0x3096},    // Hiragana
    {0x30A1, 0x30FA},    // Katakana
    {0x3400, 0x4DBF},    // Chinese
    {0x4E00, 0x9FFF},    //
    {0xAC00, 0xD7A3},    // Korean syllables
    {0xFF01, 0xFF5E},    // wide forms of ASCII
    {0x1F300, 0x1FAFF},  // emoji
};

bool is_closed(utf8proc_int32_t character) {
  return character < kFirstMark || std::ranges::any_of(kClosedRanges, [=](const Range& range) {
           return character >= range.first && character <= range.last;
         });
}

utf8proc_int32_t read_character(std::string_view text, size_t& at) {
  return static_cast<utf8proc_int32_t>(next_code_point(text, at));
}

void decompose(utf8proc_int32_t character, std::vector<utf8proc_int32_t>& characters) {
  utf8proc_int32_t parts[8];  // a canonical decomposition has at most four
  int unused = 0;
  const auto n = utf8proc_decompose_char(character, parts, std::size(parts), kOptions, &unused);
  if (n < 0 || n > std::ssize(parts)) throw Error(std::string("cannot compose a text: ") + utf8proc_errmsg(n));
  characters.insert(characters.end(), parts, parts + n);
}

// Marks between two letters by their class. utf8proc does so by swapping neighbours, in quadratic time.
void order_marks(std::vector<utf8proc_int32_t>& characters) {
  const auto class_of = [](utf8proc_int32_t c) { return utf8proc_get_property(c)->combining_class; };
  const auto is_mark = [&](utf8proc_int32_t c) { return class_of(c) != 0; };
  for (auto from = characters.begin(); from != characters.end();) {
    from = std::find_if(from, characters.end(), is_mark);
    const auto to = std::find_if_not(from, characters.end(), is_mark);
    std::ranges::stable_sort(from, to, {}, class_of);
    from = to;
  }
}

void append_composed(std::string_view text, std::string& composed) {
  std::vector<utf8proc_int32_t> characters;
  for (size_t at = 0; at < text.size();) decompose(read_character(text, at), characters);
  order_marks(characters);
  const auto n = utf8proc_normalize_utf32(characters.data(), std::ssize(characters), kOptions);
  if (n < 0) throw Error(std::string("cannot compose a text: ") + utf8proc_errmsg(n));
  for (utf8proc_ssize_t i = 0; i < n; ++i) append_utf8(static_cast<char32_t>(characters[i]), composed);
}

}  // namespace

std::string_view compose_text(std::string_view text, std::string& storage) {
  storage.clear();
  size_t done = 0, start = 0;  // start: of the last closed character
  for (size_t at = 0; at < text.size();) {
    const size_t character_start = at;
    if (is_closed(read_character(text, at))) {
      start = character_start;
      continue;
    }
    while (at < text.size()) {  // up to the next closed character
      size_t next = at;
      if (is_closed(read_character(text, next))) break;
      at = next;
    }
    storage.append(text, done, start - done);
    append_composed(text.substr(start, at - start), storage);
    done = start = at;
  }
  if (done == 0) return text;
  storage.append(text, done, text.size() - done);
  return storage;
}

}  // namespace warpchat
