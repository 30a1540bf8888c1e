// What a search looks for: a text without regard to case, in which * stands for any characters of the line.
#pragma once
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/ascii.h"

namespace warpchat {

class LinePattern {
 public:
  explicit LinePattern(std::string_view text);  // Error: nothing but * and line breaks
  // Calls on_line(begin, end, match) for each line of a text that matches, until it returns false. match: where, from
  // the line's begin.
  template <class OnLine>
  void for_each_line(std::string_view text, OnLine on_line) const {
    const std::string lower = lower_case(text);
    for (size_t at = 0; at < text.size();) {
      const std::optional<Place> first = find_part({text, lower}, 0, at);
      if (!first) return;
      const size_t before = first->first == 0 ? std::string_view::npos : text.rfind('\n', first->first - 1);
      const size_t begin = before == std::string_view::npos ? 0 : before + 1;
      const size_t end = std::min(text.find('\n', first->first), text.size());
      const Texts line{text.substr(begin, end - begin), std::string_view(lower).substr(begin, end - begin)};
      if (const std::optional<Place> match = find_in_line(line))
        if (!on_line(begin, end, *match)) return;
      at = end + 1;
    }
  }

 private:
  using Place = std::pair<size_t, size_t>;  // begin and end, in bytes
  struct Texts {
    std::string_view text, lower;  // lower: with small letters of ASCII
  };
  std::optional<Place> find_in_line(const Texts& line) const;
  std::optional<Place> find_part(const Texts& texts, size_t part, size_t from) const;

  std::vector<std::string> parts_;  // between the *, with small letters of ASCII
};

// A file's name or path against a pattern with * and ?, in time that grows with the product of their lengths.
bool matches_name(std::string_view pattern, std::string_view name);

}  // namespace warpchat
