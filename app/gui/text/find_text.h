// Finds words in a text, ignoring case.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace warpchat::gui {

// The small letter of the character at text[at], by Unicode's simple mapping.
struct SmallLetter {
  int32_t small;
  size_t bytes;  // of the character
};
SmallLetter small_letter_at(std::string_view text, size_t at);

// [begin, end) in bytes, in order, none over another. Characters are compared by their small letters (Unicode's simple
// mapping). words: none if empty.
std::vector<std::pair<size_t, size_t>> find_text(std::string_view text, std::string_view words);

}  // namespace warpchat::gui
