// A text that tracks which bytes are content, i.e. come from messages and tools rather than the template. Cutting,
// joining and replacing keep this per byte. Where that is impossible, the whole result is content if any input was.
// Comparisons ignore content.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "models/text_range.h"

namespace warpchat {

struct TracedText {
  static constexpr size_t kMaxRanges = size_t{1} << 20;  // beyond that, the last range extends to the last content

  std::string bytes;               // UTF-8
  std::vector<TextRange> content;  // sorted, not empty, not adjacent

  bool has_content(size_t begin = 0, size_t end = std::string::npos) const;
  TracedText cut(size_t begin, size_t end) const;
  TracedText cut(std::string_view part) const;  // part: a view of bytes, or empty

  void append(std::string_view own);  // template text
  void append(const TracedText& other);
  void append(const TracedText& other, size_t begin, size_t end);  // bytes [begin, end) of other
  // Appends bytes derived from other: all content if any of other is.
  void append_for(std::string_view written, const TracedText& other, size_t begin, size_t end);

 private:
  void mark(size_t begin, size_t end);
};

TracedText own_text(std::string bytes);  // template text
TracedText text_for(std::string bytes, bool is_content);
// Result of mapping another text by character: content per character if every character kept its length, else as a
// whole.
TracedText same_shape(std::string bytes, const TracedText& from);

}  // namespace warpchat
