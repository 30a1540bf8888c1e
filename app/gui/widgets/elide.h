// Text that is too long for its place.
#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace warpchat::gui {

// The text on one line, and where it is wider than `width` its longest beginning of whole characters (grapheme
// clusters) that fits with an ellipsis; the ellipsis alone where not even one does. measure: pixels.
std::string elide(std::string_view text, float width, const std::function<float(std::string_view)>& measure);

// The same for a name: elides the middle.
std::string elide_middle(std::string_view text, float width, const std::function<float(std::string_view)>& measure);

}  // namespace warpchat::gui
