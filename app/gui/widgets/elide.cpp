// Finds the place by halving.
#include "app/gui/widgets/elide.h"

#include <algorithm>
#include <vector>

#include "app/platform/text/graphemes.h"

namespace warpchat::gui {

namespace {

constexpr size_t kLongestShown = 2000;  // bytes: no line of a window is longer

// The ends of the text's characters, from 0 on.
std::vector<size_t> ends_of(std::string_view text) {
  std::vector<size_t> ends = {0};
  while (ends.back() < text.size() && ends.back() < kLongestShown) ends.push_back(next_grapheme(text, ends.back()));
  return ends;
}

std::string on_one_line(std::string_view text) {
  std::string line(text);
  for (char& c : line)
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  return line;
}

// The largest n below too_long of which fits(n) holds; 0 needs none.
template <class Fits>
size_t max_that_fits(size_t too_long, const Fits& fits) {
  size_t max = 0;
  while (max + 1 < too_long) {
    const size_t middle = (max + too_long) / 2;
    (fits(middle) ? max : too_long) = middle;
  }
  return max;
}

}  // namespace

std::string elide(std::string_view text, float width, const std::function<float(std::string_view)>& measure) {
  const std::vector<size_t> ends = ends_of(text);
  const std::string line = on_one_line(text.substr(0, ends.back()));
  if (ends.back() == text.size() && measure(line) <= width) return line;
  const auto shortened = [&](size_t n) {
    std::string start = line.substr(0, ends[n]);
    while (start.ends_with(' ')) start.pop_back();
    return start + "…";
  };
  return shortened(max_that_fits(ends.size(), [&](size_t n) { return measure(shortened(n)) <= width; }));
}

std::string elide_middle(std::string_view text, float width, const std::function<float(std::string_view)>& measure) {
  const std::vector<size_t> ends = ends_of(text);
  const std::string line = on_one_line(text.substr(0, ends.back()));
  if (measure(line) <= width) return line;
  const auto shortened = [&](size_t n) {
    const size_t n_behind = n / 2, n_before = n - n_behind;
    return line.substr(0, ends[n_before]) + "…" + line.substr(ends[ends.size() - 1 - n_behind]);
  };
  return shortened(max_that_fits(ends.size() - 1, [&](size_t n) { return measure(shortened(n)) <= width; }));
}

}  // namespace warpchat::gui
