// Finds words in a text, ignoring case.
#pragma once
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace warpchat::gui {

// [begin, end) in bytes, in order, none over another. Characters are compared by their small letters (Unicode's simple
// mapping). words: none if empty.
std::vector<std::pair<size_t, size_t>> find_text(std::string_view text, std::string_view words);

}  // namespace warpchat::gui
