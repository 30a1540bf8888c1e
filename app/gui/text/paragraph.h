// A stretch of text between two line breaks, taken apart: characters, grapheme clusters, bidirectional levels, and
// where Unicode allows a line to end.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/gui/text/text_engine.h"

struct UBreakIterator;

namespace warpchat::gui {

struct Cluster {
  uint32_t first;           // of Paragraph::characters
  uint32_t offset;          // of its first byte in the whole text
  uint8_t level;            // odd: reads from right to left
  bool can_break = false;   // a line may end before it
  bool must_break = false;  // a line must
  bool is_space = false;    // hangs over a line's end
};

struct Paragraph {
  std::vector<char32_t> characters;  // an invalid byte is U+FFFD; what only breaks lines is U+200B
  std::vector<uint32_t> offsets;     // [characters + 1], bytes in the whole text
  std::vector<Cluster> clusters;
  uint8_t base_level = 0;  // 1: reads from right to left
  bool has_kana = false, has_hangul = false;

  uint32_t end_of(size_t cluster) const {  // in characters
    return cluster + 1 < clusters.size() ? clusters[cluster + 1].first : static_cast<uint32_t>(characters.size());
  }
  uint32_t offset_of(size_t cluster) const {  // the end's offset for clusters.size()
    return cluster < clusters.size() ? clusters[cluster].offset : offsets.back();
  }
};

class ParagraphReader {
 public:
  ParagraphReader();
  ~ParagraphReader();
  ParagraphReader(const ParagraphReader&) = delete;
  ParagraphReader& operator=(const ParagraphReader&) = delete;

  // text[begin, end) has no "\n". The result is valid until the next call.
  const Paragraph& read(std::string_view text, size_t begin, size_t end, TextDirection direction);

  // The word, blanks or mark around `offset` of `text`, which has no "\n": bytes [first, second). Between a word and
  // anything else it is the word.
  std::pair<size_t, size_t> word_at(std::string_view text, size_t offset);

 private:
  void decode(std::string_view text, size_t begin, size_t end);
  void find_clusters();
  void find_levels(TextDirection wanted);
  void find_breaks();
  void encode_utf16();

  UBreakIterator* lines_;
  UBreakIterator* words_;
  Paragraph paragraph_;
  std::u16string utf16_;
  std::vector<uint32_t> types_, brackets_;
  std::vector<int8_t> levels_;
};

}  // namespace warpchat::gui
