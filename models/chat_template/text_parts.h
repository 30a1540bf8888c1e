// Splits texts like Python's str. Parts are views of the given text.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/chat_template/traced_text.h"

namespace warpchat::jinja {

using Parts = std::vector<std::string_view>;

// Position of the first and last occurrence, npos if there is none.
size_t find_text(std::string_view text, std::string_view sought, size_t from = 0);
size_t rfind_text(std::string_view text, std::string_view sought);

// At most `limit` splits, from the left or right; negative: no limit.
Parts split_spaces(std::string_view text, int64_t limit);  // at runs of white space, without empty parts
Parts split_spaces_from_right(std::string_view text, int64_t limit);
Parts split_at(std::string_view text, std::string_view separator, int64_t limit);  // separator: not empty
Parts split_at_from_right(std::string_view text, std::string_view separator, int64_t limit);
Parts split_lines(std::string_view text, bool keep_ends);

enum Side { kLeft = 1, kRight = 2, kBoth = 3 };
// Strips leading or trailing code points that are in `letters`.
std::string_view strip_letters(std::string_view text, std::u32string_view letters, int side);

// Replaces every occurrence of `old`, or the first `limit` if not negative.
TracedText replace_text(const TracedText& text, std::string_view old, const TracedText& by, int64_t limit);

}  // namespace warpchat::jinja
