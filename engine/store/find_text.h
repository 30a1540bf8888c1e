// Finds words in a text, ignoring case.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpchat {

// The small letter of the character at text[at], by Unicode's simple mapping.
struct SmallLetter {
  int32_t small;
  size_t bytes;  // of the character
};
SmallLetter small_letter_at(std::string_view text, size_t at);

// [begin, end) in bytes, in order, none over another.
using TextPlaces = std::vector<std::pair<size_t, size_t>>;

// Where the words are as a phrase. Characters are compared by their small letters (Unicode's simple mapping). words:
// none if empty. max: places, after which the search ends.
TextPlaces find_text(std::string_view text, std::string_view words, size_t max = SIZE_MAX);

// Where any of these is. Of places that overlap the first stays: words may lie in each other.
TextPlaces find_any(std::string_view text, const std::vector<std::string>& wanted);

// What a search for these words is to mark: where they are as they were typed, else each of the words that
// split_search_words() makes of them. Error as there.
TextPlaces find_searched(std::string_view text, std::string_view words);

}  // namespace warpchat
