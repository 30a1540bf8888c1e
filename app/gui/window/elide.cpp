// Finds the place by halving.
#include "app/gui/window/elide.h"

#include <algorithm>
#include <vector>

#include "app/terminal/graphemes.h"

namespace warpchat::gui {

namespace {

constexpr size_t kLongestShown = 2000;  // bytes: no line of a window is longer

}  // namespace

std::string elide(std::string_view text, float width, const std::function<float(std::string_view)>& measure) {
  std::vector<size_t> ends = {0};  // of the characters
  while (ends.back() < text.size() && ends.back() < kLongestShown) ends.push_back(next_grapheme(text, ends.back()));
  std::string line(text.substr(0, ends.back()));
  for (char& c : line)
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  if (ends.back() == text.size() && measure(line) <= width) return line;
  const auto shortened = [&](size_t n) {
    std::string start = line.substr(0, ends[n]);
    while (start.ends_with(' ')) start.pop_back();
    return start + "…";
  };
  size_t fits = 0, too_long = ends.size();
  while (fits + 1 < too_long) {
    const size_t middle = (fits + too_long) / 2;
    (measure(shortened(middle)) <= width ? fits : too_long) = middle;
  }
  return shortened(fits);
}

}  // namespace warpchat::gui
