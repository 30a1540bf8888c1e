// Cutting texts as Python's str does. The parts are views into the text that was given.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/chat_template/traced_text.h"

namespace warpchat::jinja {

using Parts = std::vector<std::string_view>;

// At most `limit` cuts, from the left or from the right; a negative limit is none.
Parts split_spaces(std::string_view text, int64_t limit);  // at runs of white space, without empty parts
Parts split_spaces_from_right(std::string_view text, int64_t limit);
Parts split_at(std::string_view text, std::string_view separator, int64_t limit);  // separator: not empty
Parts split_at_from_right(std::string_view text, std::string_view separator, int64_t limit);
Parts split_lines(std::string_view text, bool keep_ends);

enum Side { kLeft = 1, kRight = 2, kBoth = 3 };
// Without the leading or trailing code points that are among `letters`.
std::string_view strip_letters(std::string_view text, std::u32string_view letters, int side);

// With every occurrence of `old` replaced, or the first `limit` where that is not negative.
TracedText replace_text(const TracedText& text, std::string_view old, const TracedText& by, int64_t limit);

}  // namespace warpchat::jinja
