// Whether typed letters are in a text in their order, and how well they fit it.
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace warpchat::gui {

struct FuzzyMatch {
  int score = 0;                                 // higher is better; 0 without letters
  std::vector<std::pair<size_t, size_t>> marks;  // [begin, end) bytes of the text, in order
};

// The best of all ways to find the letters: at beginnings of words, next to each other, in a short text. Case and
// blanks of `wanted` do not count. nullopt: they are not in it.
std::optional<FuzzyMatch> fuzzy_match(std::string_view text, std::string_view wanted);

}  // namespace warpchat::gui
