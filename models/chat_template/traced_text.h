// A text that knows which of its bytes are content, that is, come from messages and tools, and not from the template.
// What is cut, joined or replaced keeps this for every byte; where it cannot be said byte by byte, all of a result
// counts as content if any of what it was made from does. Comparisons look at the bytes alone.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "models/text_range.h"

namespace warpchat {

struct TracedText {
  static constexpr size_t kMaxRanges = size_t{1} << 20;  // of more, the last reaches to the end of all content

  std::string bytes;               // UTF-8
  std::vector<TextRange> content;  // rising; none is empty, no two touch

  bool has_content(size_t begin = 0, size_t end = std::string::npos) const;
  TracedText cut(size_t begin, size_t end) const;
  TracedText cut(std::string_view part) const;  // a view into bytes, or an empty one

  void append(std::string_view own);  // the template's
  void append(const TracedText& other);
  void append(const TracedText& other, size_t begin, size_t end);  // those bytes of the other
  // Bytes that stand for those of the other: all content if any of them is.
  void append_for(std::string_view written, const TracedText& other, size_t begin, size_t end);

 private:
  void mark(size_t begin, size_t end);
};

TracedText own_text(std::string bytes);  // the template's own
TracedText text_for(std::string bytes, bool is_content);
// A text made from another character by character: content as that is where every character has kept its length, else
// as a whole.
TracedText same_shape(std::string bytes, const TracedText& from);

}  // namespace warpchat
