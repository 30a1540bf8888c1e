// Grapheme clusters and their widths: what a person calls a character, and how many terminal columns it takes.
// Text is valid UTF-8; clusters follow Unicode UAX #29 (extended), as utf8proc implements it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace warpchat {

// Whether a cluster ends between two neighbouring code points; remembers what flags and emoji sequences need.
class GraphemeBreaker {
 public:
  bool breaks_before(char32_t code_point);  // of the text's next code point; true for the first one
  void reset() { previous_ = -1, state_ = 0; }

 private:
  int32_t previous_ = -1;
  int32_t state_ = 0;
};

struct CodePoint {
  char32_t value;
  size_t bytes;
};
// The code point at the front of non-empty text; an invalid byte reads as U+FFFD of one byte.
CodePoint first_code_point(std::string_view text);

size_t next_grapheme(std::string_view text, size_t from);      // end of the cluster that begins at from
size_t previous_grapheme(std::string_view text, size_t from);  // begin of the cluster that ends at from

// Columns: 0, 1 or 2 for a cluster; the sum over clusters for a text. Control characters count nothing.
int code_point_width(char32_t code_point);
int grapheme_width(std::string_view cluster);
int text_width(std::string_view text);

bool is_control(char32_t code_point);  // C0, DEL and C1: what a terminal might obey

}  // namespace warpchat
