// Completes the end of a streaming answer: open marks are closed, and an ambiguous last line is held back, so that the
// visible text does not change its style with every token.
#pragma once
#include <string>
#include <string_view>

namespace warpchat::gui {

// tail: from a top-level block's start to the text's end. Only its end changes: what is taken away or added there.
std::string settled_tail(std::string_view tail);

}  // namespace warpchat::gui
