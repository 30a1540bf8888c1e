// The end of an answer that streams, as it will probably go on: marks that are still open are closed, and a last line
// that may yet become anything is left out, so that what is read does not change its look with every token.
#pragma once
#include <string>
#include <string_view>

namespace warpchat::gui {

// tail: from a top-level block's start to the text's end. Only its end changes: what is taken away or added there.
std::string settled_tail(std::string_view tail);

}  // namespace warpchat::gui
